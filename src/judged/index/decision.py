"""Decisions: which setting of each engine is chosen, whether its recall is shown, and which engine is cheapest.

Settings are chosen on one half of the queries, and their recall is reported on the other: the recall of a setting that
was chosen because it reached the target is too high on the queries that it was chosen by. Engines are compared by the
ratio of their costs in each round.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from judged.arrays import Flags
from judged.blocks import Estimate
from judged.index.measurement import Measurement
from judged.index.points import LEVEL, Point, bound_recall, estimate_rounds
from judged.stats.clusters import SampleMean
from judged.stats.effects import least_size
from judged.stats.intervals import Interval, wilson_interval
from judged.stats.margin import POWER
from judged.stats.outcome import Undefined
from judged.stats.rounds import crossed_mean, geometric_interval

Criterion: TypeAlias = Literal["wall", "cpu"]
Evidence: TypeAlias = Literal["shown", "likely", "not shown"]

FEWEST = 20
"""Fewest queries that are halved; with fewer, all of them both choose and report."""


@dataclass(frozen=True)
class Reach:
    """Evidence for a recall: the interval of queries that the setting was not chosen by."""

    evidence: Evidence
    recall: float
    low: float
    high: float
    queries: int
    """Number of queries that report."""
    needed: int | None = None
    """Number of queries in all that would show it, as these vary; None if it is shown, or would not be."""

    @property
    def estimate(self) -> Estimate:
        """The recall with its interval."""
        return Estimate(self.recall, self.low, self.high)


@dataclass(frozen=True)
class Choice:
    """The setting of an engine that is cheapest at a recall, with the evidence for its recall."""

    point: Point
    reach: Reach


def halve_queries(count: int, seed: int) -> tuple[Flags, Flags]:
    """Return which queries choose settings, and which report their recall: a random half each."""
    if count < FEWEST:
        return np.ones(count, dtype=bool), np.ones(count, dtype=bool)
    chosen = np.zeros(count, dtype=bool)
    chosen[np.random.default_rng([seed, 4]).permutation(count)[: count // 2]] = True
    return chosen, ~chosen


def judge_recall(point: Point, target: float, among: Flags) -> Reach:
    """Return whether some of the queries show that the recall of a point reaches the target.

    It is *shown* if the lower end of its interval does, *likely* if only the recall itself does, else *not shown*.
    """
    of = _recall_of(point, among)
    share = len(among) / of.draws
    if of.undefined is not None and point.measured.exact and of.mean == 1:
        return Reach("shown", 1.0, 1.0, 1.0, of.draws)
    if of.undefined is not None:
        # equal values: the number of queries bounds how rare other values are
        bounds = wilson_interval(np.round(np.full(of.draws, of.mean)))
        low, high = (
            (bounds.low, 1.0) if of.mean == 1 else (min(bounds.low, of.mean), max(bounds.high, of.mean))
        )
    else:
        low, high = bound_recall(of) or (of.mean, of.mean)
    if low >= target:
        return Reach("shown", of.mean, low, high, of.draws)
    if of.mean < target:
        return Reach("not shown", of.mean, low, high, of.draws)
    return Reach("likely", of.mean, low, high, of.draws, _count_needed(of, target, share))


def _recall_of(point: Point, among: Flags) -> SampleMean:
    return crossed_mean(point.recalls[among], point.round_recalls)


def _count_needed(of: SampleMean, target: float, share: float) -> int | None:
    if of.undefined is not None:
        # Wilson's lower bound of n hits of n is n / (n + z²)
        return math.ceil(1.96**2 * target / (1 - target) * share) if target < 1 else None
    if of.mean <= target:
        return None
    needed = least_size((of.mean - target) / of.deviation, POWER, (1 - LEVEL) / 2, sides=1)
    return None if needed is None else math.ceil(needed * share)


def find_criterion(points: Sequence[Point]) -> Criterion:
    """Return what engines are ranked by: processor time on a busy machine where it is known, else wall time."""
    return "cpu" if any(point.busy for point in points) and all(point.has_cpu for point in points) else "wall"


def measure_cost(measured: Measurement, criterion: Criterion) -> float:
    """Return the milliseconds that an answered query costs in a round."""
    if criterion == "cpu" and measured.cpu is not None:
        return measured.cpu
    return 1000 / measured.qps if measured.qps else math.inf


def mean_cost(point: Point, criterion: Criterion) -> float:
    """Return the geometric mean of the cost over rounds."""
    return float(np.exp(np.mean(np.log([measure_cost(one, criterion) for one in point.rounds]))))


def compare_costs(
    first: Point, second: Point, criterion: Criterion, *, level: float = LEVEL
) -> Interval | Undefined:
    """Return how many times the second point costs as much as the first, over the rounds that both have."""
    costs = [
        {measured.round: measure_cost(measured, criterion) for measured in point.rounds}
        for point in (first, second)
    ]
    shared = sorted(costs[0].keys() & costs[1].keys())
    return geometric_interval([costs[1][number] / costs[0][number] for number in shared], level=level)


def choose_settings(
    points: Sequence[Point], target: float, *, seed: int, confident: bool = False
) -> list[Choice]:
    """Return the cheapest setting of each engine that reaches the recall on the half that chooses, cheapest first.

    With `confident`, settings have to show the recall there.
    """
    criterion, best = find_criterion(points), dict[str, Point]()
    if not points:
        return []
    choosing, reporting = halve_queries(len(points[0].recalls), seed)
    for point in points:
        reach = judge_recall(point, target, choosing)
        if reach.evidence == "not shown" or (confident and reach.evidence != "shown"):
            continue
        if point.engine not in best or mean_cost(point, criterion) < mean_cost(best[point.engine], criterion):
            best[point.engine] = point
    ordered = sorted(best.values(), key=lambda point: mean_cost(point, criterion))
    return [Choice(point, judge_recall(point, target, reporting)) for point in ordered]


@dataclass(frozen=True)
class Supply:
    """The queries per second that an engine answers within a time, at a setting that reaches the recall."""

    point: Point
    throughput: Estimate
    is_open: bool
    """Whether queries arrived on their own, so that waiting is part of their time."""


def find_supply(points: Sequence[Point], target: float, p99: float, *, seed: int) -> list[Supply]:
    """Return for each engine the highest throughput at which 99 % of the answers take at most `p99` milliseconds.

    It is that of the open loops where there are some, else of the closed ones; in each round, of the loop that does best.
    """
    best: dict[str, Supply] = {}
    choosing = halve_queries(len(points[0].recalls), seed)[0] if points else np.ones(0, dtype=bool)
    for point in points:
        is_open = all(measured.open for measured in point.rounds)
        rates = [_find_rate(measured, p99) for measured in point.rounds]
        estimate = estimate_rounds(rates)
        if estimate is None or judge_recall(point, target, choosing).evidence == "not shown":
            continue
        if point.engine not in best or estimate.value > best[point.engine].throughput.value:
            best[point.engine] = Supply(point, estimate, is_open)
    return sorted(best.values(), key=lambda supply: -supply.throughput.value)


def _find_rate(measured: Measurement, p99: float) -> float | None:
    if measured.open:
        return max((loop.throughput for loop in measured.open if loop.response.p99 <= p99), default=None)
    return max((loop.throughput for loop in measured.closed if loop.latency.p99 <= p99), default=None)


@dataclass(frozen=True)
class Standing:
    """The cheapest engine compared with the others."""

    criterion: Criterion
    ratios: tuple[Interval | Undefined, ...]
    """For each other engine how many times it costs as much, at a level that holds for all of them."""
    doubtful: bool = False
    """Whether other work kept the machine busy, and processor time is not known of all engines."""

    @property
    def is_shown(self) -> bool:
        """Whether the first engine is shown to be cheaper than every other one."""
        return not self.doubtful and all(
            isinstance(ratio, Interval) and ratio.low > 1 for ratio in self.ratios
        )

    def is_apart(self, place: int) -> bool:
        """Return whether an engine, by its place in the order, is shown to cost more than the first."""
        ratio = self.ratios[place - 1]
        return not self.doubtful and isinstance(ratio, Interval) and ratio.low > 1


def rank_engines(choices: Sequence[Choice], points: Sequence[Point]) -> Standing:
    """Compare the first choice with every other one.

    That an engine is cheaper than all others is wrong only if each of the comparisons is, and any of the m engines may
    come first by chance: at an error of α / m on one side, some engine is called cheapest in error with α at most.
    """
    criterion = find_criterion(points)
    level = 1 - 2 * (1 - LEVEL) / max(len(choices), 2)
    ratios = tuple(
        compare_costs(choices[0].point, choice.point, criterion, level=level) for choice in choices[1:]
    )
    busy = any(choice.point.busy for choice in choices)
    return Standing(criterion, ratios, doubtful=busy and criterion == "wall")
