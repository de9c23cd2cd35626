"""Inputs and outputs of models and tools, without the wrappers that frameworks put around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from judged.agents.traces.conversation import Call
from judged.agents.traces.json_values import Json, JsonObject
from judged.agents.traces.messages.messages import find_citations
from judged.agents.traces.results.outputs import LISTS
from judged.agents.traces.results.text import find_addresses
from judged.agents.traces.spans.attributes import decode, to_object
from judged.agents.traces.spans.haystack import parse_message

_BUNDLES = ("inputs", "qb", "query_bundle", "str_or_query_bundle", "query_str")
"""Fields in which OpenLLMetry and LlamaIndex wrap the arguments."""
_OUTPUTS = ("output", "outputs", "raw_output")
_MESSAGE = ("artifact", "content")
"""Fields of LangChain's tool message: the output for the program, and the text for the model."""
_QUESTIONS = (
    *("question", "query", "input", "inputs", "q", "prompt", "user_input"),
    *("messages", "text", "contents", "task", "user_msg", "new_message"),
)
_USERS = ("user", "human")
_CALL_TYPES = ("tool_call", "tool_use", "function_call", "server_tool_use")


def unwrap_arguments(value: Json) -> Json:
    """Return the arguments of a tool without the wrappers of a framework."""
    value = decode(value)
    if isinstance(value, dict):
        for name in _BUNDLES:
            if isinstance(value.get(name), (str, dict)) and value[name]:
                return unwrap_arguments(value[name])
    return value


def unwrap_output(value: Json) -> Json:
    """Return the output of a tool without wrappers: a list of results, an object that has one, or a text.

    None means that it cannot be results, such as the names of objects in a program.
    """
    value = decode(value)
    if value is None or value in ("", "null", "None"):
        return []
    if isinstance(value, list):
        return _unwrap_results(value)
    if not isinstance(value, dict):
        return value
    inner = _unwrap(value)
    return value if inner is None else unwrap_output(inner)


def _unwrap(value: Mapping[str, Json]) -> Json:
    """Return the content of a message or an envelope; None if it is neither."""
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
    return [] if message and "content" in value else None  # its other fields are not results


def _unwrap_results(values: list[Json]) -> Json:
    """Return results as objects; None for the names of objects, `<NodeWithScore(node=…)>`, which hold nothing."""
    named = [isinstance(value, str) and value.startswith("<") and value.endswith(">") for value in values]
    return None if values and all(named) else [_unwrap_result(item) for item in values]


def _unwrap_result(value: Json) -> Json:
    """Return one result, without LangChain's constructor or OpenInference's `document`, its metadata decoded."""
    value = decode(value)
    if not isinstance(value, dict):
        return value
    if "lc" in value and isinstance(value.get("kwargs"), dict):
        value = value["kwargs"]
    elif isinstance(value.get("document"), dict) and len(value) == 1:
        value = value["document"]
    plain = {str(key).removeprefix("document."): item for key, item in value.items()}
    if isinstance(plain.get("metadata"), str):
        plain["metadata"] = decode(plain["metadata"])
    return plain


def find_call_id(value: Json) -> str | None:
    """Return the id of the tool call in the input or output of a tool, at any depth."""
    value = to_object(value)
    own = value.get("tool_call_id")
    if isinstance(own, str) and own:
        return own
    inner = (item for item in value.values() if isinstance(item, dict))
    return next((found for entry in inner if (found := find_call_id(entry))), None)


def find_call_ids(value: Json) -> tuple[str, ...]:
    """Return the ids of the tool calls in a model's answer, in its order, each once."""
    return tuple(dict.fromkeys(found for call in find_calls(value) if (found := get_call_id(call))))


def find_calls(value: Json) -> Iterator[Mapping[str, Json]]:
    """Yield the tool calls in a model's answer, unchanged, at any depth."""
    value = decode(value)
    if isinstance(value, list):
        for item in value:
            yield from find_calls(item)
    elif isinstance(value, dict):
        if value.get("type") in _CALL_TYPES or "toolUse" in value:
            yield _unwrap_call(value)
        for name, entry in value.items():
            if name == "tool_calls" and isinstance(entry, list):
                yield from map(_unwrap_call, entry)
            elif isinstance(entry, (list, dict)):
                yield from find_calls(entry)


def _unwrap_call(call: Json) -> Mapping[str, Json]:
    call = to_object(call)
    return to_object(call.get("tool_call")) or to_object(call.get("toolUse")) or call


def get_call_id(call: Mapping[str, Json]) -> str | None:
    """Return the id of a tool call that a model asked for."""
    identity = call.get("call_id") or call.get("id") or call.get("toolUseId")
    return identity if isinstance(identity, str) else None


def find_question(value: Json) -> str | None:
    """Return what the user wrote: a text, the likeliest field of an object, or the user's last message."""
    value = decode(value)
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, list):
        return _last_question(value)
    if not isinstance(value, dict):
        return None
    if value.get("role") in _USERS and (written := _user_text(value)):
        return written
    for name in _QUESTIONS:
        found = find_question(value.get(name))
        if found:
            return found
    only = next(iter(value.values())) if len(value) == 1 else None
    return only if isinstance(only, str) and only else _find_component_question(value.get("data"))


def _find_component_question(inputs: Json) -> str | None:
    """Return what the user asked, from the inputs of the components of a pipeline of Haystack."""
    given = [item for item in inputs.values() if isinstance(item, dict)] if isinstance(inputs, dict) else []
    found = (find_question(item.get(name)) for name in _QUESTIONS for item in given)
    return next(filter(None, found), None)


def _last_question(messages: list[Json]) -> str | None:
    """Return the text of the last message that a user sent; messages may be in lists within lists."""
    for message in reversed(messages):
        held = parse_message(message) or decode(message)
        found = _last_question(held) if isinstance(held, list) else _user_text(held)
        if found:
            return found
    return None


def _user_text(message: Json) -> str | None:
    if not isinstance(message, dict):
        return None
    for name in ("message", "kwargs", "data"):  # OpenInference's list, and LangChain's two ways
        if isinstance(message.get(name), dict):
            message = {"type": message.get("type"), **message[name]}
    if message.get("role", message.get("type")) not in _USERS:
        return None
    held = (message.get(name) for name in ("content", "contents", "parts"))
    return next((found for item in held if (found := extract_text(item))), None)


def extract_text(content: Json) -> str | None:
    """Return the text of a message, joined from its parts at any depth; None if there is none."""
    if isinstance(content, str):
        return content.strip() or None
    if isinstance(content, dict):
        content = content.get("message_content", content)
        return extract_text(content.get("text") or content.get("content"))
    if isinstance(content, list):
        return "\n".join(found for item in content if (found := extract_text(item))) or None
    return None


_ANSWERS = {"tool_call_response": "id", "tool_result": "tool_use_id", "function_call_output": "call_id"}
"""Types of parts and items that hold the output of a tool, and their field for the call id."""
_GIVEN = ("content", "output", "response", "result")


def find_requests(value: Json) -> tuple[Call, ...]:
    """Return the tool calls in a model's answer that have an id, in its order, each once."""
    calls = {identity: call for call in find_calls(value) if (identity := get_call_id(call))}
    return tuple(_to_call(identity, call) for identity, call in calls.items())


def _to_call(identity: str, call: Mapping[str, Json]) -> Call:
    held = {**call, **to_object(call.get("function"))}
    arguments = next((held[name] for name in ("arguments", "args", "input") if name in held), None)
    return Call(tool=str(held.get("name") or "unnamed"), arguments=decode(arguments), id=identity)


def find_cited(answer: Json) -> tuple[str, ...]:
    """Return the web addresses in the texts and annotations of a model's answer; none if it requests tools.

    >>> find_cited({"generations": [[{"message": {"kwargs": {"content": "330 m, https://e.org/a"}}}]]})
    ('https://e.org/a',)
    """
    value = decode(answer)
    if next(find_calls(value), None) is not None:
        return ()
    found = (url for text in _find_texts(value) for url in find_addresses(text))
    return tuple(dict.fromkeys((*_find_annotated(value), *found)))


def _find_annotated(value: Json) -> Iterator[str]:
    """Yield the addresses, or ids of files, that annotations at any depth cite."""
    for item in value if isinstance(value, list) else ():
        yield from _find_annotated(item)
    if isinstance(value, dict):
        yield from (cited.get("url") or cited["id"] for cited in find_citations({**value, "content": None}))
        for item in value.values():
            yield from _find_annotated(item)


def _find_texts(value: Json) -> Iterator[str]:
    """Yield a text, or the texts under `content` and `text` at any depth."""
    if isinstance(value, str):
        yield value
    for item in value if isinstance(value, list) else ():
        yield from _find_texts(item)
    for name, item in value.items() if isinstance(value, dict) else ():
        if isinstance(item, (list, dict)) or name in {"content", "text", "output"}:
            yield from _find_texts(item)


def find_answers(value: Json) -> JsonObject:
    """Return the outputs at the end of the messages sent to a model, by the id of the call.

    Earlier outputs are in the messages of an earlier model call.
    """
    found: JsonObject = {}
    for message in reversed(_find_messages(decode(value))):
        answers = dict(_message_answers(to_object(message)))
        if not answers:
            break
        found = answers | found
    return found


def _find_messages(value: Json) -> list[Json]:
    """Return the list of messages that a value is or holds; LangChain has a list of lists."""
    if isinstance(value, Mapping):
        value = next(
            (value[name] for name in ("messages", "input") if isinstance(value.get(name), list)), None
        )
    if not isinstance(value, list):
        return []
    return value[0] if len(value) == 1 and isinstance(value[0], list) else value


def _message_answers(message: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """Yield the tool outputs in a message or item, each with the id of its call."""
    for name in ("message", "kwargs", "data"):  # OpenInference's list, and LangChain's two ways
        message = to_object(message.get(name)) or message
    own = message.get("tool_call_id") or message.get(_ANSWERS.get(str(message.get("type")), ""))
    if isinstance(own, str) and message.get("is_error"):
        yield own, None
        return
    if isinstance(own, str):
        yield (
            own,
            next(
                (message[name] for name in _GIVEN if name in message), extract_text(message.get("contents"))
            ),
        )
        return
    for name in ("parts", "content"):
        blocks = message.get(name)
        for block in blocks if isinstance(blocks, list) else ():
            if to_object(block).get("type") in _ANSWERS:
                yield from _message_answers(to_object(block))
