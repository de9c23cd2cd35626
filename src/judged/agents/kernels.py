"""Session measures: what every iteration returned, and what its new good results are worth."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Flags, Floats, Ints
from judged.errors import BadMeasure
from judged.kernels.elementary import log2, powers
from judged.kernels.segments import ViewCache, divide, segment_count, segment_ids, segment_max, take_segments

GAINS = range(5)
"""The gains that a result may have."""

UNLABELLED = -1
"""The gain of a result without a label."""


@dataclass(frozen=True, eq=False)
class Reference:
    """The results that a session could have found, with their gains: from judgments, or from all systems together."""

    gains: NDArray[np.int8]
    """The gain in the reference of every new result of the sessions; `UNLABELLED` if the reference lacks it.

    Different results of a session match different results of the reference.
    """
    counts: Ints
    """A row for every session: how many results of the reference have a gain of at least 0, 1, 2, 3, 4."""


@dataclass(frozen=True, eq=False)
class SessionView(ViewCache):
    """Sessions by iteration: how many results were returned, which of them were new, and their gains.

    The iterations of session `s` are `offset[s]:offset[s + 1]`; the new results of iteration `i` are
    `cut[i]:cut[i + 1]` of `gains`.
    """

    offset: Ints
    results: Ints
    """|R^i|: the number of results that every iteration returned, duplicates included."""
    cut: Ints
    gains: NDArray[np.int8]
    """The gain of every new result (UR), in the order of first occurrence; `UNLABELLED` if it has no label."""
    searches: Ints
    """The number of searches of every iteration."""
    tokens: Floats
    """The tokens that every iteration used; NaN if unknown."""
    seconds: Floats
    """The seconds that every iteration took; NaN if unknown."""
    cost: Floats
    """The money that every iteration took, in the unit of the trace; NaN if unknown."""
    reference: Reference | None = None
    _cache: dict[tuple[object, ...], object] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def from_results(
        cls,
        iterations: Ints,
        results: Ints,
        new: Flags,
        gains: NDArray[np.int8],
        *,
        searches: Ints | None = None,
        tokens: Floats | None = None,
        seconds: Floats | None = None,
    ) -> SessionView:
        """Return the view of results in the order in which the agents received them.

        Args:
            iterations: The number of iterations of every session.
            results: The number of results of every iteration.
            new: Whether a result is not a duplicate of an earlier one, for every result.
            gains: The gain of every result.
            searches: The number of searches of every iteration; by default one.
            tokens: The tokens that every iteration used.
            seconds: The seconds that every iteration took.

        >>> SessionView.from_results([2], [2, 1], [True, True, False], [3, 0, 3]).grades.tolist()
        [[0, 1, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0]]
        """
        returned, first = np.asarray(results, dtype=np.int64), np.asarray(new, dtype=bool)
        unknown = np.full(len(returned), np.nan)
        return cls(
            offset=offsets_from_counts(np.asarray(iterations)),
            results=returned,
            cut=offsets_from_counts(_count_flags(first, returned)),
            # Twice as fast as indexing by flags, and the slowest part of building a view.
            gains=np.compress(first, np.asarray(gains, dtype=np.int8)),
            searches=np.ones_like(returned) if searches is None else np.asarray(searches, dtype=np.int64),
            tokens=unknown if tokens is None else np.asarray(tokens, dtype=np.float64),
            seconds=unknown if seconds is None else np.asarray(seconds, dtype=np.float64),
            cost=unknown,
        )

    def __len__(self) -> int:
        """Return the number of sessions."""
        return len(self.offset) - 1

    @cached_property
    def iterations(self) -> Ints:
        """N: the number of iterations of every session."""
        return np.diff(self.offset)

    @cached_property
    def session(self) -> Ints:
        """The session of every iteration."""
        return segment_ids(self.offset)

    @cached_property
    def number(self) -> Ints:
        """The number of every iteration within its session, from 1."""
        return np.arange(1, len(self.results) + 1) - self.offset[self.session]

    @cached_property
    def new(self) -> Ints:
        """|UR^i|: the number of new results of every iteration."""
        return np.diff(self.cut)

    @cached_property
    def duplicates(self) -> Ints:
        """|Dup^i|: the number of results of every iteration that repeat an earlier one of the session."""
        return self.results - self.new

    @cached_property
    def found(self) -> Flags:
        """Whether any search of a session returned anything, for every session."""
        return segment_count(self.results > 0, self.offset) > 0

    @cached_property
    def grades(self) -> Ints:
        """For every iteration (row), how many new results are unlabelled (column 0) or have gain g (column g + 1)."""
        return count_by_gain(self.gains, self.cut)

    def select(self, sessions: Ints) -> SessionView:
        """Return the view of the given sessions, by number and in that order.

        >>> from judged.agents.examples import make_sessions
        >>> make_sessions(["a3 b1"], ["c2", "c2 d4"]).select([1]).gains.tolist()
        [2, 4]
        """
        iterations, offset = take_segments(self.offset, sessions)
        new, cut = take_segments(self.cut, iterations)
        reference = self.reference
        return SessionView(
            offset=offset,
            results=self.results[iterations],
            cut=cut,
            gains=self.gains[new],
            searches=self.searches[iterations],
            tokens=self.tokens[iterations],
            seconds=self.seconds[iterations],
            cost=self.cost[iterations],
            reference=None
            if reference is None
            else Reference(reference.gains[new], reference.counts[sessions]),
        )

    def with_best_labels(self) -> SessionView:
        """Return the same sessions with the highest gain for every unlabelled result, an upper bound."""
        return replace(self, gains=np.where(self.gains == UNLABELLED, GAINS[-1], self.gains).astype(np.int8))


def count_by_gain(gains: NDArray[np.int8], cut: Ints) -> Ints:
    """Return for every segment of gains (row) how many are `UNLABELLED` (column 0) or have gain g (column g + 1)."""
    if len(gains) and not UNLABELLED <= int(gains.min()) <= int(gains.max()) <= GAINS[-1]:
        msg = f"gains must be from 0 to {GAINS[-1]}, or {UNLABELLED} for unlabelled results"
        raise ValueError(msg)  # readers refuse other labels; here they would be counted in the wrong cell
    columns = len(GAINS) + 1
    cells = np.repeat(np.arange(len(cut) - 1) * columns + 1, np.diff(cut))
    cells += gains
    return np.bincount(cells, minlength=columns * (len(cut) - 1)).reshape(-1, columns)


def offsets_from_counts(counts: Ints) -> Ints:
    """Return the start of every part of the given sizes, and the end of the last one."""
    running = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=running[1:])
    return running


def _count_flags(flags: Flags, counts: Ints) -> Ints:
    """Count the flags set in every part; `reduceat` alone would misread an empty part."""
    filled = counts > 0
    out = np.zeros(len(counts), dtype=np.int64)
    if filled.any():
        out[filled] = np.add.reduceat(flags, offsets_from_counts(counts)[:-1][filled], dtype=np.int64)
    return out


Iteration: TypeAlias = int | Literal["last"]
"""An iteration by its number from 1, or the last of every session."""
Worth: TypeAlias = Literal["graded", "binary"]
"""A good result is worth its gain, or 1."""
Discount: TypeAlias = Literal["log2", "zipf", "none"] | float
"""Discount of iterations: 1 / log₂(i + 1), 1 / i, none, or p^(i − 1) for a number p."""
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
        return 1.0 / log2(number + 1)
    if discount == "zipf":
        return 1.0 / number
    return np.ones(count) if discount == "none" else powers(float(discount))(number - 1)


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
    """Return the good gain of every session over its cost; NaN if that is 0 or unknown."""
    spent = total_until(view, cost.astype(np.float64), iteration)
    rate = divide(count_until(view, iteration_gain(view, good, worth), iteration), spent)
    return np.where(spent > 0, rate, np.nan)


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

    >>> from judged.agents.examples import make_sessions
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
