"""LibreChat: exported conversations, a tree of messages with calls in their content and searches in their attachments.

Read as its data schemas and its export describe them; the branch of the last message counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from judged.agents.traces.frameworks.translation import make_call, make_format, make_output
from judged.agents.traces.json_values import Json, JsonObject, first_text, get_object, get_str, list_objects
from judged.agents.traces.messages.messages import Messages

KINDS = ("organic", "topStories", "news", "references")
"""Lists of results of a web search."""


def translate(value: Json) -> list[Messages] | None:
    """Return the messages of a conversation from the first to the last one."""
    held = _flatten(value.get("messages") if isinstance(value, dict) else value)
    if not any("isCreatedByUser" in message for message in held):
        return None
    return [[part for message in _find_branch(held) for part in _translate_message(message)]]


def _describe(value: Json) -> Json:
    if not isinstance(value, dict):
        return {}
    options = get_object(value, "options")
    model = first_text(options, ("model",)) or first_text(value, ("model", "endpoint"))
    return {"conversation_id": first_text(value, ("conversationId",)), "model": model}


def _flatten(messages: Json) -> list[JsonObject]:
    """Return messages that may have their replies inside."""
    held = list_objects(messages)
    return [item for message in held for item in (message, *_flatten(message.get("children")))]


def _find_branch(messages: list[JsonObject]) -> list[JsonObject]:
    """Return the messages from the first to the last written."""
    by_id = {get_str(message, "messageId"): message for message in messages}
    last = max(messages, key=lambda message: str(message.get("createdAt") or ""))
    if not last.get("createdAt"):
        last = messages[-1]
    branch: list[JsonObject] = []
    shown = get_str(last, "messageId")
    while shown in by_id:
        branch.append(by_id.pop(shown))
        shown = get_str(branch[-1], "parentMessageId")
    return branch[::-1]


def _translate_message(message: JsonObject) -> Iterator[JsonObject]:
    time = {"timestamp": message.get("createdAt")}
    parts = list_objects(message.get("content"))
    text = get_str(message, "text") or "\n".join(filter(None, map(_text, parts)))
    if message.get("isCreatedByUser"):
        yield {"role": "user", "content": text, **time}
        return
    shown = {get_str(item, "toolCallId"): item for item in list_objects(message.get("attachments"))}
    for is_call, group in groupby(parts, lambda part: get_str(part, "type") == "tool_call"):
        calls = [get_object(part, "tool_call") for part in group] if is_call else []
        if calls:
            listed = [make_call(call.get("name"), call.get("args"), call.get("id")) for call in calls]
            yield {"role": "assistant", "content": "", "tool_calls": listed, **time}
        for call in calls:
            found = _find_results(shown.get(get_str(call, "id"), {}))
            yield {**make_output(found or call.get("output"), identity=call.get("id")), **time}
    yield {"role": "assistant", "content": text, **time}


def _text(part: JsonObject) -> str:
    text = part.get("text") if get_str(part, "type") == "text" else None
    return get_str(text, "value") if isinstance(text, dict) else text if isinstance(text, str) else ""


def _find_results(attachment: JsonObject) -> list[JsonObject]:
    """Return the results of a web search, whose output for the model is a text."""
    search = get_object(attachment, "web_search")
    return [result for kind in KINDS for result in list_objects(search.get(kind)) if result.get("link")]


FORMAT = make_format("librechat", "conversations of LibreChat", translate, describe=_describe)
