"""Unjudged results: the least and the greatest value that a measure could have if they were judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement, islice, product
from math import comb
from typing import Any, NamedTuple

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.errors import BadMeasure
from judged.kernels.completions import (
    UnjudgedResults,
    best_completion_counts,
    find_unjudged,
    grade_levels,
)
from judged.kernels.in_order import InOrder
from judged.kernels.ranked.gains import dcg_discount, grade_gains
from judged.kernels.segments import divide, segment_count
from judged.measures.laws import Law
from judged.measures.measure import Measure
from judged.progress import Progress
from judged.scoring.align import RankedAlignment

COMPLETIONS = 5_000
"""Maximum number of completions of one query that are tried one by one."""
SLACK = 1e-9
"""Tolerance, as a share of the largest, within which estimates near the extreme one are evaluated: far more than
they are rounded by."""
CANDIDATES = 16
"""Maximum number of completions with the same extreme estimate that are evaluated."""
UNLAWFUL = (("max_grade", "query"), ("depth", "longer"), ("ideal", "retrieved"))
"""Parameters that scale values by what is judged or retrieved, so that no law of completions holds."""


class Bounds(NamedTuple):
    """For each query, the least and the greatest value over all ways to judge its unjudged results."""

    low: Floats
    high: Floats
    exact: Flags
    """Mask of bounds that some completion attains; elsewhere no completion lies outside, but they may be wide."""


def unjudged_bounds(
    measure: Measure, alignment: RankedAlignment, *, progress: Progress | None = None
) -> Bounds:
    """Return the bounds of each query's value over all grades that its unjudged results could have.

    A grade is 0 or one that occurs in the judgments. Documents that were not retrieved stay as they are. `progress` is
    called with the number of queries that are done, and of all.
    """
    completed = _Completed(measure, alignment)
    completed.check()
    rows = []
    for query in range(len(alignment.view)):
        if progress is not None:
            progress(query, len(alignment.view))
        rows.append(completed.bounds(query))
    low, high, exact = (
        (np.array(column) for column in zip(*rows, strict=True)) if rows else (np.zeros(0),) * 3
    )
    return Bounds(low, high, exact.astype(bool))


def unjudged_range(
    measure: Measure, alignment: RankedAlignment, *, progress: Progress | None = None
) -> tuple[Floats, Floats]:
    """Return the bounds alone."""
    bounds = unjudged_bounds(measure, alignment, progress=progress)
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
        protocol = self.alignment.protocol
        if protocol.ties_by_grade or (protocol.ties == "expected" and self.alignment.counts.tied_documents):
            why = "depends on the grades" if protocol.ties_by_grade else "is averaged over"
            msg = f"bounds over unjudged results hold for one order of the results, and that of tied ones {why} here"
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
        low, high, exact = self._bounds(query)
        if self.hopeless[query]:
            # judged as it is it scores 1, and any other way to judge it is between the bounds
            view, own = self.alignment.view, slice(*self.alignment.view.offset[query : query + 2])
            complete = int((view.grade[own] >= 0).sum()) == view.retrieved[query]
            low, high, exact = (1.0 if complete else low), 1.0, complete
        return low, high, exact

    @cached_property
    def hopeless(self) -> Flags:
        """Mask of the queries that score 1 because nothing of theirs is judged relevant."""
        return self.alignment.find_hopeless(self.measure)

    def _bounds(self, query: int) -> tuple[float, float, bool]:
        """Return the same for measures of queries with something to find."""
        if self.measure.zero_if_missing and not self.alignment.present[query]:
            return 0.0, 0.0, True
        if (
            self.measure.needs == "intents"
        ):  # an unjudged result could answer any of the intents, or a new one
            return (*self.measure.limits, False)
        cutoff = self.measure.parameters.get("cutoff")
        seen = cutoff if self._has(Law.LINEAR) or self._has(Law.STEPWISE) else None
        hole = find_unjudged(self.alignment.view, query, seen if isinstance(seen, int) else None)
        return self._search(hole)

    def _search(self, hole: UnjudgedResults) -> tuple[float, float, bool]:
        """Return the least and the greatest value by the laws that the measure obeys."""
        # the strongest law first, which leaves the fewest completions to evaluate
        if self._has(Law.GROWS):
            return self._among(hole, [self._constant(hole, [0, self._top])])
        if self._has(Law.GRADE_FREE):
            return self._among(hole, [self._constant(hole, [0])])
        if self._has(Law.IN_ORDER):
            return self._in_order(hole)
        if self._has(Law.DISCOUNTED_RATIO):
            low, high, _ = self._in_order(hole)
            least, most, _ = self._among(hole, [self._best_discounted(hole)[None]])
            return min(low, least), max(high, most), True
        return self._graded(hole)

    def _in_order(self, hole: UnjudgedResults) -> tuple[float, float, bool]:
        """Consider the completions with the first n, or the last n, at the highest grade, for every n, and others at 0.

        Below a cutoff a relevant document can only count as missed: there it is all or none of them.
        """
        cutoff = self.measure.parameters.get("cutoff")
        visible = min(cutoff, len(hole.grade)) if isinstance(cutoff, int) else len(hole.grade)
        return self._search_in_order(InOrder(hole, visible, self._top))

    def _search_in_order(self, view: InOrder) -> tuple[float, float, bool]:
        """Return the extremes of the completions in order, of which the measure's laws exclude most."""
        hole = view.hole
        rows = _OrderedRows(view)
        if self._has(Law.ONE_WAY):
            return self._among(hole, [rows.make(np.array([0, view.near, view.near + 1, rows.last]))])
        if self.measure.in_order is not None:
            return self._among(hole, rows.batches(self._choose(view)))
        if self._has(Law.PARTED):
            return self._bisect(view)
        return self._among(hole, rows.batches(np.arange(rows.last + 1)))

    def _choose(self, view: InOrder) -> Ints:
        """Return the completions in order whose estimates are the extremes, as numbers of `_OrderedRows`."""
        assert self.measure.in_order is not None  # noqa: S101 - the caller has looked
        given: dict[str, Any] = {**self.measure.parameters, **self.measure.fixed}
        if "rel" in given:
            given["rel"] = view.hole.ranking.threshold(given["rel"])
            if not 0 < given["rel"] <= self._top:  # all completions have the same relevant documents
                return np.zeros(1, dtype=np.int64)
        values = np.concatenate(self.measure.in_order(view, **given))
        return np.unique(np.concatenate([_find_lowest(values), _find_lowest(-values), [len(values)]]))

    def _bisect(self, view: InOrder) -> tuple[float, float, bool]:
        """Search the completions in order, without those that lie between two that exclude them.

        With more than a and fewer than b of the first results relevant, no value exceeds that of the results with b − 1
        and the judged documents with a + 1, and none is below the reverse. Where that cannot be an extreme, nothing
        between is evaluated.
        """
        rows, value, hole = _OrderedRows(view), self.measure.per_query, view.hole
        side = view.near + 1
        ends = np.array([0, view.near, side, side + view.near, rows.last])
        known = hole.evaluate(value, rows.make(ends))
        low, high = float(known.min()), float(known.max())
        spans = np.array([[0, view.near], [side, side + view.near]])
        while len(spans := spans[spans[:, 1] - spans[:, 0] > 1]):
            most, least = [], []
            for batch in _split(spans, hole.batch):
                fewer, more = rows.make(batch[:, 0] + 1), rows.make(batch[:, 1] - 1)
                most.append(hole.evaluate(value, more, fewer))
                least.append(hole.evaluate(value, fewer, more))
            spans = spans[(np.concatenate(most) > high) | (np.concatenate(least) < low)]
            middle = spans.sum(axis=1) // 2
            for batch in _split(middle, hole.batch):
                known = hole.evaluate(value, rows.make(batch))
                low, high = min(low, float(known.min())), max(high, float(known.max()))
            spans = np.concatenate([np.stack((spans[:, 0], middle), 1), np.stack((middle, spans[:, 1]), 1)])
        return low, high, True

    def _graded(self, hole: UnjudgedResults) -> tuple[float, float, bool]:
        """Try all completions, if they are few; of those with the same grades, the two in order, if that is enough."""
        unjudged, grades = len(hole.unjudged), len(self._levels)
        # with a table a swap may hurt, as of nDCG_rel
        ordered = self._has(Law.SWAP) and not self.measure.has_gain_table
        if ordered and grades <= 2 and self._has(Law.PARTED):
            return self._search_in_order(InOrder(hole, len(hole.grade), self._top))
        if ordered and comb(unjudged + grades - 1, unjudged) <= COMPLETIONS:
            batches = _batches(combinations_with_replacement(self._levels, unjudged), hole)
            return self._among(hole, (np.concatenate([rows, rows[:, ::-1]]) for rows in batches))
        if grades**unjudged <= COMPLETIONS:
            return self._among(hole, _batches(product(self._levels, repeat=unjudged), hole))
        # too many to try: bounds that hold, but that no completion need reach
        low, high = self.measure.limits
        if self._has(Law.PARTED):
            none, every = self._constant(hole, [0]), self._constant(hole, [self._top])
            low = float(hole.evaluate(self.measure.per_query, none, every)[0])
            most = float(hole.evaluate(self.measure.per_query, every, none)[0])
            if most == 0:  # where there is nothing to find, which no other completion can say
                none[0, :1] = self._levels[:2][-1]
                most = float(hole.evaluate(self.measure.per_query, every, none)[0])
            high = min(high, most)
        return low, high, False

    def _among(self, hole: UnjudgedResults, batches: Iterable[Floats]) -> tuple[float, float, bool]:
        """Return the least and greatest value of some completions that include the extremes."""
        low, high = np.inf, -np.inf
        for rows in batches:
            values = hole.evaluate(self.measure.per_query, rows)
            low, high = min(low, float(values.min())), max(high, float(values.max()))
        return low, high, True

    def _constant(self, hole: UnjudgedResults, grades: list[float]) -> Floats:
        """Return completions in which all unjudged results have one grade."""
        return np.repeat(np.array(grades, dtype=np.float64)[:, None], len(hole.unjudged), axis=1)

    def _best_discounted(self, hole: UnjudgedResults) -> Floats:
        """Return the completion with the highest nDCG."""
        given: Mapping[str, Any] = self.measure.parameters
        value, best, gained = (
            grade_gains(grade, given["gain"], given["gains"])
            for grade in (self._levels, hole.best, hole.grade)
        )
        ranks = np.arange(1, len(hole.best) + len(hole.grade) + 1)
        weight = 1.0 / dcg_discount(ranks, given["discount"])
        if given["cutoff"] is not None:
            weight[given["cutoff"] :] = 0.0
        counts = best_completion_counts(
            np.diff(value),
            (best >= value[1:, None]).sum(axis=1),
            float((gained * weight[: len(gained)]).sum()),
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


@dataclass(frozen=True)
class _OrderedRows:
    """Completions by number: the first 0, 1, … unjudged results relevant, then the last 0, 1, …, then every one."""

    view: InOrder

    @property
    def last(self) -> int:
        """The number of the completion in which every unjudged result is relevant."""
        return 2 * (self.view.near + 1)

    def make(self, numbers: Ints) -> Floats:
        """Return a row of grades for each number."""
        near, number = self.view.near, numbers[:, None]
        place = np.arange(len(self.view.hole.unjudged))
        first, last = place < number, place >= 2 * near + 1 - number
        return np.where(np.where(number <= near, first, last), self.view.top, 0.0)

    def batches(self, numbers: Ints) -> Iterator[Floats]:
        """Yield the rows, as many at a time as are evaluated at once."""
        yield from map(self.make, _split(numbers, self.view.hole.batch))


def _split(values: Ints, size: int) -> Iterator[Ints]:
    """Yield the values, `size` at a time."""
    return (values[first : first + size] for first in range(0, len(values), size))


def _find_lowest(estimates: Floats) -> Ints:
    """Return the places of the lowest estimate, and of others that differ from it by no more than rounding could."""
    slack = SLACK * float(np.abs(estimates).max())
    places = np.flatnonzero(estimates <= estimates.min() + slack)
    if len(places) > CANDIDATES:
        places = places[np.argsort(estimates[places], kind="stable")[:CANDIDATES]]
    return places


def _batches(completions: Iterable[tuple[float, ...]], hole: UnjudgedResults) -> Iterator[Floats]:
    """Yield the completions as matrices, which have a row even where nothing is unjudged."""
    completions = iter(completions)
    while rows := list(islice(completions, hole.batch)):
        yield np.array(rows, dtype=np.float64).reshape(len(rows), len(hole.unjudged))
