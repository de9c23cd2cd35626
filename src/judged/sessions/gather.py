"""From sessions, one at a time, to the view of their measures: duplicates found, labels looked up, gains settled."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Literal, TypeAlias

import numpy as np

from judged.dedup.find import Decision, Deduplicator
from judged.errors import BadInput
from judged.kernels.sessions.view import UNLABELLED, SessionView
from judged.problem import Problem
from judged.sessions.book import Book
from judged.sessions.observations import Tally
from judged.sessions.protocol import SessionProtocol
from judged.tables.sessions import Result, Search, Session

__all__ = ["Find", "Gathering", "Keep", "Named", "Placed"]

Keep: TypeAlias = Literal["none", "good", "all"]
Place: TypeAlias = Callable[[int, Result, str | None], int]
"""Gives a result of an iteration, from a tool, the number of its cluster."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a session is called by."""

    conversation: str
    system: str
    task: str


@dataclass(frozen=True, slots=True)
class Find:
    """A new result of a session: kept where sessions are compared by what they found."""

    session: int
    place: int
    """Where its gain stands among the gains of all sessions."""
    result: Result
    scope: str | None
    query: str | None
    gain: int


@dataclass(frozen=True, slots=True)
class Placed:
    """A result of a session, and why it is new or a duplicate."""

    session: int
    iteration: int
    result: Result
    decision: Decision


class Gathering:
    """Sessions, reduced to counts and gains as they come, so that none of their texts need be kept.

    `keep` says which of the new results are kept for references and overlaps: those that are worth something, all of
    them (since judgments may find them worth something), or none. `explain` keeps why each result went where it did.
    """

    def __init__(
        self,
        protocol: SessionProtocol,
        *,
        book: Book | None = None,
        keep: Keep = "none",
        explain: bool = False,
    ) -> None:
        self.protocol = protocol
        self.named: list[Named] = []
        self.finds: list[Find] = []
        self.placed: list[Placed] = []
        self._explain = explain
        self._book = book
        self._keep = keep
        self._offset, self._results, self._searches = array("q", [0]), array("q"), array("q")
        self._cut, self._gains = array("q", [0]), array("b")
        self._tokens, self._seconds = array("d"), array("d")
        self._idle, self._earlier = array("q"), array("q")
        self._conflicts, self._overruled = array("q"), array("q")
        self._places: dict[tuple[str, str], str] = {}

    def add(self, session: Session) -> None:
        """Take one more session in."""
        self._places[session.system, session.conversation] = session.place
        self._idle.append(max(0, session.steps - len(session.iterations)))
        self._earlier.append(session.turns - 1)
        self._conflicts.append(0)
        self._overruled.append(0)
        place = self._placing()
        gains: list[int] = []
        new: list[tuple[Result, Search]] = []
        returned = 0
        for number, iteration in enumerate(session.iterations, start=1):
            before = returned
            for search in iteration.searches:
                returned += len(search.results)
                new += self._taken(session, search, number, place, gains)
            self._results.append(returned - before)
            self._cut.append(len(self._gains) + len(gains))
            self._searches.append(len(iteration.searches))
            self._tokens.append(nan if iteration.tokens is None else iteration.tokens)
            self._seconds.append(nan if iteration.seconds is None else iteration.seconds)
        self._keep_finds(gains, new)
        self._gains.extend(gains)
        self._offset.append(len(self._results))
        self.named.append(Named(session.conversation, session.system, session.task))

    def steps(self) -> SessionView:
        """The view of all sessions so far."""
        return SessionView(
            offset=np.array(self._offset, dtype=np.int64),
            results=np.array(self._results, dtype=np.int64),
            cut=np.array(self._cut, dtype=np.int64),
            gains=np.array(self._gains, dtype=np.int8),
            searches=np.array(self._searches, dtype=np.int64),
            tokens=np.array(self._tokens, dtype=np.float64),
            seconds=np.array(self._seconds, dtype=np.float64),
        )

    def tally(self) -> Tally:
        """What was counted of each session so far."""
        columns = (self._idle, self._conflicts, self._overruled, self._earlier)
        return Tally(*(np.array(each, dtype=np.int64) for each in columns))

    def _placing(self) -> Place:
        """What gives the results of one session the numbers of their clusters, and keeps why if that is asked for."""
        deduplicator = Deduplicator(self.protocol.rules, record=self._explain)
        if not self._explain:
            return lambda _, result, scope: deduplicator.place(result, scope)

        def explained(iteration: int, result: Result, scope: str | None) -> int:
            group = deduplicator.place(result, scope)
            self.placed.append(Placed(len(self.named), iteration, result, deduplicator.decisions[-1]))
            return group

        return explained

    def _taken(
        self, session: Session, search: Search, iteration: int, place: Place, gains: list[int]
    ) -> list[tuple[Result, Search]]:
        """Put the results of a search in, a duplicate by what its label changes; the new ones, if they are kept."""
        new = []
        for result in search.results:
            cluster = place(iteration, result, search.tool)
            gain = self._gain(session, search, result)
            if cluster == len(gains):
                gains.append(UNLABELLED if gain is None else gain)
                if self._keep != "none":
                    new.append((result, search))
            elif gain is not None and gain != gains[cluster]:
                gains[cluster] = self._settled(session, result, gains[cluster], gain)
        return new

    def _keep_finds(self, gains: list[int], new: list[tuple[Result, Search]]) -> None:
        """Keep what a session found, now that all its labels are known."""
        least = UNLABELLED if self._keep == "all" else 1
        for at, (result, search) in enumerate(new):
            if gains[at] >= least:
                place = len(self._gains) + at
                self.finds.append(Find(len(self.named), place, result, search.tool, search.query, gains[at]))

    def _gain(self, session: Session, search: Search, result: Result) -> int | None:
        """The gain of a result: that of the labels file, if it has one, else that of the trace."""
        entry = (
            None if self._book is None else self._book.find(session.task, search.query, result, search.tool)
        )
        if entry is None or self._book is None:
            return result.gain
        gain = self._book.gains[entry]
        self._overruled[-1] += result.gain is not None and result.gain != gain
        return gain

    def _settled(self, session: Session, result: Result, known: int, gain: int) -> int:
        """The gain of a thing that has been labelled again, and otherwise."""
        if known == UNLABELLED:
            return gain
        self._conflicts[-1] += 1
        if self.protocol.conflict != "error":
            return self.protocol.resolve_conflict(known, gain)
        told = result.title or result.url or result.id or result.domain_id or "a result"
        where, what = f"session `{session.conversation}`", f"`{told}` is labelled {known} and later {gain}"
        fault = Problem.error("conflicting-labels", where, what)
        hint = "`first`, `max` or `last` says which label counts"
        raise BadInput(session.place or session.conversation, [fault], hint=hint)

    def again(self, session: Session) -> Problem | None:
        """What is wrong with a session that has been taken in before; None with a new one."""
        key = session.system, session.conversation
        if key not in self._places:
            return None
        told = f"is there twice for the system `{session.system}`, before in {self._places[key] or 'this source'}"
        return Problem.error("repeated-session", f"session `{session.conversation}`", told)
