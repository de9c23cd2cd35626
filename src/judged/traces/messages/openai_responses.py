"""OpenAI Responses: items of input and output, among them calls of functions and searches that OpenAI ran."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from msgspec import UNSET

from judged.tables.sessions import Session
from judged.traces.assemble import to_sessions
from judged.traces.context import ReadContext
from judged.traces.conversation import Call, Conversation, Step
from judged.traces.format import Head, TraceFormat
from judged.traces.json_values import first_text, get_body, get_object, get_str
from judged.traces.messages.messages import Transcript, count_tokens, join_text
from judged.traces.open import Document, Trace

__all__ = ["FORMAT"]

OUTPUTS = frozenset(
    ("function_call_output", "custom_tool_call_output", "tool_search_output", "computer_call_output")
)
ELSEWHERE = frozenset(("function_call", "custom_tool_call", "computer_call"))
"""Calls whose output is an item of its own."""
TASKS = ("task", "task_id", "query_id")

Items = list[dict[str, Any]]
Chain = list[tuple[Document, Items]]
"""Documents of one conversation, each with the items that it adds."""


def recognises(head: Head) -> bool:
    """Responses, items with the types that only they have, or objects that hold such items."""
    return any(_is_response(each) or any(map(_is_telling, _items(each))) for each in head.documents)


def sessions(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """A session for each response, or chain of responses, or for all items of the trace."""
    return to_sessions(_conversations(trace, context), context)


def _conversations(trace: Trace, context: ReadContext) -> Iterator[Conversation]:
    """Responses are one conversation that follow one another by `previous_response_id`, or repeat all before them."""
    chain: Chain = []
    alone: Items = []
    for document in trace.documents():
        if _is_item(document.value):
            alone.append(document.value)
            continue
        new = _new(document.value, chain)
        if chain and new is None:
            yield _conversation(chain, context)
            chain = []
        chain.append((document, _items(document.value) if new is None else new))
    if chain:
        yield _conversation(chain, context)
    if alone:
        yield _conversation([(Document(trace.label, {}, trace.name or "1"), alone)], context)


def _new(value: Any, chain: Chain) -> Items | None:
    """The items that a document adds to those before it; None if it begins a conversation."""
    items = _items(value)
    previous = _previous(value)
    if previous is not None and previous in {_identity(document.value) for document, _ in chain}:
        return items
    before = [item for _, added in chain for item in added]
    repeats = 0 < len(before) < len(items) and all(map(_same, items, before))
    return items[len(before) :] if repeats else None


def _same(item: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two items say the same; a request repeats them without their ids."""
    fields = ("role", "call_id", "name", "arguments", "output")
    return (
        (get_str(item, "type") or "message") == (get_str(other, "type") or "message")
        and all(item.get(name) == other.get(name) for name in fields)
        and join_text(item.get("content")) == join_text(other.get("content"))
    )


def _conversation(chain: Chain, context: ReadContext) -> Conversation:
    transcript = Transcript()
    for document, items in chain:
        _read(items, _usage(document.value), transcript)
    document = chain[0][0]
    first = document.value if isinstance(document.value, dict) else {}
    response = get_body(first, "response") or first
    metadata = get_object(first, "metadata") or get_object(response, "metadata")
    name = _called(first, metadata) or _identity(first) or document.name
    for kind, what in transcript.wrong():
        context.fault(kind, f"{document.place}: session `{name}`", what)
    return Conversation(
        id=name,
        place=document.place,
        turns=transcript.turns,
        system=first_text(metadata, ("system",)) or first_text(response, ("model",)),
        task=first_text(metadata, TASKS) or first_text(first, TASKS),
    )


def _read(items: Items, tokens: float | None, transcript: Transcript) -> None:
    """Tell the transcript of items; calls that follow each other directly are one step."""
    searched: list[Step] = []
    for is_calls, group in groupby(items, lambda item: get_str(item, "type").endswith("_call")):
        if is_calls:
            searched.append(transcript.step([_call(item) for item in group]))
            continue
        for item in group:
            _read_item(item, transcript)
    if len(searched) == 1:  # of several steps it is not known which took how many
        searched[0].tokens = tokens


def _read_item(item: dict[str, Any], transcript: Transcript) -> None:
    """Tell the transcript of an item that is no call."""
    kind, role = get_str(item, "type") or "message", get_str(item, "role")
    if kind in OUTPUTS:
        failed = item.get("status") == "incomplete"
        transcript.answer(item.get("output"), id=item.get("call_id"), failed=failed)
    elif kind == "message" and role == "user":
        transcript.ask(join_text(item.get("content")))
    elif kind == "message" and role == "assistant":
        transcript.step([])


def _call(item: dict[str, Any]) -> Call:
    """The call that an item stands for, with its output where the item holds it."""
    kind = get_str(item, "type")
    if kind in ELSEWHERE:
        return Call(
            tool=str(item.get("name") or kind.removesuffix("_call")),
            arguments=item.get("arguments", item.get("input")),
            id=item.get("call_id"),
        )
    if kind == "web_search_call":
        return _web_search(item)
    if kind == "file_search_call":
        return Call(
            tool="file_search", arguments={"queries": item.get("queries")}, output=_given(item.get("results"))
        )
    failed = bool(item.get("error")) or item.get("status") == "failed"
    tool = str(item.get("name") or kind.removesuffix("_call"))
    return Call(tool=tool, arguments=item.get("arguments"), output=_given(item.get("output")), failed=failed)


def _web_search(item: dict[str, Any]) -> Call:
    """A search of the web; its sources are there only if they were asked for, and pages it opened are no searches."""
    action = get_object(item, "action")
    does = get_str(action, "type") or "search"
    asked = action.get("queries") or action.get("query")
    return Call(
        tool="web_search" if does == "search" else f"web_search.{does}",
        arguments={"query": asked},
        output=_given(action.get("sources")),
        failed=item.get("status") == "failed",
        search=does == "search",
    )


def _given(value: Any) -> Any:
    return UNSET if value is None else value


def _items(value: Any) -> Items:
    """The items of a document: those of the request, then those of the response."""
    if isinstance(value, list):
        return [each for each in value if isinstance(each, dict)]
    if not isinstance(value, dict):
        return []
    if _is_item(value):
        return [value]
    asked = value.get("input", get_body(value, "request").get("input"))
    question = [{"type": "message", "role": "user", "content": asked}] if isinstance(asked, str) else asked
    answered = value.get("output", get_body(value, "response").get("output"))
    lists = (question, answered, value.get("items"))
    return [each for found in lists if isinstance(found, list) for each in found if isinstance(each, dict)]


def _is_response(value: Any) -> bool:
    return "response" in {get_str(value, "object"), get_str(get_body(value, "response"), "object")}


def _is_item(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    said = "content" in value and get_str(value, "role") in {"user", "assistant", "system", "developer"}
    told = said or get_str(value, "type") in {"message", "reasoning"}
    return _is_telling(value) or (told and "object" not in value)


def _is_telling(item: dict[str, Any]) -> bool:
    """Whether an item is of a type that only Responses have."""
    kind = get_str(item, "type")
    return kind in OUTPUTS or (kind.endswith("_call") and kind != "tool_call")


def _identity(value: Any) -> str | None:
    return first_text(value, ("id",)) or first_text(get_body(value, "response"), ("id",))


def _previous(value: Any) -> str | None:
    holders = (value, get_body(value, "request"), get_body(value, "response"))
    return next((found for each in holders if (found := first_text(each, ("previous_response_id",)))), None)


def _called(first: dict[str, Any], metadata: dict[str, Any]) -> str | None:
    """What the conversation is called, apart from its first response's id."""
    names = ("conversation_id", "session_id", "conversation")
    return (
        first_text(get_object(first, "conversation"), ("id",))
        or first_text(first, names)
        or first_text(metadata, names)
    )


def _usage(value: Any) -> float | None:
    return (
        count_tokens(value) or count_tokens(get_body(value, "response")) if isinstance(value, dict) else None
    )


FORMAT = TraceFormat("openai-responses", "OpenAI Responses", recognises, sessions)
