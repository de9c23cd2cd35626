"""Open WebUI: exported chats, a tree of messages with the calls, sources and web searches of every answer.

Recorded with open-webui 0.12. A model that calls tools (`output`) has a step for each call; where the program searches before
the model answers, that is one step: a web search by its status, or sources of a knowledge base.
"""

from __future__ import annotations

from collections.abc import Iterator

from judged.agents.traces.frameworks.translation import make_call, make_format, make_output
from judged.agents.traces.json_values import Json, JsonObject, get_list, get_object, get_str, list_objects
from judged.agents.traces.messages.messages import Messages


def translate(value: Json) -> list[Messages] | None:
    """Return the messages of a chat from the first to the one that is shown; other branches are left out."""
    history = get_object(get_object(value, "chat") or value, "history")
    if not get_object(history, "messages") or "currentId" not in history:
        return None
    return [[part for message in _find_branch(history) for part in _translate_message(message)]]


def _describe(value: JsonObject) -> JsonObject:
    """Return the id of a chat, and the model that wrote the answer that is shown."""
    branch = _find_branch(get_object(get_object(value, "chat") or value, "history"))
    model = next((message["model"] for message in reversed(branch) if message.get("model")), None)
    return {"id": value.get("id"), "model": model}


def _find_branch(history: JsonObject) -> list[JsonObject]:
    held, shown = get_object(history, "messages"), get_str(history, "currentId")
    branch: list[JsonObject] = []
    seen: set[str] = set()
    while isinstance(message := held.get(shown), dict) and shown not in seen:
        seen.add(shown)
        branch.append(message)
        shown = get_str(message, "parentId")
    return branch[::-1]


def _translate_message(message: JsonObject) -> Iterator[JsonObject]:
    if message.get("role") != "assistant":
        yield {"role": message.get("role"), "content": message.get("content")}
        return
    yield from _search_before(message)
    calls: list[JsonObject] = []
    for item in list_objects(message.get("output")):
        if item.get("type") == "function_call":
            calls.append(make_call(item.get("name"), item.get("arguments"), item.get("call_id")))
            continue
        if calls:
            yield {"role": "assistant", "content": "", "tool_calls": calls}
            calls = []
        if item.get("type") == "function_call_output":
            failed = item.get("status") == "failed"
            yield make_output(item.get("output"), identity=item.get("call_id"), failed=failed)
    yield {"role": "assistant", "content": message.get("content"), "tool_calls": calls}


def _search_before(message: JsonObject) -> Iterator[JsonObject]:
    """Yield what the program searched before the model answered, as one step."""
    searches = [*_web_searches(message), *_knowledge_searches(message)]
    if searches:
        calls = [
            make_call(tool, {"queries": queries}, str(at)) for at, (tool, queries, _) in enumerate(searches)
        ]
        yield {"role": "assistant", "content": "", "tool_calls": calls}
        for at, (_, _, results) in enumerate(searches):
            yield make_output(results, identity=str(at), failed=results is None)


def _web_searches(message: JsonObject) -> Iterator[tuple[str, Json, Json]]:
    """Yield the tool, the queries and the results of each web search that ended; None for one that failed."""
    queries: Json = None
    for status in list_objects(message.get("statusHistory")):
        queries = status.get("queries") or ([status["query"]] if status.get("query") else queries)
        if status.get("action") == "web_search" and status.get("done") and queries:
            urls = [{"url": url} for url in get_list(status, "urls") if isinstance(url, str)]
            yield "web_search", queries, None if status.get("error") else status.get("items") or urls
            queries = None


def _knowledge_searches(message: JsonObject) -> Iterator[tuple[str, Json, Json]]:
    """Yield what was taken from each source but those of web searches with a status."""
    statuses = list_objects(message.get("statusHistory"))
    searched = any(status.get("action") == "web_search" for status in statuses)
    asked = [status.get("queries") for status in statuses if status.get("action") == "queries_generated"]
    for source in list_objects(message.get("sources")):
        origin = get_object(source, "source")
        kind = get_str(origin, "type")
        if kind == "web_search" and searched:
            continue
        queries = origin.get("queries") or next(filter(None, asked), None)
        texts, facts = get_list(source, "document"), list_objects(source.get("metadata"))
        results = [{"text": text, "metadata": fact} for text, fact in zip(texts, facts, strict=False)]
        tool = get_str(origin, "name") if kind == "tool" else f"{kind or 'knowledge'}_search"
        yield tool, queries, texts[0] if kind == "tool" and texts else results


FORMAT = make_format("open-webui", "chats of Open WebUI", translate, describe=_describe)
