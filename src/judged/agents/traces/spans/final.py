"""What a model, an agent or a program returned, as the text that its user read."""

from __future__ import annotations

from collections.abc import Mapping

from judged.agents.traces.json_values import Json
from judged.agents.traces.spans.attributes import decode
from judged.agents.traces.spans.haystack import parse_message

_SPEAKERS = ("assistant", "ai", "model", "AIMessageChunk")
_OTHERS = ("user", "human", "system", "developer", "tool", "function")
_REQUESTS = ("tool_call", "tool_use", "function_call")
_SILENT = (
    *("thinking", "redacted_thinking", "reasoning", "server_tool_use", "tool_result", "tool_call_response"),
    *("web_search_tool_result", "web_search_call", "file_search_call", "code_interpreter_call"),
)
"""Types of blocks that no user reads."""
_LISTS = ("choices", "generations", "candidates")
"""Alternatives, of which the first counts."""
_FIELDS = (
    *("last_message", "messages", "message", "kwargs", "output_text", "outputs", "output", "answer"),
    *("final_output", "response", "result", "content", "contents", "parts", "text", "message_content"),
    *("assistant", "ai", "data"),
)


def find_answer(value: Json) -> str | None:
    """Return the text of the last message in what a model or an agent returned; None if it has none.

    The message of a user or a tool is not an answer, nor is what a model says while it requests a tool.

    >>> find_answer({"messages": [{"role": "user", "content": "How tall?"}, {"role": "assistant", "content": "330 m"}]})
    '330 m'
    >>> find_answer([{"role": "assistant", "parts": [{"type": "reasoning", "content": "Hm"}, {"type": "text", "content": "330 m"}]}])
    '330 m'
    """
    value = decode(value)
    if isinstance(value, str):
        message = parse_message(value)
        return find_answer(message) if message else value.strip() or None
    if isinstance(value, list):
        return _find_in_list(value)
    if not isinstance(value, dict) or not _is_spoken(value):
        return None
    for name in _LISTS:
        if isinstance(value.get(name), list):
            return find_answer(value[name][0]) if value[name] else None
    return next((text for name in _FIELDS if (text := find_answer(value.get(name)))), None)


def _is_spoken(value: Mapping[str, Json]) -> bool:
    """Return whether an object may be a model's: neither another's message nor a block that no user reads."""
    if value.get("tool_calls"):
        return False
    role = value.get("role")
    if role is not None:
        return role in _SPEAKERS
    return value.get("type") not in (*_OTHERS, *_SILENT, *_REQUESTS)


def _find_in_list(values: list[Json]) -> str | None:
    """Return the text of the last of several messages, or of blocks of one message together."""
    values = [parse_message(item) or item for item in map(decode, values)]
    if values and all(isinstance(item, list) for item in values):  # alternatives within alternatives
        return find_answer(values[0])
    objects = [item for item in values if isinstance(item, dict)]
    messages = [item for item in objects if _is_message(item)]
    if messages:
        return find_answer(messages[-1]) if messages[-1] is objects[-1] else None
    if any(item.get("type") in _REQUESTS or "toolUse" in item for item in objects):
        return None
    texts = [text for item in values if (text := _find_text(item))]
    # a text is cut into blocks where its citations begin and end
    cut = any(item.get("citations") for item in objects)
    return ("" if cut else "\n").join(texts).strip() or None


def _is_message(value: Mapping[str, Json]) -> bool:
    kind = value.get("type")
    return (
        "role" in value
        or kind in (*_SPEAKERS, *_OTHERS)
        or any(isinstance(value.get(name), dict) for name in ("message", "kwargs"))
    )


def _find_text(block: Json) -> str | None:
    """Return the text of a block as it is, with the spaces around it."""
    if isinstance(block, dict) and _is_spoken(block):
        block = block.get("message_content", block)
        held = block.get("text") or block.get("content")
        return held if isinstance(held, str) else find_answer(held)
    return block if isinstance(block, str) else None
