"""OpenTelemetry spans: OTLP JSON, the SDK's own JSON, and Phoenix's exports, in any of the conventions for agents.

Documented by: the OTLP specification (JSON encoding; file exporter: a request a line), `ReadableSpan.to_json`
of the Python SDK (ids with `0x`), Phoenix's span schema and its data frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.json_values import Json, JsonObject
from judged.agents.traces.spans import monocle
from judged.agents.traces.spans.attributes import flatten, parse_otlp, to_object
from judged.agents.traces.spans.conventions import describe_span
from judged.agents.traces.spans.conversations import make_reader
from judged.agents.traces.spans.span import Span, normalise_id, parse_nanoseconds

_FAILED = (2, "2", "STATUS_CODE_ERROR", "ERROR", "StatusCode.ERROR")


def read_spans(value: Json) -> Iterator[Span | None]:
    """Yield the spans in one JSON document: a request of many, one span, or a page of them."""
    return map(_span, _records(value))


def _records(value: Json) -> Iterator[Mapping[str, Json]]:
    """Yield the spans of a document, as objects."""
    value = to_object(value)
    if _either(value, "resourceSpans") is not None:
        for resource in _objects(_either(value, "resourceSpans")):
            for scope in _objects(_either(resource, "scopeSpans")):
                yield from _objects(scope.get("spans"))
    elif isinstance(value.get("data"), list):
        yield from _objects(value["data"])
    else:
        yield value


def _objects(values: Json) -> list[Mapping[str, Json]]:
    """Return the elements of a list as objects, an empty one in place of other values."""
    return [to_object(value) for value in values] if isinstance(values, list) else []


def _span(record: Mapping[str, Json]) -> Span | None:
    """Return one span in any of the three serialisations; None if it lacks an id."""
    context = to_object(record.get("context"))
    span = normalise_id(_either(record, "spanId") or context.get("span_id") or record.get("context.span_id"))
    trace = normalise_id(
        _either(record, "traceId") or context.get("trace_id") or record.get("context.trace_id")
    )
    if span is None or trace is None:
        return None
    attributes = _attributes(record)
    name = str(record.get("name") or "")
    parent = normalise_id(_either(record, "parentSpanId") or record.get("parent_id"))
    return Span(
        id=span,
        trace=trace,
        parent=parent,
        start=parse_nanoseconds(_either(record, "startTimeUnixNano") or record.get("start_time")),
        end=parse_nanoseconds(_either(record, "endTimeUnixNano") or record.get("end_time")),
        failed=_failed(record),
        **describe_span(attributes, name=name, events=_events(record), root=parent is None),
    )


def _attributes(record: Mapping[str, Json]) -> JsonObject:
    """Return the attributes with dotted names; Phoenix keeps the kind outside, and has columns in data frames."""
    columns = {
        key.removeprefix("attributes."): item for key, item in record.items() if key.startswith("attributes.")
    }
    attributes = flatten(columns or parse_otlp(record.get("attributes")))
    kind = record.get("span_kind")
    return {"openinference.span.kind": kind, **attributes} if isinstance(kind, str) else attributes


def _events(record: Mapping[str, Json]) -> list[JsonObject]:
    events = _objects(record.get("events"))
    return [{"name": item.get("name"), "attributes": parse_otlp(item.get("attributes"))} for item in events]


def _failed(record: Mapping[str, Json]) -> bool:
    status = record.get("status")
    if isinstance(status, Mapping):
        return status.get("code", status.get("status_code")) in _FAILED
    return record.get("status_code", status) in _FAILED


def _either(record: Mapping[str, Json], name: str) -> Json:
    """Return a field by its name in OTLP JSON, or in the protocol definition: `spanId`, `span_id`."""
    return record[name] if name in record else record.get(_snake(name))


@cache
def _snake(name: str) -> str:
    return "".join(f"_{item.lower()}" if item.isupper() else item for item in name)


def _recognises(prefix: str) -> Callable[[Head], bool]:
    """Make a test for files that begin with spans whose attributes have a prefix."""

    def recognises(head: Head) -> bool:
        return any(_has_prefix(document, prefix) for document in head.mappings)

    return recognises


def _has_prefix(document: Mapping[str, Json], prefix: str) -> bool:
    records = [record for record in _records(document) if _is_span(record)]
    return any(name.startswith(prefix) for item in records for name in _attributes(item)) or (
        not prefix and bool(records)
    )


def _is_span(record: Mapping[str, Json]) -> bool:
    """Return whether an object is a span of OpenTelemetry, not of MLflow's older traces, which begin with the trace."""
    inside = to_object(record.get("context")).keys() >= {"span_id", "trace_id"}
    return inside or "context.span_id" in record or _either(record, "spanId") is not None


read = make_reader(read_spans)
OPENINFERENCE = TraceFormat(
    "openinference", "OpenInference spans", _recognises("openinference."), read, joins=True
)
OPENLLMETRY = TraceFormat(
    "openllmetry", "OpenLLMetry (Traceloop) spans", _recognises("traceloop."), read, joins=True
)
MONOCLE = TraceFormat("monocle", "Monocle spans", _recognises(monocle.MARK), read, joins=True)
OTLP = TraceFormat("otlp", "OpenTelemetry spans", _recognises(""), read, joins=True)
