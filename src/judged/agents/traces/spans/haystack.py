"""Haystack under OpenInference: messages printed by Python, and agents whose steps only their messages tell.

Recorded with haystack-ai 3.4 and openinference-instrumentation-haystack 0.1.46, which has spans for pipelines and their
components, and none for what happens inside an agent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import UNSET

from judged.agents.traces.conversation import Call, Step
from judged.agents.traces.json_values import Json, JsonObject, add_counts, get_object
from judged.agents.traces.results.text import NotPython, parse_python
from judged.agents.traces.spans.attributes import to_object

_ROLE = re.compile(r"<ChatRole\.\w+: ('\w+')>")


def parse_message(value: Json) -> JsonObject | None:
    """Return a message that was printed as `ChatMessage(_role=…, _content=[…])`; None for any other value.

    >>> parse_message("ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text='Hi')], _name=None, _meta={})")
    {'role': 'user', 'content': [{'text': 'Hi'}], 'meta': {}}
    """
    if not isinstance(value, str) or not value.startswith("ChatMessage("):
        return None
    try:
        printed = parse_python(_ROLE.sub(r"\1", value))
    except NotPython:
        return None
    content = printed.get("_content")
    return {
        "role": printed.get("_role"),
        "content": content if isinstance(content, list) else [],
        "meta": printed.get("_meta"),
    }


def read_steps(output: Json) -> tuple[Step, ...]:
    """Return the steps of an agent's last turn, by all messages that it returned; none if it returned something else."""
    if not isinstance(output, str) or "ChatMessage(" not in output:  # most outputs need no decoding
        return ()
    listed = to_object(output).get("messages")
    messages = [parse_message(item) for item in listed] if isinstance(listed, list) else []
    known = [message for message in messages if message]
    if not known or len(known) < len(messages):
        return ()
    asked = max((at for at, message in enumerate(known) if message["role"] == "user"), default=-1)
    results = {
        str(origin.get("id")): result
        for message in known[asked + 1 :]
        for result in message["content"]
        if (origin := get_object(result, "origin"))
    }
    return tuple(
        Step(calls=list(_calls(message, results)), tokens=add_counts(get_object(message["meta"], "usage")))
        for message in known[asked + 1 :]
        if message["role"] == "assistant"
    )


def _calls(message: JsonObject, results: JsonObject) -> Iterator[Call]:
    for call in message["content"]:
        if isinstance(call, dict) and "tool_name" in call:
            result = results.get(str(call.get("id")), {})
            yield Call(
                tool=str(call["tool_name"]),
                arguments=call.get("arguments"),
                output=result.get("result", UNSET),
                id=call.get("id"),
                failed=bool(result.get("error")),
            )
