"""Ties: the mean, the least and the greatest value of a measure over all orders of tied results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from judged.arrays import Floats, Ints
from judged.errors import BadMeasure
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.ties import (
    MAX_ORDERS,
    OrderStatistics,
    TieContributions,
    TiedGroup,
    TooManyOrders,
    enumerate_orders,
    find_tied_groups,
    tie_contributions,
)
from judged.measures.laws import Law
from judged.measures.measure import Measure
from judged.scoring.align import RankedAlignment


def average_over_ties(measure: Measure, alignment: RankedAlignment) -> Floats:
    """Return the mean of each query's value over all orders of its tied results, every order equally likely."""
    tied = _TiedView(measure, alignment)
    tied.check()
    try:
        return tied.expected()
    except TooManyOrders as error:
        raise tied.too_many(error) from None


def tie_range(measure: Measure, alignment: RankedAlignment) -> tuple[Floats, Floats]:
    """Return the least and the greatest value of each query over all orders of its tied results."""
    tied = _TiedView(measure, alignment)
    tied.check()
    try:
        low, high = tied.range()
    except TooManyOrders as error:
        raise tied.too_many(error) from None
    if measure.zero_if_missing:
        low, high = low * alignment.present, high * alignment.present
    return alignment.score_without_relevant(measure, low), alignment.score_without_relevant(measure, high)


@dataclass(frozen=True)
class _TiedView:
    """A measure, and a view whose tied results have no order yet."""

    measure: Measure
    alignment: RankedAlignment

    def expected(self) -> Floats:
        """Return the mean over all orders."""
        values, tied = self._ordered_values(), find_tied_groups(self.view)
        if self._has(Law.STEPWISE, Law.LINEAR):
            for steps in self._steps(tied):
                values[steps.group.query] += steps.expected - steps.reference
        else:
            for orders in self._orders(tied):
                values[orders.query] = orders.expected
        return values

    def range(self) -> tuple[Floats, Floats]:
        """Return the least and the greatest value."""
        if self._has(Law.BY_GRADE) and not self.measure.has_gain_table:
            worst, best = (self.measure.per_query(view) for view in self.alignment.by_grade)
            return np.minimum(worst, best), np.maximum(worst, best)
        low, tied = self._ordered_values(), find_tied_groups(self.view)
        high = low.copy()
        if self._has(Law.STEPWISE, Law.LINEAR):
            for steps in self._steps(tied):
                least, most = steps.extremes()
                low[steps.group.query] += least - steps.reference
                high[steps.group.query] += most - steps.reference
        else:
            for orders in self._orders(tied):
                low[orders.query], high[orders.query] = orders.low, orders.high
        return low, high

    @property
    def view(self) -> Ranking:
        """The view, with all that is tied across the protocol's depth."""
        return self.alignment.untied

    def check(self) -> None:
        """Raise `BadMeasure` for a measure whose values are not numbers."""
        if self.measure.text:
            msg = f"{self.measure} is a text and has no mean or range over the orders of tied results"
            raise BadMeasure(msg, hint="another rule for `ties` chooses one order")

    def too_many(self, error: TooManyOrders) -> BadMeasure:
        """Return the error for a query with too many orders."""
        query = self.alignment.units[error.query].as_py()
        orders = f"{error.orders:,.0f}" if error.orders < 1e15 else f"about {error.orders:.0e}"
        msg = (
            f"{self.measure} over the orders of tied results: query `{query}` has {orders} different ones, "
            f"more than can be looked at one by one ({MAX_ORDERS:,})"
        )
        return BadMeasure(msg, hint="a cutoff (`@10`) makes them fewer; another tie rule chooses one of them")

    def _ordered_values(self) -> Floats:
        """Return the values in the order of the view, as a copy to change."""
        return np.array(self.measure.per_query(self.alignment.view), dtype=np.float64)

    def _has(self, *laws: Law) -> bool:
        return not self.measure.laws.isdisjoint(laws)

    def _kind(self) -> Ints:
        """Assign numbers to documents, equal if the measure cannot distinguish them; −1 if one adds nothing."""
        view, rel = self.view, self.measure.parameters.get("rel")
        hit = view.hits(None if rel is None else float(rel))  # type: ignore[arg-type]
        if self._has(Law.RELEVANCE_ONLY):
            return np.where(hit, 0, -1)
        if self._has(Law.JUDGMENT_ONLY):
            return np.where(hit, 2, np.where(view.grade >= 0, 1, 0))
        if self.measure.needs == "intents" and view.intents is not None:
            return view.intents.alike(view.document)
        grade = np.unique(view.grade, return_inverse=True)[1]
        if self._has(Law.GAIN_ONLY) and not self.measure.has_gain_table:
            return np.where(hit | (view.grade > 0), grade, -1)
        shared = np.isin(view.target, _repeated(view.best_target))
        target = np.where(shared, view.target, -1)
        return np.unique(np.stack([grade, target], axis=1), axis=0, return_inverse=True)[1].ravel()

    def _steps(self, tied: list[TiedGroup]) -> Iterator[TieContributions]:
        depth, cutoff = self.alignment.protocol.depth, self.measure.parameters.get("cutoff")
        visible = min((limit for limit in (depth, cutoff) if isinstance(limit, int)), default=None)
        alone = self._has(Law.LINEAR)
        return tie_contributions(
            self.measure.per_query, self.view, self._kind(), tied, visible=visible, alone=alone
        )

    def _orders(self, tied: list[TiedGroup]) -> Iterator[OrderStatistics]:
        return enumerate_orders(
            self.measure.per_query, self.view, self._kind(), tied, visible=self.alignment.protocol.depth
        )


def _repeated(values: Ints) -> Ints:
    """Return the values that occur more than once."""
    found, times = np.unique(values, return_counts=True)
    return found[times > 1]
