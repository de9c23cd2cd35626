"""Sessions: what agents searched for and were given, iteration by iteration; one, or many as an Arrow table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import msgspec
import pyarrow as pa
from msgspec import Struct

TaskSource: TypeAlias = Literal["id", "question", "conversation", "position"]
"""Source of a task's name: its id, the user's question, the conversation's id, or only its place in a file."""


class Hit(Struct, kw_only=True, omit_defaults=True, gc=False, forbid_unknown_fields=True):
    """One result of a search: its keys, what was shown of it, and its gain.

    It has a generic `id`, which is valid only within its tool or index, or a `domain_id`, which is valid
    everywhere in its `domain` (`doi`, `arxiv`, `mail`), and never both.
    """

    id: str | None = None
    domain: str | None = None
    domain_id: str | None = None
    url: str | None = None
    title: str | None = None
    snippet: str | None = None
    """The text that was shown, whole or in part."""
    score: float | None = None
    gain: int | None = None
    """None: not labelled."""


class Search(Struct, kw_only=True, forbid_unknown_fields=True):
    """One query sent to one tool, with its results in order; none if it found nothing or failed."""

    query: str | None = None
    tool: str | None = None
    """The scope of generic ids."""
    results: tuple[Hit, ...] = ()


class Iteration(Struct, kw_only=True, forbid_unknown_fields=True):
    """One step of the agent that searched: its searches in the order they were asked for."""

    searches: tuple[Search, ...] = ()
    tokens: float | None = None
    seconds: float | None = None
    cost: float | None = None
    """Money that the step took, in the unit of the trace, usually US dollars."""

    def results(self) -> Iterator[tuple[Hit, str | None]]:
        """Yield the results of all searches in their order, with the tool that the id is scoped to."""
        for search in self.searches:
            for result in search.results:
                yield result, search.tool


class Session(Struct, kw_only=True):
    """The last turn of one conversation: its iterations that searched, the first of them being iteration 1."""

    conversation: str
    system: str = "system"
    task: str
    """The agent's task; sessions of several systems are compared on the same task."""
    question: str | None = None
    """The user's message in this turn."""
    earlier: tuple[str, ...] = ()
    """The user's messages in earlier turns."""
    task_from: TaskSource = "id"
    """Source of the task's name; a place in a file never matches another system's task."""
    unnamed: bool = False
    """Whether the conversation has no id, only its place in a file."""
    iterations: tuple[Iteration, ...] = ()
    opened: tuple[str, ...] = ()
    """The addresses, or ids, of the pages that the agent opened."""
    cited: tuple[str, ...] = ()
    """The addresses, or ids, that the answer cites."""
    turns: int = 1
    """Number of turns of the conversation; only the last one is here."""
    steps: int = 0
    """Number of the agent's steps in this turn, including those that did not search."""
    place: str = ""
    """Location for messages: the file, and the line where lines are sessions."""

    def results(self) -> Iterator[tuple[Hit, str | None]]:
        """Yield every result in the order in which the agent received it, with the tool that its id is scoped to."""
        for iteration in self.iterations:
            yield from iteration.results()


_RESULT = pa.struct(
    {
        "id": pa.string(),
        "domain": pa.string(),
        "domain_id": pa.string(),
        "url": pa.string(),
        "title": pa.string(),
        "snippet": pa.string(),
        "score": pa.float64(),
        "gain": pa.int8(),
    }
)
_SEARCH = pa.struct({"query": pa.string(), "tool": pa.string(), "results": pa.list_(_RESULT)})
_SPENT = {"tokens": pa.float64(), "seconds": pa.float64(), "cost": pa.float64()}
_ITERATION = pa.struct({"searches": pa.list_(_SEARCH), **_SPENT})
SCHEMA = pa.schema(
    {
        "conversation": pa.string(),
        "system": pa.string(),
        "task": pa.string(),
        "question": pa.string(),
        "earlier": pa.list_(pa.string()),
        "task_from": pa.string(),
        "unnamed": pa.bool_(),
        "iterations": pa.list_(_ITERATION),
        "opened": pa.list_(pa.string()),
        "cited": pa.list_(pa.string()),
        "turns": pa.int32(),
        "steps": pa.int32(),
        "place": pa.string(),
    }
)
"""A row for each session; nested, so that searches without results are kept."""


@dataclass(frozen=True, eq=False)
class Sessions:
    """A table of sessions, in the order they were read; iterating over it gives one `Session` after the other."""

    family: ClassVar[str] = "session"
    """The measures that score this table."""

    table: pa.Table
    """The columns of `Session`, nested as it is."""
    name: str = "sessions"
    notes: tuple[str, ...] = ()
    """Notes for users on how the sessions were read."""

    @classmethod
    def from_sessions(
        cls, sessions: Iterable[Session], *, name: str = "sessions", notes: tuple[str, ...] = ()
    ) -> Sessions:
        """Return a table of sessions."""
        rows = [msgspec.to_builtins(session) for session in sessions]
        return cls(pa.Table.from_pylist(rows, schema=SCHEMA), name=name, notes=notes)

    def __iter__(self) -> Iterator[Session]:
        for batch in self.table.to_batches(max_chunksize=256):
            for row in batch.to_pylist():
                yield msgspec.convert(row, Session)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"Sessions({self.name}: {len(self)})"
