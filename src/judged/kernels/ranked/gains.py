"""Gains of grades, their best order, and their discounted sums."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from judged.arrays import Floats, Ints
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import segment_cumsum, segment_sum

__all__ = [
    "Gain",
    "Gains",
    "best_discounted_gains",
    "best_gains",
    "cumulative_gains",
    "dcg_discount",
    "discounted_gains",
    "discounted_sum",
    "found_gains",
    "grade_gains",
    "ideal_cumulative_gains",
    "ideal_sum",
    "jk_discount",
]

Gain: TypeAlias = Literal["linear", "exp"]
"""The gain of a grade is the grade itself, or 2^grade − 1."""
Gains: TypeAlias = tuple[tuple[float, float], ...]
"""Pairs of a grade and the gain that replaces its own."""


def grade_gains(grade: Floats, gain: Gain = "linear", gains: Gains | None = None) -> Floats:
    """Return the gain of every grade; a negative grade, which means unjudged, has gain 0.

    >>> grade_gains(np.array([3.0, 1.0, -1.0]), "exp").tolist()
    [7.0, 1.0, 0.0]
    >>> grade_gains(np.array([3.0, 1.0, -1.0]), gains=((1.0, 5.0),)).tolist()
    [3.0, 5.0, 0.0]
    """
    positive = np.maximum(grade, 0.0)
    out = np.exp2(positive) - 1.0 if gain == "exp" else positive
    for level, value in gains or ():
        out = np.where(grade == level, value, out)
    return out


def found_gains(ranking: Ranking, gain: Gain = "linear", gains: Gains | None = None) -> Floats:
    """Return the gain of every retrieved judged document."""
    return ranking.cached(("found gains", gain, gains), lambda: grade_gains(ranking.grade, gain, gains))


def best_gains(ranking: Ranking, gain: Gain = "linear", gains: Gains | None = None) -> Floats:
    """Return the gains of all judged documents, highest first within a query; negative gains become 0."""
    return ranking.cached(("best gains", gain, gains), lambda: _sort_gains(ranking, gain, gains))


def dcg_discount(rank: Ints) -> Floats:
    """Return log₂(rank + 1), the discount of DCG."""
    discount: Floats = np.log2(rank + 1.0)
    return discount


def jk_discount(rank: Ints, base: float) -> Floats:
    """Return the discount of Järvelin and Kekäläinen: the logarithm of the rank, and 1 up to the base."""
    discount: Floats = np.maximum(np.log(rank) / np.log(base), 1.0)
    return discount


def discounted_gains(ranking: Ranking, gain: Gain = "linear", gains: Gains | None = None) -> Floats:
    """Return the gain of every retrieved judged document over log₂(rank + 1)."""
    discount = ranking.cached(("discount",), lambda: dcg_discount(ranking.rank))
    return ranking.cached(("discounted", gain, gains), lambda: found_gains(ranking, gain, gains) / discount)


def best_discounted_gains(ranking: Ranking, gain: Gain = "linear", gains: Gains | None = None) -> Floats:
    """Return the gain of every judged document in the best order over log₂(rank + 1)."""
    discount = ranking.cached(("best discount",), lambda: dcg_discount(ranking.best_rank))
    return ranking.cached(
        ("best discounted", gain, gains), lambda: best_gains(ranking, gain, gains) / discount
    )


def discounted_sum(
    ranking: Ranking, cutoff: int | None = None, gain: Gain = "linear", gains: Gains | None = None
) -> Floats:
    """Return the discounted cumulative gain of the first `cutoff` results of every query."""
    return ranking.cached(
        ("discounted sum", cutoff, gain, gains),
        lambda: segment_sum(
            np.where(ranking.within(cutoff), discounted_gains(ranking, gain, gains), 0.0), ranking.offset
        ),
    )


def ideal_sum(
    ranking: Ranking, cutoff: int | None = None, gain: Gain = "linear", gains: Gains | None = None
) -> Floats:
    """Return the discounted cumulative gain of the first `cutoff` documents of the best order."""
    near = True if cutoff is None else ranking.best_rank <= cutoff
    return ranking.cached(
        ("ideal sum", cutoff, gain, gains),
        lambda: segment_sum(
            np.where(near, best_discounted_gains(ranking, gain, gains), 0.0), ranking.best_offset
        ),
    )


def cumulative_gains(ranking: Ranking, gains: Gains | None = None) -> Floats:
    """Return the discounted gain up to and including every retrieved judged document."""
    return ranking.cached(
        ("running discounted", gains),
        lambda: segment_cumsum(discounted_gains(ranking, gains=gains), ranking.offset),
    )


def ideal_cumulative_gains(ranking: Ranking, gains: Gains | None = None) -> Floats:
    """Return the discounted gain of the best order up to and including every judged document."""
    return ranking.cached(
        ("running ideal", gains),
        lambda: segment_cumsum(best_discounted_gains(ranking, gains=gains), ranking.best_offset),
    )


def _sort_gains(ranking: Ranking, gain: Gain, gains: Gains | None) -> Floats:
    """Return the gains of the best order; it differs from the order of grades only with a table of gains."""
    value = np.maximum(grade_gains(ranking.best, gain, gains), 0.0)
    if gains is None:
        return value
    return value[np.lexsort((-value, ranking.best_query))]
