"""MLflow traces: the current schema, and that of MLflow 2, each with attributes that are JSON texts within JSON.

Documented by MLflow's "Trace Data Structure" and `Span.to_dict`, whose versions differ in the names of ids:
version 2 has `context.span_id` and `parent_id`, version 3 base64 ids, version 4 `otel_trace_id`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.json_values import Json, JsonObject
from judged.agents.traces.spans.attributes import decode, first_value, to_object
from judged.agents.traces.spans.conventions import describe_span
from judged.agents.traces.spans.conversations import make_reader
from judged.agents.traces.spans.span import Span, normalise_id, parse_nanoseconds

_PLAIN = {"span_type": "mlflow.spanType", "inputs": "mlflow.spanInputs", "outputs": "mlflow.spanOutputs"}
"""Fields of the object, which some exports write in place of the attributes."""


def read_spans(value: Json) -> Iterator[Span | None]:
    """Yield the spans of the traces in one JSON document."""
    for trace in _traces(value):
        info = _trace_info(trace)
        yield from (_span(record, info) for record in _records(trace))


def _traces(value: Json) -> Iterator[Mapping[str, Json]]:
    """Yield a trace, or a page of them."""
    held = to_object(value).get("traces")
    yield from (to_object(item) for item in (held if isinstance(held, list) else [value]))


def _records(trace: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    spans = decode((to_object(trace.get("data")) or trace).get("spans"))
    return [to_object(span) for span in spans] if isinstance(spans, list) else []


def _trace_info(trace: Mapping[str, Json]) -> JsonObject:
    """Return the id of a trace and the labels that its user gave it."""
    info = to_object(trace.get("info")) or trace
    labels: JsonObject = {}
    for name in ("tags", "request_metadata", "trace_metadata"):
        labels.update(to_object(info.get(name)))
    return {
        "trace": info.get("trace_id") or info.get("request_id"),
        "session": labels.get("mlflow.trace.session"),
        "system": labels.get("judged.system"),
        "task": labels.get("judged.task"),
    }


def _span(record: Mapping[str, Json], info: JsonObject) -> Span | None:
    """Return one span of a trace; None if it has no id."""
    context = to_object(record.get("context"))
    own = normalise_id(record.get("span_id") or context.get("span_id"))
    trace = normalise_id(
        first_value({**context, **record, "trace": info["trace"]}, ("trace", "otel_trace_id", "trace_id"))
    )
    if own is None or trace is None:
        return None
    parent = normalise_id(record.get("parent_span_id") or record.get("parent_id"))
    span = Span(
        id=own,
        trace=trace,
        parent=parent,
        start=parse_nanoseconds(
            record.get("start_time_unix_nano") or record.get("start_time_ns") or record.get("start_time")
        ),
        end=parse_nanoseconds(
            record.get("end_time_unix_nano") or record.get("end_time_ns") or record.get("end_time")
        ),
        failed=_failed(record),
        **describe_span(_attributes(record), name=str(record.get("name") or ""), root=parent is None),
    )
    known = {name: str(value) for name, value in info.items() if value is not None and name != "trace"}
    return replace(span, **known)


def _attributes(record: Mapping[str, Json]) -> JsonObject:
    plain = {name: record[field] for field, name in _PLAIN.items() if record.get(field) is not None}
    return plain | dict(to_object(record.get("attributes")))


def _failed(record: Mapping[str, Json]) -> bool:
    status = record.get("status")
    code = status.get("code") if isinstance(status, Mapping) else record.get("status_code", status)
    return code in ("STATUS_CODE_ERROR", "ERROR", 2)


def recognises(head: Head) -> bool:
    """Recognise objects whose spans have MLflow's attributes or its names for a span's type."""
    return any(
        _is_mlflow(record)
        for document in head.mappings
        for trace in _traces(document)
        for record in _records(trace)
    )


def _is_mlflow(record: Mapping[str, Json]) -> bool:
    return "span_type" in record or any(name.startswith("mlflow.") for name in _attributes(record))


FORMAT = TraceFormat("mlflow", "MLflow traces", recognises, make_reader(read_spans), joins=True)
