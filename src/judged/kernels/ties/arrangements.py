"""Tied groups, and arrangements: the same judged documents at other ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import segment_ids, take_segments

__all__ = [
    "Arrangements",
    "TiedGroup",
    "Valuation",
    "arrange",
    "concatenate_lists",
    "evaluate_lists",
    "find_tied_groups",
    "order_ties_by_grade",
]

Valuation: TypeAlias = Callable[[Ranking], Floats]
"""A measure with its parameters: one value for every query of a view."""

ENTRIES = 1 << 19
"""The number of judged documents evaluated at once, found or not; it bounds the memory and changes no value."""


@dataclass(frozen=True, slots=True)
class Arrangements:
    """Lists of retrieved judged documents of a view, every list for one of its queries."""

    query: Ints
    """The query of every list."""
    hit: Ints
    """The documents, by their place in the view, list after list."""
    rank: Ints
    """The rank of every document in its list, ascending within the list."""
    offset: Ints
    """List `a` owns `hit[offset[a]:offset[a + 1]]`, and the same of `rank`."""

    def __len__(self) -> int:
        return len(self.query)

    @classmethod
    def from_flags(cls, query: Ints, chosen: Flags, rank: Ints, hit: Ints) -> Arrangements:
        """Return a list for every row of flags, which says which documents `hit` it holds, at the ranks of that row."""
        row, column = np.nonzero(chosen)
        offset = np.concatenate(([0], np.cumsum(chosen.sum(axis=1)))).astype(np.int64)
        order = np.lexsort((rank[row, column], row))
        return cls(query, hit[column[order]], rank[row, column][order], offset)


def concatenate_lists(parts: list[Arrangements]) -> Arrangements:
    """Concatenate several sets of lists."""
    ends = np.cumsum([0, *(int(part.offset[-1]) for part in parts)])
    offsets = [part.offset[1:] + end for part, end in zip(parts, ends, strict=False)]
    return Arrangements(
        query=np.concatenate([part.query for part in parts]),
        hit=np.concatenate([part.hit for part in parts]),
        rank=np.concatenate([part.rank for part in parts]),
        offset=np.concatenate([np.zeros(1, dtype=np.int64), *offsets]),
    )


def evaluate_lists(value: Valuation, ranking: Ranking, lists: Arrangements) -> Floats:
    """Return the value of the measure for every list; other counts and judgments of its query stay the same."""
    parts = [value(arrange(ranking, lists, first, last)) for first, last in _shares(ranking, lists)]
    return np.concatenate(parts) if parts else np.zeros(0)


def arrange(ranking: Ranking, lists: Arrangements, first: int = 0, last: int | None = None) -> Ranking:
    """Return the view in which every list from `first` to `last` − 1 is a query of its own."""
    last = len(lists) if last is None else last
    query = lists.query[first:last]
    owned = slice(int(lists.offset[first]), int(lists.offset[last]))
    hit = lists.hit[owned]
    offset = lists.offset[first : last + 1] - lists.offset[first]
    best, best_offset = take_segments(ranking.best_offset, query)
    apart = int(np.ptp(ranking.best_target)) + 1 if len(best) else 1  # a target's number belongs to one query
    return replace(
        ranking,
        rank=lists.rank[owned],
        grade=ranking.grade[hit],
        offset=offset,
        retrieved=ranking.retrieved[query],
        best=ranking.best[best],
        best_offset=best_offset,
        target=ranking.target[hit] + apart * segment_ids(offset),
        best_target=ranking.best_target[best] + apart * segment_ids(best_offset),
        document=_document(ranking, query, hit, offset, best_offset),
        intents=None if ranking.intents is None else ranking.intents.of_lists(query, best, best_offset),
        above=None,
        tied=None,
        _cache={},
    )


def _document(ranking: Ranking, query: Ints, hit: Ints, offset: Ints, best_offset: Ints) -> Ints:
    """Return the number of every document among those of all lists; documents are numbered by query."""
    if ranking.intents is None:
        return ranking.document
    moved = best_offset[:-1] - ranking.best_offset[query]
    number: Ints = ranking.document[hit] + moved[segment_ids(offset)]
    return number


def _shares(ranking: Ranking, lists: Arrangements) -> Iterator[tuple[int, int]]:
    """Split lists into batches of about as many documents as fit into memory."""
    size = np.diff(lists.offset) + np.diff(ranking.best_offset)[lists.query] + 1
    share = np.cumsum(size) // ENTRIES
    cuts = np.flatnonzero(np.diff(share)) + 1
    edges = [0, *cuts.tolist(), len(lists)]
    return ((first, last) for first, last in pairwise(edges) if first < last)


@dataclass(frozen=True, slots=True)
class TiedGroup:
    """Results that share a score, at least one of them judged."""

    query: int
    above: int
    """The number of results with a higher score."""
    size: int
    """The number of results that share the score."""
    first: int
    """Its judged documents are `first` to before `last` of the view."""
    last: int

    @property
    def end(self) -> int:
        """The last rank of its results."""
        return self.above + self.size


def find_tied_groups(ranking: Ranking) -> list[TiedGroup]:
    """Return every tied group with a judged document, in the order of the view."""
    if ranking.above is None or ranking.tied is None or not len(ranking.rank):
        return []
    above, tied, query = ranking.above, ranking.tied, ranking.query
    new = np.ones(len(above), dtype=bool)
    new[1:] = (query[1:] != query[:-1]) | (above[1:] != above[:-1])
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(above))
    rows = np.stack([query[first], above[first], tied[first], first, last], axis=1)
    return [TiedGroup(*row) for row in rows[tied[first] > 1].tolist()]


def order_ties_by_grade(ranking: Ranking, depth: int | None, *, best: bool) -> Ranking:
    """Return the view with tied documents by falling grade at the top of their group, or by rising grade at its end.

    Documents that are then below `depth` are left out.
    """
    if ranking.above is None or ranking.tied is None:
        return ranking
    group = ranking.query * (int(ranking.above.max(initial=0)) + 1) + ranking.above
    order = np.lexsort((-ranking.grade if best else ranking.grade, group))
    start = np.searchsorted(group, group, side="left")
    judged = np.searchsorted(group, group, side="right") - start
    unjudged_first = 0 if best else ranking.tied - judged
    rank = ranking.above + unjudged_first + np.arange(len(order)) - start + 1
    kept = slice(None) if depth is None else rank <= depth
    order, rank, query = order[kept], rank[kept], ranking.query[kept]
    offset = np.searchsorted(query, np.arange(len(ranking) + 1)).astype(np.int64)
    return arrange(ranking, Arrangements(np.arange(len(ranking)), order, rank, offset))
