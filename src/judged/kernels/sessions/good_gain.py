"""Gain over iterations: what new good results are worth, by iteration, discounted, and against a reference."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.errors import BadMeasure
from judged.kernels.segments import divide, segment_count, segment_max
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
"""An iteration by its number from 1, or the last of every session."""
Worth: TypeAlias = Literal["graded", "binary"]
"""A good result is worth its gain, or 1."""
Discount: TypeAlias = Literal["log2", "zipf", "none"] | float
"""How the weight of iterations falls: 1 / log₂(i + 1), 1 / i, not at all, or p^(i − 1) for a number p."""
Beyond: TypeAlias = Literal["hold", "pad"]
"""Past its last iteration a session keeps its value, or goes on as if with iterations that found nothing."""


def gain_values(good: int, worth: Worth) -> Ints:
    """Return what a result of every gain is worth, from gain 0 on: nothing below `good`.

    >>> gain_values(2, "graded").tolist(), gain_values(3, "binary").tolist()
    ([0, 0, 2, 3, 4], [0, 0, 0, 1, 1])
    """
    return np.array([0 if gain < good else gain if worth == "graded" else 1 for gain in GAINS])


def gain_increments(good: int, worth: Worth) -> Ints:
    """Return what every gain is worth more than the gain below, from gain 0 on.

    >>> gain_increments(2, "graded").tolist()
    [0, 0, 2, 1, 1]
    """
    return np.diff(gain_values(good, worth), prepend=0)


def total_worth(grades: Ints, good: int, worth: Worth) -> Ints:
    """Return what results counted by gain, as `count_by_gain` does, are worth together."""
    return grades[:, 1:] @ gain_values(good, worth)


def good_results(view: SessionView, good: int) -> Ints:
    """Count the new good results of every iteration, |GR^i|."""
    return _worth(view, good, "binary")


def iteration_gain(view: SessionView, good: int, worth: Worth) -> Ints:
    """Return what the new good results of every iteration are worth together, G_i."""
    return _worth(view, good, worth)


def average_gain(view: SessionView, good: int, worth: Worth) -> Floats:
    """Return the gain of every iteration per result that it returned, AvgGain_i; 0 if it returned none."""
    key = ("average gain", good, worth)
    return view.cached(key, lambda: divide(iteration_gain(view, good, worth), view.results))


def discounts(count: int, discount: Discount) -> Floats:
    """Return the weights w(1), w(2), … w(count) of iterations, which never rise.

    >>> discounts(3, "log2").round(4).tolist(), discounts(3, 0.5).tolist()
    ([1.0, 0.6309, 0.5], [1.0, 0.5, 0.25])
    """
    number: Floats = np.arange(1.0, count + 1)
    if discount == "log2":
        return np.asarray(1.0 / np.log2(number + 1))
    if discount == "zipf":
        return 1.0 / number
    return np.ones(count) if discount == "none" else np.asarray(float(discount) ** (number - 1))


def count_until(view: SessionView, values: Ints, iteration: Iteration) -> Ints:
    """Sum integers over the iterations of every session up to and including the given one."""
    running = offsets_from_counts(values)
    return running[_end(view, iteration)] - running[view.offset[:-1]]


def total_until(view: SessionView, values: Floats, iteration: Iteration) -> Floats:
    """Sum floats over the iterations of every session up to and including the given one, in order."""
    inside = values if iteration == "last" else np.where(view.number <= iteration, values, 0.0)
    return np.bincount(view.session, weights=inside, minlength=len(view)).astype(np.float64)


def iteration_count(view: SessionView, iteration: Iteration, beyond: Beyond) -> Ints:
    """Return the number of iterations that a rate is divided by: `iteration`, or the session's own if it has fewer."""
    if iteration == "last":
        return view.iterations
    return np.minimum(view.iterations, iteration) if beyond == "hold" else np.full(len(view), iteration)


def discounted_total_until(
    view: SessionView, values: Floats | Ints, iteration: Iteration, discount: Discount
) -> Floats:
    """Sum numbers over the iterations of every session up to and including the given one, times their weights."""
    weights = discounts(int(view.iterations.max(initial=0)), discount)
    return total_until(view, values * weights[view.number - 1], iteration)


def weight_sum(count: Ints, discount: Discount) -> Floats:
    """Return the sum of the weights of the first `count` iterations.

    >>> weight_sum(np.array([0, 1, 3]), "log2").round(6).tolist()
    [0.0, 1.0, 2.13093]
    """
    weights = discounts(int(count.max(initial=0)), discount)
    return np.concatenate(([0.0], np.cumsum(weights)))[count]


def gain_per_cost(
    view: SessionView, cost: Floats | Ints, iteration: Iteration, good: int, worth: Worth
) -> Floats:
    """Return the good gain of every session over its cost; NaN if that is 0 or unknown, or nothing was found."""
    spent = total_until(view, cost.astype(np.float64), iteration)
    rate = divide(count_until(view, iteration_gain(view, good, worth), iteration), spent)
    return np.where(spent > 0, mask_not_found(view, rate), np.nan)


def best_gain(view: SessionView, good: int, worth: Worth) -> Ints:
    """Return the gain of every iteration, had the same new results come in the best order.

    The number of new results per iteration stays the same. The best `n` results of a session are worth the sum over gains
    g, from `good` on, of min(n, results of gain g or more) times what gain g is worth more than gain g − 1.
    """
    return view.cached(("best gain", good, worth), lambda: _best_gain(view, good, worth))


def value_at(view: SessionView, values: Floats | Ints, iteration: Iteration, beyond: Beyond) -> Floats:
    """Return the value of every session at one iteration; 0 without a search, and 0 beyond the last if padded."""
    out = np.zeros(len(view))
    there = view.iterations > 0
    if iteration != "last" and beyond == "pad":
        there = view.iterations >= iteration
    out[there] = values[_end(view, iteration)[there] - 1]
    return out


def mask_not_found(view: SessionView, values: Floats) -> Floats:
    """Return the values, with NaN for sessions that never searched or found nothing at all."""
    return np.where(view.found, values, np.nan)


def _worth(view: SessionView, good: int, worth: Worth) -> Ints:
    """Return the worth of the new results of every iteration, from counts by gain that all thresholds share."""
    return view.cached(("worth", good, worth), lambda: total_worth(view.grades, good, worth))


def _best_gain(view: SessionView, good: int, worth: Worth) -> Ints:
    before = view.cut[view.offset[view.session]]
    until, since = view.cut[1:] - before, view.cut[:-1] - before
    best = np.zeros(len(view.results), dtype=np.int64)
    for gain, more in enumerate(gain_increments(good, worth).tolist()):
        if more:
            at_least = count_until(view, good_results(view, gain), "last")[view.session]
            best += more * (np.minimum(until, at_least) - np.minimum(since, at_least))
    return best


def _end(view: SessionView, iteration: Iteration) -> Ints:
    """Return for every session the place after the last of its iterations that counts."""
    own = view.offset[1:]
    return own if iteration == "last" else np.minimum(view.offset[:-1] + iteration, own)


ReferenceKind: TypeAlias = Literal["own", "given"]
"""The good results that a session found itself, or those of the reference."""


def reference_gain_found(view: SessionView, good: int, worth: Worth) -> Ints:
    """Return what the new results of every iteration that are good in the reference are worth there."""
    reference = _reference(view)
    counts = view.cached(("reference grades",), lambda: count_by_gain(reference.gains, view.cut))
    return total_worth(counts, good, worth)


def reference_gain_total(view: SessionView, good: int, worth: Worth) -> Ints:
    """Return what all good results of the reference are worth, for every session."""
    return _reference(view).counts @ gain_increments(good, worth)


def completion_iteration(
    view: SessionView, good: int, reference: ReferenceKind
) -> tuple[Floats, Flags, Flags]:
    """Return the last iteration that found a good result, whether all were found, and whether there are any.

    >>> from judged.kernels.examples import make_sessions
    >>> completion_iteration(make_sessions(["a3 x0", "b2", "a3 x0"]), 2, "own")
    (array([2.]), array([ True]), array([ True]))
    """
    if reference == "own":
        adding = good_results(view, good)
        wanted = segment_count(adding > 0, view.offset)
        found = wanted
    else:
        adding = reference_gain_found(view, good, "binary")
        wanted = reference_gain_total(view, good, "binary")
        found = np.bincount(view.session, weights=adding, minlength=len(view)).astype(np.int64)
    last = segment_max(np.where(adding > 0, view.number, 0).astype(np.float64), view.offset)
    return last, found >= wanted, wanted > 0


def _reference(view: SessionView) -> Reference:
    if view.reference is None:
        msg = "a measure that looks at what there was to find needs a reference, and there is none"
        raise BadMeasure(
            msg, hint="give judgments of the tasks, or compare several systems on the same tasks"
        )
    return view.reference
