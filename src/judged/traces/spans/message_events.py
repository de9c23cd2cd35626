"""Messages that stand in events of a span, as OpenTelemetry wrote them before it had attributes for them.

Documented by OpenTelemetry's "Semantic Conventions for Generative AI events" (`gen_ai.user.message`, `gen_ai.choice`);
Strands Agents writes them so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judged.traces.spans.attributes import decoded, mapping
from judged.traces.spans.payloads import text_of

__all__ = ["with_messages"]

_CHOICE = "gen_ai.choice"


def with_messages(
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
            "gen_ai.output.messages": list(map(decoded, given)),
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
    return {name: decoded(value) for name, value in event["attributes"].items()}


def _output(message: Any) -> Any:
    """What a tool gave back, out of blocks of text or of JSON."""
    blocks = decoded(message)
    if not isinstance(blocks, list) or not all(mapping(each).keys() <= {"text", "json"} for each in blocks):
        return blocks
    held = next((each["json"] for each in blocks if "json" in each), None)
    return text_of(blocks) if held is None else held
