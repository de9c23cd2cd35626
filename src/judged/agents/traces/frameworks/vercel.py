"""The AI SDK of Vercel: messages of a model (`response.messages`), and those of a user interface (`useChat`).

Recorded with `ai` 6; the forms of `ai` 4 (`args`, `result`, `toolInvocation`) are read as its reference describes them. Spans
of the SDK (`ai.toolCall`) are read as OpenTelemetry.
"""

from __future__ import annotations

from collections.abc import Iterator

from judged.agents.traces.frameworks.translation import make_call, make_format, make_output
from judged.agents.traces.json_values import Json, JsonObject, get_object, get_str, list_objects
from judged.agents.traces.messages.messages import Messages, join_text


def translate(value: Json) -> list[Messages] | None:
    """Return the messages of a list, or of an object that holds one."""
    held = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(held, list) or not all(isinstance(item, dict) and "role" in item for item in held):
        return None
    if not any(map(_is_typical, held)):
        return None
    return [[part for message in held for part in _translate_message(message)]]


def _is_typical(message: JsonObject) -> bool:
    parts = _parts(message)
    return any(_is_call(part) or get_str(part, "type") == "tool-result" for part in parts) or bool(
        message.get("toolInvocations")
    )


def _parts(message: JsonObject) -> list[JsonObject]:
    held = message.get("parts") or message.get("content")
    return list_objects(held)


def _is_call(part: JsonObject) -> bool:
    kind = get_str(part, "type")
    named = "toolCallId" in part and (kind == "dynamic-tool" or kind.startswith("tool-"))
    return (named and kind != "tool-result") or bool(get_object(part, "toolInvocation"))


def _translate_message(message: JsonObject) -> Iterator[JsonObject]:
    """Yield one message for each step of the message, and one for each output."""
    parts, role = _parts(message), get_str(message, "role")
    invocations = message.get("toolInvocations")
    if isinstance(invocations, list) and not any(map(_is_call, parts)):
        parts = [*({"toolInvocation": item} for item in invocations), *parts]
    if not parts or role in {"user", "system"}:
        yield {**message, "content": join_text(message.get("content") or parts)}
        return
    step: list[JsonObject] = []
    for part in parts:
        if get_str(part, "type") == "step-start":
            yield from _translate_step(step, role)
            step = []
        else:
            step.append(part)
    yield from _translate_step(step, role)


def _translate_step(parts: list[JsonObject], role: str) -> Iterator[JsonObject]:
    calls = [_normalise(part) for part in parts if _is_call(part)]
    if role == "assistant" and parts:
        listed = [make_call(call["tool"], call["input"], call["id"]) for call in calls]
        yield {"role": "assistant", "content": join_text(parts), "tool_calls": listed}
    for part in [*calls, *(_normalise(part) for part in parts if get_str(part, "type") == "tool-result")]:
        if "output" in part:
            yield make_output(
                part["output"], identity=part["id"], tool=part["tool"], failed=part["state"] == "output-error"
            )


def _normalise(part: JsonObject) -> JsonObject:
    """Return the call or the output of a part under one set of names."""
    held = get_object(part, "toolInvocation") or part
    kind = get_str(held, "type")
    named = kind.removeprefix("tool-") if kind.startswith("tool-") else None
    output = held.get("output", held.get("result"))
    value = output["value"] if isinstance(output, dict) and {"type", "value"} <= output.keys() else output
    failed = isinstance(output, dict) and str(output.get("type")).startswith("error")
    state = "output-error" if failed or held.get("state") == "output-error" else held.get("state")
    call = {
        "id": held.get("toolCallId"),
        "tool": held.get("toolName") or named,
        "input": held.get("input", held.get("args")),
        "state": state,
    }
    return call if output is None and state != "output-error" else {**call, "output": value}


FORMAT = make_format(
    "vercel-ai",
    "messages of the AI SDK",
    translate,
    is_part=lambda value: isinstance(value, dict) and "role" in value,
)
