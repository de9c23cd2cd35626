"""Values of a measure when the first n, or the last n, unjudged results are relevant: for every n at once.

Each function here takes sums over the results once and reads all values off them, in time proportional to the results.
The values are those of the measure up to rounding. They choose the few completions that the measure itself evaluates,
so that bounds have the measure's own last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.kernels.completions import UnjudgedResults
from judged.kernels.ranked.gains import Discount, Gain, Gains, Ideal, dcg_discount, grade_gains, jk_discount
from judged.kernels.segments import divide

Estimate: TypeAlias = Callable[..., tuple[Floats, Floats]]
"""Returns the values with the first n and with the last n unjudged results relevant, for n from 0 on."""


@dataclass(frozen=True)
class InOrder:
    """The results of one query, of which the first `visible` count, and what their unjudged ones could be."""

    hole: UnjudgedResults
    visible: int
    top: float
    """The highest grade: that of an unjudged result which is made relevant."""

    @cached_property
    def near(self) -> int:
        """The number of unjudged results that count."""
        return int((self.hole.unjudged < self.visible).sum())

    @property
    def far(self) -> int:
        """The number of those below, which can only be missed."""
        return len(self.hole.unjudged) - self.near

    @cached_property
    def count(self) -> Ints:
        """Every number of relevant unjudged results that count."""
        return np.arange(self.near + 1)

    @cached_property
    def unjudged(self) -> Flags:
        """Flag the unjudged results."""
        flags = np.zeros(self.visible, dtype=bool)
        flags[self.hole.unjudged[: self.near]] = True
        return flags

    @cached_property
    def after_first(self) -> Ints:
        """Number of results down to the last of the first n unjudged ones."""
        return np.concatenate(([0], self.hole.unjudged[: self.near] + 1))

    @cached_property
    def before_last(self) -> Ints:
        """Number of results above the first of the last n unjudged ones."""
        return np.append(self.hole.unjudged[: self.near], self.visible)[::-1]

    @cached_property
    def ideal_ranks(self) -> Ints:
        """The ranks that a best order can have at most."""
        return np.arange(1, len(self.hole.grade) + len(self.hole.best) + 1)

    def known(self, rel: float) -> Flags:
        """Flag the results that are judged relevant."""
        return (self.hole.grade[: self.visible] >= rel) & ~self.unjudged

    def relevant(self, rel: float) -> int:
        """Count the documents that are judged relevant, retrieved or not."""
        return int((self.hole.best >= rel).sum())


def _sum_down_to(values: Floats) -> Any:
    """Return the sums of the first 0, 1, 2, … values, in extended precision: differences of them lose digits."""
    return np.concatenate(([0.0], np.cumsum(values, dtype=np.longdouble)))


def precision_sums_in_order(
    view: InOrder, rel: float, at_rank: Floats, by_found: Floats
) -> tuple[Floats, Floats]:
    """Return the sums over relevant results of `at_rank` + `by_found` · relevant results down to there.

    With 0 and 1 / rank these are the sums of precisions of average precision.
    """
    known, unjudged = view.known(rel), view.unjudged
    good, sure, both = known | unjudged, np.cumsum(known), np.cumsum(known | unjudged)
    alone = _sum_down_to(np.where(known, at_rank + by_found * sure, 0.0))
    alone_slope = _sum_down_to(np.where(known, by_found, 0.0))
    every = _sum_down_to(np.where(good, at_rank + by_found * both, 0.0))
    slope = _sum_down_to(np.where(good, by_found, 0.0))
    end, start, n = view.after_first, view.before_last, view.count
    first = every[end] + alone[-1] - alone[end] + n * (alone_slope[-1] - alone_slope[end])
    last = alone[start] + every[-1] - every[start] - (view.near - n) * (slope[-1] - slope[start])
    return first.astype(np.float64), last.astype(np.float64)


def average_precision_in_order(
    view: InOrder,
    *,
    rel: float,
    cutoff: int | None = None,
    over: str = "relevant",
    interpolation: str = "none",
) -> tuple[Floats, Floats]:
    """Return the values of average precision."""
    at_rank, by_found = np.zeros(view.visible), 1.0 / np.arange(1.0, view.visible + 1)
    if interpolation == "trapezoid":
        # the j-th relevant result, at rank i > 1, is worth ((j − 1) / (i − 1) + j / i) / 2
        at_rank[1:] = -by_found[:-1] / 2
        by_found[1:] = (by_found[:-1] + by_found[1:]) / 2
    first, last = precision_sums_in_order(view, rel, at_rank, by_found)
    relevant = view.relevant(rel) + view.count
    limit = cutoff if cutoff is not None and over == "cutoff" else np.inf
    return divide(first, np.minimum(relevant, limit)), divide(last, np.minimum(relevant + view.far, limit))


def precision_odds_in_order(view: InOrder, *, rel: float) -> tuple[Floats, Floats]:
    """Return the odds whose logarithm is yaap, which has its extremes where they have."""
    rank, relevant = np.arange(1.0, view.visible + 1), view.relevant(rel) + view.count
    first, last = precision_sums_in_order(view, rel, np.zeros(view.visible), 1.0 / rank)
    return (1.0 + first) / (1.0 + relevant - first), (1.0 + last) / (1.0 + relevant - last)


def r_precision_in_order(view: InOrder, *, rel: float, multiple: float) -> tuple[Floats, Floats]:
    """Return the values of R-precision."""
    counts = np.concatenate(([0], np.cumsum(view.known(rel))))
    cutoff = np.floor(multiple * (view.relevant(rel) + view.count) + 0.9)
    deep = np.minimum(cutoff, view.visible).astype(np.int64)
    above = np.searchsorted(view.hole.unjudged, deep)
    first = counts[deep] + np.minimum(above, view.count)
    last = counts[deep] + np.maximum(above - (view.near - view.count), 0)
    return divide(first, cutoff), divide(last, cutoff)


def bpref_in_order(view: InOrder, *, rel: float) -> tuple[Floats, Floats]:
    """Return the values of Bpref.

    The number of non-relevant results above never falls from rank to rank, so that the ranks at which it exceeds the
    number of relevant documents, which limits it, begin at one place.
    """
    known, unjudged, n = view.known(rel), view.unjudged, view.count
    refuted, possible = np.cumsum(~unjudged & ~known), np.cumsum(~known)
    good = _Limited(known | unjudged, refuted)
    sure = _Limited(known, possible)
    relevant = view.relevant(rel) + n
    others = len(view.hole.best) + view.near - relevant
    zero, size = np.zeros(view.near + 1, dtype=np.int64), np.full(view.near + 1, view.visible)
    end, start = view.after_first, view.before_last
    above_first = good.sum(zero, end, 0 * n, relevant) + sure.sum(end, size, -n, relevant)
    above_last = sure.sum(zero, start, 0 * n, relevant) + good.sum(start, size, view.near - n, relevant)
    hits_first = good.count[end] + sure.count[-1] - sure.count[end]
    hits_last = sure.count[start] + good.count[-1] - good.count[start]
    most = np.minimum(relevant, others)
    return (
        divide(hits_first - divide(above_first, most), relevant),
        divide(hits_last - divide(above_last, most), relevant),
    )


class _Limited:
    """Sums of min(value + shift, limit) over some places of a list of values that never fall."""

    def __init__(self, chosen: Flags, values: Ints | Flags) -> None:
        self._values = values
        self.count = np.concatenate(([0], np.cumsum(chosen)))
        self._sum = np.concatenate(([0], np.cumsum(np.where(chosen, values, 0))))

    def sum(self, begin: Ints, end: Ints, shift: Ints, limit: Ints) -> Ints:
        """Return the sum over the chosen places from `begin` to `end`, for each of the arguments."""
        cut = np.clip(np.searchsorted(self._values, limit - shift), begin, end)
        below = self._sum[cut] - self._sum[begin] + shift * (self.count[cut] - self.count[begin])
        total: Ints = below + limit * (self.count[end] - self.count[cut])
        return total


def ndcg_in_order(
    view: InOrder,
    *,
    cutoff: int | None,
    gain: Gain,
    gains: Gains | None,
    discount: Discount,
    ideal: Ideal,  # noqa: ARG001 - with `retrieved` no law holds, and this is not called
) -> tuple[Floats, Floats]:
    """Return the values of nDCG."""
    return _discounted_ratios(view, dcg_discount(view.ideal_ranks, discount), cutoff, gain, gains)


def ndcg_jk_in_order(
    view: InOrder, *, cutoff: int | None, base: float, gain: Gain, gains: Gains | None
) -> tuple[Floats, Floats]:
    """Return the values of nDCG as first published."""
    return _discounted_ratios(view, jk_discount(view.ideal_ranks, base), cutoff, gain, gains)


def _discounted_ratios(
    view: InOrder, discount: Floats, cutoff: int | None, gain: Gain, gains: Gains | None
) -> tuple[Floats, Floats]:
    top = float(grade_gains(np.array([view.top]), gain, gains)[0])
    values = grade_gains(view.hole.grade[: view.visible], gain, gains)
    values[view.unjudged] = 0.0
    weight = np.where(view.ideal_ranks <= (np.inf if cutoff is None else cutoff), 1.0 / discount, 0.0)
    own = weight[view.hole.unjudged[: view.near]]
    gained = float((values * weight[: view.visible]).sum())
    first, last = (gained + top * _sum_down_to(order) for order in (own, own[::-1]))
    ideal = _ideal_gains(view, top, np.maximum(grade_gains(view.hole.best, gain, gains), 0.0), weight)
    return divide(first, ideal[view.count]), divide(last, ideal[view.count + view.far])


def _ideal_gains(view: InOrder, top: float, best: Floats, weight: Floats) -> Floats:
    """Return the discounted gain of the best order with n more documents of the highest gain, for every n.

    It is summed level by level: a document of a gain has reached that level and all below.
    """
    below = _sum_down_to(weight)
    more = np.arange(len(view.hole.unjudged) + 1)
    level, many = np.unique(np.append(best[best > 0], top), return_counts=True)
    reached = np.cumsum(many[::-1])[::-1] - 1  # without the one added for `top`
    total = np.zeros(len(more), dtype=np.longdouble)
    for step, count in zip(np.diff(level, prepend=0.0).tolist(), reached.tolist(), strict=True):
        total += step * below[count + more]
    return total.astype(np.float64)
