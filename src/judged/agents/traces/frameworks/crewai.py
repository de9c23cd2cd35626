"""CrewAI: outputs of crews (`CrewOutput.model_dump`), each task with its messages. Recorded with crewai 1."""

from __future__ import annotations

from judged.agents.traces.frameworks.translation import make_format
from judged.agents.traces.json_values import Json, JsonObject, list_objects
from judged.agents.traces.messages.messages import Messages, find_messages


def translate(value: Json) -> list[Messages] | None:
    """Return a conversation for each task of a crew; its question is the task's description."""
    tasks = value.get("tasks_output") if isinstance(value, dict) else None
    if not isinstance(tasks, list):
        return None
    conversations = [_translate_task(task) for task in list_objects(tasks)]
    return [messages for messages in conversations if messages] or None


def _translate_task(task: JsonObject) -> Messages:
    messages = find_messages(task.get("messages")) or []
    asked = task.get("description")
    at = next((at for at, message in enumerate(messages) if message["role"] == "user"), None)
    if at is not None and isinstance(asked, str):
        messages[at] = {**messages[at], "content": asked}
    return messages


FORMAT = make_format("crewai", "outputs of CrewAI crews", translate)
