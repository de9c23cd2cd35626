"""AutoGen: results of runs (`TaskResult`) and saved states of agents. Recorded with autogen-agentchat 0.7."""

from __future__ import annotations

from collections.abc import Iterator

from judged.agents.traces.frameworks.translation import make_call, make_format, make_output
from judged.agents.traces.json_values import Json, JsonObject, get_object, get_str, list_objects
from judged.agents.traces.messages.messages import Messages

CALLING = frozenset(("ToolCallRequestEvent", "AssistantMessage"))
ANSWERING = frozenset(("ToolCallExecutionEvent", "FunctionExecutionResultMessage"))
TEXTS = frozenset(("TextMessage", "UserMessage", "SystemMessage", "StopMessage", "MultiModalMessage"))
DERIVED = frozenset(("ToolCallSummaryMessage", "ThoughtEvent", "MemoryQueryEvent"))
"""Entries that repeat other messages, or are not messages."""


def translate(value: Json) -> list[Messages] | None:
    """Return the messages of a result, of a state, or of a list of either's messages."""
    held = value
    if isinstance(value, dict):
        held = value.get("messages") or get_object(value, "llm_context").get("messages")
    if not isinstance(held, list) or not any(get_str(item, "type") in CALLING | ANSWERING for item in held):
        return None
    return [[part for message in list_objects(held) for part in _translate_message(message)]]


def _translate_message(message: JsonObject) -> Iterator[JsonObject]:
    kind, content = get_str(message, "type"), message.get("content")
    timed = {"timestamp": message.get("created_at"), "usage": message.get("models_usage")}
    items = list_objects(content)
    if kind in ANSWERING:
        for item in items:
            output = make_output(
                item.get("content"),
                identity=item.get("call_id"),
                tool=item.get("name"),
                failed=bool(item.get("is_error")),
            )
            yield {**output, "timestamp": message.get("created_at")}
    elif kind in CALLING and items:
        calls = [make_call(item.get("name"), item.get("arguments"), item.get("id")) for item in items]
        yield {"role": "assistant", "content": "", "tool_calls": calls, **timed}
    elif kind in TEXTS | CALLING and kind not in DERIVED:
        role = "user" if get_str(message, "source") == "user" or kind == "UserMessage" else "assistant"
        role = "system" if kind == "SystemMessage" else role
        yield {"role": role, "content": content, **timed}


FORMAT = make_format(
    "autogen",
    "AutoGen messages",
    translate,
    is_part=lambda value: get_str(value, "type") in CALLING | ANSWERING | TEXTS,
)
