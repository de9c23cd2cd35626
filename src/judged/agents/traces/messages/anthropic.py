"""Anthropic messages: `tool_use` and `tool_result` blocks, and searches that the endpoint ran itself."""

from __future__ import annotations

from collections.abc import Iterator

from judged.agents.tables import Session
from judged.agents.traces.assemble import to_sessions
from judged.agents.traces.context import ReadContext
from judged.agents.traces.conversation import Call
from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.json_values import Json, JsonObject, get_object, get_str, list_objects
from judged.agents.traces.messages.messages import (
    Messages,
    Transcript,
    count_tokens,
    join_text,
    messages_in_head,
    parse_time,
    read_conversations,
)
from judged.agents.traces.open import Trace

USES = frozenset(("tool_use", "server_tool_use", "mcp_tool_use"))


def recognises(head: Head) -> bool:
    """Recognise messages with blocks that use a tool or hold its output."""
    blocks = (
        block for messages in messages_in_head(head) for message in messages for block in _blocks(message)
    )
    return any(get_str(block, "type") in USES or _is_result(block) for block in blocks)


def read(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """Yield a session for each list of messages."""
    return to_sessions(read_conversations(trace, context, record_blocks), context)


def record_blocks(messages: Messages, transcript: Transcript) -> None:
    """Record questions, uses of tools and their results in the transcript."""
    for message in messages:
        if message["role"] == "assistant":
            _read_assistant(message, transcript)
        elif message["role"] == "user":
            _read_user(message, transcript)


def _read_user(message: JsonObject, transcript: Transcript) -> None:
    """Record the outputs of tools; a turn begins only where the user wrote something besides."""
    blocks, time = _blocks(message), parse_time(message)
    for block in blocks:
        if _is_result(block):
            _answer(block, transcript, time)
    written = [block for block in blocks if not _is_result(block)]
    if written or isinstance(message.get("content"), str):
        transcript.ask(join_text(written if blocks else message.get("content")), time=time)


def _read_assistant(message: JsonObject, transcript: Transcript) -> None:
    """Record the steps of one message: several if the endpoint searched, read the results, and searched again."""
    tokens, time = count_tokens(message), parse_time(message)
    parts = _split_blocks(_blocks(message))
    only = sum(any(get_str(block, "type") in USES for block in part) for part in parts) <= 1
    for part in parts:
        calls = [_call(block) for block in part if get_str(block, "type") in USES]
        transcript.step(calls, tokens=tokens if only and (calls or len(parts) == 1) else None, time=time)
        for block in part:
            if _is_result(block):
                _answer(block, transcript, time)
    content = message.get("content")
    said = _after_last_use(_blocks(message)) if isinstance(content, list) else content
    if said:
        transcript.say({"content": said})


def _after_last_use(blocks: list[JsonObject]) -> list[JsonObject]:
    """Return the blocks of a message after its last use of a tool."""
    last = max((at for at, block in enumerate(blocks) if get_str(block, "type") in USES), default=-1)
    return blocks[last + 1 :]


def _split_blocks(blocks: list[JsonObject]) -> list[list[JsonObject]]:
    """Split the blocks of a message where a tool is used after another has answered."""
    parts: list[list[JsonObject]] = [[]]
    for block in blocks:
        if get_str(block, "type") in USES and any(_is_result(part) for part in parts[-1]):
            parts.append([])
        parts[-1].append(block)
    return parts


def _call(block: JsonObject) -> Call:
    return Call(tool=str(block.get("name") or "unnamed"), arguments=block.get("input"), id=block.get("id"))


def _answer(block: JsonObject, transcript: Transcript, time: float | None) -> None:
    content = block.get("content")
    failed = bool(block.get("is_error")) or (isinstance(content, dict) and "error_code" in content)
    transcript.answer(content, id=block.get("tool_use_id"), failed=failed, time=time)


def _is_result(block: JsonObject) -> bool:
    """Return whether a block holds the output of a tool: `tool_result`, `web_search_tool_result` and so on."""
    return get_str(block, "type").endswith("tool_result") and "tool_use_id" in block


def _blocks(message: JsonObject) -> list[JsonObject]:
    return [_normalise_block(block) for block in list_objects(message.get("content"))]


def _normalise_block(block: JsonObject) -> JsonObject:
    """Convert a block of Amazon Bedrock, named by a key and with fields in camel case, to Anthropic's form."""
    use, result = get_object(block, "toolUse"), get_object(block, "toolResult")
    if use:
        return {"type": "tool_use", "id": use.get("toolUseId"), **use}
    if not result:
        return block
    given = result.get("content")
    content = [_normalise_part(item) for item in given] if isinstance(given, list) else given
    return {
        "type": "tool_result",
        "tool_use_id": result.get("toolUseId"),
        "content": content,
        "is_error": result.get("status") == "error",
    }


def _normalise_part(part: Json) -> Json:
    """Return a part of an output: JSON unchanged, text as a block."""
    texts = isinstance(part, dict) and "text" in part
    return get_object(part, "json") or ({"type": "text", **part} if texts else part)


FORMAT = TraceFormat("anthropic", "Anthropic messages", recognises, read)
