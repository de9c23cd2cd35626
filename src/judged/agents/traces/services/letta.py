"""Letta: messages of an agent, as its API lists them or returns them for a message. Read as its API reference describes them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from judged.agents.traces.frameworks.translation import make_call, make_format, make_output
from judged.agents.traces.json_values import Json, JsonObject, get_object, get_str, list_objects
from judged.agents.traces.messages.messages import Messages, join_text, parse_time
from judged.agents.traces.results.outputs import parse_text

CALLS = frozenset(("tool_call_message", "approval_request_message"))
TYPES = CALLS | {"user_message", "assistant_message", "tool_return_message"}


def translate(value: Json) -> list[Messages] | None:
    """Return the messages of a list, a page, or a response."""
    held = value.get("messages", value.get("data")) if isinstance(value, dict) else value
    entries = [entry for entry in list_objects(held) if get_str(entry, "message_type")]
    if not any(entry["message_type"] in CALLS for entry in entries):
        return None
    first, last = parse_date(entries[0]), parse_date(entries[-1])
    if first is not None and last is not None and first > last:  # pages list the newest first
        entries.reverse()
    usage = get_object(value, "usage")
    steps = groupby(
        entries, lambda entry: (entry["message_type"] in CALLS and entry.get("id"), entry["message_type"])
    )
    messages = [message for (_, kind), group in steps for message in _translate_step(kind, list(group))]
    asking = [message for message in messages if message.get("tool_calls")]
    if len(asking) == 1 and usage:  # of several steps it is not known which took how many
        asking[0]["usage"] = usage
    return [messages]


def parse_date(entry: JsonObject) -> float | None:
    """Return the time of an entry."""
    return parse_time({"timestamp": entry.get("date") or entry.get("created_at")})


def _translate_step(kind: str, entries: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield the messages of adjacent entries of one type, calls of one step together."""
    if kind in CALLS:
        calls = [
            make_call(call.get("name"), call.get("arguments"), call.get("tool_call_id"))
            for entry in entries
            for call in list_objects(entry.get("tool_calls")) or [get_object(entry, "tool_call")]
        ]
        yield {"role": "assistant", "content": "", "tool_calls": calls, **_time(entries[0])}
        return
    for entry in entries if kind in TYPES else ():
        if kind == "tool_return_message":
            for output in list_objects(entry.get("tool_returns")) or [entry]:
                yield {
                    **make_output(
                        output.get("tool_return", output.get("func_response")),
                        identity=output.get("tool_call_id"),
                        failed=output.get("status") == "error",
                    ),
                    **_time(entry),
                }
        elif kind == "assistant_message":
            yield {"role": "assistant", "content": _text(entry), **_time(entry)}
        elif (text := _read_user(_text(entry))) is not None:
            yield {"role": "user", "content": text, **_time(entry)}


def _text(entry: JsonObject) -> str:
    return join_text(entry.get("content", entry.get("message")))


def _read_user(text: str) -> str | None:
    """Return what a user wrote, which may be packed; None for heartbeats and alerts, which nobody wrote."""
    packed = parse_text(text)
    if not isinstance(packed, dict) or "type" not in packed:
        return text
    return str(packed.get("message") or "") if packed["type"] == "user_message" else None


def _time(entry: JsonObject) -> JsonObject:
    return {"timestamp": parse_date(entry)}


def _is_part(value: Json) -> bool:
    return isinstance(value, dict) and bool(get_str(value, "message_type"))


FORMAT = make_format("letta", "messages of Letta", translate, is_part=_is_part)
