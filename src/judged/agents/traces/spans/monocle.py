"""Monocle: spans whose contents are events, under the names of OpenInference.

Recorded with monocle_apptrace 0.8 around a LangGraph agent. The span of a model has only the first of its calls, and that of a
retriever the beginning of all its texts together, cut off after 100 characters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judged.agents.traces.json_values import Json, JsonObject
from judged.agents.traces.spans.attributes import decode, to_object

MARK = "monocle_apptrace."
"""Prefix of attributes that every span has."""
KINDS = {"inference": "LLM", "agentic.tool": "TOOL", "agentic.mcp": "TOOL", "retrieval": "RETRIEVER"}
"""The kinds of OpenInference, by the beginning of Monocle's."""


def translate(attributes: Mapping[str, Json], events: Sequence[Mapping[str, Json]]) -> JsonObject:
    """Return the attributes of a span with what its events hold, under the names of OpenInference."""
    held = {str(event["name"]): to_object(event["attributes"]) for event in events}
    kind = str(attributes.get("span.type"))
    named = next((name for start, name in KINDS.items() if kind.startswith(start)), "CHAIN")
    given = _read_messages(held.get("data.input", {}).get("input"))
    if named == "LLM" and "scope.agentic.turn" in attributes:
        given = None  # the first thing that the user ever wrote; the span of the turn has the last
    return {
        **attributes,
        "openinference.span.kind": named,
        "session.id": attributes.get("scope.agentic.session"),
        "tool.name": attributes.get("entity.1.name"),
        "input.value": given,
        "output.value": held.get("data.output", {}).get("response"),
        "llm.token_count.total": held.get("metadata", {}).get("total_tokens"),
    }


def _read_messages(value: Json) -> Json:
    """Return the last of several texts, or messages such as `{"human": "…"}` with their roles; else the value."""
    items = decode(value)
    if not isinstance(items, list):
        return value
    objects = [to_object(item) for item in items]
    if all(len(item) == 1 for item in objects):
        return [{"role": role, "content": text} for item in objects for role, text in item.items()]
    return items[-1] if items and all(isinstance(item, str) for item in items) else value
