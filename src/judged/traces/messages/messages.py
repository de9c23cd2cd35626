"""Documents that hold messages: where the messages lie, and what the conversation, its system and task are called."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from judged.traces.conversation import Conversation
from judged.traces.format import Head
from judged.traces.messages.transcript import Transcript
from judged.traces.objects import inner, named, sent, word
from judged.traces.reading import Reading
from judged.traces.trace import Document, Trace

__all__ = ["Messages", "Reader", "conversation_of", "conversations", "is_message", "messages_in", "shown"]

HOLDERS = ("messages", "conversation", "conversations", "trajectory", "history", "chat")
"""Where the messages of a document lie."""
NAMES = (
    *("conversation_id", "session_id", "thread_id", "conversation", "custom_id", "id", "uuid"),
    *("query_id", "qid"),
)
TASKS = ("task_id", "query_id", "qid", "question_id", "instance_id")
SYSTEMS = ("system_name", "agent", "system", "model")
ROLES = frozenset(
    ("system", "developer", "user", "assistant", "tool", "function", "human", "gpt", "ai", "observation")
)
SPELLED = {"human": "user", "gpt": "assistant", "ai": "assistant", "observation": "tool"}
LANGCHAIN = frozenset(("human", "ai", "system", "tool"))

Messages = list[dict[str, Any]]
Reader = Callable[[Messages, Transcript], None]
"""Goes through messages and tells the transcript of them."""


def is_message(value: Any) -> bool:
    """Whether a value is a message: an object with a role."""
    return _role(value) is not None


def messages_in(value: Any) -> Messages | None:
    """The messages that a document holds, those of its request and its response together; None if it holds none."""
    if isinstance(value, list):
        return [_named(each) for each in value] if value and all(is_message(each) for each in value) else None
    if not isinstance(value, dict):
        return None
    if is_message(value):
        return [_named(value)]
    for holder in (value, *(sent(value, name) for name in ("request", "body", "inputs", "kwargs", "values"))):
        for name in HOLDERS:
            if isinstance(holder.get(name), list) and (found := messages_in(holder[name])) is not None:
                return found + _responded(value)
    return _responded(value) or None


def shown(head: Head) -> list[Messages]:
    """The messages of the first documents, for a format to be recognised by."""
    return [found for each in head.documents if (found := messages_in(each))]


def conversations(trace: Trace, reading: Reading, read: Reader) -> Iterator[Conversation]:
    """The conversations of a trace whose documents hold messages, or are the messages of one conversation."""
    held: tuple[Document, Messages] | None = None
    superseded = 0
    for document, messages in _held(trace, reading):
        if held is not None and _continues(messages, held[1]):
            superseded += 1  # a log of requests, each with all that came before
            messages[: len(held[1])] = held[1]  # a response tells more than its copy in the next request
        elif held is not None:
            yield conversation_of(*held, reading, read)
        held = document, messages
    if held is not None:
        yield conversation_of(*held, reading, read)
    if superseded:
        reading.skipped.note(
            f"{trace.label}: {superseded:,} documents are the beginning of the next one and were passed over"
        )


def _continues(messages: Messages, before: Messages) -> bool:
    """Whether messages begin with all that there was before, and go on."""
    parts = ("role", "content", "tool_calls")
    return len(messages) > len(before) and all(
        one.get(part) == other.get(part)
        for one, other in zip(messages, before, strict=False)
        for part in parts
    )


def _held(trace: Trace, reading: Reading) -> Iterator[tuple[Document, Messages]]:
    """Each document with its messages; documents that are messages themselves are one conversation."""
    alone: Messages = []
    for document in trace.documents():
        messages = messages_in(document.value)
        if messages is None:
            reading.fault("malformed-session", document.place, "holds no messages")
            reading.settle()
        elif is_message(document.value) and not _is_response(document.value):
            alone += messages
        else:
            yield document, messages
    if alone:
        yield Document(trace.label, {}, trace.name or "1"), alone


def _is_response(value: dict[str, Any]) -> bool:
    """Whether a message is all of what an endpoint answered, with its searches inside."""
    return value.get("type") == "message" and value.get("role") == "assistant" and "usage" in value


def conversation_of(document: Document, messages: Messages, reading: Reading, read: Reader) -> Conversation:
    """The conversation that messages make, called as their document says."""
    transcript = Transcript()
    read(messages, transcript)
    value = document.value if isinstance(document.value, dict) else {}
    metadata = inner(value, "metadata")
    tasks = TASKS if value.get("type") == "chatml" else (*TASKS, "task")  # there it names the kind of task
    name = named(value, NAMES) or named(metadata, NAMES) or document.name
    for kind, what in transcript.wrong():
        reading.fault(kind, f"{document.place}: session `{name}`", what)
    return Conversation(
        id=name,
        place=document.place,
        turns=transcript.turns,
        system=_system(value) or _system(metadata) or named(sent(value, "request"), ("model",)),
        task=named(value, tasks) or named(metadata, tasks),
    )


def _system(value: dict[str, Any]) -> str | None:
    """What the system is called; `system` may also be its instructions, which are no name."""
    names = (name for name in SYSTEMS if name != "system" or not re.search(r"\s", str(value.get(name))))
    return named(value, names)


def _responded(value: dict[str, Any]) -> Messages:
    """The messages that an endpoint answered with, if the document holds its response."""
    response = sent(value, "response") or value
    choices = response.get("choices")
    if isinstance(choices, list) and choices:
        message = inner(choices[0], "message")
        return [_named({**message, "usage": response.get("usage")})] if is_message(message) else []
    return [_named(response)] if response is not value and is_message(response) else []


def _named(message: dict[str, Any]) -> dict[str, Any]:
    """A message with its role and content under their usual names."""
    role = _role(message) or ""
    message = _bare(message)
    return {
        **message,
        "role": SPELLED.get(role, role),
        "content": message.get("content", message.get("value")),
    }


def _role(value: Any) -> str | None:
    """The role of a message: ShareGPT says `from`, and LangChain puts it into `type`; None if it is no message."""
    for name in ("role", "from"):
        if word(value, name) in ROLES:
            return word(value, name)
    bare = _bare(value)
    kind = word(bare, "type")
    return kind if kind in LANGCHAIN and "content" in bare else None


def _bare(value: Any) -> Any:
    """A message without the envelopes of LangChain's `messages_to_dict` and `dumps`."""
    envelope = inner(value, "data") or inner(value, "kwargs")
    return envelope if "content" in envelope and "type" in envelope else value
