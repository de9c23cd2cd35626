"""STORM: `conversation_log.json`, the talks of simulated writers with an expert who searches for every answer.

Read as the code of knowledge-storm 1.1 writes it. One log is one session, and each answer of the expert an iteration: the talks
belong to one article, and what one of them finds again is redundant.
"""

from __future__ import annotations

from collections.abc import Iterator

from judged.agents.traces.frameworks.translation import make_call, make_format, make_output
from judged.agents.traces.json_values import Json, JsonObject, list_objects
from judged.agents.traces.messages.messages import Messages


def translate(value: Json) -> list[Messages] | None:
    """Return the messages of a log: the talks one after the other, as one turn."""
    talks = list_objects(value if isinstance(value, list) else [value])
    turns = [turn for talk in talks for turn in list_objects(talk.get("dlg_turns"))]
    if not turns:
        return None
    return [[message for turn in turns for message in _translate_turn(turn)]]


def _translate_turn(turn: JsonObject) -> Iterator[JsonObject]:
    queries = turn.get("search_queries")
    if queries:
        yield {"role": "assistant", "content": "", "tool_calls": [make_call("search", {"queries": queries})]}
        yield make_output([_read_result(item) for item in list_objects(turn.get("search_results"))])


def _read_result(result: JsonObject) -> JsonObject:
    """Return a result; of several snippets, all that were shown."""
    texts = result.get("snippets")
    snippet = "\n".join(text for text in texts if isinstance(text, str)) if isinstance(texts, list) else None
    fields = {
        "url": result.get("url"),
        "title": result.get("title"),
        "snippet": snippet or result.get("description"),
    }
    return {name: field for name, field in fields.items() if field}


def _is_part(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("dlg_turns"), list)


FORMAT = make_format("storm", "logs of STORM", translate, is_part=_is_part)
