"""What goes into and comes out of models and tools, without the wrappers that frameworks put around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeGuard

from judged.traces.conversation import Call
from judged.traces.results.outputs import LISTS
from judged.traces.spans.attributes import decode, to_object

__all__ = [
    "add_counts",
    "count_tokens",
    "find_answers",
    "find_call_id",
    "find_call_ids",
    "find_calls",
    "find_question",
    "find_requests",
    "get_call_id",
    "join_text",
    "unwrap_arguments",
    "unwrap_output",
]

_BUNDLES = ("inputs", "qb", "query_bundle", "str_or_query_bundle", "query_str")
"""Where OpenLLMetry and LlamaIndex keep the arguments within the arguments."""
_OUTPUTS = ("output", "outputs", "raw_output")
_MESSAGE = ("artifact", "content")
"""What LangChain's message of a tool holds: what the program gets, and the text that the model gets."""
_QUESTIONS = (
    *("question", "query", "input", "inputs", "q", "prompt", "user_input"),
    *("messages", "text", "contents", "task", "user_msg"),
)
_MOST = 10**15
"""More tokens than anybody ever counted: such a number is none of them."""
USAGE = (("total_tokens",), ("input_tokens", "output_tokens"), ("prompt_tokens", "completion_tokens"))
_USERS = ("user", "human")
_CALL_TYPES = ("tool_call", "tool_use", "function_call", "server_tool_use")


def unwrap_arguments(value: Any) -> Any:
    """The arguments of a tool, out of what a framework recorded with them."""
    value = decode(value)
    if isinstance(value, dict):
        for name in _BUNDLES:
            if isinstance(value.get(name), (str, dict)) and value[name]:
                return unwrap_arguments(value[name])
    return value


def unwrap_output(value: Any) -> Any:
    """What a tool gave back, without wrappers: a list of results, an object that has one, or a text.

    None stands for what cannot be results, such as the names of objects in a program.
    """
    value = decode(value)
    if value is None or value in ("", "null", "None"):
        return []
    if isinstance(value, list):
        return _documents(value)
    if not isinstance(value, dict):
        return value
    inner = _unwrapped(value)
    return value if inner is None else unwrap_output(inner)


def _unwrapped(value: Mapping[str, Any]) -> Any:
    """What is inside a message or an envelope; None if it is neither."""
    if "lc" in value and isinstance(value.get("kwargs"), dict):
        return value["kwargs"]
    if value.get("type") == "tool" and isinstance(value.get("data"), dict):
        return value["data"]
    if any(isinstance(value.get(name), (list, dict)) for name in LISTS):
        return None
    message = "tool_call_id" in value or value.get("type") == "tool"
    if message and value.get("status") == "error":
        return []
    for name in (*_OUTPUTS, *_MESSAGE) if message else _OUTPUTS:
        if isinstance(value.get(name), (list, dict, str)) and value[name]:
            return value[name]
    return [] if message and "content" in value else None  # its other fields are no result


def _documents(values: list[Any]) -> Any:
    """Results as objects; None for the names of objects, `<NodeWithScore(node=…)>`, which hold nothing."""
    named = [isinstance(each, str) and each.startswith("<") and each.endswith(">") for each in values]
    return None if values and all(named) else [_document(each) for each in values]


def _document(value: Any) -> Any:
    """One result, out of LangChain's constructor or OpenInference's `document`, its metadata read."""
    value = decode(value)
    if not isinstance(value, dict):
        return value
    if "lc" in value and isinstance(value.get("kwargs"), dict):
        value = value["kwargs"]
    elif isinstance(value.get("document"), dict) and len(value) == 1:
        value = value["document"]
    plain = {str(key).removeprefix("document."): each for key, each in value.items()}
    if isinstance(plain.get("metadata"), str):
        plain["metadata"] = decode(plain["metadata"])
    return plain


def find_call_id(value: Any) -> str | None:
    """The id of the tool call that a tool was given or answers to, wherever among objects it stands."""
    value = to_object(value)
    own = value.get("tool_call_id")
    if isinstance(own, str) and own:
        return own
    inner = (each for each in value.values() if isinstance(each, dict))
    return next((found for each in inner if (found := find_call_id(each))), None)


def find_call_ids(value: Any) -> tuple[str, ...]:
    """The ids of the tool calls in a model's answer, in its order, each once."""
    return tuple(dict.fromkeys(found for call in find_calls(value) if (found := get_call_id(call))))


def find_calls(value: Any) -> Iterator[Mapping[str, Any]]:
    """The tool calls in a model's answer, as they are written, wherever among objects they stand."""
    value = decode(value)
    if isinstance(value, list):
        for each in value:
            yield from find_calls(each)
    elif isinstance(value, dict):
        if value.get("type") in _CALL_TYPES or "toolUse" in value:
            yield _call(value)
        for name, each in value.items():
            if name == "tool_calls" and isinstance(each, list):
                yield from map(_call, each)
            elif isinstance(each, (list, dict)):
                yield from find_calls(each)


def _call(call: Any) -> Mapping[str, Any]:
    call = to_object(call)
    return to_object(call.get("tool_call")) or to_object(call.get("toolUse")) or call


def get_call_id(call: Mapping[str, Any]) -> str | None:
    """The id of a tool call that a model asked for."""
    identity = call.get("call_id") or call.get("id") or call.get("toolUseId")
    return identity if isinstance(identity, str) else None


def count_tokens(value: Any) -> float | None:
    """All tokens of a record of usage, by any of its names; None if it names none."""
    return add_counts(to_object(value), USAGE)


def add_counts(counts: Mapping[str, Any], names: Iterable[tuple[str, ...]]) -> float | None:
    """The sum of the first of these groups of counts of which any is there; None if none is."""
    for group in names:
        found = [count for name in group if _is_count(count := counts.get(name))]
        if found:
            return float(sum(found))
    return None


def _is_count(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < _MOST


def find_question(value: Any) -> str | None:
    """What the user wrote: a text, the likeliest field of an object, or the user's last message."""
    value = decode(value)
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, list):
        return _last_of_user(value)
    if not isinstance(value, dict):
        return None
    for name in _QUESTIONS:
        found = find_question(value.get(name))
        if found:
            return found
    only = next(iter(value.values())) if len(value) == 1 else None
    return only if isinstance(only, str) and only else None


def _last_of_user(messages: list[Any]) -> str | None:
    """The text of the last message that a user sent; messages may be in lists within lists."""
    for each in reversed(messages):
        found = _last_of_user(each) if isinstance(each, list) else _from_user(decode(each))
        if found:
            return found
    return None


def _from_user(message: Any) -> str | None:
    if not isinstance(message, dict):
        return None
    for name in ("message", "kwargs", "data"):  # OpenInference's list, and LangChain's two ways
        if isinstance(message.get(name), dict):
            message = {"type": message.get("type"), **message[name]}
    if message.get("role", message.get("type")) not in _USERS:
        return None
    held = (message.get(name) for name in ("content", "contents", "parts"))
    return next((found for each in held if (found := join_text(each))), None)


def join_text(content: Any) -> str | None:
    """The text of a message, out of its parts where it has several."""
    if isinstance(content, str):
        return content.strip() or None
    if isinstance(content, dict):
        content = content.get("message_content", content)
        return join_text(content.get("text") or content.get("content"))
    if isinstance(content, list):
        return "\n".join(found for each in content if (found := join_text(each))) or None
    return None


_ANSWERS = {"tool_call_response": "id", "tool_result": "tool_use_id", "function_call_output": "call_id"}
"""Types of parts and items that hold what a tool gave back, and where they name the call."""
_GIVEN = ("content", "output", "response", "result")


def find_requests(value: Any) -> tuple[Call, ...]:
    """The tool calls in a model's answer that have an id, in its order, each once."""
    calls = {identity: call for call in find_calls(value) if (identity := get_call_id(call))}
    return tuple(_ask(identity, call) for identity, call in calls.items())


def _ask(identity: str, call: Mapping[str, Any]) -> Call:
    held = {**call, **to_object(call.get("function"))}
    arguments = next((held[name] for name in ("arguments", "args", "input") if name in held), None)
    return Call(tool=str(held.get("name") or "unnamed"), arguments=decode(arguments), id=identity)


def find_answers(value: Any) -> dict[str, Any]:
    """What tools gave back at the end of the messages that a model was sent, by the id of the call.

    What they gave back before is told by the messages of an earlier call of a model.
    """
    found: dict[str, Any] = {}
    for message in reversed(_messages(decode(value))):
        answers = dict(_answers(to_object(message)))
        if not answers:
            break
        found = answers | found
    return found


def _messages(value: Any) -> list[Any]:
    """The list of messages that a value is or holds; LangChain has a list of such lists."""
    if isinstance(value, Mapping):
        value = next(
            (value[name] for name in ("messages", "input") if isinstance(value.get(name), list)), None
        )
    if not isinstance(value, list):
        return []
    return value[0] if len(value) == 1 and isinstance(value[0], list) else value


def _answers(message: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What a message or item holds of tools' outputs, each with the id of its call."""
    for name in ("message", "kwargs", "data"):  # OpenInference's list, and LangChain's two ways
        message = to_object(message.get(name)) or message
    own = message.get("tool_call_id") or message.get(_ANSWERS.get(str(message.get("type")), ""))
    if isinstance(own, str) and message.get("is_error"):
        yield own, None
        return
    if isinstance(own, str):
        yield (
            own,
            next((message[name] for name in _GIVEN if name in message), join_text(message.get("contents"))),
        )
        return
    for name in ("parts", "content"):
        blocks = message.get(name)
        for block in blocks if isinstance(blocks, list) else ():
            if to_object(block).get("type") in _ANSWERS:
                yield from _answers(to_object(block))
