"""A conversation as a format finds it: turns, the steps of the agent, and its tool calls with their outputs."""

from __future__ import annotations

from msgspec import UNSET, Struct, field

from judged.agents.traces.json_values import Json


class Call(Struct, kw_only=True):
    """One call of a tool: its arguments and its output, as in the trace."""

    tool: str
    arguments: Json = None
    """An object, JSON text of one, or the query itself."""
    output: Json = UNSET
    """A list of results, an object or text that holds one, or UNSET if the trace does not hold it."""
    id: str | None = None
    """The id that links the call to its output, if they are apart."""
    failed: bool = False
    """Whether the trace says that the call failed; its output is then not read."""
    cited: int = 0
    """Number of searches without results, up to this one, that the output stands in for: what the answer cites."""
    search: bool | None = None
    """Whether it is a search; None: decided by the tool's name."""


class Step(Struct, kw_only=True):
    """One step of the agent: all the calls it made at once, in order."""

    calls: list[Call] = field(default_factory=list)
    tokens: float | None = None
    seconds: float | None = None
    cost: float | None = None
    """Money, in the unit of the trace."""


class Turn(Struct, kw_only=True):
    """The user's message, and the steps the agent took before it answered."""

    question: str | None = None
    steps: list[Step] = field(default_factory=list)
    answer: str | None = None
    """The agent's final message."""
    cited: list[str] = field(default_factory=list)
    """The addresses that annotations of the answer name; its text may name more."""


class Conversation(Struct, kw_only=True):
    """All turns of one conversation with one system."""

    id: str
    place: str
    turns: list[Turn]
    system: str | None = None
    """None: the file's name is used."""
    task: str | None = None
    """None: the conversation's id is used."""
