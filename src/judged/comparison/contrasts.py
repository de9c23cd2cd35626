"""Means with their intervals, and contrasts of two systems with everything that is to be said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judged.arrays import Floats
from judged.comparison.settings import Settings
from judged.comparison.shared import Shared
from judged.stats.corrections import CORRECTIONS
from judged.stats.effects import (
    detectable_difference,
    hedges,
    probability_of_superiority,
    standardised_difference,
)
from judged.stats.intervals import Interval, is_binary, student_interval, wilson_interval
from judged.stats.outcome import NO_SPREAD, ONE_QUERY, Outcome, Undefined, stars
from judged.stats.paired import Values, WinsTiesLosses, differences, summarise, wins_ties_losses
from judged.stats.paired_tests import difference_test
from judged.stats.randomisation import randomise

__all__ = ["Contrast", "Mean", "contrasts_of", "means_of"]


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of one system in one measure, with its interval."""

    measure: str
    system: str
    queries: int
    mean: float
    interval: Interval | Undefined

    def to_dict(self) -> dict[str, Any]:
        """Every number by name; what is undefined is None, and said."""
        return {
            "measure": self.measure,
            "system": self.system,
            "queries": self.queries,
            "mean": self.mean,
            **_bounds(self.interval),
            "interval": self.interval.method if isinstance(self.interval, Interval) else str(self.interval),
        }


@dataclass(frozen=True, slots=True)
class Contrast:
    """One system against another in one measure: system minus baseline, on the same queries."""

    measure: str
    system: str
    baseline: str
    queries: int
    difference: float
    interval: Interval | Undefined
    effect: float | Undefined
    """The mean difference in standard deviations of the differences."""
    hedges: float | Undefined
    """The same with Hedges' correction."""
    superiority: float
    """The share of queries on which the system is better, ties counted half."""
    count: WinsTiesLosses
    outcome: Outcome | Undefined
    corrected: float | None
    """The p-value, corrected for all comparisons of the measure; None where there is none."""
    detectable: float | Undefined
    """The smallest difference these queries would show in four of five experiments, by the paired t-test."""

    @property
    def p(self) -> float | None:
        """The p-value of this contrast alone; None where the test has none."""
        return self.outcome.p if isinstance(self.outcome, Outcome) else None

    @property
    def stars(self) -> str:
        """Stars of the p-value alone, as in `stars`; nothing where there is none."""
        return "" if self.p is None else stars(self.p)

    def significant(self, alpha: float) -> bool:
        """Whether the corrected p-value is below `alpha`."""
        return self.corrected is not None and self.corrected < alpha

    def to_dict(self) -> dict[str, Any]:
        """Every number by name; what is undefined is None, and said."""
        numbers = {"effect": self.effect, "hedges": self.hedges, "detectable": self.detectable}
        reasons = [
            each for each in (self.interval, self.outcome, *numbers.values()) if isinstance(each, Undefined)
        ]
        return {
            "measure": self.measure,
            "system": self.system,
            "baseline": self.baseline,
            "queries": self.queries,
            "difference": self.difference,
            **_bounds(self.interval),
            "effect": _number(self.effect),
            "hedges": _number(self.hedges),
            "superiority": self.superiority,
            "wins": self.count.wins,
            "ties": self.count.ties,
            "losses": self.count.losses,
            "statistic": self.outcome.statistic if isinstance(self.outcome, Outcome) else None,
            "p": self.p,
            "p_corrected": self.corrected,
            "stars": self.stars or None,
            "detectable": _number(self.detectable),
            "undefined": "; ".join(dict.fromkeys(each.reason for each in reasons)) or None,
        }


def means_of(shared: Shared, settings: Settings) -> list[Mean]:
    """The mean of every system, with Wilson's interval where values can only be 0 and 1, else Student's."""
    name, count = str(shared.measure), len(shared.queries)
    made = []
    for system, values in zip(shared.systems, shared.values.T, strict=True):
        wilson = shared.binary and is_binary(values)
        interval = (
            wilson_interval(values, level=settings.level) if wilson else _student(values, settings.level)
        )
        made.append(Mean(name, system, count, summarise(values).mean, interval))
    return made


def contrasts_of(shared: Shared, pairs: Sequence[tuple[int, int]], settings: Settings) -> list[Contrast]:
    """The contrast of each pair (system, baseline) of columns."""
    tested, corrected = _tested(shared.values, pairs, settings)
    return [
        _contrast(shared, pair, outcome, p, settings)
        for pair, outcome, p in zip(pairs, tested, corrected, strict=True)
    ]


def _contrast(
    shared: Shared,
    pair: tuple[int, int],
    outcome: Outcome | Undefined,
    corrected: float | None,
    settings: Settings,
) -> Contrast:
    system, baseline = pair
    d = differences(shared.values[:, system], shared.values[:, baseline])
    better = shared.sign * d
    return Contrast(
        str(shared.measure),
        shared.systems[system],
        shared.systems[baseline],
        len(d),
        summarise(d).mean,
        _student(d, settings.level),
        standardised_difference(d),
        hedges(d),
        probability_of_superiority(better),
        wins_ties_losses(better),
        outcome,
        corrected,
        detectable_difference(d, alpha=settings.alpha),
    )


def _tested(
    values: Floats, pairs: Sequence[tuple[int, int]], settings: Settings
) -> tuple[list[Outcome | Undefined], list[float | None]]:
    """What the test says of each pair, and the corrected p-values; flips are shared by all pairs."""
    if settings.test == "randomisation":
        result = randomise(values, pairs, resamples=settings.resamples, seed=settings.seed)
        found: list[Outcome | Undefined] = [
            Outcome("randomisation", float((values[:, i] - values[:, j]).mean()), float(p))
            for (i, j), p in zip(pairs, result.p, strict=True)
        ]
        if settings.correction == "maxT":
            return found, list(result.corrected.tolist())
    else:
        draw: dict[str, Any] = {"resamples": settings.resamples, "seed": settings.seed}
        found = [difference_test(values[:, i], values[:, j], settings.test, **draw) for i, j in pairs]
    ps = [each.p if isinstance(each, Outcome) else None for each in found]
    return found, CORRECTIONS[settings.correction](ps)


def _student(values: Values, level: float) -> Interval | Undefined:
    """Student's interval; of one query or without spread there is none to be had."""
    of = summarise(values)
    if of.size == 1:
        return ONE_QUERY
    return NO_SPREAD if of.deviation == 0 else student_interval(values, level=level)


def _bounds(interval: Interval | Undefined) -> dict[str, float | None]:
    if isinstance(interval, Undefined):
        return {"low": None, "high": None}
    return {"low": interval.low, "high": interval.high}


def _number(value: float | Undefined) -> float | None:
    return None if isinstance(value, Undefined) else value
