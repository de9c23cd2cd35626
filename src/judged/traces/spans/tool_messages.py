"""What the messages of a model tell of tools: which it asked for, and what they gave back since it last spoke."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judged.traces.conversation import Call
from judged.traces.spans.attributes import decoded, mapping
from judged.traces.spans.payloads import asked_calls, call_id, text_of

__all__ = ["answers_of", "asks_of"]

_ANSWERS = {"tool_call_response": "id", "tool_result": "tool_use_id", "function_call_output": "call_id"}
"""Types of parts and items that hold what a tool gave back, and where they name the call."""
_GIVEN = ("content", "output", "response", "result")


def asks_of(value: Any) -> tuple[Call, ...]:
    """The tool calls in a model's answer that have an id, in its order, each once."""
    calls = {identity: call for call in asked_calls(value) if (identity := call_id(call))}
    return tuple(_ask(identity, call) for identity, call in calls.items())


def _ask(identity: str, call: Mapping[str, Any]) -> Call:
    held = {**call, **mapping(call.get("function"))}
    arguments = next((held[name] for name in ("arguments", "args", "input") if name in held), None)
    return Call(tool=str(held.get("name") or "unnamed"), arguments=decoded(arguments), id=identity)


def answers_of(value: Any) -> dict[str, Any]:
    """What tools gave back at the end of the messages that a model was sent, by the id of the call.

    What they gave back before is told by the messages of an earlier call of a model.
    """
    found: dict[str, Any] = {}
    for message in reversed(_messages(decoded(value))):
        answers = dict(_answers(mapping(message)))
        if not answers:
            break
        found = answers | found
    return found


def _messages(value: Any) -> list[Any]:
    """The list of messages that a value is or holds; LangChain has a list of such lists."""
    if isinstance(value, Mapping):
        value = next(
            (value[name] for name in ("messages", "input") if isinstance(value.get(name), list)), None
        )
    if not isinstance(value, list):
        return []
    return value[0] if len(value) == 1 and isinstance(value[0], list) else value


def _answers(message: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What a message or item holds of tools' outputs, each with the id of its call."""
    for name in ("message", "kwargs", "data"):  # OpenInference's list, and LangChain's two ways
        message = mapping(message.get(name)) or message
    own = message.get("tool_call_id") or message.get(_ANSWERS.get(str(message.get("type")), ""))
    if isinstance(own, str) and message.get("is_error"):
        yield own, None
        return
    if isinstance(own, str):
        yield (
            own,
            next((message[name] for name in _GIVEN if name in message), text_of(message.get("contents"))),
        )
        return
    for name in ("parts", "content"):
        blocks = message.get(name)
        for block in blocks if isinstance(blocks, list) else ():
            if mapping(block).get("type") in _ANSWERS:
                yield from _answers(mapping(block))
