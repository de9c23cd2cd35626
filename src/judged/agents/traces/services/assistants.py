"""OpenAI Assistants: run steps, with the messages of their thread where they are there.

Read as the API reference describes them; the text of what a file search found is there only if it was asked for with
`include[]=step_details.tool_calls[*].file_search.results[*].content`.
"""

from __future__ import annotations

from collections.abc import Iterator

from judged.agents.traces.frameworks.translation import make_call, make_format, make_output
from judged.agents.traces.json_values import (
    Json,
    JsonObject,
    first_text,
    get_number,
    get_object,
    get_str,
    list_objects,
)
from judged.agents.traces.messages.messages import Messages

STEP, MESSAGE = "thread.run.step", "thread.message"
_DEEPEST = 5


def translate(value: Json) -> list[Messages] | None:
    """Return the conversation of each thread, in the order of time."""
    # a stream has each step several times, the last one whole
    found = {first_text(item, ("id",)): item for item in _find(value, 0)}
    if not any(get_object(item, "step_details").get("tool_calls") for item in found.values()):
        return None
    threads: dict[str, list[JsonObject]] = {}
    for item in sorted(found.values(), key=lambda item: get_number(item, "created_at")):
        threads.setdefault(get_str(item, "thread_id"), []).append(item)
    return [list(_translate_thread(items)) for items in threads.values()]


def _describe(value: Json) -> Json:
    first = next(_find(value, 0), {})
    return {"thread_id": first.get("thread_id"), "model": first.get("assistant_id")}


def _find(value: Json, depth: int) -> Iterator[JsonObject]:
    """Yield the steps and messages of a list, a page, an event, or an object that has them."""
    if isinstance(value, list):
        for item in value:
            yield from _find(item, depth + 1)
    elif isinstance(value, dict) and depth < _DEEPEST:
        if get_str(value, "object") in {STEP, MESSAGE}:
            yield value
        else:
            for item in value.values():
                yield from _find(item, depth + 1)


def _translate_thread(items: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield the messages of a thread; without those of the user, a new run is a new turn."""
    asked = any(item.get("role") == "user" for item in items)
    run: Json = None
    for item in items:
        time = {"timestamp": item.get("created_at")}
        if item["object"] == MESSAGE:
            yield {"role": item.get("role"), "content": _text(item), **time}
            continue
        if not asked and item.get("run_id") != run:
            yield {"role": "user", "content": "", **time}
        run = item.get("run_id")
        calls = list_objects(get_object(item, "step_details").get("tool_calls"))
        if calls:
            listed = [_make_call(call) for call in calls]
            yield {
                "role": "assistant",
                "content": "",
                "tool_calls": listed,
                "usage": item.get("usage"),
                **time,
            }
        failed = get_str(item, "status") in {"failed", "expired", "cancelled"}
        for call in calls:
            output = _find_output(call)
            if output is not None:
                ended = {"timestamp": item.get("completed_at") or item.get("created_at")}
                yield {**make_output(output, identity=call.get("id"), failed=failed), **ended}


def _text(message: JsonObject) -> list[JsonObject]:
    """Return the content of a message as blocks of text, with what they cite."""
    texts = [get_object(block, "text") for block in list_objects(message.get("content"))]
    return [
        {
            "type": "text",
            "text": text.get("value"),
            "annotations": list(map(_read_note, list_objects(text.get("annotations")))),
        }
        for text in texts
        if text
    ]


def _read_note(note: JsonObject) -> JsonObject:
    return {"type": "file_citation", **get_object(note, "file_citation")}


def _make_call(call: JsonObject) -> JsonObject:
    function = get_object(call, "function")
    return make_call(function.get("name") or call.get("type"), function.get("arguments"), call.get("id"))


def _find_output(call: JsonObject) -> Json:
    """Return what a call returned; None if the trace does not say."""
    results = get_object(call, "file_search").get("results")
    if isinstance(results, list):
        return [_read_result(result) for result in list_objects(results)]
    return get_object(call, "function").get("output")


def _read_result(result: JsonObject) -> JsonObject:
    names = {"file_id": "id", "file_name": "title", "content": "content", "score": "score"}
    return {field: result[name] for name, field in names.items() if result.get(name) is not None}


def _is_part(value: Json) -> bool:
    return isinstance(value, dict) and (
        get_str(value, "object") in {STEP, MESSAGE} or get_str(value, "event").startswith("thread.")
    )


FORMAT = make_format(
    "openai-assistants", "run steps of OpenAI Assistants", translate, is_part=_is_part, describe=_describe
)
