"""Text with tool calls and their outputs between tags: in messages, in a field of a document, or all of a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from judged.agents.traces.context import ReadContext
from judged.agents.traces.conversation import Call, Conversation
from judged.agents.traces.format import Head
from judged.agents.traces.json_values import Json, JsonObject
from judged.agents.traces.messages.messages import (
    Messages,
    Reader,
    Transcript,
    find_messages,
    read_conversations,
    split_episodes,
    to_conversation,
)
from judged.agents.traces.open import Document, Position, Trace


@dataclass(frozen=True)
class Tags:
    """A pair of tags for calls and one for outputs, each as (opening, closing)."""

    call: tuple[str, str]
    output: tuple[str, str]
    parse_calls: Callable[[str], list[Call]]
    """Parses the text between the tags of a call."""

    def split(self, text: str) -> Iterator[tuple[Literal["call", "output"], str, int]]:
        """Yield the contents of both pairs in order, each with its end; an output may lack its closing tag at the end."""
        kind: Literal["call", "output"]
        call, output = text.find(self.call[0]), text.find(self.output[0])
        while call >= 0 or output >= 0:
            if call >= 0 and (output < 0 or call < output):
                kind, (opening, closing), start = "call", self.call, call
            else:
                kind, (opening, closing), start = "output", self.output, output
            start += len(opening)
            end = text.find(closing, start)
            if end < 0 and kind == "call":
                call = -1  # nor is any later one closed
                continue
            end = len(text) if end < 0 else end
            at = min(end + len(closing), len(text))
            yield kind, text[start:end], at
            call = text.find(self.call[0], at) if 0 <= call < at else call
            output = text.find(self.output[0], at) if 0 <= output < at else output


def read_tagged(text: str, tags: Tags, transcript: Transcript, *, tokens: float | None = None) -> None:
    """Record the calls in a text: adjacent ones are one step.

    What the agent writes after the last output is a step as well, usually its answer.
    """
    together: list[Call] = []
    end = 0
    for kind, content, after in tags.split(text):
        if kind == "call":
            together += tags.parse_calls(content)
            continue
        if together:
            transcript.step(together)
            together = []
        transcript.answer(content.strip("\n"))
        end = after
    if together or text[end:].strip():
        transcript.step(together, tokens=tokens if end == 0 else None)
    if not together and text[end:].strip():
        transcript.say({"content": text[end:]})


def record_outputs(text: str, tags: Tags, transcript: Transcript) -> None:
    """Record every output in a message, in the order of the calls."""
    for kind, content, _ in tags.split(text):
        if kind == "output":
            transcript.answer(content.strip("\n"))


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
_INSTRUCTION = re.compile(r"\bbetween <information>")
_BEGINNING = re.compile(r"^.*\bbetween <information>", re.MULTILINE)
_QUESTION = re.compile(r"\bQuestion:\s*+")


def tagged_texts(head: Head) -> list[str]:
    """Return what the agents of the first documents wrote, or the first text, without instructions."""
    texts = [item for value in head.documents if (item := _find_text(value)) is not None]
    return [text[_instruction_end(text) :] for text in [*texts, *([head.text] if head.text else [])]]


def read_tagged_conversations(trace: Trace, context: ReadContext, read: Reader) -> Iterator[Conversation]:
    """Yield the conversations of a trace, whether documents of messages, documents with a text, or one text."""
    if not trace.is_json:
        yield from _conversations(Document(trace.label, {}, trace.whole_name), trace.text(), context, read)
        return
    if find_messages(next(iter(trace.first_documents()), None)) is not None:
        yield from read_conversations(trace, context, read)
        return
    for document in trace.documents():
        text = _find_text(document.value)
        if text is None:
            text = next(
                (str(document.value[name]) for name in WRITTEN if _has_text(document.value, name)), None
            )
        if text is None:
            context.report("malformed-session", document.place, "holds no text of an agent")
            context.settle()
        else:
            yield from _conversations(document, text, context, read)


def _conversations(
    document: Document, text: str, context: ReadContext, read: Reader
) -> Iterator[Conversation]:
    """Yield the conversations of a text, several if it has several system messages or instructions."""
    lists = [
        messages
        for part in _split_instructions(text)
        for messages in split_episodes(_split_messages(part, document.value), instruction=_INSTRUCTION)
    ]
    for number, messages in enumerate(lists, 1):
        name = document.name if len(lists) == 1 else Position(f"{document.name}:{number}")
        yield to_conversation(replace(document, name=name), messages, context, read)


def _split_instructions(text: str) -> Iterator[str]:
    """Yield the text from each of Search-R1's instructions to the next, unless messages are marked."""
    starts = [0] if "<|im_start|>" in text else [match.start() for match in _BEGINNING.finditer(text)]
    starts = [0, *starts[1:]]
    yield from (text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True))


def _find_text(value: Json) -> str | None:
    """Return the text in which an agent calls tools between tags; None if the document has none."""
    if not isinstance(value, dict):
        return None
    held = [value[name] for name in WRITTEN if _has_text(value, name)]
    return next((text for text in held if _ANY_TAG.search(text)), None)


def _has_text(value: Json, name: str) -> bool:
    return isinstance(value, dict) and isinstance(value.get(name), str)


def _split_messages(text: str, document: JsonObject | None) -> Messages:
    """Return the messages of a text: those of chatml, or the question and all that the agent wrote."""
    parted = [{"role": match["role"], "content": match["content"]} for match in _MESSAGE.finditer(text)]
    if parted:
        return parted
    asked = (
        next((document[name] for name in QUESTIONS if _has_text(document, name)), None) if document else None
    )
    start = _instruction_end(text)
    if start and asked is None:
        asked = text[start:].partition("\n")[0]
    return [{"role": "user", "content": asked or ""}, {"role": "assistant", "content": text[start:]}]


def strip_instruction(text: str) -> str:
    """Return a question without Search-R1's instruction before it."""
    return text[_instruction_end(text) :]


def _instruction_end(text: str) -> int:
    """Return the end of Search-R1's instruction, whose examples of tags are not calls; 0 if there is none."""
    instruction = _INSTRUCTION.search(text)
    question = None if instruction is None else _QUESTION.search(text, instruction.end())
    return 0 if question is None else question.end()
