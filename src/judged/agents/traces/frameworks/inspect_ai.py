"""Inspect: logs of evaluations (`.eval`, and JSON), each sample with its messages. Recorded with inspect-ai 0.3."""

from __future__ import annotations

from collections.abc import Iterator

from judged.agents.tables import Session
from judged.agents.traces.assemble import to_sessions
from judged.agents.traces.context import ReadContext
from judged.agents.traces.conversation import Conversation
from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.frameworks.translation import make_call, make_output
from judged.agents.traces.json_values import Json, JsonObject, first_text, get_object, list_objects
from judged.agents.traces.messages.messages import to_conversation
from judged.agents.traces.messages.openai_chat import record_messages
from judged.agents.traces.open import Document, Trace

ATTACHED = "attachment://"


def recognises(head: Head) -> bool:
    """Recognise a log with samples, or a sample."""
    return any(_samples(document) for document in head.mappings)


def read(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """Yield a session for each epoch of each sample; the sample is the task."""
    return to_sessions(_conversations(trace, context), context)


def _conversations(trace: Trace, context: ReadContext) -> Iterator[Conversation]:
    for document in trace.documents():
        model = first_text(get_object(document.value, "eval"), ("model",))
        for sample in _samples(document.value):
            task, epoch = first_text(sample, ("id",)), first_text(sample, ("epoch",)) or "1"
            value = {"id": task if epoch == "1" else f"{task}/{epoch}", "task_id": task, "model": model}
            named = Document(
                document.place, {name: text for name, text in value.items() if text}, document.name
            )
            attached = get_object(sample, "attachments")
            messages = [_translate_message(message, attached) for message in list_objects(sample["messages"])]
            yield to_conversation(named, messages, context, record_messages)


def _samples(value: Json) -> list[JsonObject]:
    held = value.get("samples", [value]) if isinstance(value, dict) else []
    return [
        sample
        for sample in list_objects(held)
        if isinstance(sample.get("messages"), list) and "target" in sample
    ]


def _translate_message(message: JsonObject, attached: JsonObject) -> JsonObject:
    """Return a message as OpenAI writes it: here the function of a call is its name alone.

    Long contents may be kept apart, as `attachment://` and a hash.
    """
    content = message.get("content")
    if isinstance(content, str) and content.startswith(ATTACHED):
        message = {**message, "content": attached.get(content.removeprefix(ATTACHED), content)}
    if message.get("role") == "tool":
        failed, identity = bool(message.get("error")), message.get("tool_call_id")
        return make_output(
            message.get("content"), identity=identity, tool=message.get("function"), failed=failed
        )
    calls = list_objects(message.get("tool_calls"))
    listed = [make_call(call.get("function"), call.get("arguments"), call.get("id")) for call in calls]
    return {"role": message.get("role"), "content": message.get("content"), "tool_calls": listed}


FORMAT = TraceFormat("inspect-ai", "logs of Inspect", recognises, read)
