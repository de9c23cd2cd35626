"""Changes of one setting between two benchmarks: recall, processor time and latency against margins.

`diff`, `gate` and `judged index --against` decide by the same function. Times are compared by ratio, a round as the unit:
paired where old and new were measured in the same rounds, else by Welch's test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from judged.arrays import Floats
from judged.gates.result import Delta, MeasureGate
from judged.index.decision import measure_cost
from judged.index.points import Point
from judged.stats.clusters import SampleMean, estimate_error
from judged.stats.margin import NOT_ASKED, MarginTest, margin_of_mean
from judged.stats.rounds import crossed_mean, welch_mean


@dataclass(frozen=True)
class Margins:
    """Tolerances of a comparison, and the probability that any of its verdicts is a false alarm."""

    recall: Delta
    latency: Delta
    alpha: float = 0.05
    paired: bool = False
    """Whether old and new were measured in the same rounds, in random order."""
    wall: bool = False
    """Whether wall times decide although they were measured on two days."""


@dataclass(frozen=True)
class Change:
    """The change of one measure, before it is decided how many such changes share the error."""

    measure: str
    canonical: str
    old: float
    new: float
    of: SampleMean
    """The change and its error: above 0 the new one is better; of times, of their logarithms."""
    margin: float
    """On the same scale."""
    delta: Delta
    rounds: int
    is_time: bool = False
    decides: bool = True


def find_changes(old: Point, new: Point, margins: Margins, *, recall: tuple[str, str]) -> list[Change]:
    """Return the changes from one point to another; `recall` has the name of the recall that is shown, and its own."""
    change = _change_recall(old, new, margins, recall)
    found = [change]
    if old.has_cpu and new.has_cpu:
        found.append(_change_time(old, new, margins, "CPU"))
    found.append(_change_time(old, new, margins, "Latency"))
    return found


def decide_changes(changes: Sequence[Change], margins: Margins, *, tests: int) -> list[MeasureGate]:
    """Return the verdicts on the changes of a setting, of `tests` that the whole comparison makes.

    A change fails at α / tests, so that any of them fails in error with α at most. It passes at α: the whole passes only
    if every one does, so that errors do not add up.
    """
    return [_decide(change, margins, tests) for change in changes]


def _decide(change: Change, margins: Margins, tests: int) -> MeasureGate:
    name = "crossed" if not change.is_time else "t" if margins.paired else "welch"
    settings = {"margin": change.margin, "test": name, "size": change.rounds}
    passing = margin_of_mean(change.of, alpha=margins.alpha, **settings)  # type: ignore[arg-type]
    failing = margin_of_mean(change.of, alpha=margins.alpha / tests, **settings)  # type: ignore[arg-type]
    verdict = "pass" if passing.verdict == "pass" else failing.verdict
    corrected = min(1.0, failing.p_below * tests)
    test = replace(passing, high=failing.high, p_below=corrected, verdict=verdict)
    if change.is_time:
        test = _to_units(test, change.old)
    if not change.decides:
        test = replace(test, verdict="inconclusive", undefined=NOT_ASKED)
    better, worse = change.of.mean > 0, change.of.mean < 0
    return MeasureGate(
        change.measure,
        "new",
        "old",
        change.new,
        change.old,
        change.delta,
        test,
        higher_is_better=not change.is_time,
        better=int(better),
        worse=int(worse),
        unit="round" if change.is_time else "query",
        canonical=change.canonical,
        family="neighbour",
    )


def _to_units(test: MarginTest, old: float) -> MarginTest:
    """Return a test of logarithms in the units of the old value: a factor of e^−d is a gain of old · (1 − e^−d)."""

    def gain(log: float) -> float:
        return old * -math.expm1(-log) if log > -700 else -math.inf

    return replace(
        test,
        difference=gain(test.difference),
        margin=gain(test.margin),
        low=gain(test.low),
        high=gain(test.high),
    )


def _change_recall(old: Point, new: Point, margins: Margins, name: tuple[str, str]) -> Change:
    differences = new.recalls - old.recalls
    rounds: tuple[Floats, ...] = (old.round_recalls, new.round_recalls)
    if margins.paired and len(old.round_recalls) == len(new.round_recalls):
        rounds = (new.round_recalls - old.round_recalls,)
    delta = margins.recall
    margin = delta.value * (old.recall if delta.relative else 1.0)
    of = crossed_mean(differences, *rounds)
    return Change(name[0], name[1], old.recall, new.recall, of, margin, delta, len(differences))


def _change_time(old: Point, new: Point, margins: Margins, measure: str) -> Change:
    costs = [
        {
            measured.round: math.log(measure_cost(measured, "cpu" if measure == "CPU" else "wall"))
            for measured in point.rounds
        }
        for point in (old, new)
    ]
    shared = sorted(costs[0].keys() & costs[1].keys())
    if margins.paired:
        of = estimate_error([costs[0][number] - costs[1][number] for number in shared])
        rounds = len(shared)
    else:
        of = welch_mean(list(costs[0].values()), list(costs[1].values()))
        rounds = of.draws
    before, after = (math.exp(float(np.mean(list(logs.values())))) for logs in costs)
    delta = margins.latency
    share = -delta.value if delta.relative else -delta.value / before
    margin = -math.log1p(share) if share > -1 else math.inf
    return Change(
        measure,
        measure if measure == "Latency" else "",
        before,
        after,
        of,
        margin,
        delta,
        rounds,
        is_time=True,
        decides=measure == "CPU" or margins.paired or margins.wall,
    )
