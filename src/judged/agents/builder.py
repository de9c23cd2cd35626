"""Build the view of session measures, one session at a time: find duplicates, look up labels, resolve conflicts."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import nan
from typing import Literal, TypeAlias

import numpy as np
from msgspec import Struct

from judged.agents.dedup.find import Decision, Deduplicator
from judged.agents.dedup.label_index import LabelIndex, name_tasks
from judged.agents.kernels import UNLABELLED, SessionView
from judged.agents.protocol import SessionProtocol
from judged.agents.redundancy import SearchLog
from judged.agents.tables import Hit, Search, Session, TaskSource
from judged.agents.traces.context import describe_repeat
from judged.agents.use import UseWatch
from judged.arrays import Ints
from judged.errors import BadInput
from judged.problem import Problem

Keep: TypeAlias = Literal["none", "good", "all"]
_ARRAYS = (
    *("_offset", "_results", "_searches", "_cut", "_gains", "_tokens", "_seconds", "_cost"),
    *("_idle", "_earlier", "_conflicts", "_overruled", "_by_id", "_by_url", "_by_text", "_bare"),
)


@dataclass(frozen=True, slots=True)
class SessionKey:
    """Identity of a session."""

    conversation: str
    system: str
    task: str
    task_from: TaskSource = "id"
    asked: str | None = None
    """The user's messages, in this turn and earlier ones."""
    names: tuple[str, ...] = ()
    """The names under which its results may be labelled."""

    @classmethod
    def of(cls, session: Session) -> SessionKey:
        """Return what identifies a session."""
        asked = [*session.earlier, *([session.question] if session.question else [])]
        return cls(
            session.conversation,
            session.system,
            session.task,
            session.task_from,
            " / ".join(asked) or None,
            name_tasks(session),
        )


@dataclass(frozen=True, slots=True)
class NewResult:
    """A result that its session had not found before: kept where sessions are compared by what they found."""

    session: int
    place: int
    """The position of its gain among the gains of all sessions."""
    result: Hit
    scope: str | None
    query: str | None
    gain: int


@dataclass(frozen=True, slots=True)
class SavedDecision:
    """A decision in words, as files keep it."""

    result: int
    group: int
    new: bool
    words: str

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, slots=True)
class DedupDecision:
    """A result of a session, and why it is new or a duplicate."""

    session: int
    iteration: int
    result: Hit
    decision: Decision | SavedDecision
    query: str | None = None
    """The query that found it."""
    gain: int | None = None
    """Its own label, from the file of labels or the trace."""
    search: int = 0
    """The number of its search among the searches of all sessions."""

    def in_words(self) -> DedupDecision:
        """Return the same, its decision in words, as files keep it."""
        known = self.decision
        return replace(self, decision=SavedDecision(known.result, known.group, known.new, str(known)))


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """A search of a session: kept with the decisions on its results."""

    session: int
    iteration: int
    query: str | None
    tool: str | None
    results: int


@dataclass(frozen=True, slots=True)
class SessionCounts:
    """Counts of each session in addition to those that its measures use."""

    idle: Ints
    conflicts: Ints
    overruled: Ints
    earlier_turns: Ints
    by_id: Ints | None = None
    """Copies of an earlier result by their ids; then by their URLs, and by their texts. None in older files."""
    by_url: Ints | None = None
    by_text: Ints | None = None
    bare: Ints | None = None
    """Results without id, URL and title."""

    def select(self, sessions: Ints) -> SessionCounts:
        """Return the counts of some sessions only."""
        return SessionCounts(
            idle=self.idle[sessions],
            conflicts=self.conflicts[sessions],
            overruled=self.overruled[sessions],
            earlier_turns=self.earlier_turns[sessions],
            by_id=_select(self.by_id, sessions),
            by_url=_select(self.by_url, sessions),
            by_text=_select(self.by_text, sessions),
            bare=_select(self.bare, sessions),
        )


def _select(counts: Ints | None, sessions: Ints) -> Ints | None:
    return None if counts is None else counts[sessions]


class SessionState(Struct):
    """Contents of a builder, as sent from one process to another."""

    keys: list[SessionKey]
    places: list[str]
    arrays: dict[str, bytes]
    new_results: list[NewResult]
    labels: list[int]
    """The entries of the labels that matched a result."""


class SessionViewBuilder:
    """Reduces sessions to counts and gains as they arrive, so that none of their texts need be kept.

    `keep` says which new results are kept for references and overlaps: those with a gain, all of them (since judgments
    may give them a gain), or none. `explain` keeps questions, searches, and the reason for each decision on duplicates;
    `searches` what each search repeated.
    """

    def __init__(
        self,
        protocol: SessionProtocol,
        *,
        labels: LabelIndex | None = None,
        keep: Keep = "none",
        explain: bool = False,
        searches: bool = False,
    ) -> None:
        self.protocol = protocol
        self.keys: list[SessionKey] = []
        self.new_results: list[NewResult] = []
        self.decisions: list[DedupDecision] = []
        self.search_log = SearchLog() if searches else None
        self.use = UseWatch(protocol.rules)
        self.searches: list[SearchRecord] = []
        self.questions: list[str | None] = []
        self._explain = explain
        self._labels = labels
        self._keep = keep
        self._offset, self._results, self._searches = array("q", [0]), array("q"), array("q")
        self._cut, self._gains = array("q", [0]), array("b")
        self._tokens, self._seconds, self._cost = array("d"), array("d"), array("d")
        self._idle, self._earlier = array("q"), array("q")
        self._conflicts, self._overruled = array("q"), array("q")
        self._by_id, self._by_url = array("q"), array("q")
        self._by_text, self._bare = array("q"), array("q")
        self._places: dict[tuple[str, str], str] = {}

    def add(self, session: Session) -> None:
        """Add a session."""
        self._places[session.system, session.conversation] = session.place
        key = SessionKey.of(session)
        self._idle.append(max(0, session.steps - len(session.iterations)))
        self._earlier.append(session.turns - 1)
        self._conflicts.append(0)
        self._overruled.append(0)
        self._bare.append(0)
        seen = Deduplicator(self.protocol.rules, record=self._explain)
        self.use.begin(session)
        if self.search_log is not None:
            self.search_log.begin()
        gains: list[int] = []
        new: list[tuple[Hit, Search]] = []
        returned = 0
        for number, iteration in enumerate(session.iterations, start=1):
            before = returned
            for search in iteration.searches:
                returned += len(search.results)
                new += self._add_search(session, key, search, number, seen, gains)
            self._results.append(returned - before)
            self._cut.append(len(self._gains) + len(gains))
            self._searches.append(len(iteration.searches))
            self._tokens.append(nan if iteration.tokens is None else iteration.tokens)
            self._seconds.append(nan if iteration.seconds is None else iteration.seconds)
            self._cost.append(nan if iteration.cost is None else iteration.cost)
        copies = seen.copies
        self._by_id.append(copies["domain"] + copies["generic"])
        self._by_url.append(copies["url"] + copies["loose_url"])
        self._by_text.append(copies["text"] + copies["short_text"])
        self.use.end(len(self.keys), session)
        self._keep_new(gains, new)
        self._gains.extend(gains)
        self._offset.append(len(self._results))
        if self._explain:
            self.questions.append(session.question)
        self.keys.append(key)

    def build(self) -> SessionView:
        """Return the view of all sessions so far."""
        return SessionView(
            offset=np.array(self._offset, dtype=np.int64),
            results=np.array(self._results, dtype=np.int64),
            cut=np.array(self._cut, dtype=np.int64),
            gains=np.array(self._gains, dtype=np.int8),
            searches=np.array(self._searches, dtype=np.int64),
            tokens=np.array(self._tokens, dtype=np.float64),
            seconds=np.array(self._seconds, dtype=np.float64),
            cost=np.array(self._cost, dtype=np.float64),
        )

    def state(self) -> SessionState:
        """Return what the builder holds; decisions and searches are not part of it."""
        arrays = {name: getattr(self, name).tobytes() for name in _ARRAYS}
        places = [self._places[key.system, key.conversation] for key in self.keys]
        labels = [] if self._labels is None else sorted(self._labels.used)
        return SessionState(self.keys, places, arrays, self.new_results, labels)

    def extend(self, state: SessionState) -> None:
        """Add the sessions of another builder after those of this one."""
        sessions, gains = len(self.keys), len(self._gains)
        starts = {"_offset": len(self._results), "_cut": gains}
        for name, data in state.arrays.items():
            own = getattr(self, name)
            other = array(own.typecode, data)
            own.extend(other if name not in starts else (value + starts[name] for value in other[1:]))
        for key, place in zip(state.keys, state.places, strict=True):
            self._places[key.system, key.conversation] = place
        self.keys += state.keys
        self.new_results += [
            replace(new, session=new.session + sessions, place=new.place + gains) for new in state.new_results
        ]
        if self._labels is not None:
            self._labels.used.update(state.labels)

    def counts(self) -> SessionCounts:
        """Return what was counted for each session so far."""
        columns = (
            *(self._idle, self._conflicts, self._overruled, self._earlier),
            *(self._by_id, self._by_url, self._by_text, self._bare),
        )
        return SessionCounts(*(np.array(column, dtype=np.int64) for column in columns))

    def _add_search(
        self,
        session: Session,
        key: SessionKey,
        search: Search,
        iteration: int,
        seen: Deduplicator,
        gains: list[int],
    ) -> list[tuple[Hit, Search]]:
        """Add the results of a search; return the new ones, if they are kept."""
        new, clusters = [], []
        if self._explain:
            record = SearchRecord(len(self.keys), iteration, search.query, search.tool, len(search.results))
            self.searches.append(record)
        for result in search.results:
            cluster = seen.place(result, search.tool)
            self._bare[-1] += not (result.id or result.domain_id or result.url or result.title)
            if self.use.wanted:
                self.use.add(result, cluster)
            gain = self._gain(key, search, result)
            clusters.append(cluster)
            if self._explain:
                why = seen.decisions[-1]
                self.decisions.append(
                    DedupDecision(
                        len(self.keys),
                        iteration,
                        result,
                        why,
                        query=search.query,
                        gain=gain,
                        search=len(self.searches) - 1,
                    )
                )
            if cluster == len(gains):
                gains.append(UNLABELLED if gain is None else gain)
                if self._keep != "none":
                    new.append((result, search))
            elif gain is not None and gain != gains[cluster]:
                gains[cluster] = self._resolve(session, result, gains[cluster], gain)
        if self.search_log is not None:
            self.search_log.add(len(self.keys), iteration, search, clusters)
        return new

    def _keep_new(self, gains: list[int], new: list[tuple[Hit, Search]]) -> None:
        """Keep what a session found, now that all its labels are known."""
        least = UNLABELLED if self._keep == "all" else 1
        for at, (result, search) in enumerate(new):
            if gains[at] >= least:
                place = len(self._gains) + at
                self.new_results.append(
                    NewResult(len(self.keys), place, result, search.tool, search.query, gains[at])
                )

    def _gain(self, key: SessionKey, search: Search, result: Hit) -> int | None:
        """Return the gain of a result: that of the labels file, if it has one, else that of the trace."""
        if self._labels is None:
            return result.gain
        entry = self._labels.find((*key.names, search.query, None), result, search.tool)
        if entry is None:
            return result.gain
        gain = self._labels.labels[entry].gain
        self._overruled[-1] += result.gain is not None and result.gain != gain
        return gain

    def _resolve(self, session: Session, result: Hit, known: int, gain: int) -> int:
        """Return the gain of a result that was labelled again, differently."""
        if known == UNLABELLED:
            return gain
        self._conflicts[-1] += 1
        if self.protocol.conflict != "error":
            return self.protocol.resolve_conflict(known, gain)
        name = result.title or result.url or result.id or result.domain_id or "a result"
        where, message = f"session `{session.conversation}`", f"`{name}` is labelled {known} and later {gain}"
        fault = Problem.error("conflicting-labels", where, message)
        hint = "`first`, `max` or `last` says which label counts"
        raise BadInput(session.place or session.conversation, [fault], hint=hint)

    def check_apart(self, state: SessionState) -> Iterator[Problem]:
        """Yield a problem for every session of another builder that was added here before."""
        for key, place in zip(state.keys, state.places, strict=True):
            there = Session(conversation=key.conversation, system=key.system, task=key.task, place=place)
            fault = self.check_new(there)
            if fault is not None:
                yield fault

    def check_new(self, session: Session) -> Problem | None:
        """Return what is wrong with a session that was added before; None for a new one."""
        key = session.system, session.conversation
        if key not in self._places:
            return None
        return describe_repeat(session, self._places[key])
