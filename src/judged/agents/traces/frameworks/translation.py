"""Formats that are messages under other names: a function translates a document to messages, the rest is the same for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from judged.agents.tables import Session
from judged.agents.traces.assemble import to_sessions
from judged.agents.traces.context import ReadContext
from judged.agents.traces.conversation import Conversation
from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.json_values import Json, JsonObject
from judged.agents.traces.messages.messages import Messages, Reader, join_requests, to_conversation
from judged.agents.traces.messages.openai_chat import record_messages
from judged.agents.traces.messages.requests import is_request_log
from judged.agents.traces.open import Document, Position, Trace

Translate: TypeAlias = Callable[[Json], list[Messages] | None]
"""Returns the conversations of a document, as messages of OpenAI's form; None if it is not of the format."""
Entries: TypeAlias = list[JsonObject]


def make_format(
    name: str,
    title: str,
    translate: Translate,
    *,
    is_part: Callable[[Json], bool] | None = None,
    describe: Callable[[Json], Json] = lambda value: value,
    record: Reader = record_messages,
    requests: bool = False,
) -> TraceFormat:
    """Make a format whose documents hold whole conversations; those that are parts, by `is_part`, make one together.

    `describe` returns an object with the id, the task and the model of a document, where they are not its own fields.
    With `requests`, documents may be requests that repeat their conversation, which are joined.
    """

    def join(trace: Trace) -> Iterator[Document]:
        for part in trace.parts():
            if is_part is None or not all(map(is_part, part.first_documents())):
                yield from part.own_documents()
            else:
                values = [document.value for document in part.own_documents()]
                yield Document(part.label, values, part.whole_name)

    def read(trace: Trace, context: ReadContext) -> Iterator[Session]:
        documents = _translate_documents(join(trace), context, translate, describe)
        if requests:
            return to_sessions(join_requests(documents, trace.label, context, record), context)
        named = (to_conversation(document, messages, context, record) for document, messages in documents)
        return to_sessions(named, context)

    def recognises(head: Head) -> bool:
        parts = is_part is not None and bool(head.documents) and all(map(is_part, head.documents))
        return any(map(translate, [list(head.documents)] if parts else head.documents))

    return TraceFormat(name, title, recognises, read, joins=is_request_log if requests else False)


def _translate_documents(
    documents: Iterable[Document],
    context: ReadContext,
    translate: Translate,
    describe: Callable[[Json], Json],
) -> Iterator[tuple[Document, Messages]]:
    """Yield the messages of each conversation, with a document that names it."""
    for document in documents:
        conversations = translate(document.value)
        if not conversations:
            context.report("malformed-session", document.place, "holds no conversation of this format")
            context.settle()
        for number, messages in enumerate(conversations or (), 1):
            name = document.name if number == 1 else Position(f"{document.name}:{number}")
            yield Document(document.place, describe(document.value) if number == 1 else {}, name), messages


def make_transcript_format(
    name: str,
    title: str,
    *,
    is_entry: Callable[[Json], bool],
    get_session: Callable[[JsonObject], str | None],
    translate: Callable[[Entries], Messages],
    record: Reader = record_messages,
) -> TraceFormat:
    """Make a format whose documents are the entries of transcripts, those of one session together."""

    def read(trace: Trace, context: ReadContext) -> Iterator[Session]:
        return to_sessions(_read_entries(trace, context), context)

    def _read_entries(trace: Trace, context: ReadContext) -> Iterator[Conversation]:
        sessions: dict[str | None, Entries] = {}
        place, session = trace.label, None
        for document in trace.documents():
            if isinstance(document.value, dict):
                session = get_session(document.value) or session
                sessions.setdefault(session, []).append(document.value)
        for key, entries in sessions.items():
            messages = translate(entries)
            if messages:
                yield to_conversation(_name(trace, place, key, entries), messages, context, record)

    def recognises(head: Head) -> bool:
        return any(map(is_entry, head.documents))

    return TraceFormat(name, title, recognises, read)


def _name(trace: Trace, place: str, session: str | None, entries: Entries) -> Document:
    """Return what names a session, and its model."""
    model = next((model_name for entry in entries if (model_name := _find_model(entry))), None)
    value = {"conversation_id": session, "model": model}
    return Document(place, {name: item for name, item in value.items() if item}, trace.whole_name)


def _find_model(entry: JsonObject) -> str | None:
    holders = (entry, entry.get("message"), entry.get("payload"))
    models = (holder.get("model") for holder in holders if isinstance(holder, dict))
    return next((model for model in models if isinstance(model, str) and not model.startswith("<")), None)


def make_call(tool: Json, arguments: Json, identity: Json = None) -> JsonObject:
    """Return a call of a tool as OpenAI writes it."""
    return {"id": identity, "function": {"name": tool, "arguments": arguments}}


def make_output(
    output: Json, *, identity: Json = None, tool: Json = None, failed: bool = False
) -> JsonObject:
    """Return the output of a tool as OpenAI writes it."""
    status = {"status": "error"} if failed else {}
    return {"role": "tool", "tool_call_id": identity, "name": tool, "content": output, **status}
