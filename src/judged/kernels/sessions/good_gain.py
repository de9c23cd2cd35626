"""Good gain over iterations: what new good results are worth, added up, discounted, and read at an iteration."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from judged.kernels.segments import Floats, Ints, divide
from judged.kernels.sessions.view import GAINS, Steps, cuts

__all__ = [
    "Beyond",
    "Discount",
    "Iteration",
    "Worth",
    "average_gain",
    "best_gain",
    "counted",
    "discounted_total",
    "discounts",
    "divisor",
    "gain_for_each",
    "gain_of",
    "good_results",
    "increments",
    "read_at",
    "total",
    "weight_sum",
    "where_found",
    "worth_of",
    "worths",
]

Iteration: TypeAlias = int | Literal["last"]
"""An iteration by its number from 1, or each session's own last."""
Worth: TypeAlias = Literal["graded", "binary"]
"""A good result is worth its gain, or 1."""
Discount: TypeAlias = Literal["log2", "zipf", "none"] | float
"""How the weight of iterations falls: 1 / log₂(i + 1), 1 / i, not at all, or p^(i − 1) for a number p."""
Beyond: TypeAlias = Literal["hold", "pad"]
"""Past its last iteration a session keeps its value, or goes on as if with iterations that found nothing."""


def worths(good: int, worth: Worth) -> Ints:
    """What a result of each gain is worth, from gain 0 on: nothing below `good`.

    >>> worths(2, "graded").tolist(), worths(3, "binary").tolist()
    ([0, 0, 2, 3, 4], [0, 0, 0, 1, 1])
    """
    return np.array([0 if each < good else each if worth == "graded" else 1 for each in GAINS])


def increments(good: int, worth: Worth) -> Ints:
    """What a result of each gain is worth above one of the gain below, from gain 0 on.

    >>> increments(2, "graded").tolist()
    [0, 0, 2, 1, 1]
    """
    return np.diff(worths(good, worth), prepend=0)


def worth_of(grades: Ints, good: int, worth: Worth) -> Ints:
    """What results counted by gain, as `judged.kernels.sessions.view.graded` does, are worth together."""
    return grades[:, 1:] @ worths(good, worth)


def good_results(steps: Steps, good: int) -> Ints:
    """|GR^i|: how many new results of each iteration are good."""
    return _worth(steps, good, "binary")


def gain_of(steps: Steps, good: int, worth: Worth) -> Ints:
    """G_i: what the new good results of each iteration are worth together."""
    return _worth(steps, good, worth)


def average_gain(steps: Steps, good: int, worth: Worth) -> Floats:
    """AvgGain_i: the gain of each iteration for each result that it returned; 0 where it returned none."""
    key = ("average gain", good, worth)
    return steps.cached(key, lambda: divide(gain_of(steps, good, worth), steps.results))


def discounts(count: int, discount: Discount) -> Floats:
    """The weights w(1), w(2), … w(count) of iterations, none above the one before it.

    >>> discounts(3, "log2").round(4).tolist(), discounts(3, 0.5).tolist()
    ([1.0, 0.6309, 0.5], [1.0, 0.5, 0.25])
    """
    number: Floats = np.arange(1.0, count + 1)
    if discount == "log2":
        return np.asarray(1.0 / np.log2(number + 1))
    if discount == "zipf":
        return 1.0 / number
    return np.ones(count) if discount == "none" else np.asarray(float(discount) ** (number - 1))


def counted(steps: Steps, values: Ints, iteration: Iteration) -> Ints:
    """The sum of whole numbers over each session's iterations up to and with one of them."""
    running = cuts(values)
    return running[_end(steps, iteration)] - running[steps.offset[:-1]]


def total(steps: Steps, values: Floats, iteration: Iteration) -> Floats:
    """The sum of numbers over each session's iterations up to and with one of them, added in order."""
    inside = values if iteration == "last" else np.where(steps.number <= iteration, values, 0.0)
    return np.bincount(steps.session, weights=inside, minlength=len(steps)).astype(np.float64)


def divisor(steps: Steps, iteration: Iteration, beyond: Beyond) -> Ints:
    """The number of iterations that a rate is divided by: `iteration`, or the session's own where it has fewer."""
    if iteration == "last":
        return steps.iterations
    return np.minimum(steps.iterations, iteration) if beyond == "hold" else np.full(len(steps), iteration)


def discounted_total(steps: Steps, values: Floats | Ints, iteration: Iteration, discount: Discount) -> Floats:
    """The sum of numbers over each session's iterations up to and with one of them, each times its weight."""
    weights = discounts(int(steps.iterations.max(initial=0)), discount)
    return total(steps, values * weights[steps.number - 1], iteration)


def weight_sum(count: Ints, discount: Discount) -> Floats:
    """The sum of the weights of the first so many iterations.

    >>> weight_sum(np.array([0, 1, 3]), "log2").round(6).tolist()
    [0.0, 1.0, 2.13093]
    """
    weights = discounts(int(count.max(initial=0)), discount)
    return np.concatenate(([0.0], np.cumsum(weights)))[count]


def gain_for_each(steps: Steps, cost: Floats | Ints, iteration: Iteration, good: int, worth: Worth) -> Floats:
    """The good gain of each session over what it cost; NaN where that is 0 or not known, or nothing was found."""
    spent = total(steps, cost.astype(np.float64), iteration)
    rate = divide(counted(steps, gain_of(steps, good, worth), iteration), spent)
    return np.where(spent > 0, where_found(steps, rate), np.nan)


def best_gain(steps: Steps, good: int, worth: Worth) -> Ints:
    """The gain of each iteration, had the same new results come in the best order, as many of them in each.

    The best `n` results of a session are worth the sum over gains g, from `good` on, of min(n, results of gain g
    or more) times what gain g is worth above gain g − 1.
    """
    return steps.cached(("best gain", good, worth), lambda: _best_gain(steps, good, worth))


def read_at(steps: Steps, values: Floats | Ints, iteration: Iteration, beyond: Beyond) -> Floats:
    """The value that each session has at one iteration; 0 for one that never searched, and beyond where padded."""
    out = np.zeros(len(steps))
    there = steps.iterations > 0
    if iteration != "last" and beyond == "pad":
        there = steps.iterations >= iteration
    out[there] = values[_end(steps, iteration)[there] - 1]
    return out


def where_found(steps: Steps, values: Floats) -> Floats:
    """The values, and NaN for each session that never searched or found nothing at all."""
    return np.where(steps.found, values, np.nan)


def _worth(steps: Steps, good: int, worth: Worth) -> Ints:
    """For each iteration, the worth of its new results; from counts by gain, so that thresholds share the counting."""
    return steps.cached(("worth", good, worth), lambda: worth_of(steps.grades, good, worth))


def _best_gain(steps: Steps, good: int, worth: Worth) -> Ints:
    before = steps.cut[steps.offset[steps.session]]
    until, since = steps.cut[1:] - before, steps.cut[:-1] - before
    best = np.zeros(len(steps.results), dtype=np.int64)
    for each, more in enumerate(increments(good, worth).tolist()):
        if more:
            at_least = counted(steps, good_results(steps, each), "last")[steps.session]
            best += more * (np.minimum(until, at_least) - np.minimum(since, at_least))
    return best


def _end(steps: Steps, iteration: Iteration) -> Ints:
    """For each session, the place behind the last of its iterations that counts."""
    own = steps.offset[1:]
    return own if iteration == "last" else np.minimum(steps.offset[:-1] + iteration, own)
