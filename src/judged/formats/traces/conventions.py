"""What attributes of spans are called: OpenTelemetry GenAI, OpenInference, OpenLLMetry and MLflow side by side.

One span may carry several conventions, and any of them may come in any container, so each fact is looked up
under all its names. Read from: OpenTelemetry semantic-conventions-genai (gen-ai-spans, gen-ai-agent-spans),
OpenInference semantic conventions, OpenLLMetry's semconv-ai, MLflow's tracing schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judged.formats.traces.attributes import decoded, first, listed
from judged.formats.traces.payloads import arguments_of, asked, call_of, calls_of, documents_of, tokens_of
from judged.formats.traces.span import Kind

__all__ = ["described"]

KINDS: dict[str, tuple[str, ...]] = {
    "openinference.span.kind": ("LLM", "RETRIEVER", "TOOL"),
    "mlflow.spanType": ("LLM", "CHAT_MODEL", "RETRIEVER", "TOOL"),
    "gen_ai.operation.name": (
        *("chat", "text_completion", "generate_content", "response", "completion"),
        *("retrieval", "retrieve", "vector_db_retrieve", "execute_tool"),
    ),
    "traceloop.span.kind": ("tool",),
    "llm.request.type": ("chat", "completion"),
}
"""Attributes that tell what a span is, and those of their values that say one of our kinds."""

_SEARCHES = frozenset(("RETRIEVER", "retrieval", "retrieve", "vector_db_retrieve"))
_TOOLS = frozenset(("TOOL", "tool", "execute_tool"))

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
TOTALS = ("llm.token_count.total", "gen_ai.usage.total_tokens", "llm.usage.total_tokens")
PARTS = (
    ("llm.token_count.prompt", "llm.token_count.completion"),
    ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"),
    ("gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens"),
)
_HIT = "db.query.result"
"""The event that OpenLLMetry's vector stores write for every result."""


def described(attributes: Mapping[str, Any], *, name: str, events: Any = ()) -> dict[str, Any]:
    """What the attributes and events of a span say, as fields of `Span`."""
    kind = _kind(attributes, events)
    metadata = decoded(attributes.get("metadata"))
    held = {**metadata, **attributes} if isinstance(metadata, Mapping) else attributes
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


def _kind(attributes: Mapping[str, Any], events: Any) -> Kind:
    for name, known in KINDS.items():
        value = decoded(attributes.get(name))
        if value in known:
            return "search" if value in _SEARCHES else "tool" if value in _TOOLS else "llm"
    if "gen_ai.tool.name" in attributes:
        return "tool"
    return "search" if _hits(events) else "other"


def _model(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The tool calls that a model asked for, its tokens, and what it was asked."""
    answers = [listed(attributes, name) for name in ANSWERS_LISTED]
    answers += [attributes.get(name) for name in ANSWERS]
    questions = [listed(attributes, name) for name in INPUTS_LISTED]
    questions += [attributes.get(name) for name in INPUTS]
    return {
        "calls": next((found for each in answers if (found := calls_of(each))), ()),
        "tokens": _tokens(attributes),
        "question": next((found for each in questions if (found := asked(each))), None),
    }


def _tokens(attributes: Mapping[str, Any]) -> float | None:
    """All tokens of a call of a model, in and out."""
    parts = next((found for names in PARTS if (found := _sum(attributes, names)) is not None), None)
    total = first(attributes, TOTALS)
    if isinstance(total, (int, float)):
        return float(total)
    return parts if parts is not None else tokens_of(attributes.get("mlflow.chat.tokenUsage"))


def _sum(attributes: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    found = [value for name in names if isinstance(value := attributes.get(name), (int, float))]
    return float(sum(found)) if found else None


def _tool(attributes: Mapping[str, Any], name: str, events: Any) -> dict[str, Any]:
    """A tool's or retriever's name, what it was asked and what it gave back."""
    values = [attributes[each] for each in OUTPUTS if attributes.get(each) is not None]
    lists = [listed(attributes, "retrieval.documents"), _hits(events)]
    arguments = first(attributes, ARGUMENTS)
    call = next((found for each in (arguments, *values) if (found := call_of(each))), None)
    return {
        "name": str(decoded(first(attributes, TOOL_NAMES)) or name.removeprefix("execute_tool ")),
        "arguments": arguments_of(arguments),
        "outputs": tuple(documents_of(each) for each in (*(each for each in lists if each), *values)),
        "call": _text(first(attributes, CALLS)) or call,
    }


def _hits(events: Any) -> list[Any]:
    """The results that a vector store told in events, with the names of their fields cut short."""
    found = (each for each in events or () if isinstance(each, Mapping) and each.get("name") == _HIT)
    return [
        {
            key.removeprefix(f"{_HIT}."): decoded(value)
            for key, value in (each.get("attributes") or {}).items()
        }
        for each in found
    ]


def _text(value: Any) -> str | None:
    return None if value is None else str(decoded(value))
