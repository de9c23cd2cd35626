"""Calls and outputs written into text between tags, in their order."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from judged.traces.conversation import Call
from judged.traces.messages.transcript import Transcript

__all__ = ["Tags", "read_tagged"]


@dataclass(frozen=True)
class Tags:
    """One pair of tags for calls and one for what came back, each as (opening, closing)."""

    call: tuple[str, str]
    output: tuple[str, str]
    calls_of: Callable[[str], list[Call]]
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
            together += tags.calls_of(match["call"])
            continue
        if together:
            transcript.step(together)
            together = []
        transcript.answer(match["output"].strip("\n"))
        end = match.end()
    if together or text[end:].strip():
        transcript.step(together, tokens=tokens if end == 0 else None)
