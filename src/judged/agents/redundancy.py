"""Sources of redundancy: repeats within and across iterations, by tool, by document, by query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter

from judged.agents.tables import Hit, Search
from judged.blocks import Table, Value
from judged.tables.content import normalise_text

NEAR = 0.7
"""The share of words that two queries have in common from which one nearly repeats the other."""
ASKED = {"repeated": "again", "near": "nearly again"}
"""Words for a query that is not new."""
MOST = 10
"""Number of documents shown."""


@dataclass(frozen=True, slots=True)
class RepeatRecord:
    """One search: what it returned that the session had before."""

    session: int
    iteration: int
    tool: str
    results: int
    within: int
    """Results that an earlier search or rank of the same iteration had."""
    across: int
    """Results that an earlier iteration had."""
    query: str
    """`new`, `repeated` or `near`; `unknown` without a query."""
    text: str | None = None
    """The query itself."""

    @property
    def new(self) -> int:
        """Results that the session had not had."""
        return self.results - self.within - self.across


class QueryLog:
    """The queries of one session so far."""

    def __init__(self) -> None:
        self._asked: list[frozenset[str]] = []

    def classify(self, query: str | None) -> str:
        """Return whether a query repeats an earlier one of the session (`repeated`), nearly does (`near`), or is `new`."""
        words = frozenset(normalise_text(query or "").split())
        if not words:
            return "unknown"
        known = "repeated" if words in self._asked else "new"
        if known == "new" and any(len(words & other) >= NEAR * len(words | other) for other in self._asked):
            known = "near"
        self._asked.append(words)
        return known


@dataclass(slots=True)
class SearchLog:
    """Collects the searches of sessions as they are added."""

    records: list[RepeatRecord] = field(default_factory=list)
    repeats: dict[int, Counter[str]] = field(default_factory=dict)
    """For each session, how often each repeated document came again."""
    _first: list[tuple[int, str]] = field(default_factory=list)
    """For each cluster of the session, the iteration that found it, and its name."""
    _queries: QueryLog = field(default_factory=QueryLog)

    def begin(self) -> None:
        """Begin a session."""
        self._first, self._queries = [], QueryLog()

    def add(self, session: int, iteration: int, search: Search, clusters: Sequence[int]) -> None:
        """Add a search, with the cluster of each of its results."""
        within = across = 0
        for cluster, result in zip(clusters, search.results, strict=True):
            if cluster == len(self._first):
                self._first.append((iteration, _name(result)))
                continue
            first, name = self._first[cluster]
            within += first == iteration
            across += first != iteration
            self.repeats.setdefault(session, Counter())[name] += 1
        tool, asked = search.tool or "search", self._queries.classify(search.query)
        self.records.append(
            RepeatRecord(session, iteration, tool, len(search.results), within, across, asked, search.query)
        )


def _name(result: Hit) -> str:
    known = (result.title, result.url, result.id, result.domain_id, result.snippet)
    return next((name for name in known if name), "")


@dataclass(frozen=True, slots=True)
class Redundancy:
    """Repeats in the searches of each system."""

    records: Mapping[str, tuple[RepeatRecord, ...]]
    repeats: Mapping[str, tuple[tuple[str, int, int], ...]]
    """For each system the documents that came again most often: name, times, sessions."""
    names: tuple[str, ...] = ()
    """The name of each session."""

    def rows(self) -> Iterator[dict[str, Value]]:
        """Yield a row for each system and tool, and one for all tools of a system."""
        for system, records in self.records.items():
            tools = list(dict.fromkeys(record.tool for record in records))
            for tool in [*tools, "all"] if len(tools) > 1 else tools:
                chosen = [record for record in records if tool in {"all", record.tool}]
                yield {"system": system, "tool": tool, **_count(chosen)}

    def searches(self) -> Iterator[dict[str, Value]]:
        """Yield a row for each search, in the order of sessions and iterations."""
        for system, records in self.records.items():
            for record in records:
                yield {"system": system, "session": self.names[record.session], **_describe(record)}

    def timelines(self) -> Iterator[Table]:
        """Yield, for each session, a row for each search: the query and the results that it repeated."""
        for system, records in self.records.items():
            for session, group in groupby(records, key=attrgetter("session")):
                rows = [_describe(record) for record in group]
                title = f"{self.names[session]} of {system}: what each search repeated"
                yield Table(tuple(rows[0]), tuple(tuple(row.values()) for row in rows), title=title)

    def documents(self) -> Iterator[dict[str, Value]]:
        """Yield a row for each of the documents that came again most often."""
        for system, repeats in self.repeats.items():
            for name, times, sessions in repeats:
                yield {"system": system, "document": name, "times again": times, "sessions": sessions}

    def tables(self) -> Iterator[Table]:
        """Yield the counts by system and tool, and the documents that came again most often."""
        rows = list(self.rows())
        yield Table(
            tuple(rows[0]),
            tuple(tuple(row.values()) for row in rows),
            title="Where repeats come from",
            keys=2,
        )
        documents = list(self.documents())
        if documents:
            yield Table(
                tuple(documents[0]),
                tuple(tuple(row.values()) for row in documents),
                title="Documents that came again most often",
                keys=2,
            )


def _describe(record: RepeatRecord) -> dict[str, Value]:
    return {
        "iteration": record.iteration,
        "tool": record.tool,
        "query": record.text,
        "asked": ASKED.get(record.query),
        "results": record.results,
        "new": record.new,
        "again in the iteration": record.within,
        "again later": record.across,
    }


def _count(records: Sequence[RepeatRecord]) -> dict[str, Value]:
    """Return the counts of searches; one that returned nothing new may have returned nothing at all."""
    asked = Counter(record.query for record in records)
    return {
        "searches": len(records),
        "nothing new": sum(record.new == 0 for record in records),
        "query again": asked["repeated"],
        "nearly again": asked["near"],
        "results": sum(record.results for record in records),
        "again in the iteration": sum(record.within for record in records),
        "again later": sum(record.across for record in records),
    }


def explain_redundancy(
    log: SearchLog, systems: Mapping[str, Sequence[int]], names: Sequence[str]
) -> Redundancy:
    """Return what the searches of each system repeated; `systems` are the numbers of their sessions, `names` their names."""
    owner = {session: system for system, sessions in systems.items() for session in sessions}
    records: dict[str, list[RepeatRecord]] = {system: [] for system in systems}
    for record in log.records:
        records[owner[record.session]].append(record)
    repeats: dict[str, tuple[tuple[str, int, int], ...]] = {}
    for system, sessions in systems.items():
        times: Counter[str] = Counter()
        spread: Counter[str] = Counter()
        for session in sessions:
            times.update(log.repeats.get(session, {}))
            spread.update(log.repeats.get(session, {}).keys())
        repeats[system] = tuple((name, count, spread[name]) for name, count in times.most_common(MOST))
    return Redundancy(
        {system: tuple(rows) for system, rows in records.items() if rows}, repeats, tuple(names)
    )
