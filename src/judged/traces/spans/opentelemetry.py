"""OpenTelemetry spans: OTLP JSON, the SDK's own JSON, and Phoenix's exports, in any of the conventions for agents.

Documented by: the OTLP specification (JSON encoding; file exporter: a request a line), `ReadableSpan.to_json`
of the Python SDK (ids with `0x`), Phoenix's span schema and its data frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from judged.traces.format import Head, TraceFormat
from judged.traces.spans.attributes import flatten, parse_otlp, to_object
from judged.traces.spans.conventions import describe_span
from judged.traces.spans.conversations import make_reader
from judged.traces.spans.span import Span, normalise_id, parse_nanoseconds

__all__ = ["OPENINFERENCE", "OPENLLMETRY", "OTLP"]

_FAILED = (2, "2", "STATUS_CODE_ERROR", "ERROR", "StatusCode.ERROR")


def read_spans(value: Any) -> Iterator[Span | None]:
    """The spans in one JSON document: a request of many, one span, or a page of them."""
    return map(_span, _records(value))


def _records(value: Any) -> Iterator[Mapping[str, Any]]:
    """The spans of a document, as objects."""
    value = to_object(value)
    if _either(value, "resourceSpans") is not None:
        for resource in _objects(_either(value, "resourceSpans")):
            for scope in _objects(_either(resource, "scopeSpans")):
                yield from _objects(scope.get("spans"))
    elif isinstance(value.get("data"), list):
        yield from _objects(value["data"])
    else:
        yield value


def _objects(values: Any) -> list[Mapping[str, Any]]:
    """The elements of a list as objects, an empty one in place of what is none."""
    return [to_object(each) for each in values] if isinstance(values, list) else []


def _span(record: Mapping[str, Any]) -> Span | None:
    """One span in any of the three ways of writing it; None if it lacks an id."""
    context = to_object(record.get("context"))
    span = normalise_id(_either(record, "spanId") or context.get("span_id") or record.get("context.span_id"))
    trace = normalise_id(
        _either(record, "traceId") or context.get("trace_id") or record.get("context.trace_id")
    )
    if span is None or trace is None:
        return None
    attributes = _attributes(record)
    name = str(record.get("name") or "")
    return Span(
        id=span,
        trace=trace,
        parent=normalise_id(_either(record, "parentSpanId") or record.get("parent_id")),
        start=parse_nanoseconds(_either(record, "startTimeUnixNano") or record.get("start_time")),
        end=parse_nanoseconds(_either(record, "endTimeUnixNano") or record.get("end_time")),
        failed=_failed(record),
        **describe_span(attributes, name=name, events=_events(record)),
    )


def _attributes(record: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes with dotted names; Phoenix keeps the kind beside them, and has columns for them in frames."""
    columns = {
        key.removeprefix("attributes."): each for key, each in record.items() if key.startswith("attributes.")
    }
    attributes = flatten(columns or parse_otlp(record.get("attributes")))
    kind = record.get("span_kind")
    return {"openinference.span.kind": kind, **attributes} if isinstance(kind, str) else attributes


def _events(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = _objects(record.get("events"))
    return [{"name": each.get("name"), "attributes": parse_otlp(each.get("attributes"))} for each in found]


def _failed(record: Mapping[str, Any]) -> bool:
    status = record.get("status")
    if isinstance(status, Mapping):
        return status.get("code", status.get("status_code")) in _FAILED
    return record.get("status_code", status) in _FAILED


def _either(record: Mapping[str, Any], name: str) -> Any:
    """A field by its name in OTLP JSON, or by that in the protocol's definition: `spanId`, `span_id`."""
    return record[name] if name in record else record.get(_snake(name))


@cache
def _snake(name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name)


def _recognises(prefix: str) -> Callable[[Head], bool]:
    """A test whether a file begins with spans whose attributes are named in one way."""

    def recognises(head: Head) -> bool:
        return any(_speaks(each, prefix) for each in head.mappings)

    return recognises


def _speaks(document: Mapping[str, Any], prefix: str) -> bool:
    records = [each for each in _records(document) if _is_span(each)]
    return any(name.startswith(prefix) for each in records for name in _attributes(each)) or (
        not prefix and bool(records)
    )


def _is_span(record: Mapping[str, Any]) -> bool:
    """Whether an object is a span of OpenTelemetry, not of MLflow's older traces, which begin with the trace."""
    inside = to_object(record.get("context")).keys() >= {"span_id", "trace_id"}
    return inside or "context.span_id" in record or _either(record, "spanId") is not None


sessions = make_reader(read_spans)
OPENINFERENCE = TraceFormat("openinference", "OpenInference spans", _recognises("openinference."), sessions)
OPENLLMETRY = TraceFormat("openllmetry", "OpenLLMetry (Traceloop) spans", _recognises("traceloop."), sessions)
OTLP = TraceFormat("otlp", "OpenTelemetry spans", _recognises(""), sessions)
