"""ATIF, the Agent Trajectory Interchange Format of Harbor: steps of a user and an agent, with observations.

Read as its specification describes it (version 1); no recording was at hand.
"""

from __future__ import annotations

from collections.abc import Iterator

from judged.agents.traces.frameworks.translation import make_call, make_format, make_output
from judged.agents.traces.json_values import Json, JsonObject, get_object, get_str, list_objects
from judged.agents.traces.messages.messages import Messages


def translate(value: Json) -> list[Messages] | None:
    """Return the messages of a trajectory."""
    if not get_str(value, "schema_version").startswith("ATIF") or not isinstance(value.get("steps"), list):
        return None
    return [[message for step in list_objects(value["steps"]) for message in _translate_step(step)]]


def _translate_step(step: JsonObject) -> Iterator[JsonObject]:
    role = {"agent": "assistant"}.get(get_str(step, "source"), get_str(step, "source"))
    calls = list_objects(step.get("tool_calls"))
    listed = [
        make_call(call.get("function_name"), call.get("arguments"), call.get("tool_call_id"))
        for call in calls
    ]
    yield {
        "role": role,
        "content": step.get("message"),
        "tool_calls": listed,
        "usage": step.get("metrics"),
        "timestamp": step.get("timestamp"),
    }
    for result in list_objects(get_object(step, "observation").get("results")):
        if calls:
            yield make_output(result.get("content"), identity=result.get("source_call_id"))


FORMAT = make_format("atif", "ATIF trajectories", translate)
