"""Gemini and Google's Agent Development Kit: contents with `functionCall` parts, sessions of events, grounding metadata.

Sessions were recorded with google-adk 2.13. Grounding metadata is read as the Gemini API reference describes it.
"""

from __future__ import annotations

from collections.abc import Iterator

from judged.agents.traces.frameworks.translation import make_call, make_format, make_output
from judged.agents.traces.json_values import Json, JsonObject, get_object, list_objects
from judged.agents.traces.messages.messages import Messages

HOLDERS = ("events", "history")


def join_parts(responses: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield the whole response of each stream: its parts are responses of one id, the metadata in the last."""
    whole: dict[str, JsonObject] = {}
    for part in responses:
        for candidate in list_objects(part.get("candidates"))[:1]:
            name = str(part.get("responseId", part.get("response_id")))
            joined = whole.setdefault(name, {"candidates": [{"content": {"role": "model", "parts": []}}]})
            joined.update((field, item) for field, item in part.items() if field != "candidates")
            target = joined["candidates"][0]
            target["content"]["parts"] += _parts(get_object(candidate, "content"))
            target.update((field, item) for field, item in candidate.items() if field != "content")
    yield from whole.values()


def translate(value: Json) -> list[Messages] | None:
    """Return the messages of a session, of a list of events or contents, or of a request with its response."""
    contents = list(_contents(value))
    if not any(map(_is_typical, contents)):
        return None
    return [[message for content in contents for message in _translate_content(content)]]


def _contents(value: Json) -> Iterator[JsonObject]:
    """Yield contents, each with the metadata next to it."""
    if isinstance(value, list):
        for item in value:
            yield from _contents(item)
    elif isinstance(value, dict):
        content = get_object(value, "content")
        if isinstance(content.get("parts"), list):
            yield {**value, **content}
        elif isinstance(value.get("parts"), list):
            yield value
        else:
            asked = value.get("request", value.get("contents"))
            held = (value.get(name) for name in HOLDERS)
            for item in (asked, *held, _answers(value), value.get("response")):
                yield from _contents(item)


def _answers(response: JsonObject) -> list[JsonObject]:
    """Return the answer of a response, the first of several, with the tokens of the response."""
    usage: JsonObject = {
        name: response[name] for name in ("usageMetadata", "usage_metadata") if name in response
    }
    return [{**usage, **candidate} for candidate in list_objects(response.get("candidates"))[:1]]


def _is_typical(content: JsonObject) -> bool:
    return bool(_grounding(content)) or any(
        _get(part, name) for part in _parts(content) for name in ("functionCall", "functionResponse")
    )


def _translate_content(content: JsonObject) -> Iterator[JsonObject]:
    """Yield the message of a content, and one for each output in it."""
    parts = _parts(content)
    calls = [found for part in parts if (found := _get(part, "functionCall"))]
    outputs = [found for part in parts if (found := _get(part, "functionResponse"))]
    text = "".join(str(part["text"]) for part in parts if part.get("text") and not part.get("thought"))
    timed = {"timestamp": content.get("timestamp"), "usage": _usage(content)}
    if outputs:
        for output in outputs:
            yield {
                **make_output(_unwrap(output), identity=output.get("id"), tool=output.get("name")),
                "timestamp": content.get("timestamp"),
            }
    elif content.get("role") == "user" or content.get("author") == "user":
        yield {"role": "user", "content": text, "timestamp": content.get("timestamp")}
    elif _grounding(content):
        yield from _translate_grounding(content, text, timed)
    else:
        listed = [make_call(call.get("name"), call.get("args"), call.get("id")) for call in calls]
        yield {"role": "assistant", "content": text, "tool_calls": listed, **timed}


def _unwrap(output: JsonObject) -> Json:
    """Return what a tool returned, without the object that the kit puts a text into."""
    response = output.get("response")
    inner = get_object(output, "response")
    return inner["result"] if inner.keys() == {"result"} else response


def _translate_grounding(content: JsonObject, text: str, timed: JsonObject) -> Iterator[JsonObject]:
    """Yield a search with the chunks that an answer is grounded in."""
    metadata = _grounding(content)
    queries = metadata.get("webSearchQueries", metadata.get("web_search_queries")) or []
    chunks = metadata.get("groundingChunks", metadata.get("grounding_chunks")) or []
    sources = [get_object(chunk, "web") or get_object(chunk, "retrievedContext") for chunk in chunks]
    # the request that follows repeats the answer, and not what it was grounded in
    yield {
        "role": "assistant",
        "content": "",
        "tool_calls": [make_call("google_search", {"queries": queries})],
        "implied": True,
        **timed,
    }
    yield {**make_output([chunk for chunk in sources if chunk], tool="google_search"), "implied": True}
    yield {"role": "assistant", "content": text}


def _grounding(content: JsonObject) -> JsonObject:
    metadata = _get(content, "groundingMetadata")
    names = ("webSearchQueries", "web_search_queries", "groundingChunks")
    return metadata if any(metadata.get(name) for name in names) else {}


def _usage(content: JsonObject) -> JsonObject | None:
    counts = _get(content, "usageMetadata")
    total = counts.get("totalTokenCount", counts.get("total_token_count"))
    return None if total is None else {"total_tokens": total}


def _parts(content: JsonObject) -> list[JsonObject]:
    return list_objects(content.get("parts"))


def _get(value: JsonObject, name: str) -> JsonObject:
    """Return the object under a name, in camel case or with underscores."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return get_object(value, name) or get_object(value, snake)


def _is_part(value: Json) -> bool:
    """Return whether a value is a single content or event."""
    return isinstance(value, dict) and (
        isinstance(get_object(value, "content").get("parts"), list) or isinstance(value.get("parts"), list)
    )


FORMAT = make_format(
    "google-adk",
    "contents of Gemini, and sessions of Google's Agent Development Kit",
    translate,
    is_part=_is_part,
    requests=True,
)
