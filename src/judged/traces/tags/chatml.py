"""chatml: messages, or one text, with `<tool_call>` and `<tool_response>` written into them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from judged.tables.sessions import Session
from judged.traces.assemble import to_sessions
from judged.traces.context import ReadContext
from judged.traces.conversation import Call
from judged.traces.format import Head, TraceFormat
from judged.traces.messages.messages import Messages, Transcript, count_tokens, join_text, messages_in_head
from judged.traces.open import Trace
from judged.traces.tags.tagged_text import Tags, read_tagged, read_tagged_conversations, tagged_texts

__all__ = ["FORMAT"]

_NAME = re.compile(
    r'"?name"?\s*:\s*"?(?P<name>[\w.:-]+)|<function=(?P<function>[^>\s]+)>|^\s*(?P<bare>\w+)\s*$',
    re.MULTILINE,
)
_PARAMETER = re.compile(r"<parameter=(?P<name>[^>\s]+)>(?P<value>.*?)</parameter>", re.DOTALL)
_ASKED = re.compile(r"\n(?:User|Question):\s*(?P<question>.*)\Z", re.DOTALL)


def recognises(head: Head) -> bool:
    """Texts of the agent that call tools between tags."""
    return any("<tool_call>" in text for text in tagged_texts(head)) or any(
        message["role"] == "assistant" and "<tool_call>" in join_text(message.get("content"))
        for messages in messages_in_head(head)
        for message in messages
    )


def sessions(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """A session for each list of messages, or each text."""
    return to_sessions(read_tagged_conversations(trace, context, _read), context)


def _read(messages: Messages, transcript: Transcript) -> None:
    for message in messages:
        text, role = join_text(message.get("content")), message["role"]
        if role == "assistant":
            read_tagged(text, TAGS, transcript, tokens=count_tokens(message))
        elif "<tool_response>" in text and (role != "user" or text.lstrip().startswith("<tool_response>")):
            _answer(text, transcript)
        elif role == "user":
            transcript.ask(_question(text))
        elif role in {"tool", "observation"}:
            transcript.answer(text)


def _answer(text: str, transcript: Transcript) -> None:
    """Every output in a message, in the order of the calls."""
    for match in TAGS.pattern.finditer(text):
        if match.lastgroup == "output":
            transcript.answer(match["output"].strip("\n"))


def _question(text: str) -> str:
    """What the user asked, without the description of tools that some write before it."""
    asked = _ASKED.search(text) if "<tools>" in text else None
    return asked["question"].strip() if asked else text


def _calls(text: str) -> list[Call]:
    """The call that is written between two tags: JSON, or functions and parameters in tags of their own."""
    try:
        value = msgspec.json.decode(text.strip())
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return [_loose(text)]
    written = value if isinstance(value, list) else [value]
    return [_strict(each) if isinstance(each, dict) else _loose(text) for each in written]


def _strict(value: dict[str, Any]) -> Call:
    arguments = value.get("arguments", value.get("parameters", value.get("args")))
    return Call(tool=str(value.get("name") or value.get("tool") or "unnamed"), arguments=arguments)


def _loose(text: str) -> Call:
    """A call that is no JSON: its name, as far as it can be found, and what can be read of its arguments."""
    found = _NAME.search(text)
    name = next((each for each in found.groups() if each), "unnamed") if found else "unnamed"
    parameters = {match["name"]: match["value"].strip() for match in _PARAMETER.finditer(text)}
    return Call(tool=name, arguments=parameters or None)


TAGS = Tags(("<tool_call>", "</tool_call>"), ("<tool_response>", "</tool_response>"), _calls)
FORMAT = TraceFormat("chatml", "chatml with `<tool_call>`", recognises, sessions)
