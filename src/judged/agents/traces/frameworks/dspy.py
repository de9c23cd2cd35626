"""DSPy: trajectories of `ReAct` (`prediction.toDict()`), numbered thoughts, tools and observations. Recorded with dspy 3."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from judged.agents.traces.frameworks.translation import make_call, make_format, make_output
from judged.agents.traces.json_values import Json, JsonObject, first_text, get_object
from judged.agents.traces.messages.messages import Messages

QUESTIONS = ("question", "query", "input", "task")


def translate(value: Json) -> list[Messages] | None:
    """Return the messages of a prediction with its trajectory."""
    trajectory = get_object(value, "trajectory") if isinstance(value, dict) else {}
    if "tool_name_0" not in trajectory:
        return None
    asked = first_text(value, QUESTIONS) or first_text(get_object(value, "inputs"), QUESTIONS)
    return [[*([{"role": "user", "content": asked}] if asked else []), *_translate_steps(trajectory)]]


def _translate_steps(trajectory: JsonObject) -> Iterator[JsonObject]:
    for number in count():
        if f"tool_name_{number}" not in trajectory:
            return
        tool, arguments = trajectory[f"tool_name_{number}"], trajectory.get(f"tool_args_{number}")
        yield {"role": "assistant", "content": "", "tool_calls": [make_call(tool, arguments, f"{number}")]}
        if f"observation_{number}" in trajectory:
            yield make_output(trajectory[f"observation_{number}"], identity=f"{number}", tool=tool)


FORMAT = make_format("dspy", "trajectories of DSPy", translate)
