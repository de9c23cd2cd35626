"""LlamaIndex: chat messages in blocks (`ChatMessage.model_dump`), as memories hold and agents return them.

Recorded with llama-index-core 0.14. Its spans are read as OpenInference.
"""

from __future__ import annotations

from judged.agents.traces.frameworks.translation import make_call, make_format
from judged.agents.traces.json_values import Json, JsonObject, get_object, get_str, list_objects
from judged.agents.traces.messages.messages import Messages

HOLDERS = ("messages", "chat_history", "chat_store", "memory", "input")


def translate(value: Json) -> list[Messages] | None:
    """Return the messages of a list, or of an object that holds one."""
    held = value
    if isinstance(value, dict):
        held = next((value[name] for name in HOLDERS if isinstance(value.get(name), list)), None)
    if not isinstance(held, list) or not held or not all(map(_is_message, held)):
        return None
    return [list(map(_translate_message, held))]


def _is_message(value: Json) -> bool:
    if not isinstance(value, dict) or not {"role", "blocks", "additional_kwargs"} <= value.keys():
        return False
    return isinstance(value["blocks"], list)


def _translate_message(message: JsonObject) -> JsonObject:
    blocks = list_objects(message["blocks"])
    more = get_object(message, "additional_kwargs")
    calls = more.get("tool_calls") or [
        make_call(block.get("tool_name"), block.get("tool_kwargs"), block.get("tool_call_id"))
        for block in blocks
        if block.get("block_type") == "tool_call"
    ]
    text = "\n".join(get_str(block, "text") for block in blocks if block.get("block_type") == "text")
    return {
        "role": message["role"],
        "content": text,
        "tool_calls": calls,
        "tool_call_id": more.get("tool_call_id"),
        "name": more.get("name"),
    }


FORMAT = make_format("llama-index", "LlamaIndex chat messages", translate, is_part=_is_message)
