"""Anthropic messages: `tool_use` and `tool_result` blocks, and searches that the endpoint ran itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judged.tables.sessions import Session
from judged.traces.assemble import to_sessions
from judged.traces.context import ReadContext
from judged.traces.conversation import Call
from judged.traces.format import Head, TraceFormat
from judged.traces.json_values import get_object, get_str
from judged.traces.messages.messages import (
    Messages,
    Transcript,
    conversations,
    count_tokens,
    join_text,
    messages_in_head,
    parse_time,
)
from judged.traces.open import Trace

__all__ = ["FORMAT"]

USES = frozenset(("tool_use", "server_tool_use", "mcp_tool_use"))


def recognises(head: Head) -> bool:
    """Messages whose content is blocks, one of which uses a tool or holds what it gave back."""
    blocks = (
        block for messages in messages_in_head(head) for message in messages for block in _blocks(message)
    )
    return any(get_str(block, "type") in USES or _is_result(block) for block in blocks)


def sessions(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """A session for each list of messages."""
    return to_sessions(conversations(trace, context, _read), context)


def _read(messages: Messages, transcript: Transcript) -> None:
    for message in messages:
        if message["role"] == "assistant":
            _read_assistant(message, transcript)
        elif message["role"] == "user":
            _read_user(message, transcript)


def _read_user(message: dict[str, Any], transcript: Transcript) -> None:
    """What tools gave back; a turn begins only where the user wrote something beside."""
    blocks, time = _blocks(message), parse_time(message)
    for block in blocks:
        if _is_result(block):
            _answer(block, transcript, time)
    written = [block for block in blocks if not _is_result(block)]
    if written or isinstance(message.get("content"), str):
        transcript.ask(join_text(written if blocks else message.get("content")), time=time)


def _read_assistant(message: dict[str, Any], transcript: Transcript) -> None:
    """The steps of one message: several where the endpoint searched, read the results, and searched again."""
    tokens, time = count_tokens(message), parse_time(message)
    parts = _parts(_blocks(message))
    only = sum(any(get_str(block, "type") in USES for block in part) for part in parts) <= 1
    for part in parts:
        calls = [_call(block) for block in part if get_str(block, "type") in USES]
        transcript.step(calls, tokens=tokens if only and (calls or len(parts) == 1) else None, time=time)
        for block in part:
            if _is_result(block):
                _answer(block, transcript, time)


def _parts(blocks: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The blocks of a message, parted where a tool is used after another has answered."""
    parts: list[list[dict[str, Any]]] = [[]]
    for block in blocks:
        if get_str(block, "type") in USES and any(_is_result(each) for each in parts[-1]):
            parts.append([])
        parts[-1].append(block)
    return parts


def _call(block: dict[str, Any]) -> Call:
    return Call(tool=str(block.get("name") or "unnamed"), arguments=block.get("input"), id=block.get("id"))


def _answer(block: dict[str, Any], transcript: Transcript, time: float | None) -> None:
    content = block.get("content")
    failed = bool(block.get("is_error")) or (isinstance(content, dict) and "error_code" in content)
    transcript.answer(content, id=block.get("tool_use_id"), failed=failed, time=time)


def _is_result(block: dict[str, Any]) -> bool:
    """Whether a block holds what a tool gave back: `tool_result`, `web_search_tool_result` and their like."""
    return get_str(block, "type").endswith("tool_result") and "tool_use_id" in block


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return [_typed(block) for block in blocks if isinstance(block, dict)]


def _typed(block: dict[str, Any]) -> dict[str, Any]:
    """A block as Anthropic writes it; Amazon Bedrock names the block by a key and its fields in camel case."""
    use, result = get_object(block, "toolUse"), get_object(block, "toolResult")
    if use:
        return {"type": "tool_use", "id": use.get("toolUseId"), **use}
    if not result:
        return block
    given = result.get("content")
    content = [_part(each) for each in given] if isinstance(given, list) else given
    return {
        "type": "tool_result",
        "tool_use_id": result.get("toolUseId"),
        "content": content,
        "is_error": result.get("status") == "error",
    }


def _part(part: Any) -> Any:
    """A part of what a tool gave back: JSON as it is, text as a block."""
    return get_object(part, "json") or ({"type": "text", **part} if "text" in part else part)


FORMAT = TraceFormat("anthropic", "Anthropic messages", recognises, sessions)
