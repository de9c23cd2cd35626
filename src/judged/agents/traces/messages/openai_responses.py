"""OpenAI Responses: items of input and output, among them calls of functions and searches that OpenAI ran."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import groupby

from msgspec import UNSET

from judged.agents.tables import Session
from judged.agents.traces.assemble import to_sessions
from judged.agents.traces.context import ReadContext
from judged.agents.traces.conversation import Call, Conversation, Step
from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.json_values import (
    Json,
    JsonObject,
    first_text,
    get_body,
    get_object,
    get_str,
    list_objects,
)
from judged.agents.traces.messages.messages import Transcript, count_tokens, find_cost, join_text
from judged.agents.traces.messages.requests import RequestLog, RequestShape, canonical, is_request_log
from judged.agents.traces.open import Document, Trace

OUTPUTS = frozenset(
    ("function_call_output", "custom_tool_call_output", "tool_search_output", "computer_call_output")
)
ELSEWHERE = frozenset(("function_call", "custom_tool_call", "computer_call"))
"""Calls with the output in a separate item."""
PERPLEXITY = frozenset(("search_results", "fetch_url_results"))
"""Items of Perplexity's responses that are searches, or pages opened, with what they returned."""
TASKS = ("task", "task_id", "query_id")

Items = list[JsonObject]
Chain = list[tuple[Document, Items]]
"""Documents of one conversation, each with the items that it adds."""


def recognises(head: Head) -> bool:
    """Recognise responses, items with the types that only they have, or objects that hold such items."""
    return any(
        _is_response(document) or any(map(_is_distinctive, _items(document))) for document in head.documents
    )


def read(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """Yield a session for each response, or chain of responses, or for all items of the trace."""
    return to_sessions(_conversations(trace, context), context)


def _conversations(trace: Trace, context: ReadContext) -> Iterator[Conversation]:
    """Yield conversations: responses linked by `previous_response_id`, or each repeating all before."""
    log = RequestLog(SHAPE, context)
    alone: dict[Trace, Items] = {}
    for part, document in (
        (source, document) for source in trace.parts() for document in source.own_documents()
    ):
        if _is_item(document.value):
            alone.setdefault(part, []).append(document.value)
            continue
        items = _items(document.value)
        if not items:  # a recorder of requests has those of files and stores as well
            context.report("malformed-session", document.place, "holds no items of a response")
            context.settle()
            continue
        ids = [name for name in (_response_id(document.value), _previous_id(document.value)) if name]
        yield from (_conversation(held.parts, context) for held in log.add(document, items, links=ids))
    yield from (_conversation(held.parts, context) for held in log.finish())
    for part, listed in alone.items():
        yield _conversation([(Document(part.label, {}, part.whole_name), listed)], context)


def _print(item: JsonObject) -> Hashable | None:
    """Return what of an item is the same in every copy: neither its id, which a request does not repeat, nor its status."""
    kind, role = get_str(item, "type") or "message", get_str(item, "role")
    if kind == "reasoning" or role in {"system", "developer"}:
        return None
    if (
        kind.endswith("_call") and kind not in ELSEWHERE
    ):  # run by the provider, and not sent back by all clients
        return None
    arguments = canonical(item.get("arguments", item.get("input")))
    return (
        *(kind, role, item.get("call_id"), item.get("name"), arguments, canonical(item.get("action"))),
        *(canonical(item.get("queries")), canonical(item.get("output")), join_text(item.get("content"))),
    )


def _has_ended(items: Items) -> bool:
    """Return whether the last item is an answer."""
    return bool(items) and get_str(items[-1], "role") == "assistant"


SHAPE = RequestShape(_print, lambda item: (item.get("call_id"),), _has_ended)
"""Comparison of items, by which requests of one conversation are joined."""


def _conversation(chain: Chain, context: ReadContext) -> Conversation:
    transcript = Transcript()
    for document, items in chain:
        record_items(items, _count_usage(document.value), transcript, cost=_find_price(document.value))
    document = chain[0][0]
    first = document.value if isinstance(document.value, dict) else {}
    response = get_body(first, "response") or first
    metadata = get_object(first, "metadata") or get_object(response, "metadata")
    name = _conversation_name(first, metadata) or _response_id(first) or document.name
    for kind, message in transcript.find_problems():
        context.report(kind, f"{document.place}: session `{name}`", message)
    return Conversation(
        id=name,
        place=document.place,
        turns=transcript.turns,
        system=first_text(metadata, ("system",)) or first_text(response, ("model",)),
        task=first_text(metadata, TASKS) or first_text(first, TASKS),
    )


def record_items(
    items: Items, tokens: float | None, transcript: Transcript, *, cost: float | None = None
) -> None:
    """Record items in the transcript; adjacent calls are one step."""
    searched: list[Step] = []
    for is_calls, group in groupby(items, _is_call):
        if is_calls:
            searched.append(transcript.step([_call(item) for item in group]))
            continue
        for item in group:
            _record_item(item, transcript)
    if len(searched) == 1:  # of several steps it is not known which took how many
        searched[0].tokens, searched[0].cost = tokens, cost


def _is_call(item: JsonObject) -> bool:
    return get_str(item, "type").endswith("_call") or get_str(item, "type") in PERPLEXITY


def _record_item(item: JsonObject, transcript: Transcript) -> None:
    """Record an item that is not a call."""
    kind, role = get_str(item, "type") or "message", get_str(item, "role")
    if kind in OUTPUTS:
        failed = item.get("status") == "incomplete"
        transcript.answer(item.get("output"), id=item.get("call_id"), failed=failed)
    elif kind == "message" and role == "user":
        transcript.ask(join_text(item.get("content")))
    elif kind == "message" and role == "assistant":
        transcript.say(item)
        transcript.step([])


def _call(item: JsonObject) -> Call:
    """Return the call that an item represents, with its output if the item has it."""
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
            tool="file_search",
            arguments={"queries": item.get("queries")},
            output=_or_unset(item.get("results")),
        )
    if kind == "search_results":
        asked = {"queries": item.get("queries")}
        return Call(tool="web_search", arguments=asked, output=item.get("results"), search=True)
    if kind == "fetch_url_results":
        pages = list_objects(item.get("contents"))
        return Call(tool="fetch_url", arguments={"urls": [page.get("url") for page in pages]}, search=False)
    failed = bool(item.get("error")) or item.get("status") == "failed"
    tool = str(item.get("name") or kind.removesuffix("_call"))
    return Call(
        tool=tool, arguments=item.get("arguments"), output=_or_unset(item.get("output")), failed=failed
    )


def _web_search(item: JsonObject) -> Call:
    """Return a web search; its sources are there only if they were requested, and opening a page is not a search."""
    action = get_object(item, "action")
    does = get_str(action, "type") or "search"
    asked = action.get("queries") or action.get("query")
    return Call(
        tool="web_search" if does == "search" else f"web_search.{does}",
        arguments={"query": asked} if does == "search" else {"url": action.get("url")},
        output=_or_unset(_find_documents(action.get("sources"))),
        failed=item.get("status") == "failed",
        search=does == "search",
    )


def _find_documents(sources: Json) -> Json:
    """Return the sources that are documents: not `{"type": "api", "name": "oai-weather"}`, which names a service."""
    if not isinstance(sources, list):
        return sources
    return [source for source in sources if get_str(source, "type") != "api"]


def _or_unset(value: Json) -> Json:
    return UNSET if value is None else value


def _items(value: Json) -> Items:
    """Return the items of a document: those of the request, then those of the response."""
    if isinstance(value, list):
        return [item for item in value if isinstance(item, dict)]
    if not isinstance(value, dict):
        return []
    if _is_item(value):
        return [value]
    asked = value.get("input", get_body(value, "request").get("input"))
    question = [{"type": "message", "role": "user", "content": asked}] if isinstance(asked, str) else asked
    answered = value.get("output", get_body(value, "response").get("output"))
    lists = (question, answered, value.get("items"))
    return [item for items in lists if isinstance(items, list) for item in items if isinstance(item, dict)]


def _is_response(value: Json) -> bool:
    return "response" in {get_str(value, "object"), get_str(get_body(value, "response"), "object")}


def _is_item(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    said = "content" in value and get_str(value, "role") in {"user", "assistant", "system", "developer"}
    typed = said or get_str(value, "type") in {"message", "reasoning"}
    return _is_distinctive(value) or (typed and "object" not in value)


def _is_distinctive(item: JsonObject) -> bool:
    """Return whether an item is of a type that only Responses have."""
    kind = get_str(item, "type")
    return kind in OUTPUTS or (kind.endswith("_call") and kind != "tool_call")


def _response_id(value: Json) -> str | None:
    return first_text(value, ("id",)) or first_text(get_body(value, "response"), ("id",))


def _previous_id(value: Json) -> str | None:
    holders = (value, get_body(value, "request"), get_body(value, "response"))
    return next((name for item in holders if (name := first_text(item, ("previous_response_id",)))), None)


def _conversation_name(first: JsonObject, metadata: JsonObject) -> str | None:
    """Return the name of the conversation, other than its first response's id."""
    names = ("conversation_id", "session_id", "conversation")
    return (
        first_text(get_object(first, "conversation"), ("id",))
        or first_text(first, names)
        or first_text(metadata, names)
    )


def _find_price(value: Json) -> float | None:
    bodies = (value, get_body(value, "response")) if isinstance(value, dict) else ()
    return next((cost for body in bodies if (cost := find_cost(body)) is not None), None)


def _count_usage(value: Json) -> float | None:
    return (
        count_tokens(value) or count_tokens(get_body(value, "response")) if isinstance(value, dict) else None
    )


FORMAT = TraceFormat("openai-responses", "OpenAI Responses", recognises, read, joins=is_request_log)
