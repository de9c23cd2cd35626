"""Documents whose agent writes its calls into the text: messages, one text in a field, or one text of chatml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from judged.traces.conversation import Conversation
from judged.traces.format import Head
from judged.traces.messages.messages import (
    Messages,
    Reader,
    conversation_of,
    conversations,
    messages_in,
)
from judged.traces.reading import Reading
from judged.traces.trace import Document, Trace

__all__ = ["tagged_conversations", "texts_shown"]

WRITTEN = (
    *("response", "output", "completion", "generated_text", "gen_text_store", "generation"),
    *("trajectory", "rollout", "solution", "text", "full_text", "sequence", "sequences_str"),
    *("reasoning", "content", "answer"),
)
"""The fields that hold what the agent wrote."""
QUESTIONS = ("question", "query", "problem", "prompt", "input")
_ANY_TAG = re.compile(r"<tool_call>|<search>|<\|?begin_(?:of|search)_query\|?>")
_MESSAGE = re.compile(
    r"<\|im_start\|>(?P<role>\w+)\n(?P<content>.*?)(?:<\|im_end\|>|(?=<\|im_start\|>)|\Z)", re.DOTALL
)
_INSTRUCTED = re.compile(r"\A.*?\bbetween <information>.*?\bQuestion:\s*", re.DOTALL)
"""Search-R1's instruction, whose examples of tags are no calls."""


def texts_shown(head: Head) -> list[str]:
    """What the agents of the first documents wrote, or the first text, without instructions."""
    found = [each for value in head.documents if (each := _text_in(value)) is not None]
    return [_INSTRUCTED.sub("", text) for text in [*found, *([head.text] if head.text else [])]]


def tagged_conversations(trace: Trace, reading: Reading, read: Reader) -> Iterator[Conversation]:
    """The conversations of a trace, be it documents of messages, documents with a text, or one text."""
    if not trace.is_json:
        yield conversation_of(
            Document(trace.label, {}, trace.name or "1"), _messages(trace.text(), None), reading, read
        )
        return
    if messages_in(next(iter(trace.first_documents()), None)) is not None:
        yield from conversations(trace, reading, read)
        return
    for document in trace.documents():
        text = _text_in(document.value)
        if text is None:
            text = next((str(document.value[name]) for name in WRITTEN if _has(document.value, name)), None)
        if text is None:
            reading.fault("malformed-session", document.place, "holds no text of an agent")
            reading.settle()
        else:
            yield conversation_of(document, _messages(text, document.value), reading, read)


def _text_in(value: Any) -> str | None:
    """The text in which an agent calls tools between tags; None if the document has none."""
    if not isinstance(value, dict):
        return None
    held = [value[name] for name in WRITTEN if _has(value, name)]
    return next((text for text in held if _ANY_TAG.search(text)), None)


def _has(value: Any, name: str) -> bool:
    return isinstance(value, dict) and isinstance(value.get(name), str)


def _messages(text: str, document: dict[str, Any] | None) -> Messages:
    """The messages of a text: those of chatml, or the question and all that the agent wrote."""
    parted = [{"role": match["role"], "content": match["content"]} for match in _MESSAGE.finditer(text)]
    if parted:
        return parted
    asked = next((document[name] for name in QUESTIONS if _has(document, name)), None) if document else None
    instructed = _INSTRUCTED.match(text)
    if instructed and asked is None:
        asked = text[instructed.end() :].partition("\n")[0]
    return [
        {"role": "user", "content": asked or ""},
        {"role": "assistant", "content": _INSTRUCTED.sub("", text)},
    ]
