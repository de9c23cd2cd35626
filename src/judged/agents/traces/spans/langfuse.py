"""Langfuse: traces with their observations, lists of observations, and pages of either, as its API and exports write them.

Read as Langfuse's API reference describes them (`GET /api/public/traces/{traceId}`, `/observations`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.json_values import Json, JsonObject, add_counts
from judged.agents.traces.messages.messages import to_amount
from judged.agents.traces.results.tools import is_search_name
from judged.agents.traces.spans.attributes import decode, list_records, to_object
from judged.agents.traces.spans.conversations import make_reader
from judged.agents.traces.spans.final import find_answer
from judged.agents.traces.spans.payloads import (
    find_answers,
    find_call_id,
    find_call_ids,
    find_cited,
    find_question,
    find_requests,
    unwrap_arguments,
    unwrap_output,
)
from judged.agents.traces.spans.span import Span, SpanKind, parse_nanoseconds

KINDS: dict[str, SpanKind] = {"GENERATION": "llm", "RETRIEVER": "search", "TOOL": "tool", "SPAN": "tool"}
"""Langfuse's types for our kinds; older versions have SPAN for everything but models, and its name decides."""
USAGE = (
    ("total",),
    ("totalTokens",),
    ("total_tokens",),
    ("input", "output"),
    ("promptTokens", "completionTokens"),
)


_EVENT = re.compile(r"\Atool\.(.+)\.(?:success|finish|start|error)(?:-\d+)?\Z")
"""The name of an event of a tool, as BeeAI writes it: `tool.search.wikipedia.success-12`."""


def read_spans(value: Json) -> Iterator[Span | None]:
    """Yield the spans in one JSON document: a trace with its observations, an observation, or a page."""
    for record in list_records(value):
        observations = decode(record.get("observations"))
        if isinstance(observations, list) and not _is_observation(record):
            yield _trace(to_object(record.get("trace")) or record)
            yield from (_span(to_object(item)) for item in observations if isinstance(item, dict))
        else:
            yield _span(record)


def _get(record: Mapping[str, Json], name: str) -> Json:
    """Return a field in camel case or with underscores."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return record.get(name, record.get(snake))


def _trace(trace: Mapping[str, Json]) -> Span | None:
    """Return a trace as the span that its observations are part of."""
    own, metadata = _get(trace, "id"), to_object(trace.get("metadata"))
    if own is None:
        return None
    return Span(
        id=f"{own}/trace",
        trace=str(own),
        start=parse_nanoseconds(_get(trace, "timestamp")),
        session=_text(_get(trace, "sessionId")),
        question=find_question(decode(trace.get("input"))),
        answer=find_answer(trace.get("output")),
        system=_text(metadata.get("judged.system")),
        task=_text(metadata.get("judged.task")),
    )


def _span(record: Mapping[str, Json]) -> Span | None:
    own, trace = _get(record, "id"), _get(record, "traceId")
    if own is None or trace is None:
        return None
    return Span(
        id=str(own),
        trace=str(trace),
        parent=_text(_get(record, "parentObservationId")),
        start=parse_nanoseconds(_get(record, "startTime")),
        end=parse_nanoseconds(_get(record, "endTime")),
        failed=str(record.get("level")).upper() == "ERROR",
        session=_text(_get(record, "sessionId")),
        **_describe(record),
    )


def _describe(record: Mapping[str, Json]) -> JsonObject:
    """Return the fields of `Span` that the input and output of an observation give."""
    given, returned = decode(record.get("input")), decode(record.get("output"))
    kind = KINDS.get(str(record.get("type")).upper(), "other")
    facts: JsonObject = {"kind": kind, "name": _EVENT.sub(r"\1", str(record.get("name") or ""))}
    if kind == "llm":
        usage = to_object(_get(record, "usageDetails")) or to_object(record.get("usage"))
        return facts | {
            "calls": find_call_ids(returned),
            "asks": find_requests(returned),
            "cited": find_cited(returned),
            "answer": find_answer(returned),
            "answers": find_answers(given),
            "tokens": add_counts(usage, USAGE),
            "cost": _find_cost(record),
            "question": find_question(given),
        }
    if kind == "other" or (
        str(record.get("type")).upper() == "SPAN" and not _is_tool(given, returned, facts["name"])
    ):
        answer = find_answer(returned) if _get(record, "parentObservationId") is None else None
        return {**facts, "kind": "other", "question": find_question(given), "answer": answer}
    output = None if returned is None else unwrap_output(returned)
    return facts | {
        "arguments": unwrap_arguments(given),
        "outputs": () if output is None else (output,),
        "call": find_call_id(returned) or find_call_id(given),
    }


def _find_cost(record: Mapping[str, Json]) -> float | None:
    prices = (
        to_object(_get(record, "costDetails")).get("total"),
        *(_get(record, name) for name in ("calculatedTotalCost", "totalCost")),
    )
    return next((cost for price in prices if (cost := to_amount(price)) is not None), None)


def _is_tool(given: Json, returned: Json, name: str) -> bool:
    """Return whether a span is of a tool: by its input, a text or arguments and not messages, or as the end of a search."""
    if given is None:  # frameworks that emit an event for the start of a tool and another for its end
        return returned is not None and is_search_name(name) is True
    return isinstance(given, str) or (isinstance(given, dict) and "messages" not in given)


def _text(value: Json) -> str | None:
    return None if value is None else str(value)


def _is_observation(record: Mapping[str, Json]) -> bool:
    return _get(record, "traceId") is not None and "type" in record and _get(record, "startTime") is not None


def recognises(head: Head) -> bool:
    """Recognise observations by their type and trace, and traces by their observations."""
    for document in head.mappings:
        for record in list_records(document):
            held = record.get("observations")
            if _is_observation(record) and str(record.get("type")).isupper():
                return True
            if isinstance(held, list) and held and _is_observation(to_object(held[0])):
                return True
    return False


FORMAT = TraceFormat(
    "langfuse", "Langfuse traces and observations", recognises, make_reader(read_spans), joins=True
)
