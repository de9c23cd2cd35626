"""Messages in their order → turns and steps: who asked, what the agent called, and which output answers which call."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from judged.traces.conversation import Call, Step, Turn
from judged.traces.reading import FOREIGN

__all__ = ["Transcript", "seconds_of", "text_of", "tokens_of"]


class Transcript:
    """A conversation as it is gone through, message by message."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.strays: list[str] = []
        """What answers no call, by the tool or id that it names."""
        self.foreign: str | None = None
        """The format that calls are written in which this one does not have."""
        self._open: list[Call] = []
        """Calls that nothing has answered yet."""
        self._began: float | None = None
        self._now: float | None = None

    def ask(self, question: str | None, *, time: float | None = None) -> None:
        """The user writes: a new turn, unless the agent has done nothing since they last wrote."""
        if not self.turns or self.turns[-1].steps:
            self.turns.append(Turn())
        turn = self.turns[-1]
        turn.question = "\n\n".join(filter(None, (turn.question, question))) or None
        self._now = time

    def step(self, calls: list[Call], *, tokens: float | None = None, time: float | None = None) -> Step:
        """The agent takes a step, with all the calls it makes at once; it began when the message before was there."""
        if not self.turns:
            self.turns.append(Turn())
        step = Step(calls=calls, tokens=tokens)
        self.turns[-1].steps.append(step)
        self._open.extend(calls)
        self._began = self._now
        self._pass(time)
        return step

    def answer(
        self,
        output: Any,
        *,
        id: str | None = None,  # noqa: A002 - what the formats call it
        tool: str | None = None,
        failed: bool = False,
        time: float | None = None,
    ) -> None:
        """A tool answers the open call of that id; without an id the first of that tool, or the first of all."""
        call = self._answered(id, tool)
        if call is None:
            self.strays.append(id or tool or "unnamed")
            return
        self._open = [each for each in self._open if each is not call]
        call.output, call.failed = output, failed
        self._pass(time)

    def wrong(self) -> Iterator[tuple[str, str]]:
        """What is wrong with the conversation as a whole: the kind of each fault, and its sentence."""
        for stray in self.strays:
            yield "outputs without a call", f"holds the output of a call that was never made: `{stray}`"
        if self.foreign:
            what = f"holds calls written as `{self.foreign}`, while the beginning of the trace looked like another format"
            yield FOREIGN, what

    def _answered(self, identity: str | None, tool: str | None) -> Call | None:
        if identity is not None:
            for call in self._open:
                if call.id == identity:
                    return call
        unnamed = [call for call in self._open if identity is None or call.id is None]
        return next((call for call in unnamed if tool is None or call.tool == tool), None)

    def _pass(self, time: float | None) -> None:
        """Time passes in the step at hand."""
        self._now = time
        if time is not None and self._began is not None and time >= self._began:
            self.turns[-1].steps[-1].seconds = time - self._began


def text_of(content: Any) -> str:
    """The text of a message, which may be in blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return ""
    texts = (each.get("text") if isinstance(each, dict) else each for each in content)
    return "\n".join(text for text in texts if isinstance(text, str))


def tokens_of(message: dict[str, Any]) -> float | None:
    """The tokens that a message or a response says it took, in and out."""
    for holder in (message, *(message.get(name) for name in ("response_metadata", "metadata", "meta"))):
        if not isinstance(holder, dict):
            continue
        usage = next(
            (holder[name] for name in ("usage", "token_usage", "usage_metadata") if holder.get(name)), None
        )
        if isinstance(usage, dict):
            return _summed(usage)
    return None


def _summed(usage: dict[str, Any]) -> float | None:
    total = usage.get("total_tokens")
    if isinstance(total, (int, float)):
        return float(total)
    names = (("input_tokens", "output_tokens"), ("prompt_tokens", "completion_tokens"))
    for pair in names:
        parts = [usage[name] for name in pair if isinstance(usage.get(name), (int, float))]
        if parts:
            return float(sum(parts))
    return None


def seconds_of(message: dict[str, Any]) -> float | None:
    """When a message was written, in seconds since 1970 or any other beginning."""
    for name in ("timestamp", "created_at", "created", "time"):
        value = message.get(name)
        if isinstance(value, bool) or value is None:
            continue
        if isinstance(value, (int, float)):
            return (
                value / 1000 if value > 1e11 else float(value)
            )  # milliseconds, if it would be after the year 5000
        if isinstance(value, str):
            try:
                return datetime.fromisoformat(value).timestamp()
            except ValueError:
                return None
    return None
