"""Claude Code and the Claude Agent SDK: transcripts (`~/.claude/projects/*.jsonl`) and `--output-format stream-json`.

Recorded with Claude Code 2 (npm `@anthropic-ai/claude-code`). Entries of subagents count as steps of the session.
"""

from __future__ import annotations

from judged.agents.traces.frameworks.translation import Entries, make_transcript_format
from judged.agents.traces.json_values import Json, JsonObject, first_text, get_object, get_str
from judged.agents.traces.messages.anthropic import record_blocks
from judged.agents.traces.messages.messages import Messages

SESSIONS = ("sessionId", "session_id")
COMMANDS = ("<command-", "<local-command", "Caveat: The messages below")
"""Prefixes of texts that the program wrote in the user's name."""


def is_entry(value: Json) -> bool:
    """Return whether a value is an entry of a transcript."""
    kind = get_str(value, "type")
    if kind == "system":
        return "session_id" in value and get_str(value, "subtype") == "init"
    return (
        kind in {"user", "assistant"}
        and "role" in get_object(value, "message")
        and _session(value) is not None
    )


def _session(value: JsonObject) -> str | None:
    return first_text(value, SESSIONS)


def translate(entries: Entries) -> Messages:
    """Return the messages of a session; blocks of one response, written apart, are one message."""
    messages: Messages = []
    for entry in entries:
        message = get_object(entry, "message")
        if not message or entry.get("isMeta") or not _is_kept(entry, message):
            continue
        timed = {**message, "timestamp": entry.get("timestamp")}
        if messages and _is_same_response(messages[-1], message):
            messages[-1] = {**messages[-1], "content": [*messages[-1]["content"], *message["content"]]}
        else:
            messages.append(timed)
    return messages


def _is_kept(entry: JsonObject, message: JsonObject) -> bool:
    """Return whether an entry is part of the session: all but commands, and what subagents are sent."""
    if message.get("role") != "user":
        return message.get("role") == "assistant"
    content = message.get("content")
    if isinstance(content, list):
        answers = any(get_str(block, "type") == "tool_result" for block in content)
        return answers or not (entry.get("isSidechain") or entry.get("parent_tool_use_id"))
    sent = entry.get("isSidechain") or entry.get("parent_tool_use_id")
    return isinstance(content, str) and not sent and not content.startswith(COMMANDS)


def _is_same_response(before: JsonObject, message: JsonObject) -> bool:
    blocks = isinstance(before.get("content"), list) and isinstance(message.get("content"), list)
    same = message.get("id") is not None and before.get("id") == message["id"]
    return blocks and same and before.get("role") == message.get("role") == "assistant"


FORMAT = make_transcript_format(
    "claude-code",
    "transcripts of Claude Code",
    is_entry=is_entry,
    get_session=_session,
    translate=translate,
    record=record_blocks,
)
