"""Messages of Pydantic AI (`all_messages_json`): requests and responses, each in parts."""

from __future__ import annotations

from collections.abc import Iterator

from judged.agents.tables import Session
from judged.agents.traces.assemble import to_sessions
from judged.agents.traces.context import ReadContext
from judged.agents.traces.conversation import Call, Conversation
from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.json_values import Json, JsonObject, first_text, get_str
from judged.agents.traces.messages.messages import Transcript, count_tokens, join_text, parse_time
from judged.agents.traces.open import Document, Trace

CALLS = frozenset(("tool-call", "builtin-tool-call"))
ANSWERS = frozenset(("tool-return", "builtin-tool-return", "retry-prompt"))

Messages = list[JsonObject]


def recognises(head: Head) -> bool:
    """Recognise requests and responses in parts, lists of them, or objects that hold such lists."""
    return any(_messages(document) for document in head.documents)


def read(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """Yield a session for each list of messages; single messages are one conversation."""
    return to_sessions(_conversations(trace, context), context)


def _conversations(trace: Trace, context: ReadContext) -> Iterator[Conversation]:
    alone: Messages = []
    for document in trace.documents():
        messages = _messages(document.value)
        if not messages:
            context.report("malformed-session", document.place, "holds no messages")
            context.settle()
        elif _is_message(document.value):
            alone += messages
        else:
            yield _conversation(document, messages, context)
    if alone:
        yield _conversation(Document(trace.label, None, trace.whole_name), alone, context)


def _conversation(document: Document, messages: Messages, context: ReadContext) -> Conversation:
    transcript = Transcript()
    for message in messages:
        _record(message, transcript)
    name = first_text(document.value, ("conversation_id", "session_id", "id"))
    name = name or first_text(messages[0], ("conversation_id",)) or document.name
    for kind, problem in transcript.find_problems():
        context.report(kind, f"{document.place}: session `{name}`", problem)
    models = (first_text(message, ("model_name",)) for message in messages)
    return Conversation(
        id=name,
        place=document.place,
        turns=transcript.turns,
        system=first_text(document.value, ("system", "agent")) or next(filter(None, models), None),
        task=first_text(document.value, ("task", "task_id", "query_id")),
    )


def _record(message: JsonObject, transcript: Transcript) -> None:
    """Record a message: what the user wrote and tools returned, or the calls of the model."""
    parts, time = _parts(message), parse_time(message)
    if message["kind"] == "response":
        calls = [_call(part) for part in parts if get_str(part, "part_kind") in CALLS]
        transcript.step(calls, tokens=count_tokens(message), time=time)
        if not calls:
            texts = [{"text": part.get("content")} for part in parts if get_str(part, "part_kind") == "text"]
            transcript.say({"content": texts})
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


def _call(part: JsonObject) -> Call:
    tool = str(part.get("tool_name") or "unnamed")
    return Call(tool=tool, arguments=part.get("args"), id=part.get("tool_call_id"))


def _messages(value: Json) -> Messages:
    """Return the messages that a document is or holds; none if it holds others."""
    if isinstance(value, dict):
        value = [value] if _is_message(value) else value.get("messages")
    if not isinstance(value, list) or not all(map(_is_message, value)):
        return []
    return value


def _is_message(value: Json) -> bool:
    return (
        isinstance(value, dict) and get_str(value, "kind") in {"request", "response"} and bool(_parts(value))
    )


def _parts(message: JsonObject) -> list[JsonObject]:
    parts = message.get("parts")
    listed = parts if isinstance(parts, list) else []
    return [part for part in listed if isinstance(part, dict) and "part_kind" in part]


FORMAT = TraceFormat("pydantic-ai", "Pydantic AI messages", recognises, read)
