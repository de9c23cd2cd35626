"""Unjudged results: the least and the greatest value that a measure could have if they were judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from math import comb
from typing import Any, NamedTuple

import numpy as np

from judged.engine.align import RankedAlignment
from judged.errors import BadMeasure
from judged.kernels.completions import (
    UnjudgedResults,
    best_completion_counts,
    find_unjudged,
    grade_levels,
)
from judged.kernels.ranked.gains import dcg_discount, grade_gains
from judged.kernels.segments import Flags, Floats, divide, segment_count
from judged.measures.laws import Law
from judged.measures.measure import Measure

__all__ = ["Bounds", "judged_shares", "unjudged_bounds", "unjudged_range"]

COMPLETIONS = 5_000
"""How many completions of one query are tried one by one."""
UNLAWFUL = (("max_grade", "query"), ("depth", "longer"))
"""Parameters that scale values by what is judged, so that no law of completions holds."""


class Bounds(NamedTuple):
    """For each query, the least and the greatest value over all ways to judge its unjudged results."""

    low: Floats
    high: Floats
    exact: Flags
    """Where some completion has these values; elsewhere no completion lies outside, but the bounds may be wide."""


def unjudged_bounds(measure: Measure, alignment: RankedAlignment) -> Bounds:
    """Return the bounds of each query's value over all grades that its unjudged results could have.

    A grade is 0 or one that occurs in the judgments. Documents that were not retrieved stay as they are.
    """
    completed = _Completed(measure, alignment)
    completed.check()
    rows = [completed.bounds(query) for query in range(len(alignment.view))]
    low, high, exact = (
        (np.array(column) for column in zip(*rows, strict=True)) if rows else (np.zeros(0),) * 3
    )
    return Bounds(low, high, exact.astype(bool))


def unjudged_range(measure: Measure, alignment: RankedAlignment) -> tuple[Floats, Floats]:
    """Return the bounds alone."""
    bounds = unjudged_bounds(measure, alignment)
    return bounds.low, bounds.high


def judged_shares(alignment: RankedAlignment, cutoff: int | None) -> Floats:
    """Return the share of judged documents among each query's first `cutoff` results, or all; 0 of no results."""
    view = alignment.view
    shown = view.retrieved if cutoff is None else np.minimum(view.retrieved, cutoff)
    return divide(segment_count(view.within(cutoff) & (view.grade >= 0), view.offset), shown)


@dataclass(frozen=True)
class _Completed:
    """A measure, and a run with unjudged results."""

    measure: Measure
    alignment: RankedAlignment

    def check(self) -> None:
        """Raise `BadMeasure` for what has no bounds: text, ties without order, gains that fall as grades rise."""
        if self.alignment.protocol.ties == "expected" and self.alignment.counts.tied_documents:
            msg = (
                "bounds over unjudged results hold for one order of the results, and tied ones have none here"
            )
            raise BadMeasure(msg, hint="another rule for `ties` chooses one")
        if self.measure.text:
            msg = f"{self.measure} is a text and has no bounds"
            raise BadMeasure(msg)
        given: Mapping[str, Any] = dict(self.measure.set_parameters)
        for name in {"gains", "stops"} & given.keys():
            value = grade_gains(self._levels, gains=given[name])
            if value[0] != 0 or (np.diff(value) < 0).any():
                msg = f"{self.measure}: no bounds over unjudged results, for a higher grade has less of `{name}`"
                raise BadMeasure(msg, hint=f"`{name}` must begin with 0 for grade 0 and rise with the grades")

    def bounds(self, query: int) -> tuple[float, float, bool]:
        """Return the bounds of one query, and whether they are reached."""
        if self.measure.zero_if_missing and not self.alignment.present[query]:
            return 0.0, 0.0, True
        if (
            self.measure.needs == "intents"
        ):  # an unjudged result could answer any of the intents, or a new one
            return (*self.measure.limits, False)
        cutoff = self.measure.parameters.get("cutoff")
        seen = cutoff if self._has(Law.LINEAR) or self._has(Law.STEPWISE) else None
        hole = find_unjudged(self.alignment.view, query, seen if isinstance(seen, int) else None)
        rows = self._extremes(hole)
        return self._graded(hole) if rows is None else self._among(hole, rows)

    def _extremes(self, hole: UnjudgedResults) -> Floats | None:
        """Return completions that include the extremes, by the laws that the measure obeys."""
        if self._has(Law.GROWS):
            return self._constant(hole, [0, self._top])
        if self._has(Law.GRADE_FREE):
            return self._constant(hole, [0])
        if self._has(Law.IN_ORDER):
            return self._in_order(hole)
        if self._has(Law.DISCOUNTED_RATIO):
            return np.concatenate([self._in_order(hole), self._best_discounted(hole)[None]])
        return None

    def _graded(self, hole: UnjudgedResults) -> tuple[float, float, bool]:
        """Try all completions, if they are few; of those with the same grades, the two in order, if that is enough."""
        unjudged, grades = len(hole.unjudged), len(self._levels)
        few = comb(unjudged + grades - 1, unjudged) <= COMPLETIONS
        if (
            few and self._has(Law.SWAP) and not self.measure.has_gain_table
        ):  # with a table a swap may hurt, as of nDCG_rel
            rows = _rows(combinations_with_replacement(self._levels, unjudged), unjudged)
            return self._among(hole, np.concatenate([rows, rows[:, ::-1]]))
        if grades**unjudged <= COMPLETIONS:
            return self._among(hole, _rows(product(self._levels, repeat=unjudged), unjudged))
        low, high = self.measure.limits
        if self._has(Law.PARTED):
            none, every = self._constant(hole, [0]), self._constant(hole, [self._top])
            low = float(hole.evaluate(self.measure.per_query, none, every)[0])
            high = min(high, float(hole.evaluate(self.measure.per_query, every, none)[0]))
        return low, high, False

    def _among(self, hole: UnjudgedResults, rows: Floats) -> tuple[float, float, bool]:
        """Return the least and greatest value of some completions that include the extremes."""
        values = hole.evaluate(self.measure.per_query, rows)
        return float(values.min()), float(values.max()), True

    def _constant(self, hole: UnjudgedResults, grades: list[float]) -> Floats:
        """Return completions in which all unjudged results have one grade."""
        return np.repeat(np.array(grades, dtype=np.float64)[:, None], len(hole.unjudged), axis=1)

    def _in_order(self, hole: UnjudgedResults) -> Floats:
        """Return completions with the first n, or the last n, at the highest grade, for every n, and all others at 0.

        Below a cutoff a relevant document can only count as missed: there it is all or none of them.
        """
        unjudged, cutoff = len(hole.unjudged), self.measure.parameters.get("cutoff")
        near = int((hole.unjudged < cutoff).sum()) if isinstance(cutoff, int) else unjudged
        many, place = np.arange(near + 1)[:, None], np.arange(unjudged)
        first, last = place < many, place >= near - many
        every = np.ones((1, unjudged), dtype=bool)
        return np.where(np.concatenate([first, last, every]), self._top, 0.0)

    def _best_discounted(self, hole: UnjudgedResults) -> Floats:
        """Return the completion with the highest nDCG."""
        given: Mapping[str, Any] = self.measure.parameters
        value, best, found = (
            grade_gains(grade, given["gain"], given["gains"])
            for grade in (self._levels, hole.best, hole.grade)
        )
        weight = 1.0 / dcg_discount(np.arange(1, len(hole.best) + len(hole.grade) + 1))
        if given["cutoff"] is not None:
            weight[given["cutoff"] :] = 0.0
        counts = best_completion_counts(
            np.diff(value),
            (best >= value[1:, None]).sum(axis=1),
            float((found * weight[: len(found)]).sum()),
            weight[hole.unjudged],
            np.concatenate(([0.0], np.cumsum(weight))),
        )
        reached = (np.arange(len(hole.unjudged))[:, None] < counts).sum(axis=1)
        best_grades: Floats = self._levels[reached]
        return best_grades

    @property
    def _levels(self) -> Floats:
        return self.alignment.view.cached(("levels",), lambda: grade_levels(self.alignment.view))

    @property
    def _top(self) -> float:
        return float(self._levels[-1])

    def _has(self, law: Law) -> bool:
        given = self.measure.parameters
        return law in self.measure.laws and not any(given.get(name) == word for name, word in UNLAWFUL)


def _rows(completions: Iterable[tuple[float, ...]], unjudged: int) -> Floats:
    """Return the completions as a matrix, which has a row even where nothing is unjudged."""
    rows = list(completions)
    return np.array(rows, dtype=np.float64).reshape(len(rows), unjudged)
