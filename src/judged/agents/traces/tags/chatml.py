"""chatml: messages, or one text, with `<tool_call>` and `<tool_response>` written into them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from judged.agents.tables import Session
from judged.agents.traces.assemble import to_sessions
from judged.agents.traces.context import ReadContext
from judged.agents.traces.conversation import Call
from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.json_values import JsonObject
from judged.agents.traces.messages.messages import (
    Messages,
    Transcript,
    count_tokens,
    join_text,
    messages_in_head,
)
from judged.agents.traces.open import Trace
from judged.agents.traces.tags.tagged_text import (
    Tags,
    read_tagged,
    read_tagged_conversations,
    record_outputs,
    tagged_texts,
)

_NAME = re.compile(
    r'"?name"?\s*+:\s*+"?(?P<name>[\w.:-]+)|<function=(?P<function>[^<>\s]++)>|^[^\S\n]*+(?P<bare>\w++)[^\S\n]*+$',
    re.MULTILINE,
)
_PARAMETER_NAME = re.compile(r"[^>\s]*+")
_ASKED = re.compile(r"\n(?:User|Question):\s*(?P<question>.*)\Z", re.DOTALL)


def recognises(head: Head) -> bool:
    """Recognise texts of the agent that call tools between tags."""
    return any("<tool_call>" in text for text in tagged_texts(head)) or any(
        message["role"] == "assistant" and "<tool_call>" in join_text(message.get("content"))
        for messages in messages_in_head(head)
        for message in messages
    )


def read(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """Yield a session for each list of messages, or each text."""
    return to_sessions(read_tagged_conversations(trace, context, _record), context)


def _record(messages: Messages, transcript: Transcript) -> None:
    for message in messages:
        text, role = join_text(message.get("content")), message["role"]
        if role == "assistant":
            read_tagged(text, TAGS, transcript, tokens=count_tokens(message))
        elif "<tool_response>" in text and (role != "user" or text.lstrip().startswith("<tool_response>")):
            record_outputs(text, TAGS, transcript)
        elif role == "user":
            transcript.ask(_clean_question(text))
        elif role in {"tool", "observation"}:
            transcript.answer(text)


def _clean_question(text: str) -> str:
    """Return the user's question, without the description of tools that may precede it."""
    asked = _ASKED.search(text) if "<tools>" in text else None
    return asked["question"].strip() if asked else text


def _parse_calls(text: str) -> list[Call]:
    """Parse the calls between two tags: JSON, or functions and parameters in tags of their own."""
    try:
        value = msgspec.json.decode(text.strip())
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return [_parse_loose_call(text)]
    written = value if isinstance(value, list) else [value]
    return [_parse_json_call(item) if isinstance(item, dict) else _parse_loose_call(text) for item in written]


def _parse_json_call(value: JsonObject) -> Call:
    arguments = value.get("arguments", value.get("parameters", value.get("args")))
    return Call(tool=str(value.get("name") or value.get("tool") or "unnamed"), arguments=arguments)


def _parse_loose_call(text: str) -> Call:
    """Parse a call that is not JSON: its name and its parameters, as far as they can be found."""
    match = _NAME.search(text)
    name = next((group for group in match.groups() if group), "unnamed") if match else "unnamed"
    return Call(tool=name, arguments=dict(_read_parameters(text)) or None)


def _read_parameters(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each `<parameter=NAME>VALUE</parameter>`."""
    at = text.find("<parameter=")
    while at >= 0:
        start = at + len("<parameter=")
        written = _PARAMETER_NAME.match(text, start)
        end = start if written is None else written.end()
        if end == start or not text.startswith(">", end):
            at = text.find("<parameter=", end)
            continue
        closing = text.find("</parameter>", end + 1)
        if closing < 0:
            return
        yield text[start:end], text[end + 1 : closing].strip()
        at = text.find("<parameter=", closing)


TAGS = Tags(("<tool_call>", "</tool_call>"), ("<tool_response>", "</tool_response>"), _parse_calls)
FORMAT = TraceFormat("chatml", "chatml with `<tool_call>`", recognises, read)
