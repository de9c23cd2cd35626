"""The view of ranked measures: ranks and grades of the judged documents, counts, and grades by intent."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.kernels.segments import (
    ViewCache,
    segment_count,
    segment_ids,
    segment_running_count,
    take_segments,
)


@dataclass(frozen=True, eq=False)
class Intents:
    """The grades of the judged documents of many queries by intent, as flat arrays cut by offsets.

    Documents are numbered by query; of two documents that are equally good for an ideal ranking, the one
    with the lower number comes first. Intents are numbered by query too, so that a number belongs to one query.
    """

    offset: Ints
    """Document `d` owns the rows `offset[d]` to `offset[d + 1]`, at least one."""
    intent: Ints
    """The intent of every row, ascending within a document."""
    grade: Floats
    """The grade that the document has for it."""
    query_offset: Ints
    """Query `q` owns the intents `query_offset[q]` to `query_offset[q + 1]`."""
    weight: Floats
    """The weight of every intent within its query."""

    @property
    def query(self) -> Ints:
        """The query of every intent."""
        return segment_ids(self.query_offset)

    def rows(self, document: Ints) -> tuple[Ints, Ints]:
        """Return the rows of the given documents in order, and for every row its place in `document`."""
        start, length = self.offset[document], np.diff(self.offset)[document]
        place = np.repeat(np.arange(len(document)), length)
        first = np.cumsum(length) - length
        return np.arange(len(place)) - first[place] + start[place], place

    def of_lists(self, query: Ints, document: Ints, offset: Ints) -> Intents:
        """Return the intents of lists that are queries of their own, with documents and intents renumbered.

        List `a` belongs to the query `query[a]`, and its documents are `document[offset[a]:offset[a + 1]]`.
        """
        row, place = self.rows(document)
        list_of_row = segment_ids(offset)[place]
        chosen, query_offset = take_segments(self.query_offset, query)
        moved = query_offset[:-1] - self.query_offset[query]
        return Intents(
            offset=np.concatenate(([0], np.cumsum(np.diff(self.offset)[document]))).astype(np.int64),
            intent=self.intent[row] + moved[list_of_row],
            grade=self.grade[row],
            query_offset=query_offset,
            weight=self.weight[chosen],
        )

    def alike(self, document: Ints) -> Ints:
        """Return a number for every document, equal for documents with the same grades for the same intents."""
        known: dict[tuple[tuple[int, float], ...], int] = {}
        ends = zip(self.offset[document].tolist(), self.offset[document + 1].tolist(), strict=True)
        rows = [zip(self.intent[a:b].tolist(), self.grade[a:b].tolist(), strict=True) for a, b in ends]
        return np.array([known.setdefault(tuple(row), len(known)) for row in rows], dtype=np.int64)

    def followed_by(self, more: int) -> Intents:
        """Return the same with `more` queries without intents at the end."""
        return replace(
            self, query_offset=np.append(self.query_offset, np.repeat(self.query_offset[-1:], more))
        )

    def relevant(self, at: float) -> Flags:
        """Flag the rows in which the document is relevant to the intent."""
        return (self.grade >= at) & (self.grade >= 0)


RecallPoints: TypeAlias = Literal["truncated", "rounded"]


@dataclass(frozen=True)
class Ranking(ViewCache):
    """The ranks and grades of the judged documents of many queries, as flat arrays cut by offsets.

    The protocol has already been applied: ranks follow its tie rule and depth, and unjudged documents
    have been kept or removed. A negative grade means "pooled, but not judged", as in trec_eval.
    """

    rank: Ints
    """The rank, from 1, of every judged document that was retrieved; ascending within a query."""
    grade: Floats
    """Its grade."""
    offset: Ints
    """Query `q` owns `rank[offset[q]:offset[q + 1]]`, and the same of `grade` and `target`."""
    retrieved: Ints
    """The number of documents that every query retrieved, judged or not."""
    best: Floats
    """All judged grades, retrieved or not, highest first within a query."""
    best_offset: Ints
    """Query `q` owns `best[best_offset[q]:best_offset[q + 1]]`, and the same of `best_target`."""
    target: Ints
    """The number of the target of every retrieved judged document; unique over queries."""
    best_target: Ints
    """The same for all judged documents, in the order of `best`."""
    document: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """The number in `intents` of every retrieved judged document, if documents were judged by intent."""
    intents: Intents | None = None
    """The grades of the judged documents by intent; None without intents."""
    rel: float = 1.0
    """The protocol's relevance threshold, for measures that set none of their own."""
    highest: float = 1.0
    """The highest grade of the whole collection of judgments, not only of these queries."""
    above: Ints | None = None
    """The number of results with a higher score, for every retrieved judged document; None without ties."""
    tied: Ints | None = None
    """The number of results with the same score, itself included; None without ties."""
    recall_points: RecallPoints = "truncated"
    """Rounding rule from a share of the relevant documents to a count: that of trec_eval 9 or 10."""
    _cache: dict[tuple[object, ...], object] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.retrieved)

    def threshold(self, rel: float | None) -> float:
        """Return the grade from which a document is relevant: the measure's own, or else the protocol's."""
        return self.rel if rel is None else rel

    def hits(self, rel: float | None = None) -> Flags:
        """Flag the retrieved judged documents that are relevant."""
        at = self.threshold(rel)
        return self.cached(("hits", at), lambda: self._relevant(self.grade, at))

    def relevant(self, rel: float | None = None) -> Ints:
        """Count the relevant documents of every query, retrieved or not."""
        at = self.threshold(rel)
        return self.cached(("relevant", at), lambda: segment_count(self.best_relevant(at), self.best_offset))

    def best_relevant(self, rel: float | None = None) -> Flags:
        """Flag the judged documents that are relevant, in the order of `best`."""
        at = self.threshold(rel)
        return self.cached(("best relevant", at), lambda: self._relevant(self.best, at))

    def found(self, rel: float | None = None) -> Ints:
        """Count the relevant documents at or above every retrieved judged document."""
        at = self.threshold(rel)
        return self.cached(("found", at), lambda: segment_running_count(self.hits(at), self.offset))

    def hits_within(self, cutoff: int | None, rel: float | None = None) -> Ints:
        """Count the relevant documents among the first `cutoff` results of every query."""
        at = self.threshold(rel)
        return self.cached(
            ("hits_within", cutoff, at),
            lambda: segment_count(self.hits(at) & self.within(cutoff), self.offset),
        )

    def within(self, cutoff: int | None) -> Flags:
        """Flag the retrieved judged documents among the first `cutoff` results."""
        if cutoff is None:
            return np.ones(len(self.rank), dtype=bool)
        return self.cached(("within", cutoff), lambda: self.rank <= cutoff)

    @property
    def query(self) -> Ints:
        """The query of every retrieved judged document."""
        return self.cached(("query",), lambda: segment_ids(self.offset))

    @property
    def best_query(self) -> Ints:
        """The query of every judged document, in the order of `best`."""
        return self.cached(("best query",), lambda: segment_ids(self.best_offset))

    @property
    def best_rank(self) -> Ints:
        """The rank of every judged document in the best order."""
        return self.cached(("best_rank",), lambda: _positions(self.best_offset))

    def count_down_to(self, query: Ints, cutoff: Ints) -> Ints:
        """Count the retrieved judged documents of a query down to a rank, for every pair of the two."""
        width = int(max(self.rank.max(initial=0), cutoff.max(initial=0))) + 1
        place = np.searchsorted(self.query * width + self.rank, query * width + cutoff, side="right")
        return place - self.offset[query]

    @staticmethod
    def _relevant(grade: Floats, at: float) -> Flags:
        # also under a threshold of 0 or less, a negative grade means unjudged
        return (grade >= at) & (grade >= 0)


def _positions(offset: Ints) -> Ints:
    length = np.diff(offset)
    return np.arange(1, int(offset[-1]) + 1) - np.repeat(offset[:-1], length)
