"""A summary of traces: how they are written, what was taken as a search, and which fields results have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from judged.agents.tables import Hit, Session
from judged.agents.traces import TurnChoice
from judged.agents.traces.context import REPEATED, ReadContext, describe_repeat
from judged.agents.traces.json_values import JsonObject
from judged.agents.traces.open import open_traces
from judged.agents.traces.plain.write import to_plain
from judged.agents.traces.read import read_source
from judged.agents.traces.results.tools import Tools, load_tools
from judged.errors import BadInput

FIELDS = ("id", "domain_id", "url", "title", "snippet", "score", "gain")
"""The fields that results may have."""


@dataclass
class TraceSummary:
    """Counts over all sessions of a source, one session as an example, and the error that stopped reading, if any."""

    context: ReadContext
    systems: Counter[str] = field(default_factory=Counter)
    """Sessions by system."""
    tasks: set[str] = field(default_factory=set)
    turns: int = 0
    steps: int = 0
    iterations: int = 0
    searches: int = 0
    empty: int = 0
    """Searches without results."""
    results: int = 0
    idle: int = 0
    """Sessions that did not search."""
    fields: Counter[str] = field(default_factory=Counter)
    """Number of results with each field."""
    with_tokens: int = 0
    """Iterations whose tokens are known."""
    with_seconds: int = 0
    """Iterations whose seconds are known."""
    with_cost: int = 0
    """Iterations whose money is known."""
    opened: int = 0
    """Pages that agents opened, each once in a session."""
    cited: int = 0
    example: Session | None = None
    """The first session with results, else the first of all."""
    refused: BadInput | None = None
    """The error that stopped reading."""

    @property
    def sessions(self) -> int:
        """Number of sessions read."""
        return self.systems.total()

    def tools(self) -> Iterator[tuple[str, int, str]]:
        """Yield each tool with its calls and what it was taken as: `search`, `no search` or `unknown`."""
        kinds = (
            (self.context.searches, "search"),
            (self.context.unknown, "unknown"),
            (self.context.others, "no search"),
        )
        for counter, kind in kinds:
            for tool, count in counter.most_common():
                yield tool, count, kind

    def add(self, session: Session) -> None:
        """Count a session."""
        self.systems[session.system] += 1
        self.tasks.add(session.task)
        self.turns += session.turns
        self.steps += session.steps
        self.idle += not session.iterations
        self.opened += len(session.opened)
        self.cited += len(session.cited)
        for iteration in session.iterations:
            self.iterations += 1
            self.searches += len(iteration.searches)
            self.empty += sum(not search.results for search in iteration.searches)
            self.with_tokens += iteration.tokens is not None
            self.with_seconds += iteration.seconds is not None
            self.with_cost += iteration.cost is not None
        found = self.results
        for result, _ in session.results():
            self._count(result)
        if self.example is None or (self.results > found == 0):
            self.example = session

    def _count(self, result: Hit) -> None:
        self.results += 1
        for name in FIELDS:
            self.fields[name] += getattr(result, name) is not None

    def to_dict(self) -> JsonObject:
        """Return all counts and the example as plain values."""
        return {
            "source": self.context.label,
            "formats": dict(self.context.formats),
            "sessions": self.sessions,
            "systems": dict(self.systems),
            "tasks": len(self.tasks),
            "turns": self.turns,
            "steps": self.steps,
            "iterations": self.iterations,
            "searches": self.searches,
            "queries": max(self.context.queries, self.searches),
            "searches_without_results": self.empty,
            "sessions_without_search": self.idle,
            "results": self.results,
            "opened": self.opened,
            "cited": self.cited,
            "tools": [{"tool": tool, "calls": count, "taken_as": kind} for tool, count, kind in self.tools()],
            "fields": {name: self.fields[name] for name in FIELDS},
            "iterations_with_tokens": self.with_tokens,
            "iterations_with_seconds": self.with_seconds,
            "iterations_with_cost": self.with_cost,
            "example": None if self.example is None else to_plain(self.example),
            "left_out": dict(self.context.problems.counts),
            "notes": list(self.context.problems.sentences()),
            "refused": None if self.refused is None else self.refused.message,
        }


def summarise(
    source: object,
    *,
    format: str | None = None,  # noqa: A002 - what users call it
    tools: Tools | str | Path | None = None,
    strict: bool = False,
    turn: TurnChoice = "last",
) -> TraceSummary:
    """Summarise a source read with these options; an error that stops reading is kept, not raised."""
    opened = open_traces(source)
    context = ReadContext(
        opened.label, opened.name or "system", load_tools(tools), lenient=not strict, turn=turn
    )
    understood = TraceSummary(context)
    try:
        places: dict[tuple[str, str], str] = {}
        for session in read_source(opened, context, format=format):
            before = places.setdefault((session.system, session.conversation), session.place)
            if before is not session.place:
                _refuse_repeat(session, before, context)
            else:
                understood.add(session)
    except BadInput as error:
        understood.refused = error
    return understood


def _refuse_repeat(session: Session, before: str, context: ReadContext) -> None:
    """Raise `BadInput` for a session that was read before, as scoring does; if lenient, count it."""
    problem = describe_repeat(session, before)
    if not context.lenient:
        raise BadInput(session.place or session.conversation, [problem], hint=REPEATED)
    context.problems.add([problem])
