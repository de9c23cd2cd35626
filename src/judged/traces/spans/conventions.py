"""What attributes of spans are called: OpenTelemetry GenAI, OpenInference, OpenLLMetry and MLflow side by side.

One span may carry several conventions, and any of them may come in any container, so each fact is looked up
under all its names. Read from: OpenTelemetry semantic-conventions-genai (gen-ai-spans, gen-ai-agent-spans),
OpenInference semantic conventions, OpenLLMetry's semconv-ai, MLflow's tracing schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from judged.traces.spans.attributes import decoded, first, listed, mapping
from judged.traces.spans.message_events import with_messages
from judged.traces.spans.payloads import (
    added,
    arguments_of,
    asked,
    call_of,
    documents_of,
    tokens_of,
)
from judged.traces.spans.span import Kind
from judged.traces.spans.tool_messages import answers_of, asks_of

__all__ = ["Event", "described"]

Event: TypeAlias = Mapping[str, Any]
"""An event within a span: its `name` and its `attributes`."""

KINDS: dict[str, Kind] = {
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


def described(attributes: Mapping[str, Any], *, name: str, events: Sequence[Event] = ()) -> dict[str, Any]:
    """What the attributes and events of a span say, as fields of `Span`."""
    kind = _kind(attributes, name, events)
    attributes = with_messages(attributes, events, tool=kind in {"tool", "search"}) if events else attributes
    held = {**mapping(attributes.get("metadata")), **attributes}
    facts: dict[str, Any] = {
        "kind": kind,
        "name": name,
        "session": _text(first(held, SESSIONS)),
        "system": _text(held.get("judged.system")),
        "task": _text(held.get("judged.task")),
    }
    if kind == "llm":
        return facts | _model(attributes)
    if kind == "other":
        return facts | {"question": asked(first(attributes, INPUTS))}
    return facts | _tool(attributes, name, events)


def _kind(attributes: Mapping[str, Any], name: str, events: Sequence[Event]) -> Kind:
    if name.rpartition(".")[2].startswith("_prepare_"):  # LlamaIndex calls it a model, and none is called
        return "other"
    for each in KIND_NAMES:
        kind = KINDS.get(str(decoded(attributes.get(each))).lower())
        if kind is not None:
            return kind
    if "gen_ai.tool.name" in attributes:
        return "tool"
    return "search" if _hits(events) else "other"


def _model(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The tool calls that a model asked for, its tokens, and what it was asked."""
    asks = next(filter(None, map(asks_of, _told(attributes, ANSWERS_LISTED, ANSWERS))), ())
    questions = map(asked, _told(attributes, INPUTS_LISTED, INPUTS))
    sent = (*map(attributes.get, INPUTS), *(listed(attributes, name) for name in INPUTS_LISTED))
    return {
        "calls": tuple(str(each.id) for each in asks),
        "asks": asks,
        "answers": next(filter(None, map(answers_of, sent)), {}),  # flattened, they do not say what failed
        "tokens": _tokens(attributes),
        "question": next(filter(None, questions), None),
    }


def _told(attributes: Mapping[str, Any], lists: tuple[str, ...], names: tuple[str, ...]) -> Iterator[Any]:
    """What stands under these names, those of flattened lists first."""
    yield from (listed(attributes, name) for name in lists)
    yield from (attributes.get(name) for name in names)


def _tokens(attributes: Mapping[str, Any]) -> float | None:
    """All tokens of a call of a model, in and out."""
    found = added(attributes, TOKENS)
    return tokens_of(attributes.get("mlflow.chat.tokenUsage")) if found is None else found


def _tool(attributes: Mapping[str, Any], name: str, events: Sequence[Event]) -> dict[str, Any]:
    """A tool's or retriever's name, what it was asked and what it gave back."""
    lists = filter(None, (listed(attributes, "retrieval.documents"), _hits(events)))
    values = [decoded(attributes[each]) for each in OUTPUTS if attributes.get(each) is not None]
    arguments = first(attributes, ARGUMENTS)
    outputs = map(documents_of, (*lists, *values))
    return {
        "name": str(first(attributes, TOOL_NAMES) or name.removeprefix("execute_tool ")),
        "arguments": arguments_of(arguments),
        "outputs": tuple(each for each in outputs if each is not None),
        "call": _text(first(attributes, CALLS))
        or next(filter(None, map(call_of, (arguments, *values))), None),
    }


def _hits(events: Sequence[Event]) -> list[dict[str, Any]]:
    """The results that a vector store told in events, with the names of their fields cut short."""
    return [
        {name.removeprefix(f"{_HIT}."): decoded(value) for name, value in each["attributes"].items()}
        for each in events
        if each["name"] == _HIT
    ]


def _text(value: Any) -> str | None:
    return None if value is None else str(decoded(value))
