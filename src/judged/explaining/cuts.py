"""One query's view, and the same cut after each of its results: what a rank adds is what its cut changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judged.kernels.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["CELLS", "cut_values", "one_query", "prefixes", "with_every_result"]

CELLS = 1_000_000
"""How many judged documents the cuts computed at once may hold, so that long lists need no more memory."""


def one_query(view: Ranking, number: int) -> Ranking:
    """The view of one of the queries alone."""
    own = slice(int(view.offset[number]), int(view.offset[number + 1]))
    best = slice(int(view.best_offset[number]), int(view.best_offset[number + 1]))
    return replace(
        view,
        rank=view.rank[own],
        grade=view.grade[own],
        target=view.target[own],
        offset=np.array([0, own.stop - own.start]),
        retrieved=view.retrieved[number : number + 1],
        best=view.best[best],
        best_target=view.best_target[best],
        best_offset=np.array([0, best.stop - best.start]),
        _cache={},
    )


def prefixes(view: Ranking, first: int, last: int) -> Ranking:
    """The list of a single query cut after `first`, …, `last` results, each cut as a query of its own.

    Judgments stay whole, so that what lies below a cut is missed, not forgotten.

    >>> from judged.kernels.ranking import rank
    >>> prefixes(rank([1, None, 2]), 0, 3).retrieved, prefixes(rank([1, None, 2]), 0, 3).offset
    (array([0, 1, 2, 3]), array([0, 0, 1, 2, 4]))
    """
    cut = np.arange(first, last + 1)
    held = np.searchsorted(view.rank, cut, side="right")
    offset = np.concatenate(([0], np.cumsum(held)))
    taken = np.arange(offset[-1]) - np.repeat(offset[:-1], held)
    copy, every = np.arange(len(cut)), len(view.best)
    lowest, highest = (each(view.best_target, initial=0) for each in (np.min, np.max))
    apart = int(highest - lowest) + 1  # the number of a target belongs to one query only
    return replace(
        view,
        rank=view.rank[taken],
        grade=view.grade[taken],
        offset=offset,
        retrieved=np.minimum(cut, view.retrieved[0]),
        best=np.tile(view.best, len(cut)),
        best_offset=np.arange(len(cut) + 1) * every,
        target=view.target[taken] + np.repeat(copy * apart, held),
        best_target=np.tile(view.best_target, len(cut)) + np.repeat(copy * apart, every),
        _cache={},
    )


def cut_values(measure: Measure, view: Ranking) -> Floats:
    """The value of a single query's list cut after 0, 1, …, all results; the last is its value.

    >>> from judged.kernels.ranking import rank
    >>> from judged.measures.ranked.ap import AP
    >>> cut_values(AP, rank([1, 0, 1]))
    array([0.        , 0.5       , 0.5       , 0.83333333])
    """
    whole = int(view.retrieved[0])
    each = max(CELLS // (len(view.rank) + len(view.best) + 1), 1)
    parts = [
        measure.per_query(prefixes(view, first, min(first + each - 1, whole)))
        for first in range(0, whole + 1, each)
    ]
    return np.concatenate(parts).astype(np.float64)


def with_every_result(view: Ranking, grades: tuple[float | None, ...]) -> Ranking:
    """The view of a single query with a row for each result; one that nobody judged has the grade −1.

    That is how a pooled document looks that was not assessed; workings may be computed on it, scores may not.
    """
    count = len(grades)
    return replace(
        view,
        rank=np.arange(1, count + 1),
        grade=np.array([-1.0 if grade is None else grade for grade in grades]),
        target=np.arange(count),
        offset=np.array([0, count]),
        _cache={},
    )
