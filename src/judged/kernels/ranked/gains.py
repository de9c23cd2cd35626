"""What grades are worth: gains, their best order, and their discounted sums."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, segment_cumsum, segment_sum

__all__ = [
    "Gain",
    "Gains",
    "best_discounted_gains",
    "best_gains",
    "cumulative_gains",
    "discounted_gains",
    "discounted_sum",
    "found_gains",
    "grade_gains",
    "ideal_cumulative_gains",
    "ideal_sum",
]

Gain: TypeAlias = Literal["linear", "exp"]
"""A grade is worth itself, or two to its power, less one."""
Gains: TypeAlias = tuple[tuple[float, float], ...]
"""Pairs of a grade and the gain it has instead of its own value."""


def grade_gains(grade: Floats, gain: Gain = "linear", gains: Gains | None = None) -> Floats:
    """The gain of each grade; a negative grade, which means unjudged, has none.

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
    """The gain of each retrieved judged document."""
    return ranking.cached(("found gains", gain, gains), lambda: grade_gains(ranking.grade, gain, gains))


def best_gains(ranking: Ranking, gain: Gain = "linear", gains: Gains | None = None) -> Floats:
    """The gains of all judged documents, highest first within a query; what would only cost is worth 0."""
    return ranking.cached(("best gains", gain, gains), lambda: _sorted_gains(ranking, gain, gains))


def discounted_gains(ranking: Ranking, gain: Gain = "linear", gains: Gains | None = None) -> Floats:
    """The gain of each retrieved judged document over log₂(rank + 1)."""
    discount = ranking.cached(("discount",), lambda: np.log2(ranking.rank + 1.0))
    return ranking.cached(("discounted", gain, gains), lambda: found_gains(ranking, gain, gains) / discount)


def best_discounted_gains(ranking: Ranking, gain: Gain = "linear", gains: Gains | None = None) -> Floats:
    """The gain of each judged document in the best order over log₂(rank + 1)."""
    discount = ranking.cached(("best discount",), lambda: np.log2(ranking.best_rank + 1.0))
    return ranking.cached(
        ("best discounted", gain, gains), lambda: best_gains(ranking, gain, gains) / discount
    )


def discounted_sum(
    ranking: Ranking, cutoff: int | None = None, gain: Gain = "linear", gains: Gains | None = None
) -> Floats:
    """The discounted cumulative gain of each query's first `cutoff` results."""
    return ranking.cached(
        ("discounted sum", cutoff, gain, gains),
        lambda: segment_sum(
            np.where(ranking.within(cutoff), discounted_gains(ranking, gain, gains), 0.0), ranking.offset
        ),
    )


def ideal_sum(
    ranking: Ranking, cutoff: int | None = None, gain: Gain = "linear", gains: Gains | None = None
) -> Floats:
    """The discounted cumulative gain of the first `cutoff` documents of the best order."""
    near = True if cutoff is None else ranking.best_rank <= cutoff
    return ranking.cached(
        ("ideal sum", cutoff, gain, gains),
        lambda: segment_sum(
            np.where(near, best_discounted_gains(ranking, gain, gains), 0.0), ranking.best_offset
        ),
    )


def cumulative_gains(ranking: Ranking, gains: Gains | None = None) -> Floats:
    """The discounted gain collected up to and with each retrieved judged document."""
    return ranking.cached(
        ("running discounted", gains),
        lambda: segment_cumsum(discounted_gains(ranking, gains=gains), ranking.offset),
    )


def ideal_cumulative_gains(ranking: Ranking, gains: Gains | None = None) -> Floats:
    """The discounted gain of the best order up to and with each judged document."""
    return ranking.cached(
        ("running ideal", gains),
        lambda: segment_cumsum(best_discounted_gains(ranking, gains=gains), ranking.best_offset),
    )


def _sorted_gains(ranking: Ranking, gain: Gain, gains: Gains | None) -> Floats:
    """Gains of the best order; only a table of gains can make that differ from the order of grades."""
    value = np.maximum(grade_gains(ranking.best, gain, gains), 0.0)
    if gains is None:
        return value
    return value[np.lexsort((-value, ranking.best_query))]
