"""Means with their intervals, and contrasts: one system against another, with differences, effects and tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from judged.arrays import Floats
from judged.blocks import Value
from judged.comparison.settings import Settings
from judged.comparison.systems import System
from judged.errors import BadMeasure, BadSample
from judged.measures.measure import Measure
from judged.measures.written import find_written
from judged.stats.clusters import Clusters, find_clusters
from judged.stats.corrections import CORRECTIONS, holm
from judged.stats.effects import (
    detectable_difference,
    hedges,
    probability_of_superiority,
    standardised_difference,
)
from judged.stats.intervals import (
    Interval,
    critical_interval,
    defined_student_interval,
    mean_interval,
)
from judged.stats.outcome import Outcome, Undefined, stars
from judged.stats.paired import WinsTiesLosses, differences, pair_by_query, summarise, wins_ties_losses
from judged.stats.paired_tests import TTest, difference_test, paired_t
from judged.stats.randomisation import Randomised, randomise_families


@dataclass(frozen=True, eq=False)
class PairedScores:
    """The values of one measure on the queries that all systems have a value for: a column for each system."""

    measure: str
    """The name of the measure, as the user wrote it."""
    systems: tuple[str, ...]
    queries: tuple[str, ...]
    values: Floats
    left_out: tuple[str, ...] = ()
    """Queries that only some systems have a value for."""
    higher_is_better: bool | None = True
    binary: bool = False
    """Whether the measure's values can only be 0 and 1."""
    family: str = "ranked"
    group: str = ""
    """The chapter of the list of measures that the measure is in."""
    clusters: tuple[str, ...] = ()
    """The cluster of each query; empty if queries are independent."""
    repeats: Mapping[str, Floats] = field(default_factory=dict)
    """For each system with repeated values, those of every query: a column for each attempt, NaN where there is none."""
    unpaired: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    """The values of the queries in `left_out`: a column for each system, NaN where there is none."""
    limits: tuple[float, float] | None = None
    """The lowest and the highest value that the measure can have, if both are known."""
    canonical: str = ""
    """The canonical name of the measure; empty: that which is shown."""

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.queries), len(self.systems)):
            msg = f"{self.measure}: values are {self.values.shape}, expected a row for each query, a column for each system"
            raise ValueError(msg)

    @property
    def has_direction(self) -> bool:
        """Whether higher or lower values are better; a count describes, and nothing wins by it."""
        return self.higher_is_better is not None

    @property
    def oriented(self) -> PairedScores:
        """The same with higher values better: every statistic that says better or worse reads these values.

        Raises `BadMeasure` for a measure without a direction.
        """
        if self.higher_is_better is None:
            msg = f"neither higher nor lower values of {self.measure} are better"
            raise BadMeasure(msg)
        if self.higher_is_better:
            return self
        # 0.0 − x here and below: a plain minus would turn 0 into −0
        turned = {name: 0.0 - attempts for name, attempts in self.repeats.items()}
        limits = None if self.limits is None else (0.0 - self.limits[1], 0.0 - self.limits[0])
        return replace(
            self,
            values=0.0 - self.values,
            higher_is_better=True,
            repeats=turned,
            unpaired=0.0 - self.unpaired,
            limits=limits,
        )

    @property
    def grouping(self) -> Clusters | None:
        """The clusters, numbered; None if queries are independent."""
        return find_clusters(self.clusters, len(self.queries)) if self.clusters else None

    def column(self, system: str) -> Floats:
        """Return the values of one system."""
        column: Floats = self.values[:, self.systems.index(system)]
        return column

    def differences(self, system: str, baseline: str) -> Floats:
        """Return the difference of every query, system minus baseline."""
        return differences(self.column(system), self.column(baseline))

    def select(self, queries: Iterable[str]) -> PairedScores:
        """Return the same for some of the queries, without those that were left out."""
        wanted = set(queries)
        at = [place for place, query in enumerate(self.queries) if query in wanted]
        return replace(
            self,
            queries=tuple(self.queries[place] for place in at),
            values=self.values[at],
            left_out=(),
            clusters=tuple(self.clusters[place] for place in at) if self.clusters else (),
            repeats={name: attempts[at] for name, attempts in self.repeats.items()},
            unpaired=np.zeros((0, 0)),
        )


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of one system in one measure, with its interval."""

    measure: str
    system: str
    queries: int
    mean: float
    interval: Interval | Undefined

    def to_dict(self) -> dict[str, Value]:
        """Return every number by name; the interval of an undefined one is None, with the reason."""
        return {
            "measure": self.measure,
            "system": self.system,
            "queries": self.queries,
            "mean": self.mean,
            **_bounds(self.interval),
            "interval": _name_method(self.interval),
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
    superiority: float | None
    """The share of queries on which the system is better, ties counted half; None if neither direction is better."""
    count: WinsTiesLosses | None
    """On how many queries the system is better, equal and worse; None if neither direction is better."""
    outcome: Outcome | Undefined
    corrected: float | None
    """The p-value, corrected for all comparisons of the measure; None if there is none."""
    detectable: float | Undefined
    """The smallest difference that these queries would show with a power of 0.8, by the corrected paired t-test."""
    mean: float
    """The mean of the system."""
    baseline_mean: float
    alpha: float
    """The significance level: a corrected p-value below it is significant."""

    @property
    def relative(self) -> float | None:
        """The difference as a share of the baseline's mean; None if that is 0 or below."""
        return self.difference / self.baseline_mean if self.baseline_mean > 0 else None

    @property
    def p(self) -> float | None:
        """The p-value of this contrast alone; None if the test has none."""
        return self.outcome.p if isinstance(self.outcome, Outcome) else None

    @property
    def stars(self) -> str:
        """The stars of the corrected p-value; empty if there is none."""
        return "" if self.corrected is None else stars(self.corrected, self.alpha)

    @property
    def significant(self) -> bool:
        """Whether the corrected p-value is below the significance level."""
        return self.corrected is not None and self.corrected < self.alpha

    def reverse(self) -> Contrast:
        """Return the same contrast seen from the other system: baseline minus system, with the same p-values."""
        interval, count, outcome = self.interval, self.count, self.outcome
        return replace(
            self,
            system=self.baseline,
            baseline=self.system,
            difference=0.0 - self.difference,
            mean=self.baseline_mean,
            baseline_mean=self.mean,
            interval=replace(
                interval, mean=0.0 - interval.mean, low=0.0 - interval.high, high=0.0 - interval.low
            )
            if isinstance(interval, Interval)
            else interval,
            effect=_negate(self.effect),
            hedges=_negate(self.hedges),
            superiority=None if self.superiority is None else 1 - self.superiority,
            count=None if count is None else WinsTiesLosses(count.losses, count.ties, count.wins),
            outcome=replace(outcome, statistic=0.0 - outcome.statistic)
            if isinstance(outcome, Outcome)
            else outcome,
        )

    def to_dict(self) -> dict[str, Value]:
        """Return every number by name; an undefined one is None, with the reason."""
        numbers = (self.interval, self.outcome, self.effect, self.hedges, self.detectable)
        reasons = dict.fromkeys(number.reason for number in numbers if isinstance(number, Undefined))
        return {
            "measure": self.measure,
            "system": self.system,
            "baseline": self.baseline,
            "queries": self.queries,
            "mean": self.mean,
            "baseline_mean": self.baseline_mean,
            "difference": self.difference,
            "relative": self.relative,
            **_bounds(self.interval),
            "interval": _name_method(self.interval),
            "effect": _number(self.effect),
            "hedges": _number(self.hedges),
            "superiority": self.superiority,
            "wins": self.count.wins if self.count else None,
            "ties": self.count.ties if self.count else None,
            "losses": self.count.losses if self.count else None,
            "statistic": self.outcome.statistic if isinstance(self.outcome, Outcome) else None,
            "p": self.p,
            "p_corrected": self.corrected,
            "stars": self.stars or None,
            "detectable": _number(self.detectable),
            "undefined": "; ".join(reasons) or None,
        }


def _bounds(interval: Interval | Undefined) -> dict[str, Value]:
    if isinstance(interval, Undefined):
        return {"low": None, "high": None}
    return {"low": interval.low, "high": interval.high}


def _name_method(interval: Interval | Undefined) -> str:
    return interval.method if isinstance(interval, Interval) else str(interval)


def _negate(value: float | Undefined) -> float | Undefined:
    return value if isinstance(value, Undefined) else 0.0 - value


def _number(value: float | Undefined) -> float | None:
    return None if isinstance(value, Undefined) else value


_AGGREGATES = {
    "sum": "a sum",
    "geometric": "a geometric mean",
    "percentile": "a percentile",
    "pooled": "a pooled value",
}


@dataclass(frozen=True, slots=True)
class BaselineTest:
    """The paired t-test of one system against the first, in one measure, on the queries that both have a value for."""

    system: str
    baseline: str
    measure: str
    queries: int
    test: TTest
    corrected: float
    """The p-value by Holm's rule over all systems and measures."""

    def to_dict(self) -> dict[str, Value]:
        """Return every number by name; None if it is infinite."""
        finite = abs(self.test.statistic) < float("inf")
        return {
            "system": self.system,
            "measure": self.measure,
            "queries": self.queries,
            "difference": self.test.difference,
            "t": self.test.statistic if finite else None,
            "p": self.test.p,
            "p (Holm)": self.corrected,
            "effect size": self.test.effect if finite else None,
            "stars": stars(self.corrected),
        }


def t_test_against_first(systems: Sequence[System]) -> list[BaselineTest]:
    """Test every system against the first by the paired t-test, in every measure that has a mean.

    Systems are paired two by two, and p-values are corrected over all systems and measures, unlike those of `compare`.
    """
    first, *others = systems
    tests: list[tuple[str, str, int, TTest]] = []
    for other in others:
        for measure in first.measures:
            if measure.aggregate != "mean" or measure.text:
                continue
            queries, values, *_ = pair_by_query([other[str(measure)], first[str(measure)]])
            if queries:
                tests.append((other.name, measure.label, len(queries), paired_t(*values.T)))
    corrected = holm([test.p for *_, test in tests])
    return [
        BaselineTest(system, first.name, measure, queries, test, p or 0.0)
        for (system, measure, queries, test), p in zip(tests, corrected, strict=True)
    ]


def pair_systems(systems: Sequence[System]) -> tuple[PairedScores, ...]:
    """Pair the scores of the systems by query, measure by measure."""
    return tuple(_pair_measure(systems, measure) for measure in systems[0].measures)


def _pair_measure(systems: Sequence[System], measure: Measure) -> PairedScores:
    if measure.text or measure.aggregate != "mean":
        value = "text" if measure.text else _AGGREGATES[measure.aggregate]
        msg = f"{measure.label} has {value} for a whole run, and systems are compared by means over queries"
        other = measure.compare_by
        raise BadMeasure(msg, hint=f"compare by {other} in place of {measure.label}" if other else None)
    queries, values, others, undefined = pair_by_query([system[str(measure)] for system in systems])
    names = tuple(system.name for system in systems)
    if not queries:
        unit = systems[0].unit
        hint = 'a protocol with `missing="zero"` scores every judged query' if unit == "query" else None
        msg = f"{', '.join(names[:3])} have no {unit} in common that {measure.label} has a value for"
        raise BadSample(msg, hint=hint)
    left_out = tuple(dict.fromkeys(query for missing in (*others, undefined) for query in missing))
    name = str(measure)
    return PairedScores(
        measure.label,
        names,
        tuple(queries),
        values,
        left_out,
        higher_is_better=measure.higher_is_better,
        binary=measure.binary,
        family=measure.family,
        group=measure.group,
        repeats={
            system.name: _stack([system.repeats[name][query] for query in queries])
            for system in systems
            if name in system.repeats
        },
        unpaired=np.array(
            [[system[name].get(query, np.nan) for system in systems] for query in left_out], dtype=np.float64
        ).reshape(len(left_out), len(systems)),
        limits=measure.scale,
        canonical=str(measure) if find_written(measure) else "",
    )


def _stack(rows: Sequence[Floats]) -> Floats:
    """Return the attempts of each query, without columns that have none."""
    table = np.stack(rows)
    kept: Floats = table[:, ~np.isnan(table).all(axis=0)]
    return kept


def estimate_means(scores: PairedScores, settings: Settings) -> list[Mean]:
    """Return the mean of every system with its interval."""
    grouping = scores.grouping

    def interval(values: Floats) -> Interval | Undefined:
        return mean_interval(
            values, level=settings.level, clusters=grouping, binary=scores.binary, scale=scores.limits
        )

    return [
        Mean(scores.measure, system, len(scores.queries), summarise(values).mean, interval(values))
        for system, values in zip(scores.systems, scores.values.T, strict=True)
    ]


def contrast_systems(
    scores: PairedScores, pairs: Sequence[tuple[int, int]], settings: Settings
) -> list[Contrast]:
    """Return the contrast of each pair (system, baseline) of columns."""
    return contrast_families(scores, [pairs], settings)[0]


def contrast_families(
    scores: PairedScores, families: Sequence[Sequence[tuple[int, int]]], settings: Settings
) -> list[list[Contrast]]:
    """Return the contrasts of several families of pairs, each corrected by itself; sign flips are drawn once."""
    drawn: list[Randomised | None] = [None] * len(families)
    if settings.test == "randomisation":
        drawn = list(
            randomise_families(
                scores.values,
                families,
                clusters=scores.grouping,
                resamples=settings.resamples,
                seed=settings.seed,
            )
        )
    return [
        _contrast_family(scores, pairs, settings, randomised)
        for pairs, randomised in zip(families, drawn, strict=True)
    ]


def _contrast_family(
    scores: PairedScores,
    pairs: Sequence[tuple[int, int]],
    settings: Settings,
    randomised: Randomised | None,
) -> list[Contrast]:
    outcomes, corrected = _test_pairs(scores, pairs, settings, randomised)
    grouping = scores.grouping
    # one critical value for all pairs where marks and intervals share it, else Student's of each pair
    critical = randomised.critical_t(settings.alpha) if randomised and settings.simultaneous else None
    # what Bonferroni's rule would show, every other family-wise rule shows too
    alpha = settings.alpha / (1 if settings.correction == "none" else max(len(pairs), 1))
    contrasts = []
    for (system, baseline), outcome, p in zip(pairs, outcomes, corrected, strict=True):
        names = scores.systems[system], scores.systems[baseline]
        d = scores.differences(*names)
        better = scores.oriented.differences(*names) if scores.has_direction else None
        contrasts.append(
            Contrast(
                scores.measure,
                *names,
                len(d),
                summarise(d).mean,
                defined_student_interval(d, level=settings.level, clusters=grouping)
                if critical is None
                else critical_interval(d, critical, level=settings.level, clusters=grouping),
                standardised_difference(d),
                hedges(d),
                None if better is None else probability_of_superiority(better),
                None if better is None else wins_ties_losses(better),
                outcome,
                p,
                detectable_difference(d, alpha=alpha, critical=critical, clusters=grouping),
                summarise(scores.column(names[0])).mean,
                summarise(scores.column(names[1])).mean,
                settings.alpha,
            )
        )
    return contrasts


def _test_pairs(
    scores: PairedScores,
    pairs: Sequence[tuple[int, int]],
    settings: Settings,
    randomised: Randomised | None,
) -> tuple[list[Outcome | Undefined], list[float | None]]:
    """Return the outcome of each pair, and the corrected p-values; `randomised` has those of sign flips."""
    outcomes: list[Outcome | Undefined]
    values, grouping = scores.values, scores.grouping
    if randomised is not None:
        means = [float(np.mean(values[:, i] - values[:, j])) for i, j in pairs]
        outcomes = [
            Outcome("randomisation", mean, float(p)) for mean, p in zip(means, randomised.p, strict=True)
        ]
        by_flips = {"maxT": randomised.single_step, "maxT-step-down": randomised.step_down}
        if settings.correction in by_flips:
            return outcomes, list(by_flips[settings.correction].tolist())
    else:
        outcomes = [
            difference_test(
                values[:, i],
                values[:, j],
                settings.test,
                clusters=grouping,
                resamples=settings.resamples,
                seed=settings.seed,
            )
            for i, j in pairs
        ]
    ps = [outcome.p if isinstance(outcome, Outcome) else None for outcome in outcomes]
    return outcomes, CORRECTIONS[settings.correction](ps)
