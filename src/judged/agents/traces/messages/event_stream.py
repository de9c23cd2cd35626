"""Event streams of Anthropic, OpenAI Responses and OpenAI chat (`data: {…}` lines, or an event per line) → whole responses."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

import msgspec

from judged.agents.tables import Session
from judged.agents.traces.context import ReadContext
from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.json_values import Json, JsonObject, get_object, get_str, list_objects
from judged.agents.traces.messages import anthropic, openai_chat, openai_responses
from judged.agents.traces.open import Trace

BEGIN, END = "message_start", "message_stop"


def recognises(head: Head) -> bool:
    """Recognise the lines of a stream, or events that begin one."""
    if head.text:
        return any(_is_event(event) for event in _parse_lines(head.text.encode().split(b"\n")))
    return any(map(_is_event, head.mappings))


def _is_event(value: Json) -> bool:
    kind = get_str(value, "type")
    streamed = kind.startswith("response.") and ("response" in value or "item" in value or "delta" in value)
    return (kind == BEGIN and "message" in value) or streamed or _is_chunk(value)


def _is_chunk(value: Json) -> bool:
    return get_str(value, "object") == "chat.completion.chunk"


def read(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """Yield the sessions of the responses that the events make."""
    events = [event for event in _events(trace) if isinstance(event, dict)]
    makers: tuple[tuple[Callable[[list[JsonObject]], Iterator[JsonObject]], TraceFormat], ...] = (
        (_make_responses, openai_responses.FORMAT),
        (_make_messages, anthropic.FORMAT),
        (_make_completions, openai_chat.FORMAT),
    )
    for make, written in makers:
        whole = list(make(events))
        if whole:
            lines = (msgspec.json.encode(response) for response in whole)
            yield from written.read(Trace(lines, label=trace.label, name=trace.name), context)


def _events(trace: Trace) -> Iterable[Json]:
    if trace.is_json:
        return (document.value for document in trace.documents())
    return _parse_lines(line for _, line in trace.lines())


def _parse_lines(lines: Iterable[bytes]) -> Iterator[Json]:
    """Yield the value of each `data:` line."""
    for line in lines:
        name, _, content = line.strip().partition(b":")
        if name == b"data":
            try:
                yield msgspec.json.decode(content)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue  # `[DONE]`, or a line that was cut


def _make_responses(events: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield the response of each stream of OpenAI Responses, from its last event, or else from its items."""
    items: list[Json] = []
    for event in events:
        kind = get_str(event, "type")
        if kind == "response.output_item.done":
            items.append(event.get("item"))
        elif kind in {"response.completed", "response.incomplete", "response.failed"}:
            response = get_object(event, "response")
            yield {**response, "object": "response", "output": response.get("output") or items}
            items = []
    if items:
        yield {"object": "response", "output": items}


def _make_messages(events: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield the message of each stream of Anthropic."""
    message: JsonObject = {}
    for event in events:
        kind = get_str(event, "type")
        if kind == BEGIN:
            message = {**get_object(event, "message"), "content": []}
        elif kind == "content_block_start" and message:
            message["content"].append(dict(get_object(event, "content_block")))
        elif kind == "content_block_delta" and message.get("content"):
            _extend_block(message["content"][-1], get_object(event, "delta"))
        elif kind == "message_delta" and message:
            message["usage"] = {**get_object(message, "usage"), **get_object(event, "usage")}
        elif kind == END and message:
            yield _finish_message(message)
            message = {}
    if message:
        yield _finish_message(message)


def _extend_block(block: JsonObject, delta: JsonObject) -> None:
    for name, value in delta.items():
        if name in {"text", "partial_json", "thinking"} and isinstance(value, str):
            block[name] = str(block.get(name) or "") + value


def _finish_message(message: JsonObject) -> JsonObject:
    for block in message["content"]:
        written = block.pop("partial_json", "")
        if written:
            try:
                block["input"] = json.loads(written)
            except ValueError:
                block["input"] = written
    return {"type": "message", "usage": {}, **message}


def _make_completions(events: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield the completion of each stream of OpenAI chat."""
    by_id: dict[Json, JsonObject] = {}
    for event in filter(_is_chunk, events):
        message = by_id.setdefault(event.get("id"), {"role": "assistant", "content": "", "tool_calls": []})
        for choice in list_objects(event.get("choices")):
            delta = get_object(choice, "delta")
            message["content"] += delta.get("content") or ""
            for call in list_objects(delta.get("tool_calls")):
                _extend_call(message["tool_calls"], call)
    for name, message in by_id.items():
        yield {"id": name, "choices": [{"message": message}]}


def _extend_call(calls: list[JsonObject], part: JsonObject) -> None:
    at = part.get("index", len(calls))
    while len(calls) <= at:
        calls.append({"function": {"name": "", "arguments": ""}})
    function = get_object(part, "function")
    calls[at]["id"] = calls[at].get("id") or part.get("id")
    for name in ("name", "arguments"):
        calls[at]["function"][name] += function.get(name) or ""


FORMAT = TraceFormat("event-stream", "event streams of Anthropic and OpenAI", recognises, read)
