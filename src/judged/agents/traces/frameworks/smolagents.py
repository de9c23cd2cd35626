"""smolagents: the steps of an agent's memory (`memory.get_full_steps()`, `RunResult`). Recorded with smolagents 1.

An agent that calls its tools from Python code records the code, not the calls: its steps have no search.
"""

from __future__ import annotations

from collections.abc import Iterator

from judged.agents.traces.frameworks.translation import make_call, make_format, make_output
from judged.agents.traces.json_values import Json, JsonObject, get_object, list_objects
from judged.agents.traces.messages.messages import Messages


def translate(value: Json) -> list[Messages] | None:
    """Return the messages of a list of steps, or of a result that holds one."""
    steps = value.get("steps") if isinstance(value, dict) else value
    if not isinstance(steps, list) or not any(map(_is_step, steps)):
        return None
    return [[message for step in list_objects(steps) for message in _translate_step(step)]]


def _is_step(value: Json) -> bool:
    return isinstance(value, dict) and {"step_number", "observations", "model_output"} <= value.keys()


def _translate_step(step: JsonObject) -> Iterator[JsonObject]:
    """Yield the task, or a step's calls and the observations, which all its calls share."""
    if isinstance(step.get("task"), str):
        yield {"role": "user", "content": step["task"]}
    if not _is_step(step):
        return
    timing = get_object(step, "timing")
    calls = list_objects(step.get("tool_calls"))
    listed = [
        make_call(
            get_object(call, "function").get("name"),
            get_object(call, "function").get("arguments"),
            call.get("id"),
        )
        for call in calls
    ]
    usage, begun, ended = step.get("token_usage"), timing.get("start_time"), timing.get("end_time")
    yield {"role": "assistant", "content": "", "tool_calls": listed, "usage": usage, "timestamp": begun}
    for number, call in enumerate(calls):
        output = step.get("observations") if number == 0 else None
        failed = bool(step.get("error"))
        yield {**make_output(output, identity=call.get("id"), failed=failed), "timestamp": ended}


FORMAT = make_format(
    "smolagents",
    "steps of smolagents",
    translate,
    is_part=lambda value: _is_step(value) or (isinstance(value, dict) and "task_images" in value),
)
