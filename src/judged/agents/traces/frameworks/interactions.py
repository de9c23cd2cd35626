"""Interactions of Gemini: responses with `steps` (or `outputs`, as before 2026), chained by `previous_interaction_id`.

Read as the API reference and the types of google-genai 2 describe them, and in streams of events.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from judged.agents.tables import Session
from judged.agents.traces.assemble import to_sessions
from judged.agents.traces.context import ReadContext
from judged.agents.traces.conversation import Conversation
from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.frameworks.translation import make_call, make_output
from judged.agents.traces.json_values import (
    Json,
    JsonObject,
    first_text,
    get_body,
    get_object,
    get_str,
    list_objects,
)
from judged.agents.traces.messages.messages import Messages, join_text, to_conversation
from judged.agents.traces.messages.openai_chat import record_messages
from judged.agents.traces.open import Document, Trace

SAID = ("model_output", "text")
"""Types of a step that answers."""
RUN_BY_GEMINI = {"google_search": "google_search", "file_search": "file_search", "google_maps": "google_maps"}
OPENED = {"url_context": "fetch_url", "code_execution": "code_execution"}


def recognises(head: Head) -> bool:
    """Recognise an interaction, alone or as the response to a request."""
    return any(map(_is_interaction, head.mappings))


def read(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """Yield a session for each interaction, or chain of them."""
    return to_sessions(_conversations(trace, context), context)


def _is_interaction(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    response = get_body(value, "response") or value
    steps = _steps(response)
    return get_str(response, "object") == "interaction" or any(
        get_str(step, "type") in {"google_search_call", "google_search_result", "file_search_call"}
        for step in steps
    )


def _steps(response: JsonObject) -> list[JsonObject]:
    return list_objects(response.get("steps")) or list_objects(response.get("outputs"))


def _conversations(trace: Trace, context: ReadContext) -> Iterator[Conversation]:
    chains: dict[str, tuple[Document, Messages]] = {}
    ends: dict[str, str] = {}
    """The chain that an interaction is the last one of."""
    for document in trace.documents():
        if not _is_interaction(document.value):
            context.report("malformed-session", document.place, "holds no interaction")
            context.settle()
            continue
        request = get_body(document.value, "request") or document.value
        response = get_body(document.value, "response") or document.value
        before = first_text(request, ("previous_interaction_id",)) or first_text(
            response, ("previous_interaction_id",)
        )
        own = first_text(response, ("id",)) or document.name
        name = ends.get(before or "", own)
        ends[own] = name
        value = {"conversation_id": name, "model": response.get("model") or response.get("agent")}
        _, messages = chains.setdefault(name, (Document(document.place, value, document.name), []))
        messages += [*_translate_input(request.get("input")), *_translate_response(response)]
    for document, messages in chains.values():
        yield to_conversation(document, messages, context, record_messages)


def _translate_input(given: Json) -> Iterator[JsonObject]:
    """Yield what the user wrote and what functions returned."""
    if isinstance(given, str):
        yield {"role": "user", "content": given}
    for item in list_objects([given] if isinstance(given, dict) else given):
        content = item.get("content", item.get("parts"))
        if get_str(item, "type") == "function_result":
            yield make_output(
                item.get("result"), identity=item.get("call_id"), failed=bool(item.get("is_error"))
            )
        elif isinstance(content, list) and any("call_id" in part for part in list_objects(content)):
            yield from _translate_input(content)
        elif get_str(item, "role") in {"", "user"} and get_str(item, "type") in {"", "text", "user_input"}:
            yield {"role": "user", "content": item.get("text") or join_text(content)}


def _translate_response(response: JsonObject) -> Iterator[JsonObject]:
    """Yield the calls and outputs of an interaction, then what it says: searches are listed after their answer."""
    said: list[JsonObject] = []
    calls: list[JsonObject] = []
    outputs: list[JsonObject] = []
    for step in _steps(response):
        kind = get_str(step, "type")
        if kind.endswith("_call"):
            calls.append(_make_call(step, kind.removesuffix("_call")))
        elif kind.endswith("_result"):
            found, failed = _find_results(step.get("result")), bool(step.get("is_error"))
            if found is not None:
                outputs.append(make_output(found, identity=step.get("call_id"), failed=failed))
        elif kind == "user_input":
            yield from _translate_input(step)
        elif kind in SAID:
            blocks = step.get("content") if isinstance(step.get("content"), list) else [step]
            said += list_objects(blocks)
    usage = get_object(response, "usage")
    if calls:
        yield {"role": "assistant", "content": "", "tool_calls": calls, "usage": usage}
        yield from outputs
    if said:
        yield {"role": "assistant", "content": said, **({} if calls else {"usage": usage})}


def _make_call(step: JsonObject, kind: str) -> JsonObject:
    tool = (
        step.get("name")
        if kind in {"function", "mcp_server_tool"}
        else RUN_BY_GEMINI.get(kind, OPENED.get(kind, kind))
    )
    return make_call(tool, step.get("arguments"), step.get("id"))


def _find_results(result: Json) -> Json:
    """Return what a step found; None for suggestions of searches alone, which Google returns in place of pages."""
    found = list_objects(result)
    if found and all(item.keys() <= {"search_suggestions", "rendered_content"} for item in found):
        return None
    return result


def is_event(value: Json) -> bool:
    """Return whether a value is an event of the stream of an interaction."""
    return get_str(value, "event_type").startswith(("interaction.", "step.", "content."))


def join_events(events: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield the interaction that each stream of events makes."""
    steps: dict[str, JsonObject] = {}
    interaction: JsonObject = {}
    for event in filter(is_event, events):
        kind, at = get_str(event, "event_type"), str(event.get("index"))
        interaction = {**interaction, **get_object(event, "interaction")}
        if kind in {"step.start", "content.start"}:
            steps[at] = dict(get_object(event, "step") or get_object(event, "content"))
        elif kind in {"step.delta", "content.delta"}:
            _extend_step(steps.setdefault(at, {}), get_object(event, "delta"))
        elif kind in {"interaction.completed", "interaction.complete"}:
            yield {
                "object": "interaction",
                **interaction,
                "steps": [_finish_step(step) for step in steps.values()],
            }
            steps, interaction = {}, {}
    if steps:
        yield {
            "object": "interaction",
            **interaction,
            "steps": [_finish_step(step) for step in steps.values()],
        }


def _extend_step(step: JsonObject, delta: JsonObject) -> None:
    if isinstance(text := delta.get("text"), str):
        step["_text"] = step.get("_text", "") + text
    step.setdefault("_annotations", []).extend(list_objects(delta.get("annotations")))
    if isinstance(written := delta.get("arguments"), str):
        step["_arguments"] = step.get("_arguments", "") + written
    elif written is not None:
        step["arguments"] = written
    if "result" in delta:
        step["result"], step["is_error"] = delta["result"], delta.get("is_error")


def _finish_step(step: JsonObject) -> JsonObject:
    text, notes, written = step.pop("_text", ""), step.pop("_annotations", []), step.pop("_arguments", "")
    if written:
        try:
            step["arguments"] = msgspec.json.decode(written)
        except msgspec.DecodeError:
            step["arguments"] = written
    if text or notes:
        step["content"] = [{"type": "text", "text": text, "annotations": notes}]
    return step


FORMAT = TraceFormat("gemini-interactions", "interactions of Gemini", recognises, read)
