"""Ties, taken seriously: what a measure is on average over all orders of tied results, at worst and at best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from judged.engine.alignment import Meeting
from judged.errors import BadMeasure
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, Ints
from judged.kernels.ties.arrangements import TiedGroup, find_tied_groups
from judged.kernels.ties.orders import (
    MAX_ORDERS,
    OrderStatistics,
    TieContributions,
    TooManyOrders,
    enumerate_orders,
    tie_contributions,
)
from judged.measures.laws import Law
from judged.measures.measure import Measure

__all__ = ["expected", "tie_range"]


def expected(measure: Measure, meeting: Meeting) -> Floats:
    """The mean of each query's value over all orders of its tied results, every order equally likely."""
    undecided = _Undecided(measure, meeting)
    undecided.refuse_text()
    try:
        return undecided.expected()
    except TooManyOrders as error:
        raise undecided.refusal(error) from None


def tie_range(measure: Measure, meeting: Meeting) -> tuple[Floats, Floats]:
    """The least and the greatest value of each query over all orders of its tied results."""
    undecided = _Undecided(measure, meeting)
    undecided.refuse_text()
    try:
        low, high = undecided.range()
    except TooManyOrders as error:
        raise undecided.refusal(error) from None
    return (low, high) if not measure.zero_if_missing else (low * meeting.present, high * meeting.present)


@dataclass(frozen=True)
class _Undecided:
    """A measure, and a view whose tied results stand in no order yet."""

    measure: Measure
    meeting: Meeting

    def expected(self) -> Floats:
        """The mean over all orders."""
        values, tied = self._given(), find_tied_groups(self.view)
        if self._has(Law.STEPWISE, Law.LINEAR):
            for steps in self._steps(tied):
                values[steps.group.query] += steps.expected - steps.reference
        else:
            for orders in self._orders(tied):
                values[orders.query] = orders.expected
        return values

    def range(self) -> tuple[Floats, Floats]:
        """The least and the greatest value."""
        if self._has(Law.BY_GRADE) and not self.measure.has_gain_table:
            worst, best = (self.measure.per_query(view) for view in self.meeting.by_grade)
            return np.minimum(worst, best), np.maximum(worst, best)
        low, tied = self._given(), find_tied_groups(self.view)
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
        return self.meeting.undecided

    def refuse_text(self) -> None:
        """Refuse a measure whose values are no numbers."""
        if self.measure.text:
            msg = f"{self.measure} is a text and has no mean or range over the orders of tied results"
            raise BadMeasure(msg, hint="another rule for `ties` chooses one order")

    def refusal(self, error: TooManyOrders) -> BadMeasure:
        """Too many orders, worded."""
        query = self.meeting.queries[error.query].as_py()
        told = f"{error.orders:,.0f}" if error.orders < 1e15 else f"about {error.orders:.0e}"
        msg = (
            f"{self.measure} over the orders of tied results: query `{query}` has {told} different ones, "
            f"more than can be looked at one by one ({MAX_ORDERS:,})"
        )
        return BadMeasure(msg, hint="a cutoff (`@10`) makes them fewer; another tie rule chooses one of them")

    def _given(self) -> Floats:
        """The values in the order that the view has, to be changed."""
        return np.array(self.measure.per_query(self.meeting.ranking), dtype=np.float64)

    def _has(self, *laws: Law) -> bool:
        return not self.measure.laws.isdisjoint(laws)

    def _kind(self) -> Ints:
        """A number for each document, the same for those that the measure cannot tell apart; −1: it adds nothing."""
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
        depth, cutoff = self.meeting.protocol.depth, self.measure.parameters.get("cutoff")
        visible = min((each for each in (depth, cutoff) if isinstance(each, int)), default=None)
        alone = self._has(Law.LINEAR)
        return tie_contributions(
            self.measure.per_query, self.view, self._kind(), tied, visible=visible, alone=alone
        )

    def _orders(self, tied: list[TiedGroup]) -> Iterator[OrderStatistics]:
        return enumerate_orders(
            self.measure.per_query, self.view, self._kind(), tied, visible=self.meeting.protocol.depth
        )


def _repeated(values: Ints) -> Ints:
    """The values that occur more than once."""
    found, times = np.unique(values, return_counts=True)
    return found[times > 1]
