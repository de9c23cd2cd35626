"""The view every ranked measure is computed on: ranks and grades of the judged documents, and counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar, cast

import numpy as np

from judged.kernels.diversity.intents import Intents
from judged.kernels.segments import Flags, Floats, Ints, segment_count, segment_ids, segment_running_count

__all__ = ["Ranking", "RecallPoints"]

RecallPoints: TypeAlias = Literal["truncated", "rounded"]
T = TypeVar("T")


@dataclass(frozen=True)
class Ranking:
    """Where the judged documents of many queries stand, flat, cut by offsets.

    The protocol has been applied already: ranks follow its tie rule and depth, and unjudged documents
    have been kept or removed as it says. A negative grade means "pooled, but not judged", as in trec_eval.
    """

    rank: Ints
    """Rank, from 1, of each judged document that was retrieved; ascending within a query."""
    grade: Floats
    """Its grade."""
    offset: Ints
    """Query `q` owns `rank[offset[q]:offset[q + 1]]`, and the same of `grade` and `target`."""
    retrieved: Ints
    """How many documents each query retrieved, judged or not."""
    best: Floats
    """All judged grades, retrieved or not, highest first within a query."""
    best_offset: Ints
    """Query `q` owns `best[best_offset[q]:best_offset[q + 1]]`, and the same of `best_target`."""
    target: Ints
    """For each retrieved judged document, the number of the target it answers; unique over queries."""
    best_target: Ints
    """The same for all judged documents, in the order of `best`."""
    document: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Where documents were judged by intent: for each retrieved judged document, its number in `intents`."""
    intents: Intents | None = None
    """What the judged documents are graded for, intent by intent; None: nothing is known of intents."""
    rel: float = 1.0
    """The protocol's relevance threshold, for measures that set none of their own."""
    highest: float = 1.0
    """The highest grade of the whole collection of judgments, not only of these queries."""
    above: Ints | None = None
    """For each retrieved judged document, how many results have a higher score; None: no two are equal."""
    tied: Ints | None = None
    """How many results, itself among them, have its score; None as above."""
    recall_points: RecallPoints = "truncated"
    """How a share of the relevant documents becomes a number of them: trec_eval 9 or 10."""
    _cache: dict[tuple[object, ...], object] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.retrieved)

    def threshold(self, rel: float | None) -> float:
        """The grade from which a document is relevant: the measure's own, else the protocol's."""
        return self.rel if rel is None else rel

    def hits(self, rel: float | None = None) -> Flags:
        """Which of the retrieved judged documents are relevant."""
        at = self.threshold(rel)
        return self.cached(("hits", at), lambda: self._relevant(self.grade, at))

    def relevant(self, rel: float | None = None) -> Ints:
        """How many documents are relevant to each query, retrieved or not."""
        at = self.threshold(rel)
        return self.cached(("relevant", at), lambda: segment_count(self.best_relevant(at), self.best_offset))

    def best_relevant(self, rel: float | None = None) -> Flags:
        """Which of all judged documents are relevant, in the order of `best`."""
        at = self.threshold(rel)
        return self.cached(("best relevant", at), lambda: self._relevant(self.best, at))

    def found(self, rel: float | None = None) -> Ints:
        """For each retrieved judged document, how many relevant ones stand at or above it."""
        at = self.threshold(rel)
        return self.cached(("found", at), lambda: segment_running_count(self.hits(at), self.offset))

    def hits_within(self, cutoff: int | None, rel: float | None = None) -> Ints:
        """How many relevant documents each query has among its first `cutoff`."""
        at = self.threshold(rel)
        return self.cached(
            ("hits_within", cutoff, at),
            lambda: segment_count(self.hits(at) & self.within(cutoff), self.offset),
        )

    def within(self, cutoff: int | None) -> Flags:
        """Which of the retrieved judged documents stand among the first `cutoff`."""
        if cutoff is None:
            return np.ones(len(self.rank), dtype=bool)
        return self.cached(("within", cutoff), lambda: self.rank <= cutoff)

    @property
    def query(self) -> Ints:
        """The number of the query that each retrieved judged document belongs to."""
        return self.cached(("query",), lambda: segment_ids(self.offset))

    @property
    def best_query(self) -> Ints:
        """The number of the query that each judged document belongs to, in the order of `best`."""
        return self.cached(("best query",), lambda: segment_ids(self.best_offset))

    @property
    def best_rank(self) -> Ints:
        """The rank each judged document has in the best order."""
        return self.cached(("best_rank",), lambda: _positions(self.best_offset))

    def standing(self, query: Ints, cutoff: Ints) -> Ints:
        """For each pair of a query and a rank, how many of its retrieved judged documents stand that high."""
        width = int(max(self.rank.max(initial=0), cutoff.max(initial=0))) + 1
        place = np.searchsorted(self.query * width + self.rank, query * width + cutoff, side="right")
        return place - self.offset[query]

    def cached(self, key: tuple[object, ...], compute: Callable[[], T]) -> T:
        """What `compute` returns, computed once for this view; several measures need the same parts."""
        if key not in self._cache:
            self._cache[key] = compute()
        return cast("T", self._cache[key])

    @staticmethod
    def _relevant(grade: Floats, at: float) -> Flags:
        return (grade >= at) & (grade >= 0)


def _positions(offset: Ints) -> Ints:
    length = np.diff(offset)
    return np.arange(1, int(offset[-1]) + 1) - np.repeat(offset[:-1], length)
