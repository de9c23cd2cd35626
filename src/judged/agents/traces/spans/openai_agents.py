"""Traces of the OpenAI Agents SDK, as its trace processors export them: an object for each span and for each trace.

Documented by the SDK's "Tracing": `Span.export()` and `Trace.export()`, and the request that its exporter sends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.json_values import Json, JsonObject, add_counts
from judged.agents.traces.spans.attributes import list_records, to_object
from judged.agents.traces.spans.conversations import make_reader
from judged.agents.traces.spans.final import find_answer
from judged.agents.traces.spans.payloads import find_call_ids, find_cited, find_question, unwrap_output
from judged.agents.traces.spans.span import Span, SpanKind, parse_nanoseconds

KINDS: dict[str, SpanKind] = {"generation": "llm", "response": "llm", "function": "tool"}
"""The SDK's names for our kinds of spans; a model called through Responses is a `response`."""


def read_spans(value: Json) -> Iterator[Span | None]:
    """Yield the spans in one JSON document: one, or a request of many; a trace becomes a span that names its group."""
    return (
        _group(record) if record.get("object") == "trace" else _span(record) for record in list_records(value)
    )


def _group(trace: Mapping[str, Json]) -> Span | None:
    """Return a trace as a span that names the conversation of its spans."""
    own, metadata = _text(trace.get("id")), to_object(trace.get("metadata"))
    if own is None:
        return None
    return Span(
        id=own,
        trace=own,
        session=_text(trace.get("group_id")),
        system=_text(metadata.get("judged.system")),
        task=_text(metadata.get("judged.task")),
    )


def _span(record: Mapping[str, Json]) -> Span | None:
    """Return one span; None if it or its trace has no id."""
    own, trace = _text(record.get("id")), _text(record.get("trace_id"))
    if own is None or trace is None:
        return None
    return Span(
        id=own,
        trace=trace,
        parent=_text(record.get("parent_id")),
        start=parse_nanoseconds(record.get("started_at")),
        end=parse_nanoseconds(record.get("ended_at")),
        failed=bool(record.get("error")),
        **_describe(to_object(record.get("span_data"))),
    )


def _describe(data: Mapping[str, Json]) -> JsonObject:
    """Return the fields of `Span` that the data of a span give."""
    kind = KINDS.get(str(data.get("type")), "other")
    facts: JsonObject = {"kind": kind, "name": str(data.get("name") or "")}
    if kind == "llm":
        return facts | {
            "calls": find_call_ids(data.get("output")),
            "cited": find_cited(data.get("output")),
            "answer": find_answer(data.get("output")),
            "tokens": add_counts(to_object(data.get("usage"))),
            "question": find_question(data.get("input")),
        }
    if kind == "other":
        return facts
    given = unwrap_output(data.get("output")) if data.get("output") is not None else None
    return facts | {"arguments": data.get("input"), "outputs": () if given is None else (given,)}


def _text(value: Json) -> str | None:
    return None if value is None else str(value)


def recognises(head: Head) -> bool:
    """Recognise objects that call themselves spans of a trace, and hold the data of one."""
    return any(
        record.get("object") == "trace.span" and "span_data" in record
        for document in head.mappings
        for record in list_records(document)
    )


FORMAT = TraceFormat(
    "openai-agents", "traces of the OpenAI Agents SDK", recognises, make_reader(read_spans), joins=True
)
