"""LangSmith runs: lines or a list of them, alone or with children inside.

Documented by LangSmith's "Run (span) data format": `run_type`, `inputs`, `outputs`, `trace_id`, `parent_run_id`,
`dotted_order`; threads by `session_id`, `thread_id` or `conversation_id` in the metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.json_values import Json, JsonObject, add_counts
from judged.agents.traces.messages.messages import to_amount
from judged.agents.traces.spans.attributes import decode, first_value, to_object
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

KINDS: dict[str, SpanKind] = {"llm": "llm", "retriever": "search", "tool": "tool"}
THREADS = ("session_id", "thread_id", "conversation_id")
_ORDERED = re.compile(r"(\d{8})T(\d{6})(\d*)Z(.+)")
"""One run in a dotted order: `20261115T200706076285Z` and the run's id."""


def read_spans(value: Json) -> Iterator[Span | None]:
    """Yield the runs in one JSON document: one with its children, or a page of them."""
    held = to_object(value).get("runs")
    waiting: list[tuple[Json, Span | None]] = [
        (item, None) for item in (held if isinstance(held, list) else [value])
    ]
    while waiting:
        run, above = waiting.pop()
        span = _span(to_object(run), above)
        yield span
        children = decode(to_object(run).get("child_runs"))
        if span is not None and isinstance(children, list):
            waiting += [(entry, span) for entry in children]


def _span(run: Mapping[str, Json], above: Span | None) -> Span | None:
    """Return one run as a span; None if it has no id."""
    own = run.get("id") or run.get("run_id")
    if own is None:
        return None
    order = [
        found.groups()
        for item in str(run.get("dotted_order") or "").split(".")
        if (found := _ORDERED.match(item))
    ]
    parent = _text(run.get("parent_run_id")) or (
        above.id if above else order[-2][3] if len(order) > 1 else None
    )
    extra = to_object(run.get("extra"))
    metadata = to_object(extra.get("metadata"))
    return Span(
        id=str(own),
        trace=str(run.get("trace_id") or (order[0][3] if order else above.trace if above else own)),
        parent=parent,
        start=parse_nanoseconds(run.get("start_time") or _moment(order)),
        end=parse_nanoseconds(run.get("end_time")),
        order=str(run.get("dotted_order") or ""),
        failed=bool(run.get("error")) or run.get("status") == "error",
        session=_text(first_value(metadata, THREADS)),
        system=_text(metadata.get("judged.system")),
        task=_text(metadata.get("judged.task") or run.get("reference_example_id")),
        **_describe(run, KINDS.get(str(run.get("run_type")), "other"), extra, root=parent is None),
    )


def _moment(order: list[tuple[str, ...]]) -> str | None:
    return "{}T{}.{}Z".format(*order[-1][:3]) if order else None


def _describe(
    run: Mapping[str, Json], kind: SpanKind, extra: Mapping[str, Json], *, root: bool
) -> JsonObject:
    """Return the fields of `Span` that the inputs and outputs of a run give."""
    inputs, outputs = decode(run.get("inputs")), decode(run.get("outputs"))
    facts: JsonObject = {"kind": kind, "name": str(run.get("name") or "")}
    if kind == "llm":
        return facts | {
            "calls": find_call_ids(outputs),
            "asks": find_requests(outputs),
            "cited": find_cited(outputs),
            "answer": find_answer(outputs),
            "answers": find_answers(inputs),
            "cost": to_amount(run.get("total_cost")),
            "tokens": _tokens(run, to_object(outputs), to_object(extra.get("metadata"))),
            "question": find_question(inputs),
        }
    if kind == "other":
        return facts | {"question": find_question(inputs), "answer": find_answer(outputs) if root else None}
    given = unwrap_output(outputs) if outputs else None
    return facts | {
        "arguments": unwrap_arguments(inputs),
        "outputs": () if given is None else (given,),
        "call": _text(extra.get("tool_call_id")) or find_call_id(outputs) or find_call_id(inputs),
    }


def _tokens(
    run: Mapping[str, Json], outputs: Mapping[str, Json], metadata: Mapping[str, Json]
) -> float | None:
    """Return the tokens of a call of a model: from the run itself, or from the model's provider."""
    inner = to_object(outputs.get("llm_output"))
    places = (
        *(run, outputs.get("usage_metadata"), metadata.get("usage_metadata")),
        *(outputs.get("usage"), inner.get("token_usage"), inner.get("usage")),
    )
    return next((counts for item in places if (counts := add_counts(to_object(item)))), None)


def _text(value: Json) -> str | None:
    return None if value is None else str(value)


def recognises(head: Head) -> bool:
    """Recognise objects with a type of run and a place in a trace."""
    return any(_is_run(document) for document in head.mappings)


def _is_run(value: Mapping[str, Json]) -> bool:
    runs = value.get("runs")
    if isinstance(runs, list):
        return any(isinstance(run, Mapping) and _is_run(run) for run in runs[:8])
    return "run_type" in value and bool(
        value.keys() & {"dotted_order", "trace_id", "parent_run_id", "child_runs"}
    )


FORMAT = TraceFormat("langsmith", "LangSmith runs", recognises, make_reader(read_spans), joins=True)
