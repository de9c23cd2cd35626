"""Weave (Weights & Biases): calls of operations, as its API and its export write them. Read as the schema of its server has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.json_values import Json, JsonObject, add_counts
from judged.agents.traces.messages.messages import to_amount
from judged.agents.traces.results.tools import is_search_name
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

THREADS = ("thread_id", "session_id", "conversation_id")
MODELS = (
    "completions",
    "messages.create",
    "chat.complete",
    "generate_content",
    "responses.create",
    ".llm.",
    "chatmodel",
)
"""Pieces of the names of operations that call models, as Weave's integrations name them."""
_NAME = re.compile(r"(?:weave:///.*/op/)?(?P<name>[^:/]+)(?::[^/]*)?\Z")


def read_spans(value: Json) -> Iterator[Span | None]:
    """Yield the calls in one JSON document: one, or a page of them."""
    held = to_object(value).get("calls")
    for item in held if isinstance(held, list) else [value]:
        yield _span(to_object(item))


def _span(record: Mapping[str, Json]) -> Span | None:
    own, trace = record.get("id"), record.get("trace_id")
    if own is None or trace is None:
        return None
    attributes = to_object(record.get("attributes"))
    return Span(
        id=str(own),
        trace=str(trace),
        parent=_text(record.get("parent_id")),
        start=parse_nanoseconds(record.get("started_at")),
        end=parse_nanoseconds(record.get("ended_at")),
        failed=bool(record.get("exception")),
        session=_text(record.get("thread_id") or first_value(attributes, THREADS)),
        system=_text(attributes.get("judged.system")),
        task=_text(attributes.get("judged.task")),
        **_describe(record, attributes),
    )


def _describe(record: Mapping[str, Json], attributes: Mapping[str, Json]) -> JsonObject:
    """Return the fields of `Span` that the inputs and the output of a call give."""
    given, returned = decode(record.get("inputs")), decode(record.get("output"))
    name = _find_name(record)
    kind = _find_kind(name, _text(to_object(attributes.get("weave")).get("kind")))
    facts: JsonObject = {"kind": kind, "name": name}
    if kind == "llm":
        usage = to_object(to_object(record.get("summary")).get("usage"))
        counts = [count for item in usage.values() if (count := add_counts(to_object(item)))]
        return facts | {
            "calls": find_call_ids(returned),
            "asks": find_requests(returned),
            "cited": find_cited(returned),
            "answer": find_answer(returned),
            "answers": find_answers(given),
            "tokens": sum(counts) if counts else None,
            "cost": _find_cost(record),
            "question": find_question(given),
        }
    if kind == "other":
        answer = find_answer(returned) if record.get("parent_id") is None else None
        return facts | {"question": find_question(given), "answer": answer}
    output = None if returned is None else unwrap_output(returned)
    return facts | {
        "arguments": unwrap_arguments(_without_self(given)),
        "outputs": () if output is None else (output,),
        "call": find_call_id(returned) or find_call_id(given),
    }


def _find_cost(record: Mapping[str, Json]) -> float | None:
    """Return the money that a call took, over all models and both directions."""
    costs = to_object(to_object(to_object(record.get("summary")).get("weave")).get("costs"))
    parts = [
        cost
        for model in costs.values()
        for name in ("prompt_tokens_total_cost", "completion_tokens_total_cost")
        if (cost := to_amount(to_object(model).get(name))) is not None
    ]
    return sum(parts) if parts else None


def _find_name(record: Mapping[str, Json]) -> str:
    """Return the name of an operation, out of its address and without its version.

    >>> _find_name({"op_name": "weave:///team/project/op/Wiki.search:v3"})
    'Wiki.search'
    """
    matched = _NAME.match(str(record.get("op_name") or ""))
    return matched["name"] if matched else str(record.get("op_name") or "")


def _find_kind(name: str, declared: str | None) -> SpanKind:
    """Return the kind of a call: as declared, or by the name of its operation."""
    bare = name.lower()
    if declared in {"llm", "tool"}:
        return "llm" if declared == "llm" else "tool"
    if declared in {"search", "retriever"} or ".retriever." in bare:
        return "search"
    if declared is None and any(piece in bare for piece in MODELS):
        return "llm"
    return "tool" if is_search_name(name.rpartition(".")[2]) or ".tool." in bare else "other"


def _without_self(given: Json) -> Json:
    """Return the inputs of a method without the object that it is called on."""
    return (
        {name: item for name, item in given.items() if name != "self"} if isinstance(given, dict) else given
    )


def _text(value: Json) -> str | None:
    return None if value is None else str(value)


def recognises(head: Head) -> bool:
    """Recognise calls by their operation and trace."""
    return any(_is_call(to_object(record)) for document in head.mappings for record in _page(document))


def _page(document: Mapping[str, Json]) -> list[Json]:
    held = document.get("calls")
    return held if isinstance(held, list) else [document]


def _is_call(record: Mapping[str, Json]) -> bool:
    return "op_name" in record and "trace_id" in record


FORMAT = TraceFormat("weave", "calls of Weave", recognises, make_reader(read_spans), joins=True)
