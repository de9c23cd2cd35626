"""OpenAI chat messages: calls of tools in assistant messages, their outputs in messages of role `tool`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judged.tables.sessions import Session
from judged.traces.assemble import to_sessions
from judged.traces.context import ReadContext
from judged.traces.conversation import Call
from judged.traces.format import Head, TraceFormat
from judged.traces.json_values import first_text, get_object, get_str
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
from judged.traces.results.outputs import Unparsed, find_groups, is_result

__all__ = ["FORMAT", "read_messages"]


def recognises(head: Head) -> bool:
    """Messages with roles; formats that write their calls into the text are asked before."""
    return bool(messages_in_head(head))


def sessions(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """A session for each list of messages."""
    return to_sessions(conversations(trace, context, read_messages), context)


def read_messages(messages: Messages, transcript: Transcript) -> None:
    """Tell the transcript who asked, which tools were called, and what they answered."""
    for message in messages:
        role, time = message["role"], parse_time(message)
        if role == "user":
            transcript.ask(join_text(message.get("content")), time=time)
        elif role == "assistant":
            transcript.step(_calls(message), tokens=count_tokens(message), time=time)
            transcript.foreign = transcript.foreign or _foreign(message)
        elif role in {"tool", "function"}:
            for output, identity, failed in _outputs(message):
                transcript.answer(output, id=identity, tool=message.get("name"), failed=failed, time=time)


def _foreign(message: dict[str, Any]) -> str | None:
    """The format in which a message without calls of this one makes some; the first documents may have had none."""
    if message.get("tool_calls"):
        return None
    content = message.get("content")
    if isinstance(content, list) and any(get_str(block, "type").endswith("tool_use") for block in content):
        return "anthropic"
    text = join_text(content)
    tags = {"</tool_call>": "chatml", "</search>": "search-tags", "<|end_of_query|>": "search-tags"}
    return next((name for tag, name in tags.items() if tag in text), None)


def _outputs(message: dict[str, Any]) -> Iterator[tuple[Any, str | None, bool]]:
    """What a message of role `tool` answers: each output, the id of its call, and whether the call failed."""
    results = _held(message, "tool_call_result")
    for each in results:
        yield each.get("result"), first_text(get_object(each, "origin"), ("id",)), bool(each.get("error"))
    if not results:
        yield _pick_best(message), message.get("tool_call_id"), message.get("status") == "error"


def _pick_best(message: dict[str, Any]) -> Any:
    """LangChain's artifact, what the program got, if it holds results; else the content, what the model got."""
    artifact = message.get("artifact")
    if not artifact:
        return message.get("content")
    try:
        groups = find_groups(artifact)
    except Unparsed:
        return message.get("content")
    results = [value for _, values in groups for value in values]
    told = results and all(isinstance(each, dict) and is_result(each) for each in results)
    return artifact if told else message.get("content")


def _held(message: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """What the blocks of a message hold under a name, which is how Haystack writes calls and their results."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return [found for block in blocks if (found := get_object(block, name))]


def _calls(message: dict[str, Any]) -> list[Call]:
    """The calls of an assistant message in their order; `function_call` is how one was written before."""
    written = message.get("tool_calls")
    written = written if isinstance(written, list) else _held(message, "tool_call")
    calls = [_call(each) for each in written if isinstance(each, dict)]
    legacy = message.get("function_call")
    return [*calls, _call({"function": legacy})] if isinstance(legacy, dict) else calls


def _call(written: dict[str, Any]) -> Call:
    """One call: OpenAI puts name and arguments into `function` or `custom`, LangChain beside the id."""
    held = next(
        (written[kind] for kind in ("function", "custom") if isinstance(written.get(kind), dict)), written
    )
    arguments = next((held[name] for name in ("arguments", "input", "args") if name in held), None)
    tool = str(held.get("name") or held.get("tool_name") or "unnamed")
    return Call(tool=tool, arguments=arguments, id=written.get("id"))


FORMAT = TraceFormat("openai-chat", "OpenAI chat messages", recognises, sessions)
