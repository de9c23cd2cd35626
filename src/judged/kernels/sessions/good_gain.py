"""Gain over iterations: what new good results are worth, by iteration, discounted, and against a reference."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from judged.errors import BadMeasure
from judged.kernels.segments import Flags, Floats, Ints, divide, segment_count, segment_max
from judged.kernels.sessions.view import GAINS, Reference, SessionView, count_by_gain, offsets_from_counts

__all__ = [
    "Beyond",
    "Discount",
    "Iteration",
    "ReferenceKind",
    "Worth",
    "average_gain",
    "best_gain",
    "completion_iteration",
    "count_until",
    "discounted_total_until",
    "discounts",
    "gain_increments",
    "gain_per_cost",
    "gain_values",
    "good_results",
    "iteration_count",
    "iteration_gain",
    "mask_not_found",
    "reference_gain_found",
    "reference_gain_total",
    "total_until",
    "total_worth",
    "value_at",
    "weight_sum",
]

Iteration: TypeAlias = int | Literal["last"]
"""An iteration by its number from 1, or each session's own last."""
Worth: TypeAlias = Literal["graded", "binary"]
"""A good result is worth its gain, or 1."""
Discount: TypeAlias = Literal["log2", "zipf", "none"] | float
"""How the weight of iterations falls: 1 / log₂(i + 1), 1 / i, not at all, or p^(i − 1) for a number p."""
Beyond: TypeAlias = Literal["hold", "pad"]
"""Past its last iteration a session keeps its value, or goes on as if with iterations that found nothing."""


def gain_values(good: int, worth: Worth) -> Ints:
    """What a result of each gain is worth, from gain 0 on: nothing below `good`.

    >>> gain_values(2, "graded").tolist(), gain_values(3, "binary").tolist()
    ([0, 0, 2, 3, 4], [0, 0, 0, 1, 1])
    """
    return np.array([0 if each < good else each if worth == "graded" else 1 for each in GAINS])


def gain_increments(good: int, worth: Worth) -> Ints:
    """What a result of each gain is worth above one of the gain below, from gain 0 on.

    >>> gain_increments(2, "graded").tolist()
    [0, 0, 2, 1, 1]
    """
    return np.diff(gain_values(good, worth), prepend=0)


def total_worth(grades: Ints, good: int, worth: Worth) -> Ints:
    """What results counted by gain, as `judged.kernels.sessions.view.count_by_gain` does, are worth together."""
    return grades[:, 1:] @ gain_values(good, worth)


def good_results(steps: SessionView, good: int) -> Ints:
    """|GR^i|: how many new results of each iteration are good."""
    return _worth(steps, good, "binary")


def iteration_gain(steps: SessionView, good: int, worth: Worth) -> Ints:
    """G_i: what the new good results of each iteration are worth together."""
    return _worth(steps, good, worth)


def average_gain(steps: SessionView, good: int, worth: Worth) -> Floats:
    """AvgGain_i: the gain of each iteration for each result that it returned; 0 where it returned none."""
    key = ("average gain", good, worth)
    return steps.cached(key, lambda: divide(iteration_gain(steps, good, worth), steps.results))


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


def count_until(steps: SessionView, values: Ints, iteration: Iteration) -> Ints:
    """The sum of whole numbers over each session's iterations up to and with one of them."""
    running = offsets_from_counts(values)
    return running[_end(steps, iteration)] - running[steps.offset[:-1]]


def total_until(steps: SessionView, values: Floats, iteration: Iteration) -> Floats:
    """The sum of numbers over each session's iterations up to and with one of them, added in order."""
    inside = values if iteration == "last" else np.where(steps.number <= iteration, values, 0.0)
    return np.bincount(steps.session, weights=inside, minlength=len(steps)).astype(np.float64)


def iteration_count(steps: SessionView, iteration: Iteration, beyond: Beyond) -> Ints:
    """The number of iterations that a rate is divided by: `iteration`, or the session's own where it has fewer."""
    if iteration == "last":
        return steps.iterations
    return np.minimum(steps.iterations, iteration) if beyond == "hold" else np.full(len(steps), iteration)


def discounted_total_until(
    steps: SessionView, values: Floats | Ints, iteration: Iteration, discount: Discount
) -> Floats:
    """The sum of numbers over each session's iterations up to and with one of them, each times its weight."""
    weights = discounts(int(steps.iterations.max(initial=0)), discount)
    return total_until(steps, values * weights[steps.number - 1], iteration)


def weight_sum(count: Ints, discount: Discount) -> Floats:
    """The sum of the weights of the first so many iterations.

    >>> weight_sum(np.array([0, 1, 3]), "log2").round(6).tolist()
    [0.0, 1.0, 2.13093]
    """
    weights = discounts(int(count.max(initial=0)), discount)
    return np.concatenate(([0.0], np.cumsum(weights)))[count]


def gain_per_cost(
    steps: SessionView, cost: Floats | Ints, iteration: Iteration, good: int, worth: Worth
) -> Floats:
    """The good gain of each session over what it cost; NaN where that is 0 or not known, or nothing was found."""
    spent = total_until(steps, cost.astype(np.float64), iteration)
    rate = divide(count_until(steps, iteration_gain(steps, good, worth), iteration), spent)
    return np.where(spent > 0, mask_not_found(steps, rate), np.nan)


def best_gain(steps: SessionView, good: int, worth: Worth) -> Ints:
    """The gain of each iteration, had the same new results come in the best order, as many of them in each.

    The best `n` results of a session are worth the sum over gains g, from `good` on, of min(n, results of gain g
    or more) times what gain g is worth above gain g − 1.
    """
    return steps.cached(("best gain", good, worth), lambda: _best_gain(steps, good, worth))


def value_at(steps: SessionView, values: Floats | Ints, iteration: Iteration, beyond: Beyond) -> Floats:
    """The value that each session has at one iteration; 0 for one that never searched, and beyond where padded."""
    out = np.zeros(len(steps))
    there = steps.iterations > 0
    if iteration != "last" and beyond == "pad":
        there = steps.iterations >= iteration
    out[there] = values[_end(steps, iteration)[there] - 1]
    return out


def mask_not_found(steps: SessionView, values: Floats) -> Floats:
    """The values, and NaN for each session that never searched or found nothing at all."""
    return np.where(steps.found, values, np.nan)


def _worth(steps: SessionView, good: int, worth: Worth) -> Ints:
    """For each iteration, the worth of its new results; from counts by gain, so that thresholds share the counting."""
    return steps.cached(("worth", good, worth), lambda: total_worth(steps.grades, good, worth))


def _best_gain(steps: SessionView, good: int, worth: Worth) -> Ints:
    before = steps.cut[steps.offset[steps.session]]
    until, since = steps.cut[1:] - before, steps.cut[:-1] - before
    best = np.zeros(len(steps.results), dtype=np.int64)
    for each, more in enumerate(gain_increments(good, worth).tolist()):
        if more:
            at_least = count_until(steps, good_results(steps, each), "last")[steps.session]
            best += more * (np.minimum(until, at_least) - np.minimum(since, at_least))
    return best


def _end(steps: SessionView, iteration: Iteration) -> Ints:
    """For each session, the place behind the last of its iterations that counts."""
    own = steps.offset[1:]
    return own if iteration == "last" else np.minimum(steps.offset[:-1] + iteration, own)


ReferenceKind: TypeAlias = Literal["own", "given"]
"""The good results that a session found itself, or those of the reference."""


def reference_gain_found(steps: SessionView, good: int, worth: Worth) -> Ints:
    """For each iteration, what its new results that are good in the reference are worth there."""
    reference = _reference(steps)
    counts = steps.cached(("reference grades",), lambda: count_by_gain(reference.gains, steps.cut))
    return total_worth(counts, good, worth)


def reference_gain_total(steps: SessionView, good: int, worth: Worth) -> Ints:
    """For each session, what all good results of the reference are worth."""
    return _reference(steps).counts @ gain_increments(good, worth)


def completion_iteration(steps: SessionView, good: int, sought: ReferenceKind) -> tuple[Floats, Flags, Flags]:
    """For each session, the last iteration that brought one of the good results; whether that was all; and any there.

    >>> from judged.kernels.examples import make_sessions
    >>> completion_iteration(make_sessions(["a3 x0", "b2", "a3 x0"]), 2, "own")
    (array([2.]), array([ True]), array([ True]))
    """
    if sought == "own":
        adding = good_results(steps, good)
        wanted = segment_count(adding > 0, steps.offset)
        found = wanted
    else:
        adding = reference_gain_found(steps, good, "binary")
        wanted = reference_gain_total(steps, good, "binary")
        found = np.bincount(steps.session, weights=adding, minlength=len(steps)).astype(np.int64)
    last = segment_max(np.where(adding > 0, steps.number, 0).astype(np.float64), steps.offset)
    return last, found >= wanted, wanted > 0


def _reference(steps: SessionView) -> Reference:
    if steps.reference is None:
        msg = "a measure that looks at what there was to find needs a reference, and there is none"
        raise BadMeasure(
            msg, hint="give judgments of the tasks, or compare several systems on the same tasks"
        )
    return steps.reference
