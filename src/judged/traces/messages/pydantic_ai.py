"""Messages of Pydantic AI (`all_messages_json`): requests and responses, each in parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judged.tables.sessions import Session
from judged.traces.assemble import to_sessions
from judged.traces.context import ReadContext
from judged.traces.conversation import Call, Conversation
from judged.traces.format import Head, TraceFormat
from judged.traces.json_values import first_text, get_str
from judged.traces.messages.messages import Transcript, count_tokens, join_text, parse_time
from judged.traces.open import Document, Trace

__all__ = ["FORMAT"]

CALLS = frozenset(("tool-call", "builtin-tool-call"))
ANSWERS = frozenset(("tool-return", "builtin-tool-return", "retry-prompt"))

Messages = list[dict[str, Any]]


def recognises(head: Head) -> bool:
    """Objects in parts that say they are a request or a response; lists of them, or objects that hold such lists."""
    return any(_messages(each) for each in head.documents)


def sessions(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """A session for each list of messages; messages that stand alone are one conversation."""
    return to_sessions(_conversations(trace, context), context)


def _conversations(trace: Trace, context: ReadContext) -> Iterator[Conversation]:
    alone: Messages = []
    for document in trace.documents():
        messages = _messages(document.value)
        if not messages:
            context.fault("malformed-session", document.place, "holds no messages")
            context.settle()
        elif _is_message(document.value):
            alone += messages
        else:
            yield _conversation(document, messages, context)
    if alone:
        yield _conversation(Document(trace.label, None, trace.name or "1"), alone, context)


def _conversation(document: Document, messages: Messages, context: ReadContext) -> Conversation:
    transcript = Transcript()
    for message in messages:
        _read(message, transcript)
    name = first_text(document.value, ("conversation_id", "session_id", "id"))
    name = name or first_text(messages[0], ("conversation_id",)) or document.name
    for kind, what in transcript.wrong():
        context.fault(kind, f"{document.place}: session `{name}`", what)
    models = (first_text(message, ("model_name",)) for message in messages)
    return Conversation(
        id=name,
        place=document.place,
        turns=transcript.turns,
        system=first_text(document.value, ("system", "agent")) or next(filter(None, models), None),
        task=first_text(document.value, ("task", "task_id", "query_id")),
    )


def _read(message: dict[str, Any], transcript: Transcript) -> None:
    """Tell the transcript of a message: what the user wrote and tools gave back, or what the model asked for."""
    parts, time = _parts(message), parse_time(message)
    if message["kind"] == "response":
        calls = [_call(part) for part in parts if get_str(part, "part_kind") in CALLS]
        transcript.step(calls, tokens=count_tokens(message), time=time)
    for part in parts:
        kind = get_str(part, "part_kind")
        if kind in ANSWERS and part.get("tool_name"):
            failed = kind == "retry-prompt" or part.get("outcome", "success") != "success"
            transcript.answer(
                part.get("content"),
                id=part.get("tool_call_id"),
                tool=part["tool_name"],
                failed=failed,
                time=time,
            )
        elif kind == "user-prompt":
            transcript.ask(join_text(part.get("content")), time=time)


def _call(part: dict[str, Any]) -> Call:
    tool = str(part.get("tool_name") or "unnamed")
    return Call(tool=tool, arguments=part.get("args"), id=part.get("tool_call_id"))


def _messages(value: Any) -> Messages:
    """The messages that a document is or holds; none if it holds others."""
    if isinstance(value, dict):
        value = [value] if _is_message(value) else value.get("messages")
    if not isinstance(value, list) or not all(map(_is_message, value)):
        return []
    return value


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, dict) and get_str(value, "kind") in {"request", "response"} and bool(_parts(value))
    )


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    parts = message.get("parts")
    found = parts if isinstance(parts, list) else []
    return [part for part in found if isinstance(part, dict) and "part_kind" in part]


FORMAT = TraceFormat("pydantic-ai", "Pydantic AI messages", recognises, sessions)
