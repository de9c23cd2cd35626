"""One query's view, and the same cut after each of its results: what a rank adds is what its cut changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.kernels.ties.arrangements import Arrangements, arrange
from judged.measures.measure import Measure

__all__ = ["CELLS", "cut_values", "one_query", "prefixes", "with_every_result"]

CELLS = 1_000_000
"""How many judged documents the cuts computed at once may hold, so that long lists need no more memory."""


def one_query(view: Ranking, number: int) -> Ranking:
    """The view of one of the queries alone."""
    whole = int(view.retrieved[number])
    return prefixes(view, number, whole, whole)


def prefixes(view: Ranking, number: int, first: int, last: int) -> Ranking:
    """The list of one query cut after `first`, …, `last` results, each cut as a query of its own.

    Judgments stay whole, so that what lies below a cut is missed, not forgotten.

    >>> from judged.kernels.examples import make_ranking
    >>> prefixes(make_ranking([1, None, 2]), 0, 0, 3).retrieved, prefixes(make_ranking([1, None, 2]), 0, 0, 3).offset
    (array([0, 1, 2, 3]), array([0, 0, 1, 2, 4]))
    """
    cut = np.arange(first, last + 1)
    own = slice(int(view.offset[number]), int(view.offset[number + 1]))
    held = np.searchsorted(view.rank[own], cut, side="right")
    offset = np.concatenate(([0], np.cumsum(held)))
    hit = own.start + np.arange(int(offset[-1])) - np.repeat(offset[:-1], held)
    lists = Arrangements(np.full(len(cut), number), hit, view.rank[hit], offset)
    return replace(arrange(view, lists), retrieved=np.minimum(cut, view.retrieved[number]))


def cut_values(measure: Measure, view: Ranking, number: int = 0) -> Floats:
    """The value of one query's list cut after 0, 1, …, all results; the last is its value.

    >>> from judged.kernels.examples import make_ranking
    >>> from judged.measures.ranked.average_precision import AP
    >>> cut_values(AP, make_ranking([1, 0, 1]))
    array([0.        , 0.5       , 0.5       , 0.83333333])
    """
    whole = int(view.retrieved[number])
    judged = (int(each[number + 1] - each[number]) for each in (view.offset, view.best_offset))
    each = max(CELLS // (sum(judged) + 1), 1)
    parts = [
        measure.per_query(prefixes(view, number, first, min(first + each - 1, whole)))
        for first in range(0, whole + 1, each)
    ]
    return np.concatenate(parts).astype(np.float64)


def with_every_result(view: Ranking, grades: tuple[float | None, ...]) -> Ranking:
    """The view of a single query with a row for each result; one that nobody judged has the grade −1.

    That is how a pooled document looks that was not assessed; workings may be computed on it, scores may not.
    """
    count = len(grades)
    every = np.arange(count)
    return replace(
        view,
        rank=every + 1,
        grade=np.array([-1.0 if grade is None else grade for grade in grades]),
        target=every,
        offset=np.array([0, count]),
        intents=None,
        _cache={},
    )
