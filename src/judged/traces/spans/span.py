"""A span: one thing that an agent did, whatever convention it was recorded in."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from judged.traces.conversation import Call

__all__ = ["Kind", "Span"]

Kind: TypeAlias = Literal["llm", "search", "tool", "other"]


class Span(Struct, kw_only=True, omit_defaults=True):
    """What is kept of a span; the messages that a model was sent are not, so that memory stays small."""

    id: str
    trace: str
    """Spans of one trace are one turn."""
    parent: str | None = None
    start: int | None = None
    """Nanoseconds since 1970."""
    end: int | None = None
    order: str = ""
    """What puts spans that start together in their order, where the format has it."""
    kind: Kind = "other"
    """A retriever is a search; whether a tool is one, its name tells."""
    name: str = ""
    """The tool's or the retriever's name, else the span's."""
    arguments: Any = None
    outputs: tuple[Any, ...] = ()
    """What came back, each way it was recorded; the same results may be told twice, once with fewer fields."""
    call: str | None = None
    """The id of the tool call that this span carries out."""
    calls: tuple[str, ...] = ()
    """The ids of the tool calls that a model asked for, in its order."""
    asks: tuple[Call, ...] = ()
    """The same calls, as the model wrote them."""
    answers: dict[str, Any] = {}
    """What tools had given back since the model was called before, by the id of the call."""
    tokens: float | None = None
    failed: bool = False
    question: str | None = None
    session: str | None = None
    """The conversation that the trace is a turn of."""
    system: str | None = None
    task: str | None = None
    place: str = ""

    @property
    def rank(self) -> tuple[int, str, str]:
        """What spans are sorted by: their start, then the format's own order, then their id."""
        return (-1 if self.start is None else self.start, self.order, self.id)
