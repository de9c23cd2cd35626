"""A conversation as a format finds it: turns, the steps of the agent, and its tool calls with their outputs."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import UNSET, Struct, field

__all__ = ["Call", "Conversation", "Step", "Turn", "TurnChoice"]


class Call(Struct, kw_only=True):
    """One call of a tool: what it was asked, and what it gave back, as the trace has them."""

    tool: str
    arguments: Any = None
    """An object, JSON text of one, or the query itself."""
    output: Any = UNSET
    """A list of results, an object or text that holds one, or UNSET if the trace does not hold it."""
    id: str | None = None
    """What joins the call to its output, where they lie apart."""
    failed: bool = False
    """Whether the trace says that the call failed; its output is then not read."""
    search: bool | None = None
    """Whether it is a search; None: the tool's name tells."""


class Step(Struct, kw_only=True):
    """One step of the agent: all the calls it made at once, in the order it asked for them."""

    calls: list[Call] = field(default_factory=list)
    tokens: float | None = None
    seconds: float | None = None


class Turn(Struct, kw_only=True):
    """What the user wrote, and the steps the agent took before it answered."""

    question: str | None = None
    steps: list[Step] = field(default_factory=list)


class Conversation(Struct, kw_only=True):
    """All turns of one conversation with one system."""

    id: str
    place: str
    turns: list[Turn]
    system: str | None = None
    """None: the file's name stands for it."""
    task: str | None = None
    """None: the conversation's id stands for it."""


TurnChoice: TypeAlias = Literal["last", "last-with-search"]
"""The last one, or the last one that searched."""
