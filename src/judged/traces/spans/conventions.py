"""What attributes of spans are called: OpenTelemetry GenAI, OpenInference, OpenLLMetry and MLflow side by side.

One span may carry several conventions, and any of them may come in any container, so each fact is looked up
under all its names. Read from: OpenTelemetry semantic-conventions-genai (gen-ai-spans, gen-ai-agent-spans),
OpenInference semantic conventions, OpenLLMetry's semconv-ai, MLflow's tracing schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from judged.traces.spans.attributes import decode, first_value, get_list, to_object
from judged.traces.spans.payloads import (
    add_counts,
    count_tokens,
    find_answers,
    find_call_id,
    find_question,
    find_requests,
    join_text,
    unwrap_arguments,
    unwrap_output,
)
from judged.traces.spans.span import SpanKind

__all__ = ["Event", "add_messages", "describe_span"]

_CHOICE = "gen_ai.choice"


def add_messages(
    attributes: Mapping[str, Any], events: Sequence[Mapping[str, Any]], *, tool: bool
) -> Mapping[str, Any]:
    """The attributes of a span, with the messages of its events under the names that they have as attributes."""
    sent = [each for each in events if _role(each)]
    given = [each["attributes"].get("message") for each in events if each["name"] == _CHOICE]
    if not sent and not given:
        return attributes
    if not tool:
        messages = [{"role": _role(each), **_read(each)} for each in sent]
        return {
            "gen_ai.input.messages": messages,
            "gen_ai.output.messages": list(map(decode, given)),
            **attributes,
        }
    told: dict[str, Any] = {}
    if sent:
        told["gen_ai.tool.call.arguments"] = sent[0]["attributes"].get("content")
    if given:
        told["gen_ai.tool.call.result"] = _output(given[-1])
    return {**told, **attributes}


def _role(event: Mapping[str, Any]) -> str | None:
    """Who sent the message that an event holds: `gen_ai.user.message`."""
    name = str(event["name"])
    return (
        name[len("gen_ai.") : -len(".message")]
        if name.startswith("gen_ai.") and name.endswith(".message")
        else None
    )


def _read(event: Mapping[str, Any]) -> dict[str, Any]:
    return {name: decode(value) for name, value in event["attributes"].items()}


def _output(message: Any) -> Any:
    """What a tool gave back, out of blocks of text or of JSON."""
    blocks = decode(message)
    if not isinstance(blocks, list) or not all(to_object(each).keys() <= {"text", "json"} for each in blocks):
        return blocks
    held = next((each["json"] for each in blocks if "json" in each), None)
    return join_text(blocks) if held is None else held


Event: TypeAlias = Mapping[str, Any]
"""An event within a span: its `name` and its `attributes`."""

KINDS: dict[str, SpanKind] = {
    **dict.fromkeys(
        ("llm", "chat_model", "chat", "text_completion", "completion", "generate_content"), "llm"
    ),
    **dict.fromkeys(("retriever", "retrieval", "retrieve", "vector_db_retrieve"), "search"),
    **dict.fromkeys(("tool", "execute_tool"), "tool"),
}
"""What spans are called that are one of our kinds, in lower case."""
KIND_NAMES = (
    *("openinference.span.kind", "mlflow.spanType", "gen_ai.operation.name", "traceloop.span.kind"),
    "llm.request.type",
)
"""Attributes that tell what a span is; the first that names one of our kinds does."""
TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "gen_ai.data_source.id", "traceloop.entity.name")
ARGUMENTS = (
    *("gen_ai.retrieval.query.text", "gen_ai.tool.call.arguments", "traceloop.entity.input"),
    *("input.value", "mlflow.spanInputs", "tool.parameters", "tool_arguments"),
)
OUTPUTS = (
    *("gen_ai.retrieval.documents", "gen_ai.tool.call.result", "traceloop.entity.output"),
    *("output.value", "mlflow.spanOutputs", "tool_response"),
)
CALLS = ("gen_ai.tool.call.id", "tool_call.id", "tool.id")
ANSWERS = ("gen_ai.output.messages", "output.value", "traceloop.entity.output", "mlflow.spanOutputs")
ANSWERS_LISTED = ("llm.output_messages", "gen_ai.completion")
INPUTS = ("input.value", "traceloop.entity.input", "mlflow.spanInputs", "gen_ai.input.messages")
INPUTS_LISTED = ("llm.input_messages", "gen_ai.prompt")
SESSIONS = (
    *("gen_ai.conversation.id", "session.id", "traceloop.association.properties.session_id"),
    *("traceloop.association.properties.thread_id", "traceloop.association.properties.conversation_id"),
    *("mlflow.trace.session", "langsmith.metadata.session_id", "langsmith.metadata.thread_id"),
)
TOKENS = (
    ("llm.token_count.total",),
    ("gen_ai.usage.total_tokens",),
    ("llm.usage.total_tokens",),
    ("llm.token_count.prompt", "llm.token_count.completion"),
    ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"),
    ("gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens"),
)
"""Attributes whose sum is all that a call of a model took; the first that are there."""
_HIT = "db.query.result"
"""The event that OpenLLMetry's vector stores write for every result."""


def describe_span(
    attributes: Mapping[str, Any], *, name: str, events: Sequence[Event] = ()
) -> dict[str, Any]:
    """What the attributes and events of a span say, as fields of `Span`."""
    kind = _kind(attributes, name, events)
    attributes = add_messages(attributes, events, tool=kind in {"tool", "search"}) if events else attributes
    held = {**to_object(attributes.get("metadata")), **attributes}
    facts: dict[str, Any] = {
        "kind": kind,
        "name": name,
        "session": _text(first_value(held, SESSIONS)),
        "system": _text(held.get("judged.system")),
        "task": _text(held.get("judged.task")),
    }
    if kind == "llm":
        return facts | _model(attributes)
    if kind == "other":
        return facts | {"question": find_question(first_value(attributes, INPUTS))}
    return facts | _tool(attributes, name, events)


def _kind(attributes: Mapping[str, Any], name: str, events: Sequence[Event]) -> SpanKind:
    if name.rpartition(".")[2].startswith("_prepare_"):  # LlamaIndex calls it a model, and none is called
        return "other"
    for each in KIND_NAMES:
        kind = KINDS.get(str(decode(attributes.get(each))).lower())
        if kind is not None:
            return kind
    if "gen_ai.tool.name" in attributes:
        return "tool"
    return "search" if _hits(events) else "other"


def _model(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The tool calls that a model asked for, its tokens, and what it was asked."""
    asks = next(filter(None, map(find_requests, _told(attributes, ANSWERS_LISTED, ANSWERS))), ())
    questions = map(find_question, _told(attributes, INPUTS_LISTED, INPUTS))
    sent = (*map(attributes.get, INPUTS), *(get_list(attributes, name) for name in INPUTS_LISTED))
    return {
        "calls": tuple(str(each.id) for each in asks),
        "asks": asks,
        "answers": next(filter(None, map(find_answers, sent)), {}),  # flattened, they do not say what failed
        "tokens": _tokens(attributes),
        "question": next(filter(None, questions), None),
    }


def _told(attributes: Mapping[str, Any], lists: tuple[str, ...], names: tuple[str, ...]) -> Iterator[Any]:
    """What stands under these names, those of flattened lists first."""
    yield from (get_list(attributes, name) for name in lists)
    yield from (attributes.get(name) for name in names)


def _tokens(attributes: Mapping[str, Any]) -> float | None:
    """All tokens of a call of a model, in and out."""
    found = add_counts(attributes, TOKENS)
    return count_tokens(attributes.get("mlflow.chat.tokenUsage")) if found is None else found


def _tool(attributes: Mapping[str, Any], name: str, events: Sequence[Event]) -> dict[str, Any]:
    """A tool's or retriever's name, what it was asked and what it gave back."""
    lists = filter(None, (get_list(attributes, "retrieval.documents"), _hits(events)))
    values = [decode(attributes[each]) for each in OUTPUTS if attributes.get(each) is not None]
    arguments = first_value(attributes, ARGUMENTS)
    outputs = map(unwrap_output, (*lists, *values))
    return {
        "name": str(first_value(attributes, TOOL_NAMES) or name.removeprefix("execute_tool ")),
        "arguments": unwrap_arguments(arguments),
        "outputs": tuple(each for each in outputs if each is not None),
        "call": _text(first_value(attributes, CALLS))
        or next(filter(None, map(find_call_id, (arguments, *values))), None),
    }


def _hits(events: Sequence[Event]) -> list[dict[str, Any]]:
    """The results that a vector store told in events, with the names of their fields cut short."""
    return [
        {name.removeprefix(f"{_HIT}."): decode(value) for name, value in each["attributes"].items()}
        for each in events
        if each["name"] == _HIT
    ]


def _text(value: Any) -> str | None:
    return None if value is None else str(decode(value))
