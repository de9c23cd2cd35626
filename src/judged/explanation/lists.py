"""Ranked lists: the results of one query or of all, with their grades, and the views of them cut at every rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from judged.arrays import Flags, Floats, Ints
from judged.errors import BadMeasure
from judged.io.open import load
from judged.io.trec import find_results
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.scan.align import RULES, JudgedIndex, align_columns
from judged.kernels.scan.order import sort_results
from judged.kernels.scan.strings import Strings
from judged.kernels.segments import segment_ids
from judged.kernels.ties import Arrangements, arrange
from judged.measures.measure import Measure
from judged.protocol import Protocol
from judged.scoring.align import RankedAlignment, read_judgments_for
from judged.scoring.locate import apply_run_conventions
from judged.tables.columns import to_arrow, to_bytes, to_numpy, to_strings
from judged.tables.content import match_contents
from judged.tables.judgments import Judgments
from judged.tables.run import Mappings, Run, Text

CELLS = 1_000_000
"""The number of judged documents in the cuts computed at once, which bounds the memory for long lists."""


def read_graded_judgments(qrels: object, measure: Measure) -> Judgments:
    """Return the judgments that the measure needs; raise `BadMeasure` if it needs no grades."""
    if measure.family == "preference":
        msg = f"{measure} uses preferences, not grades, and cannot be explained rank by rank"
        raise BadMeasure(msg, hint="`judged.evaluate` gives its value for each query")
    if measure.family == "exposure":
        msg = f"{measure} looks at all rankings of a query, and cannot be explained rank by rank"
        raise BadMeasure(msg, hint="`judged.evaluate` gives its value for each query")
    return read_judgments_for(qrels, [measure])


def query_grades(judgments: Judgments, query: str) -> dict[str, float]:
    """Return the judged documents of a query with their grades, in the order of the table."""
    number = judgments.queries.to_pylist().index(query)
    own = slice(int(judgments.offset[number]), int(judgments.offset[number + 1]))
    names = judgments.column("document")[own].to_pylist()
    return dict(zip(names, judgments.grades[own].tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class RankedList:
    """The results of one query, best first; every array has an element for each result."""

    documents: tuple[str, ...]
    score: Floats
    rank: Ints
    above: Ints
    """The number of results with a higher score."""
    tied: Ints
    """The number of results with the same score, itself included."""
    grade: tuple[float | None, ...]
    """None if the document is unjudged."""

    def __len__(self) -> int:
        return len(self.documents)

    def select(self, chosen: Flags) -> RankedList:
        """Return the flagged results with the ranks they have."""
        return self.take(np.flatnonzero(chosen))

    def drop(self, removed: Flags) -> RankedList:
        """Return the whole list as if the flagged results had never been retrieved."""
        count = np.concatenate(([0], np.cumsum(removed)))
        above = self.above - count[self.above]
        tied = self.tied - count[self.above + self.tied] + count[self.above]
        left = replace(self, above=above, tied=tied).select(~removed)
        return replace(left, rank=np.arange(1, len(left) + 1))

    def take(self, at: Ints) -> RankedList:
        """Return some results in the given order, with the ranks they have."""
        arrays = {name: getattr(self, name)[at] for name in ("score", "rank", "above", "tied")}
        documents = tuple(self.documents[i] for i in at.tolist())
        return replace(self, documents=documents, grade=tuple(self.grade[i] for i in at.tolist()), **arrays)


@dataclass(frozen=True, eq=False)
class QueryResults:
    """The rows of one query in a run, and the grades of its judged documents."""

    run: Run
    """The rows of this query alone."""
    grades: dict[str, float]
    """Every judged document, retrieved or not, in the order of the table."""

    @classmethod
    def find(cls, judgments: Judgments, run: Run, query: str) -> QueryResults:
        """Return the results of the query, in one pass over the run."""
        judgments, run = match_contents(judgments, run)
        names, score = _find_rows(run, query)
        columns = [query] * len(names), names, score
        return cls(Run.from_columns(*columns, name=run.name), query_grades(judgments, query))

    def rank(self, protocol: Protocol) -> RankedList:
        """Return every result with its rank under the protocol, its depth and its rule for unjudged documents."""
        ranked = _rank(self.run, self.grades, protocol)
        if protocol.negative == "removed":
            ranked = ranked.drop(
                np.array([grade is not None and grade < 0 for grade in ranked.grade], dtype=bool)
            )
        if protocol.depth is not None:
            ranked = ranked.select(ranked.rank <= protocol.depth)
        if protocol.unjudged == "removed":
            known = np.array([grade is not None and grade >= 0 for grade in ranked.grade], dtype=bool)
            ranked = ranked.select(known)
            ranked = replace(ranked, rank=np.arange(1, len(ranked) + 1))
        return ranked


def _rank(run: Run, grades: dict[str, float], protocol: Protocol) -> RankedList:
    """Rank the results with the kernel that scores, as if every one of them were judged."""
    given, ready = run.to_columns(), apply_run_conventions(run, protocol).to_columns()
    scores = dict(zip(given.document.to_pylist(), given.score.tolist(), strict=True))
    count = len(ready.score)
    single_byte = np.zeros(1, dtype=np.uint8), np.array([0, 1])
    queries = np.zeros(max(count, 1), dtype=np.uint8), np.arange(count + 1)
    index = JudgedIndex(*single_byte, *to_bytes(ready.document), np.array([0, count]))
    # `expected` has no order: show one; by grade they are ordered below
    ties = protocol.ties if protocol.ties in RULES else RULES[0]
    single = protocol.precision == "float32" and protocol.order == "score"
    aligned = align_columns(index, queries, to_bytes(ready.document), ready.score, ties=ties, single=single)
    names = ready.document.take(to_arrow(aligned.row)).to_pylist()
    least = 0.0 if protocol.negative == "nonrelevant" else -np.inf
    grade = tuple(None if name not in grades else max(grades[name], least) for name in names)
    score = np.array([scores[name] for name in names], dtype=np.float64)
    ranked = RankedList(tuple(names), score, aligned.rank, aligned.above, aligned.tied, grade)
    return _order_by_grade(ranked, protocol) if protocol.ties_by_grade else ranked


def _order_by_grade(ranked: RankedList, protocol: Protocol) -> RankedList:
    """Return the list with tied results by grade; an unjudged one is below every grade."""
    key = np.array([-np.inf if grade is None else grade for grade in ranked.grade])
    order = np.lexsort((key if protocol.ties == "pessimistic" else -key, ranked.above))
    moved = ranked.take(order)
    return replace(moved, rank=np.arange(1, len(order) + 1))


def _find_rows(run: Run, query: str) -> tuple[list[str], Floats]:
    """Return the documents of one query and their scores, in the order of the run."""
    source = run.source
    if isinstance(source, Text):
        return find_results(load(source.buffer), query)
    if isinstance(source, Mappings):
        own = source.mapping.get(query) or {}
        return [str(name) for name in own], np.array([float(score) for score in own.values()])
    at = np.flatnonzero(to_numpy(pc.equal(source.query, query)))
    return source.document.take(to_arrow(at)).to_pylist(), source.score[at]


def select_query(view: Ranking, number: int) -> Ranking:
    """Return the view of a single query."""
    return cut_lists(view, np.array([number]), view.retrieved[[number]])


def cut_lists(view: Ranking, query: Ints, cut: Ints) -> Ranking:
    """Return the lists of some queries, each cut after a number of results, as queries of their own.

    Judgments stay complete, so that documents below a cut count as missed.

    >>> from judged.kernels.examples import make_ranking
    >>> prefixes = cut_lists(make_ranking([1, None, 2]), np.zeros(4, dtype=int), np.arange(4))
    >>> prefixes.retrieved, prefixes.offset
    (array([0, 1, 2, 3]), array([0, 0, 1, 2, 4]))
    """
    cut = np.minimum(cut, view.retrieved[query])
    held = view.count_down_to(query, cut)
    offset = np.concatenate(([0], np.cumsum(held))).astype(np.int64)
    hit = np.arange(int(offset[-1])) + np.repeat(view.offset[query] - offset[:-1], held)
    lists = Arrangements(query, hit, view.rank[hit], offset)
    return replace(arrange(view, lists), retrieved=cut)


def cut_values(measure: Measure, view: Ranking, number: int = 0) -> Floats:
    """Return the value of one query's list cut after 0, 1, …, all results; the last is the query's value.

    >>> import judged
    >>> from judged.kernels.examples import make_ranking
    >>> cut_values(judged.AP, make_ranking([1, 0, 1]))
    array([0.        , 0.5       , 0.5       , 0.83333333])
    """
    count = int(view.retrieved[number])
    judged = sum(int(offset[number + 1] - offset[number]) for offset in (view.offset, view.best_offset))
    size = max(CELLS // (judged + 1), 1)
    cuts = np.arange(count + 1)
    parts = [
        measure.per_query(
            cut_lists(view, np.full_like(cuts[first : first + size], number), cuts[first : first + size])
        )
        for first in range(0, count + 1, size)
    ]
    return np.concatenate(parts).astype(np.float64)


def with_every_result(view: Ranking, grades: tuple[float | None, ...]) -> Ranking:
    """Return the view of a single query with a row for every result, at grade −1 if it is unjudged.

    A pooled document that was not assessed has that grade. Use the view for terms, not for scores.
    """
    every = np.arange(len(grades))
    return replace(
        view,
        rank=every + 1,
        grade=np.array([-1.0 if grade is None else grade for grade in grades]),
        target=every,
        offset=np.array([0, len(grades)]),
        intents=None,
        _cache={},
    )


@dataclass(frozen=True, eq=False)
class RankedLists:
    """The first results of every query in one run, best first under the protocol, as flat arrays cut by offsets."""

    queries: tuple[str, ...]
    offset: Ints
    """Query `q` owns the results `offset[q]` to `offset[q + 1]`."""
    documents: tuple[str, ...]
    grade: Floats
    """NaN if the document is unjudged."""
    retrieved: Ints
    """The number of results of each query, with those that are not here."""

    def results(self, query: int) -> list[tuple[str, float | None]]:
        """Return the documents of one query with their grades, None for an unjudged one."""
        own = slice(int(self.offset[query]), int(self.offset[query + 1]))
        grades = [None if grade != grade else grade for grade in self.grade[own].tolist()]  # noqa: PLR0124 - NaN
        return list(zip(self.documents[own], grades, strict=True))


def list_results(
    judgments: Judgments, run: Run, protocol: Protocol, *, queries: Sequence[str], depth: int = 10
) -> RankedLists:
    """Return the first `depth` results of the queries, in the order of the protocol.

    Ranks are those that measures see: its tie rule, precision, depth and treatment of unjudged documents apply. Where
    ties are averaged over all orders, one order is shown.

    >>> from judged.io.read import read_judgments, read_run
    >>> qrels, run = read_judgments({"q": {"a": 1}}), read_run({"q": {"a": 1.0, "b": 2.0, "c": 1.0}})
    >>> list_results(qrels, run, Protocol(), queries=["q"], depth=2).results(0)
    [('b', None), ('c', None)]
    """
    judgments, run = match_contents(judgments, run)
    source = apply_run_conventions(run, protocol).to_columns()
    wanted = to_strings(queries)
    query = to_numpy(pc.fill_null(pc.index_in(source.query, wanted), -1)).astype(np.int64)
    score = source.score
    if protocol.precision == "float32" and protocol.order == "score":
        score = score.astype(np.float32).astype(np.float64)
    grade = _find_grades(judgments, wanted, query, source.document)
    if protocol.negative == "nonrelevant":
        grade = np.maximum(grade, 0.0)
    ranked = np.ones(len(query), dtype=bool)
    if protocol.unjudged == "removed":
        ranked = grade >= 0
    elif protocol.negative == "removed":
        ranked = ~(grade < 0)  # NaN is unjudged
    limit = depth if protocol.depth is None else min(depth, protocol.depth)
    retrieved = np.bincount(query[(query >= 0) & ranked], minlength=len(wanted))
    if protocol.depth is not None:
        retrieved = np.minimum(retrieved, protocol.depth)
    rows = np.flatnonzero((query >= 0) & ranked)
    names = Strings.from_offsets(*to_bytes(source.document))[rows]
    # the rule `expected` has no order, so that the first one is shown; by grade they are ordered below
    rule = RULES.index(protocol.ties) if protocol.ties in RULES else 0
    order = rows[sort_results(query[rows], score[rows], names, rule)]
    if protocol.ties_by_grade:
        known = np.where(np.isnan(grade), -np.inf, grade)[order]
        key = known if protocol.ties == "pessimistic" else -known
        order = order[np.lexsort((key, -score[order], query[order]))]
    order = order[_count_from_first(query[order]) < limit]
    counts = np.bincount(query[order], minlength=len(wanted))
    offset = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    documents = tuple(source.document.take(to_arrow(order)).to_pylist())
    return RankedLists(tuple(queries), offset, documents, grade[order], retrieved)


def _find_grades(judgments: Judgments, wanted: pa.Array, query: Ints, document: pa.Array) -> Floats:
    """Return the grade of every row; NaN if the document is unjudged."""
    names = judgments.column("document")
    known = to_numpy(pc.fill_null(pc.index_in(judgments.queries, wanted), -1)).astype(np.int64)
    owner = known[segment_ids(judgments.offset)]
    every = pc.unique(names)
    number = to_numpy(pc.fill_null(pc.index_in(document.cast(every.type), every), -1)).astype(np.int64)
    width = len(every) + 1
    judged = owner * width + to_numpy(pc.index_in(names, every)).astype(np.int64)
    order = np.argsort(judged, kind="stable")
    key = query * width + number
    at = np.searchsorted(judged[order], key)
    at = np.minimum(at, max(len(judged) - 1, 0))
    if not len(judged):
        return np.full(len(key), np.nan)
    match = (judged[order][at] == key) & (query >= 0) & (number >= 0)
    grades: Floats = np.where(match, judgments.grades[order][at], np.nan)
    return grades


def _count_from_first(group: Ints) -> Ints:
    """Return the place of every element among those of its group; groups are contiguous."""
    if not len(group):
        return np.zeros(0, dtype=np.int64)
    starts = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))
    length = np.diff(np.append(starts, len(group)))
    return np.arange(len(group)) - np.repeat(starts, length)


def first_contributions(
    alignment: RankedAlignment, measures: Sequence[Measure], *, depth: int = 10
) -> Mapping[str, Floats]:
    """Return what each of the first `depth` ranks adds to each measure: a row for each query, a column for each rank.

    A rank adds the value of the list cut below it minus that of the list cut above it, as in `judged.explain`.
    Measures with text values have none.
    """
    view = alignment.view
    found: dict[str, list[Floats]] = {measure.label: [] for measure in measures if not measure.text}
    held = np.maximum(np.diff(view.offset), 1) + np.diff(view.best_offset)
    batch = np.cumsum(held * (depth + 1)) // CELLS
    for first in np.flatnonzero(np.diff(batch, prepend=-1)).tolist():
        last = int(np.searchsorted(batch, batch[first], side="right"))
        queries, cut = np.arange(first, last), np.arange(depth + 1)
        cuts = cut_lists(view, np.repeat(queries, depth + 1), np.tile(cut, len(queries)))
        for measure in measures:
            if not measure.text:
                values = measure.per_query(cuts).astype(np.float64).reshape(last - first, depth + 1)
                found[measure.label].append(np.diff(values, axis=1))
    return {name: np.concatenate(parts) if parts else np.zeros((0, depth)) for name, parts in found.items()}
