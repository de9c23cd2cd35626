"""Text with tool calls and their outputs between tags: in messages, in a field of a document, or all of a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from judged.traces.context import ReadContext
from judged.traces.conversation import Call, Conversation
from judged.traces.format import Head
from judged.traces.messages.messages import (
    Messages,
    Reader,
    Transcript,
    conversations,
    find_messages,
    to_conversation,
)
from judged.traces.open import Document, Trace

__all__ = ["Tags", "read_tagged", "read_tagged_conversations", "tagged_texts"]


@dataclass(frozen=True)
class Tags:
    """One pair of tags for calls and one for what came back, each as (opening, closing)."""

    call: tuple[str, str]
    output: tuple[str, str]
    find_call_ids: Callable[[str], list[Call]]
    """The calls that the text between the tags stands for."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Either of the pairs with what lies between; an output at the very end may have lost its closing tag."""
        (called, uncalled), (given, ungiven) = (
            tuple(map(re.escape, pair)) for pair in (self.call, self.output)
        )
        return re.compile(
            rf"{called}(?P<call>.*?){uncalled}|{given}(?P<output>.*?)(?:{ungiven}|\Z)", re.DOTALL
        )


def read_tagged(text: str, tags: Tags, transcript: Transcript, *, tokens: float | None = None) -> None:
    """Tell the transcript of the calls in a text: those that follow each other directly are one step.

    What the agent writes after the last output is a step as well, most often its answer.
    """
    together: list[Call] = []
    end = 0
    for match in tags.pattern.finditer(text):
        if match.lastgroup == "call":
            together += tags.find_call_ids(match["call"])
            continue
        if together:
            transcript.step(together)
            together = []
        transcript.answer(match["output"].strip("\n"))
        end = match.end()
    if together or text[end:].strip():
        transcript.step(together, tokens=tokens if end == 0 else None)


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


def tagged_texts(head: Head) -> list[str]:
    """What the agents of the first documents wrote, or the first text, without instructions."""
    found = [each for value in head.documents if (each := _text_in(value)) is not None]
    return [_INSTRUCTED.sub("", text) for text in [*found, *([head.text] if head.text else [])]]


def read_tagged_conversations(trace: Trace, context: ReadContext, read: Reader) -> Iterator[Conversation]:
    """The conversations of a trace, be it documents of messages, documents with a text, or one text."""
    if not trace.is_json:
        yield to_conversation(
            Document(trace.label, {}, trace.name or "1"), _messages(trace.text(), None), context, read
        )
        return
    if find_messages(next(iter(trace.first_documents()), None)) is not None:
        yield from conversations(trace, context, read)
        return
    for document in trace.documents():
        text = _text_in(document.value)
        if text is None:
            text = next((str(document.value[name]) for name in WRITTEN if _has(document.value, name)), None)
        if text is None:
            context.fault("malformed-session", document.place, "holds no text of an agent")
            context.settle()
        else:
            yield to_conversation(document, _messages(text, document.value), context, read)


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
