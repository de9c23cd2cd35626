"""Event streams (`data: {…}` lines, or an event per line) → whole responses.

Of Anthropic, OpenAI Responses, OpenAI chat and what follows its form (Groq, OpenRouter, Perplexity), Gemini and its
interactions, OpenAI Assistants, and Dify.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

import msgspec

from judged.agents.tables import Session
from judged.agents.traces.context import ReadContext
from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.frameworks import google, interactions, perplexity
from judged.agents.traces.json_values import Json, JsonObject, get_object, get_str, list_objects
from judged.agents.traces.messages import anthropic, openai_chat, openai_responses
from judged.agents.traces.open import Trace
from judged.agents.traces.services import assistants, dify

LAST_EVENTS = 500
"""Number of events in which fields that no reader took are looked for, if nothing searched."""
BEGIN, END = "message_start", "message_stop"


def recognises(head: Head) -> bool:
    """Recognise the lines of a stream, or events that begin one."""
    if head.text:
        events = _parse_lines(head.text.encode().split(b"\n"))
        return any(_is_event(event) or _is_part(event) for event in events)
    return any(map(_is_event, head.mappings))


def _is_event(value: Json) -> bool:
    kind = get_str(value, "type")
    streamed = kind.startswith("response.") and ("response" in value or "item" in value or "delta" in value)
    begun = kind == BEGIN and "message" in value
    others = interactions.is_event(value) or dify.is_event(value)
    return begun or streamed or _is_chunk(value) or others or get_str(value, "object") == assistants.STEP


def _is_chunk(value: Json) -> bool:
    return get_str(value, "object") in {"chat.completion.chunk", "chat.completion.done"}


def _is_part(value: Json) -> bool:
    return isinstance(value, dict) and bool(list_objects(value.get("candidates"))) and "request" not in value


def read(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """Yield the sessions of the responses that the events make."""
    events = [event for event in _events(trace) if isinstance(event, dict)]
    # the last events sum up a response: what was searched, used and cited
    context.begins = tuple(reversed(events[-LAST_EVENTS:]))
    makers: tuple[tuple[Callable[[list[JsonObject]], Iterator[JsonObject]], TraceFormat], ...] = (
        (_make_responses, openai_responses.FORMAT),
        (_make_messages, anthropic.FORMAT),
        (_make_completions, openai_chat.FORMAT),
        (_make_grounded, perplexity.FORMAT),
        (google.join_parts, google.FORMAT),
        (interactions.join_events, interactions.FORMAT),
        (dify.join_events, dify.FORMAT),
        (_find_steps, assistants.FORMAT),
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


def _find_steps(events: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield the events of OpenAI Assistants that hold a step or a message, the last of each being whole."""
    return (event for event in events if get_str(event, "object") in {assistants.STEP, assistants.MESSAGE})


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
    return (completion for completion in _join_chunks(events) if not _is_grounded(completion))


def _make_grounded(events: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield the completion of each stream of Perplexity."""
    return filter(_is_grounded, _join_chunks(events))


def _is_grounded(completion: JsonObject) -> bool:
    return "search_results" in completion or "citations" in completion


def _join_chunks(events: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield the completions that chunks make: those of one id, or, where every chunk has its own, up to the last one."""
    chunks = list(filter(_is_chunk, events))
    names = {str(event.get("id")) for event in chunks}
    own = len(names) * 2 > len(chunks) > 2  # Groq's
    completions: dict[str, JsonObject] = {}
    number, ended = 0, False
    for event in chunks:
        choices = list_objects(event.get("choices"))
        number += ended and bool(choices)
        completion = completions.setdefault(str(number if own else event.get("id")), {"id": event.get("id")})
        for name in ("model", "usage", "citations", "search_results"):
            if event.get(name):
                completion[name] = event[name]
        message = completion.setdefault(
            "message", {"role": "assistant", "content": "", "tool_calls": [], "annotations": []}
        )
        for choice in choices:
            _extend_message(message, get_object(choice, "delta"))
        ended = any(choice.get("finish_reason") for choice in choices)
    for completion in completions.values():
        yield {**completion, "choices": [{"message": completion.pop("message")}]}


def _extend_message(message: JsonObject, delta: JsonObject) -> None:
    message["content"] += get_str(delta, "content")
    message["annotations"] += list_objects(delta.get("annotations"))
    for call in list_objects(delta.get("tool_calls")):
        _extend_call(message["tool_calls"], call)
    executed = {str(tool.get("index")): tool for tool in message.get("executed_tools", ())}
    executed.update((str(tool.get("index")), tool) for tool in list_objects(delta.get("executed_tools")))
    if executed:  # each is there when it begins, and again with its output
        message["executed_tools"] = list(executed.values())


def _extend_call(calls: list[JsonObject], part: JsonObject) -> None:
    at = part.get("index", len(calls))
    while len(calls) <= at:
        calls.append({"function": {"name": "", "arguments": ""}})
    function = get_object(part, "function")
    calls[at]["id"] = calls[at].get("id") or part.get("id")
    for name in ("name", "arguments"):
        calls[at]["function"][name] += function.get(name) or ""


FORMAT = TraceFormat("event-stream", "event streams of models", recognises, read)
