"""Gains of grades, their best order, and their discounted sums."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.errors import BadMeasure
from judged.kernels.elementary import log, log2, map_distinct, powers
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import divide, segment_cumsum, segment_max, segment_sum

Gain: TypeAlias = Literal["linear", "exp"]
"""The gain of a grade is the grade itself, or 2^grade − 1."""
Discount: TypeAlias = Literal["log2", "position"]
"""A gain is divided by log₂(rank + 1), or by the rank."""
Ideal: TypeAlias = Literal["judged", "retrieved"]
"""The best order has every judged document, or as many as the query retrieved."""
Gains: TypeAlias = tuple[tuple[float, float], ...]
"""Pairs of a grade and the gain that replaces its own."""
LARGEST_EXPONENT = 1_000
"""The highest grade whose gain of 2^grade − 1 is computed as such: sums of many are still finite."""


def grade_gains(grade: Floats, gain: Gain = "linear", gains: Gains | None = None) -> Floats:
    """Return the gain of every grade; a negative grade, which means unjudged, has gain 0.

    >>> grade_gains(np.array([3.0, 1.0, -1.0]), "exp").tolist()
    [7.0, 1.0, 0.0]
    >>> grade_gains(np.array([3.0, 1.0, -1.0]), gains=((1.0, 5.0),)).tolist()
    [3.0, 5.0, 0.0]

    Raises `BadMeasure` for `gain="exp"` and grades whose gains are beyond floating-point numbers.
    """
    positive = np.maximum(grade, 0.0)
    out = _exponential_gains(positive) if gain == "exp" else positive
    for level, value in gains or ():
        out = np.where(grade == level, value, out)
    return out


def _exponential_gains(grade: Floats) -> Floats:
    """Return 2^grade − 1; grades below 1 lose no digits."""
    highest = float(grade.max(initial=0.0))
    if highest > LARGEST_EXPONENT:
        msg = f'a gain of 2^{highest:g} − 1 is too large for `gain="exp"`, which takes grades up to {LARGEST_EXPONENT:,}'
        raise BadMeasure(msg, hint='use `gain="linear"`, or grades of a smaller scale')
    if (grade == np.floor(grade)).all():
        return np.exp2(grade) - 1.0  # exact
    return map_distinct(lambda g: 2.0**g - 1.0 if g >= 1 else math.expm1(g * math.log(2.0)), grade)


def gain_ratio(grade: Floats, top: Floats, gain: Gain = "linear") -> Floats:
    """Return the gain of every grade as a share of the gain of the highest; 0 where that is 0, at most 1.

    The ratio exists for grades of any size, also where the gains themselves are too large.

    >>> gain_ratio(np.array([2.0, 1.0, 0.0]), np.array(2.0), "exp").round(4).tolist()
    [1.0, 0.3333, 0.0]
    >>> gain_ratio(np.array([1100.0, 1099.0]), np.array(1100.0), "exp").tolist()
    [1.0, 0.5]
    """
    kept = np.minimum(grade, top)
    if gain != "exp" or float(np.max(top, initial=0.0)) <= LARGEST_EXPONENT:
        return divide(grade_gains(kept, gain), grade_gains(top, gain))
    within = np.minimum(top, LARGEST_EXPONENT)
    plain = divide(grade_gains(np.minimum(kept, within), gain), grade_gains(within, gain))
    ratio: Floats = np.where(top > LARGEST_EXPONENT, np.where(kept > 0, powers(2.0)(kept - top), 0.0), plain)
    return ratio


def scale_exponential_gains(ranking: Ranking) -> Ranking:
    """Return a ranking whose grades are the gains 2^grade − 1, divided by a power of two of each query's own.

    Ratios of sums of gains within a query are the same, for grades of any size.
    """
    top = segment_max(np.maximum(ranking.best, 0.0), ranking.best_offset)
    shift = np.maximum(np.maximum(top, 0.0) - LARGEST_EXPONENT, 0.0)

    def scale(grade: Floats, query: Ints) -> Floats:
        positive, down = np.maximum(grade, 0.0), shift[query]
        large = powers(2.0)(positive - down) - powers(2.0)(-down)
        gains: Floats = np.where(down > 0, large, _exponential_gains(np.where(down > 0, 0.0, positive)))
        return gains

    grade, best = scale(ranking.grade, ranking.query), scale(ranking.best, ranking.best_query)
    return replace(ranking, grade=grade, best=best, _cache={})


def found_gains(ranking: Ranking, gain: Gain = "linear", gains: Gains | None = None) -> Floats:
    """Return the gain of every retrieved judged document."""
    return ranking.cached(("found gains", gain, gains), lambda: grade_gains(ranking.grade, gain, gains))


def best_gains(ranking: Ranking, gain: Gain = "linear", gains: Gains | None = None) -> Floats:
    """Return the gains of all judged documents, highest first within a query; negative gains become 0."""
    return ranking.cached(("best gains", gain, gains), lambda: _sort_gains(ranking, gain, gains))


def dcg_discount(rank: Ints, discount: Discount = "log2") -> Floats:
    """Return log₂(rank + 1), the discount of DCG, or the rank itself."""
    return log2(rank + 1) if discount == "log2" else rank.astype(np.float64)


def jk_discount(rank: Ints, base: float) -> Floats:
    """Return the discount of Järvelin and Kekäläinen: the logarithm of the rank, and 1 up to the base."""
    discount: Floats = np.maximum(log(rank) / math.log(base), 1.0)
    return discount


def discounted_gains(
    ranking: Ranking, gain: Gain = "linear", gains: Gains | None = None, discount: Discount = "log2"
) -> Floats:
    """Return the discounted gain of every retrieved judged document."""
    divisor = ranking.cached(("discount", discount), lambda: dcg_discount(ranking.rank, discount))
    return ranking.cached(
        ("discounted", gain, gains, discount), lambda: found_gains(ranking, gain, gains) / divisor
    )


def best_discounted_gains(
    ranking: Ranking, gain: Gain = "linear", gains: Gains | None = None, discount: Discount = "log2"
) -> Floats:
    """Return the discounted gain of every judged document in the best order."""
    divisor = ranking.cached(("best discount", discount), lambda: dcg_discount(ranking.best_rank, discount))
    return ranking.cached(
        ("best discounted", gain, gains, discount), lambda: best_gains(ranking, gain, gains) / divisor
    )


def discounted_sum(
    ranking: Ranking,
    cutoff: int | None = None,
    gain: Gain = "linear",
    gains: Gains | None = None,
    discount: Discount = "log2",
) -> Floats:
    """Return the discounted cumulative gain of the first `cutoff` results of every query."""

    def compute() -> Floats:
        if cutoff is None:
            return segment_sum(discounted_gains(ranking, gain, gains, discount), ranking.offset)
        near = np.flatnonzero(ranking.within(cutoff))
        worth, divisor = found_gains(ranking, gain, gains), dcg_discount(ranking.rank[near], discount)
        return _add_up(worth[near] / divisor, ranking.query[near], len(ranking))

    return ranking.cached(("discounted sum", cutoff, gain, gains, discount), compute)


def ideal_sum(
    ranking: Ranking,
    cutoff: int | None = None,
    gain: Gain = "linear",
    gains: Gains | None = None,
    discount: Discount = "log2",
    ideal: Ideal = "judged",
) -> Floats:
    """Return the discounted cumulative gain of the first `cutoff` documents of the best order."""

    def compute() -> Floats:
        if cutoff is None and ideal == "judged":
            return segment_sum(best_discounted_gains(ranking, gain, gains, discount), ranking.best_offset)
        near = np.flatnonzero(is_in_ideal(ranking, cutoff, ideal))
        worth, divisor = best_gains(ranking, gain, gains), dcg_discount(ranking.best_rank[near], discount)
        return _add_up(worth[near] / divisor, ranking.best_query[near], len(ranking))

    return ranking.cached(("ideal sum", cutoff, gain, gains, discount, ideal), compute)


def is_in_ideal(ranking: Ranking, cutoff: int | None, ideal: Ideal = "judged") -> Flags:
    """Flag the documents of the best order that count down to the cutoff."""
    near = np.ones(len(ranking.best), dtype=bool) if cutoff is None else ranking.best_rank <= cutoff
    return near if ideal == "judged" else near & (ranking.best_rank <= ranking.retrieved[ranking.best_query])


def _add_up(values: Floats, query: Ints, queries: int) -> Floats:
    """Return the sum of each query's values, added from left to right as in `segment_sum`."""
    total: Floats = np.bincount(query, weights=values, minlength=queries).astype(np.float64)
    return total


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
