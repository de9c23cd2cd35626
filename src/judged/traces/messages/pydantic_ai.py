"""Messages of Pydantic AI (`all_messages_json`): requests and responses, each in parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judged.tables.sessions import Session
from judged.traces.assemble import sessions_of
from judged.traces.conversation import Call, Conversation
from judged.traces.format import Head, TraceFormat
from judged.traces.messages.transcript import Transcript, seconds_of, text_of, tokens_of
from judged.traces.objects import named, word
from judged.traces.reading import Reading
from judged.traces.trace import Document, Trace

__all__ = ["FORMAT"]

CALLS = frozenset(("tool-call", "builtin-tool-call"))
ANSWERS = frozenset(("tool-return", "builtin-tool-return", "retry-prompt"))

Messages = list[dict[str, Any]]


def recognises(head: Head) -> bool:
    """Objects in parts that say they are a request or a response; lists of them, or objects that hold such lists."""
    return any(_messages(each) for each in head.documents)


def sessions(trace: Trace, reading: Reading) -> Iterator[Session]:
    """A session for each list of messages; messages that stand alone are one conversation."""
    return sessions_of(_conversations(trace, reading), reading)


def _conversations(trace: Trace, reading: Reading) -> Iterator[Conversation]:
    alone: Messages = []
    for document in trace.documents():
        messages = _messages(document.value)
        if not messages:
            reading.fault("malformed-session", document.place, "holds no messages")
            reading.settle()
        elif _is_message(document.value):
            alone += messages
        else:
            yield _conversation(document, messages, reading)
    if alone:
        yield _conversation(Document(trace.label, None, trace.name or "1"), alone, reading)


def _conversation(document: Document, messages: Messages, reading: Reading) -> Conversation:
    transcript = Transcript()
    for message in messages:
        _read(message, transcript)
    name = named(document.value, ("conversation_id", "session_id", "id"))
    name = name or named(messages[0], ("conversation_id",)) or document.name
    for kind, what in transcript.wrong():
        reading.fault(kind, f"{document.place}: session `{name}`", what)
    models = (named(message, ("model_name",)) for message in messages)
    return Conversation(
        id=name,
        place=document.place,
        turns=transcript.turns,
        system=named(document.value, ("system", "agent")) or next(filter(None, models), None),
        task=named(document.value, ("task", "task_id", "query_id")),
    )


def _read(message: dict[str, Any], transcript: Transcript) -> None:
    """Tell the transcript of a message: what the user wrote and tools gave back, or what the model asked for."""
    parts, time = _parts(message), seconds_of(message)
    if message["kind"] == "response":
        calls = [_call(part) for part in parts if word(part, "part_kind") in CALLS]
        transcript.step(calls, tokens=tokens_of(message), time=time)
    for part in parts:
        kind = word(part, "part_kind")
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
            transcript.ask(text_of(part.get("content")), time=time)


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
    return isinstance(value, dict) and word(value, "kind") in {"request", "response"} and bool(_parts(value))


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    parts = message.get("parts")
    found = parts if isinstance(parts, list) else []
    return [part for part in found if isinstance(part, dict) and "part_kind" in part]


FORMAT = TraceFormat("pydantic-ai", "Pydantic AI messages", recognises, sessions)
