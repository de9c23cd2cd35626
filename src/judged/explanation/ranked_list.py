"""The results of one query, document by document, and the view of that query cut at every rank."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow.compute as pc

from judged.arrays import Flags, Floats, Ints
from judged.errors import BadMeasure
from judged.io.open import load
from judged.io.trec import find_results
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.scan.align import RULES, JudgedIndex, align_columns
from judged.kernels.ties import Arrangements, arrange
from judged.measures.measure import Measure
from judged.protocol import Protocol
from judged.scoring.align import read_judgments_for
from judged.scoring.locate import apply_run_conventions
from judged.tables.columns import to_arrow, to_bytes, to_numpy
from judged.tables.judgments import Judgments
from judged.tables.run import Columns, Mappings, Run, Text

CELLS = 1_000_000
"""The number of judged documents in the cuts computed at once, which bounds the memory for long lists."""


def read_graded_judgments(qrels: object, measure: Measure) -> Judgments:
    """Return the judgments that the measure needs; raise `BadMeasure` if it needs no grades."""
    if measure.family == "preference":
        msg = f"{measure} uses preferences, not grades, and cannot be explained rank by rank"
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
        at = np.flatnonzero(chosen)
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
        names, score = _find_rows(run, query)
        columns = [query] * len(names), names, score
        return cls(Run.from_columns(*columns, name=run.name), query_grades(judgments, query))

    def rank(self, protocol: Protocol) -> RankedList:
        """Return every result with its rank under the protocol, its depth and its rule for unjudged documents."""
        ranked = _rank(self.run, self.grades, protocol)
        if protocol.depth is not None:
            ranked = ranked.select(ranked.rank <= protocol.depth)
        if protocol.unjudged == "removed":
            known = np.array([grade is not None and grade >= 0 for grade in ranked.grade], dtype=bool)
            ranked = ranked.select(known)
            ranked = replace(ranked, rank=np.arange(1, len(ranked) + 1))
        return ranked


def _rank(run: Run, grades: dict[str, float], protocol: Protocol) -> RankedList:
    """Rank the results with the kernel that scores, as if every one of them were judged."""
    given, ready = _to_columns(run), _to_columns(apply_run_conventions(run, protocol))
    scores = dict(zip(given.document.to_pylist(), given.score.tolist(), strict=True))
    count = len(ready.score)
    single_byte = np.zeros(1, dtype=np.uint8), np.array([0, 1])
    queries = np.zeros(max(count, 1), dtype=np.uint8), np.arange(count + 1)
    index = JudgedIndex(*single_byte, *to_bytes(ready.document), np.array([0, count]))
    ties = protocol.ties if protocol.ties in RULES else RULES[0]  # `expected` has no order: show one
    single = protocol.precision == "float32" and protocol.order == "score"
    aligned = align_columns(index, queries, to_bytes(ready.document), ready.score, ties=ties, single=single)
    names = ready.document.take(to_arrow(aligned.row)).to_pylist()
    least = 0.0 if protocol.negative == "nonrelevant" else -np.inf
    grade = tuple(None if name not in grades else max(grades[name], least) for name in names)
    score = np.array([scores[name] for name in names], dtype=np.float64)
    return RankedList(tuple(names), score, aligned.rank, aligned.above, aligned.tied, grade)


def _to_columns(run: Run) -> Columns:
    source = run.as_columns().source
    assert isinstance(source, Columns)  # noqa: S101 - `as_columns` returns nothing else
    return source


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
