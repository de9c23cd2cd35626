"""OpenAI chat messages: calls of tools in assistant messages, their outputs in messages of role `tool`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judged.formats.traces.assemble import sessions_of
from judged.formats.traces.conversation import Call
from judged.formats.traces.format import Head, TraceFormat
from judged.formats.traces.messages.messages import Messages, conversations, shown
from judged.formats.traces.messages.transcript import Transcript, seconds_of, text_of, tokens_of
from judged.formats.traces.objects import word
from judged.formats.traces.reading import Reading
from judged.formats.traces.trace import Trace
from judged.tables.session import Session

__all__ = ["FORMAT", "read_messages"]


def recognises(head: Head) -> bool:
    """Messages with roles; formats that write their calls into the text are asked before."""
    return bool(shown(head))


def sessions(trace: Trace, reading: Reading) -> Iterator[Session]:
    """A session for each list of messages."""
    return sessions_of(conversations(trace, reading, read_messages), reading)


def read_messages(messages: Messages, transcript: Transcript) -> None:
    """Tell the transcript who asked, which tools were called, and what they answered."""
    for message in messages:
        role, time = message["role"], seconds_of(message)
        if role == "user":
            transcript.ask(text_of(message.get("content")), time=time)
        elif role == "assistant":
            transcript.step(_calls(message), tokens=tokens_of(message), time=time)
            transcript.foreign = transcript.foreign or _foreign(message)
        elif role in {"tool", "function"}:
            transcript.answer(
                message.get("content"),
                id=message.get("tool_call_id"),
                tool=message.get("name"),
                failed=message.get("status") == "error",
                time=time,
            )


def _foreign(message: dict[str, Any]) -> str | None:
    """The format in which a message without calls of this one makes some; the first documents may have had none."""
    if message.get("tool_calls"):
        return None
    content = message.get("content")
    if isinstance(content, list) and any(word(block, "type").endswith("tool_use") for block in content):
        return "anthropic"
    text = text_of(content)
    tags = {"</tool_call>": "chatml", "</search>": "search-tags", "<|end_of_query|>": "search-tags"}
    return next((name for tag, name in tags.items() if tag in text), None)


def _calls(message: dict[str, Any]) -> list[Call]:
    """The calls of an assistant message in their order; `function_call` is how one was written before."""
    written = message.get("tool_calls")
    calls = [_call(each) for each in written if isinstance(each, dict)] if isinstance(written, list) else []
    legacy = message.get("function_call")
    return [*calls, _call({"function": legacy})] if isinstance(legacy, dict) else calls


def _call(written: dict[str, Any]) -> Call:
    """One call: OpenAI puts name and arguments into `function` or `custom`, LangChain beside the id."""
    inner = next(
        (written[kind] for kind in ("function", "custom") if isinstance(written.get(kind), dict)), written
    )
    arguments = next((inner[name] for name in ("arguments", "input", "args") if name in inner), None)
    return Call(tool=str(inner.get("name") or "unnamed"), arguments=arguments, id=written.get("id"))


FORMAT = TraceFormat("openai-chat", "OpenAI chat messages", recognises, sessions)
