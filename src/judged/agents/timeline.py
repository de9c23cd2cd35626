"""Sessions as they happened: searches and results in their order, duplicates with their first occurrence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from judged.agents.builder import DedupDecision, SearchRecord, SessionKey
from judged.agents.family import SessionAlignment, align_of
from judged.agents.kernels import UNLABELLED
from judged.agents.redundancy import QueryLog
from judged.agents.tables import Hit
from judged.agents.use import UseRecord
from judged.errors import BadProtocol
from judged.scoring.evaluation import Evaluation

SOURCES = {
    "list": "twice in one list of results",
    "again": "the same query again",
    "parallel": "another query of the same iteration",
    "later": "another query of a later iteration",
}
"""Sources of a duplicate; the first that holds counts."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A result as the agent received it."""

    result: Hit
    gain: int | None
    """None: not labelled."""
    new: bool
    first: int
    """The iteration that it was first found in."""
    source: str | None
    """Source of a duplicate: a key of `SOURCES`."""
    why: str
    opened: bool = False
    """Whether the agent opened it, or a duplicate of it."""
    cited: bool = False


@dataclass(frozen=True, slots=True)
class TimelineSearch:
    """A search and what it returned."""

    iteration: int
    query: str | None
    tool: str | None
    results: tuple[Shown, ...]
    asked: str = "new"
    """Novelty of the query: `new`, `near`, `repeated`, or `unknown` without a query."""

    @property
    def new(self) -> int:
        """The number of results that the session had not had."""
        return sum(shown.new for shown in self.results)


@dataclass(frozen=True, slots=True)
class Timeline:
    """One session from its question to its last search."""

    key: SessionKey
    question: str | None
    searches: tuple[TimelineSearch, ...]

    @property
    def iterations(self) -> int:
        """The number of iterations."""
        return max((search.iteration for search in self.searches), default=0)

    @property
    def duplicates(self) -> int:
        """The number of results that repeat an earlier one."""
        return sum(not shown.new for search in self.searches for shown in search.results)


def make_timelines(evaluation: Evaluation) -> Iterator[Timeline]:
    """Yield every session as it happened; the evaluation must have been made with `explain`."""
    alignment = _check_explained(evaluation)
    searches: dict[int, list[tuple[int, SearchRecord]]] = {}
    for number, record in enumerate(alignment.searches):
        searches.setdefault(record.session, []).append((number, record))
    by_search = {
        number: list(group) for number, group in groupby(alignment.decisions, key=attrgetter("search"))
    }
    uses = {record.session: record for record in alignment.uses}
    for session, key in enumerate(alignment.keys):
        own = searches.get(session, [])
        use = uses.get(session) or UseRecord(session, frozenset(), frozenset(), 0, 0)
        yield Timeline(key, alignment.questions[session], _replay(alignment, use, own, by_search))


def count_redundancy(evaluation: Evaluation) -> dict[str, dict[str, int]]:
    """Return, for each system, how many duplicates come from each of `SOURCES`."""
    by_system: dict[str, Counter[str]] = {name: Counter() for name in evaluation.systems}
    for timeline in make_timelines(evaluation):
        for search in timeline.searches:
            by_system[timeline.key.system].update(shown.source for shown in search.results if shown.source)
    return {name: {source: counts[source] for source in SOURCES} for name, counts in by_system.items()}


def _check_explained(evaluation: Evaluation) -> SessionAlignment:
    alignment = align_of(evaluation)
    if len(alignment.questions) != len(alignment.keys):
        msg = "the searches and results of these sessions were not kept"
        raise BadProtocol(msg, hint="evaluate all systems together with `explain=True`")
    return alignment


def _replay(
    alignment: SessionAlignment,
    use: UseRecord,
    searches: list[tuple[int, SearchRecord]],
    by_search: Mapping[int, list[DedupDecision]],
) -> tuple[TimelineSearch, ...]:
    """Return the searches of one session; earlier ones say where a duplicate comes from."""
    view = alignment.view
    base = int(view.cut[view.offset[use.session]])
    queries = QueryLog()
    seen: dict[int, list[SearchRecord]] = {}
    replayed = []
    for number, record in searches:
        shown = []
        for decision in by_search.get(number, []):
            group = decision.decision.group
            earlier = seen.setdefault(group, [])
            gain = int(view.gains[base + group])
            shown.append(
                Shown(
                    decision.result,
                    None if gain == UNLABELLED else gain,
                    decision.decision.new,
                    earlier[0].iteration if earlier else record.iteration,
                    None if decision.decision.new else _find_source(record, earlier),
                    str(decision.decision).partition(" is ")[2],
                    group in use.opened,
                    group in use.cited,
                )
            )
            earlier.append(record)
        asked = queries.classify(record.query)
        replayed.append(TimelineSearch(record.iteration, record.query, record.tool, tuple(shown), asked))
    return tuple(replayed)


def _find_source(search: SearchRecord, earlier: list[SearchRecord]) -> str:
    if any(other is search for other in earlier):
        return "list"
    if search.query is not None and any(
        (_fold(other.query), other.tool) == (_fold(search.query), search.tool) for other in earlier
    ):
        return "again"
    return "parallel" if any(other.iteration == search.iteration for other in earlier) else "later"


def _fold(query: str | None) -> str | None:
    return None if query is None else " ".join(query.lower().split())
