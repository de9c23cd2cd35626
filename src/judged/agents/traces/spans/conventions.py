"""The names of span attributes: OpenTelemetry GenAI, OpenInference, OpenLLMetry and MLflow side by side.

A span may carry several conventions, and any of them may come in any container, so every fact is looked up
under all its names. Read from: OpenTelemetry semantic-conventions-genai (gen-ai-spans, gen-ai-agent-spans),
OpenInference semantic conventions, OpenLLMetry's semconv-ai, MLflow's tracing schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from judged.agents.traces.json_values import Json, JsonObject, add_counts
from judged.agents.traces.messages.messages import to_amount
from judged.agents.traces.spans import monocle
from judged.agents.traces.spans.attributes import decode, first_value, get_list, to_object
from judged.agents.traces.spans.final import find_answer
from judged.agents.traces.spans.haystack import read_steps
from judged.agents.traces.spans.payloads import (
    extract_text,
    find_answers,
    find_call_id,
    find_call_ids,
    find_cited,
    find_question,
    find_requests,
    unwrap_arguments,
    unwrap_output,
)
from judged.agents.traces.spans.span import SpanKind

_CHOICE = "gen_ai.choice"


def add_messages(
    attributes: Mapping[str, Json], events: Sequence[Mapping[str, Json]], *, tool: bool
) -> Mapping[str, Json]:
    """Return the attributes of a span, with the messages of its events added as attributes."""
    sent = [event for event in events if _role(event)]
    given = [item["attributes"].get("message") for item in events if item["name"] == _CHOICE]
    if not sent and not given:
        return attributes
    if not tool:
        messages = [{"role": _role(entry), **_decode_attributes(entry)} for entry in sent]
        return {
            "gen_ai.input.messages": messages,
            "gen_ai.output.messages": list(map(decode, given)),
            **attributes,
        }
    added: JsonObject = {}
    if sent:
        added["gen_ai.tool.call.arguments"] = sent[0]["attributes"].get("content")
    if given:
        added["gen_ai.tool.call.result"] = _decode_output(given[-1])
    return {**added, **attributes}


def _role(event: Mapping[str, Json]) -> str | None:
    """Return who sent the message that an event holds: `gen_ai.user.message`."""
    name = str(event["name"])
    return (
        name[len("gen_ai.") : -len(".message")]
        if name.startswith("gen_ai.") and name.endswith(".message")
        else None
    )


def _decode_attributes(event: Mapping[str, Json]) -> JsonObject:
    return {name: decode(value) for name, value in event["attributes"].items()}


def _decode_output(message: Json) -> Json:
    """Return what a tool returned, from blocks of text or JSON."""
    blocks = decode(message)
    if not isinstance(blocks, list) or not all(to_object(item).keys() <= {"text", "json"} for item in blocks):
        return blocks
    held = next((block["json"] for block in map(to_object, blocks) if "json" in block), None)
    return extract_text(blocks) if held is None else held


Event: TypeAlias = Mapping[str, Json]
"""An event within a span: its `name` and its `attributes`."""

KINDS: dict[str, SpanKind] = {
    **dict.fromkeys(
        ("llm", "chat_model", "chat", "text_completion", "completion", "generate_content"), "llm"
    ),
    **dict.fromkeys(("retriever", "retrieval", "retrieve", "vector_db_retrieve"), "search"),
    **dict.fromkeys(("tool", "execute_tool", "ai.toolcall"), "tool"),
    **dict.fromkeys(
        ("ai.generatetext.dogenerate", "ai.streamtext.dostream", "ai.generateobject.dogenerate"), "llm"
    ),
}
"""The names of our kinds of spans, in lower case."""
KIND_NAMES = (
    *("openinference.span.kind", "mlflow.spanType", "gen_ai.operation.name", "traceloop.span.kind"),
    *("llm.request.type", "ai.operationId"),
)
"""Attributes that name the kind of a span; the first that names one of ours counts."""
TOOL_NAMES = (
    "gen_ai.tool.name",
    "tool.name",
    "ai.toolCall.name",
    "gen_ai.data_source.id",
    "traceloop.entity.name",
)
ARGUMENTS = (
    *("gen_ai.retrieval.query.text", "gen_ai.tool.call.arguments", "traceloop.entity.input"),
    *("input.value", "mlflow.spanInputs", "tool.parameters", "tool_arguments", "ai.toolCall.args"),
)
OUTPUTS = (
    *("gen_ai.retrieval.documents", "gen_ai.tool.call.result", "traceloop.entity.output"),
    *("output.value", "mlflow.spanOutputs", "tool_response", "ai.toolCall.result"),
)
CALLS = ("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id")
ANSWERS = (
    "gen_ai.output.messages",
    "output.value",
    "traceloop.entity.output",
    "mlflow.spanOutputs",
    "ai.response.text",
)
ANSWERS_LISTED = ("llm.output_messages", "gen_ai.completion")
INPUTS = (
    *("input.value", "traceloop.entity.input", "mlflow.spanInputs", "gen_ai.input.messages"),
    *("ai.prompt.messages", "ai.prompt"),
)
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
"""Attributes whose sum is the tokens of a model call; the first group present counts."""
COSTS = ("llm.cost.total", "gen_ai.usage.cost", "gen_ai.usage.total_cost", "operation.cost")
"""Attributes that hold the money that a model call took."""
_HIT = "db.query.result"
"""The event that OpenLLMetry's vector stores write for every result."""


def describe_span(
    attributes: Mapping[str, Json], *, name: str, events: Sequence[Event] = (), root: bool = False
) -> JsonObject:
    """Return the fields of `Span` that the attributes and events of a span give; `root` is one without a parent."""
    if f"{monocle.MARK}version" in attributes:
        attributes, events = monocle.translate(attributes, events), ()
    kind = _find_kind(attributes, name, events)
    attributes = add_messages(attributes, events, tool=kind in {"tool", "search"}) if events else attributes
    held = {**to_object(attributes.get("metadata")), **attributes}
    facts: JsonObject = {
        "kind": kind,
        "name": name,
        "session": _to_text(first_value(held, SESSIONS)),
        "system": _to_text(held.get("judged.system")),
        "task": _to_text(held.get("judged.task")),
    }
    if kind == "llm":
        is_agent = name.startswith("invoke_agent")
        sent = _find_sent(attributes) if is_agent else ()
        return facts | _describe_model(attributes, is_agent=is_agent) | {"sent": sent}
    if kind == "other":
        steps = read_steps(attributes.get("output.value"))
        question = find_question(first_value(attributes, INPUTS))
        # only what the program itself returned is read, since chains repeat what is in them
        return facts | {
            "question": question,
            "steps": steps,
            "answer": _find_answer(attributes) if root or steps else None,
        }
    return facts | _describe_tool(attributes, name, events)


def _find_kind(attributes: Mapping[str, Json], name: str, events: Sequence[Event]) -> SpanKind:
    if name.rpartition(".")[2].startswith("_prepare_"):  # LlamaIndex calls it a model, and none is called
        return "other"
    if attributes.get("gen_ai.tool.name") == "(merged tools)":  # Google ADK's record of parallel calls
        return "other"
    for item in KIND_NAMES:
        kind = KINDS.get(str(decode(attributes.get(item))).lower())
        if kind is not None:
            return kind
    if "gen_ai.tool.name" in attributes:
        return "tool"
    return "search" if _find_hits(events) else "other"


def _find_answer(attributes: Mapping[str, Json], *, is_agent: bool = False) -> str | None:
    """Return what a model or a program returned; the message of an agent may have the calls of an earlier one."""
    returned = _values_under(attributes, ANSWERS_LISTED, ANSWERS)
    if is_agent:
        returned = (
            [{**to_object(to_object(item).get("message")), "tool_calls": None} for item in messages]
            if isinstance(messages := decode(value), list)
            else value
            for value in returned
        )
    return next((answer for value in returned if (answer := find_answer(value))), None)


def _describe_model(attributes: Mapping[str, Json], *, is_agent: bool) -> JsonObject:
    """Return the tool calls that a model requested, its answer and tokens, and the question."""
    answers = partial(_values_under, attributes, ANSWERS_LISTED, ANSWERS)
    asks = next(filter(None, map(find_requests, answers())), ())
    questions = map(find_question, _values_under(attributes, INPUTS_LISTED, INPUTS))
    sent = (*map(attributes.get, INPUTS), *(get_list(attributes, name) for name in INPUTS_LISTED))
    return {
        "calls": tuple(str(item.id) for item in asks),
        "asks": asks,
        "answers": next(filter(None, map(find_answers, sent)), {}),  # flattened, they do not say what failed
        "cited": () if asks else next(filter(None, map(find_cited, answers())), ()),
        "answer": _find_answer(attributes, is_agent=is_agent),
        "tokens": _count_tokens(attributes),
        "cost": next((cost for name in COSTS if (cost := to_amount(attributes.get(name))) is not None), None),
        "question": next(filter(None, questions), None),
    }


def _find_sent(attributes: Mapping[str, Json]) -> tuple[tuple[str, ...], ...]:
    """Return the ids of the calls in each message that was sent to a model."""
    groups = (find_call_ids(message) for message in get_list(attributes, "llm.input_messages"))
    return tuple(group for group in groups if group)


def _values_under(
    attributes: Mapping[str, Json], lists: tuple[str, ...], names: tuple[str, ...]
) -> Iterator[Json]:
    """Yield the values under these names, flattened lists first."""
    yield from (get_list(attributes, name) for name in lists)
    yield from (attributes.get(name) for name in names)


def _count_tokens(attributes: Mapping[str, Json]) -> float | None:
    """Return all tokens of a call of a model, in and out."""
    tokens = add_counts(attributes, TOKENS)
    return add_counts(to_object(attributes.get("mlflow.chat.tokenUsage"))) if tokens is None else tokens


def _describe_tool(attributes: Mapping[str, Json], name: str, events: Sequence[Event]) -> JsonObject:
    """Return the name, arguments and outputs of a tool or retriever."""
    lists = filter(None, (get_list(attributes, "retrieval.documents"), _find_hits(events)))
    values = [decode(attributes[output]) for output in OUTPUTS if attributes.get(output) is not None]
    arguments = first_value(attributes, ARGUMENTS)
    outputs = map(unwrap_output, (*lists, *values))
    return {
        "name": str(first_value(attributes, TOOL_NAMES) or name.removeprefix("execute_tool ")),
        "arguments": unwrap_arguments(arguments),
        "outputs": tuple(item for item in outputs if item is not None),
        "call": _to_text(first_value(attributes, CALLS))
        or next(filter(None, map(find_call_id, (arguments, *values))), None),
    }


def _find_hits(events: Sequence[Event]) -> list[JsonObject]:
    """Return the results in the events of a vector store, without the prefix of field names."""
    return [
        {name.removeprefix(f"{_HIT}."): decode(value) for name, value in event["attributes"].items()}
        for event in events
        if event["name"] == _HIT
    ]


def _to_text(value: Json) -> str | None:
    return None if value is None else str(decode(value))
