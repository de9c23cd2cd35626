"""Dify: messages of a conversation, responses and streams of chats, with their knowledge and the steps of agents.

Read as the API reference describes them (`/messages`, `/chat-messages`).
"""

from __future__ import annotations

from collections.abc import Iterator

from judged.agents.traces.frameworks.translation import make_call, make_format, make_output
from judged.agents.traces.json_values import (
    Json,
    JsonObject,
    first_text,
    get_body,
    get_number,
    get_object,
    get_str,
    list_objects,
)
from judged.agents.traces.messages.messages import Messages
from judged.agents.traces.results.outputs import parse_text

DATASET = "dataset_"
"""Prefix of the names of tools that search a knowledge base."""
KNOWLEDGE = "knowledge_retrieval"
"""Name of a search of a knowledge base, by an agent or before the model answers."""


def translate(value: Json) -> list[Messages] | None:
    """Return the conversations of a page or list of messages, or of a response."""
    rows = list(_rows(value))
    if not any(map(_is_row, rows)):
        return None
    chats: dict[str, list[JsonObject]] = {}
    for row in rows:
        chats.setdefault(first_text(row, ("conversation_id",)) or "", []).append(row)
    ordered = (sorted(chat, key=lambda row: get_number(row, "created_at")) for chat in chats.values())
    return [[message for row in chat for message in _translate_row(row)] for chat in ordered]


def _describe(value: Json) -> Json:
    """Return what names a conversation."""
    if isinstance(value, list):
        return next(filter(None, map(_describe, value)), {})
    rows = list(_rows(value))
    name = first_text(rows[0], ("conversation_id",)) if rows else None
    return {"conversation_id": name} if name else {}


def _rows(value: Json) -> Iterator[JsonObject]:
    """Yield the messages of a page; the answer of a response, with the question of its request."""
    if isinstance(value, list):
        for item in value:
            yield from _rows(item)
    elif isinstance(value, dict) and isinstance(value.get("data"), list):
        yield from list_objects(value["data"])
    elif isinstance(value, dict):
        asked, answered = get_body(value, "request"), get_body(value, "response") or value
        yield {"query": asked.get("query"), **answered}


def _is_row(row: JsonObject) -> bool:
    return "answer" in row and bool(_knowledge(row) or list_objects(row.get("agent_thoughts")))


def _knowledge(row: JsonObject) -> list[JsonObject]:
    return list_objects(row.get("retriever_resources")) or list_objects(
        get_object(row, "metadata").get("retriever_resources")
    )


def _translate_row(row: JsonObject) -> Iterator[JsonObject]:
    """Yield a question, the steps of the agent with their outputs, and the answer."""
    resources, usage = _knowledge(row), get_object(get_object(row, "metadata"), "usage")
    yield {"role": "user", "content": str(row.get("query") or ""), "timestamp": row.get("created_at")}
    thoughts = sorted(list_objects(row.get("agent_thoughts")), key=lambda step: get_number(step, "position"))
    steps = [step for step in thoughts if get_str(step, "tool")]
    searched = False
    for step in steps:
        tools = step["tool"].split(";")
        searched = searched or any(tool.startswith(DATASET) for tool in tools)
        inputs, outputs = parse_text(get_str(step, "tool_input")), parse_text(get_str(step, "observation"))
        calls = [
            make_call(KNOWLEDGE if tool.startswith(DATASET) else tool, _pick(inputs, tool), tool)
            for tool in tools
        ]
        tokens = step.get("tokens")
        yield {
            "role": "assistant",
            "content": "",
            "tool_calls": calls,
            "usage": {"total_tokens": tokens} if tokens else usage if len(steps) == 1 else {},
        }
        for tool in tools:
            found = [_read_resource(item) for item in resources if _holds(tool, item)]
            yield make_output(found or _pick(outputs, tool), identity=tool)
    if resources and not searched:
        yield {
            "role": "assistant",
            "content": "",
            "tool_calls": [make_call(KNOWLEDGE, {"query": row.get("query")}, KNOWLEDGE)],
            "usage": {} if steps else usage,
        }
        yield make_output([_read_resource(item) for item in resources], identity=KNOWLEDGE)
    yield {"role": "assistant", "content": str(row.get("answer") or "")}


def _holds(tool: str, resource: JsonObject) -> bool:
    """Return whether a tool searches the knowledge base that a result is from."""
    identity = str(resource.get("dataset_id") or "").replace("-", "_")
    return tool.startswith(DATASET) and tool.removeprefix(DATASET).replace("-", "_") == identity


def _pick(value: Json, tool: str) -> Json:
    """Return the part of the input or output of a step that is of one tool."""
    return value[tool] if isinstance(value, dict) and tool in value else value


def _read_resource(resource: JsonObject) -> JsonObject:
    """Return a result: a segment of a document."""
    names = {"segment_id": "id", "document_name": "title", "content": "snippet", "score": "score"}
    return {field: resource[name] for name, field in names.items() if resource.get(name) is not None}


EVENTS = frozenset(("message_end", "agent_thought", "agent_message", "message"))


def is_event(value: Json) -> bool:
    """Return whether a value is an event of the stream of a chat."""
    # a response that is not a stream is an event `message` with the metadata in it
    return get_str(value, "event") in EVENTS and (value["event"] == "message_end" or "metadata" not in value)


def join_events(events: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield the message that the events of each stream make; each step is there several times, the last one whole."""
    rows: dict[str, JsonObject] = {}
    for event in filter(is_event, events):
        name = str(event.get("message_id", event.get("id")))
        row = rows.setdefault(name, {"answer": "", "agent_thoughts": []})
        kind = get_str(event, "event")
        for field in ("conversation_id", "created_at"):
            row.setdefault(field, event.get(field))
        if kind in {"message", "agent_message"}:
            row["answer"] += get_str(event, "answer")
        elif kind == "agent_thought":
            others = [step for step in row["agent_thoughts"] if step.get("id") != event.get("id")]
            row["agent_thoughts"] = [*others, event]
        else:
            row["metadata"] = get_object(event, "metadata")
    yield from rows.values()


def _is_part(value: Json) -> bool:
    """Return whether a document is a message of a conversation."""
    return isinstance(value, dict) and "answer" in value and "conversation_id" in value


FORMAT = make_format("dify", "messages of Dify", translate, is_part=_is_part, describe=_describe)
