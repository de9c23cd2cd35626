"""Tied groups: results of one query with one score, whose order nothing decides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.ties.arrangements import Arrangements, arranged

__all__ = ["Group", "groups", "in_grade_order"]


@dataclass(frozen=True, slots=True)
class Group:
    """Results that share a score, at least one of them judged."""

    query: int
    above: int
    """How many results have a higher score."""
    size: int
    """How many results share the score."""
    first: int
    """Its judged documents are `first` to before `last` of the view."""
    last: int

    @property
    def end(self) -> int:
        """The last rank that its results take."""
        return self.above + self.size


def groups(ranking: Ranking) -> list[Group]:
    """Every tied group that has a judged document, in the order of the view."""
    if ranking.above is None or ranking.tied is None or not len(ranking.rank):
        return []
    above, tied, query = ranking.above, ranking.tied, ranking.query
    new = np.ones(len(above), dtype=bool)
    new[1:] = (query[1:] != query[:-1]) | (above[1:] != above[:-1])
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(above))
    rows = np.stack([query[first], above[first], tied[first], first, last], axis=1)
    return [Group(*row) for row in rows[tied[first] > 1].tolist()]


def in_grade_order(ranking: Ranking, depth: int | None, *, best: bool) -> Ranking:
    """The view with tied documents in descending order of grade at the top of their group, or ascending at its end.

    What then stands below `depth` is left out.
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
    return arranged(ranking, Arrangements(np.arange(len(ranking)), order, rank, offset))
