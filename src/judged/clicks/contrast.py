"""Systems against each other by user, and the two checks before any verdict: the sample ratio and A/A splits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from judged.arrays import Floats, Ints
from judged.blocks import Value
from judged.clicks.tables import Clicks
from judged.errors import BadSample
from judged.measures.measure import Measure
from judged.scoring.evaluation import Evaluation
from judged.stats.clusters import find_clusters
from judged.stats.corrections import CORRECTIONS
from judged.stats.intervals import Interval
from judged.stats.outcome import Undefined
from judged.stats.unpaired import estimate_difference, estimate_from_sums, p_of, student_of, subtract

MISMATCH = 0.001
"""The p-value of the sample ratio below which the assignment of users is not what was planned."""
SPLITS = 200
"""Number of random halves in an A/A check."""
SURPRISE = 0.001
"""The probability of as many false alarms in A/A splits as there are, below which a test is not to be trusted."""
SHARED = 0.01
"""Share of users who saw both systems from which users are not assigned to one of them."""


@dataclass(frozen=True, slots=True)
class ClickContrast:
    """One system against another in one measure: system minus baseline, over different impressions."""

    measure: str
    system: str
    baseline: str
    impressions: int
    baseline_impressions: int
    draws: int
    """Number of users, or of what else is independent, of both systems together."""
    shared: int
    """Users who saw both systems."""
    mean: float
    baseline_mean: float
    difference: float
    interval: Interval | Undefined
    p: float | None
    corrected: float | None
    """The p-value, corrected for all comparisons of the measure."""
    alpha: float
    higher_is_better: bool | None = True

    @property
    def significant(self) -> bool:
        """Whether the corrected p-value is below the significance level."""
        return self.corrected is not None and self.corrected < self.alpha

    @property
    def relative(self) -> float | None:
        """The difference as a share of the baseline's mean; None if that is 0."""
        return self.difference / self.baseline_mean if self.baseline_mean > 0 else None

    def to_dict(self) -> dict[str, Value]:
        """Return every number by name."""
        known = isinstance(self.interval, Interval)
        return {
            "measure": self.measure,
            "system": self.system,
            "baseline": self.baseline,
            "impressions": self.impressions,
            "baseline_impressions": self.baseline_impressions,
            "draws": self.draws,
            "shared": self.shared,
            "mean": self.mean,
            "baseline_mean": self.baseline_mean,
            "difference": self.difference,
            "relative": self.relative,
            "low": self.interval.low if isinstance(self.interval, Interval) else None,
            "high": self.interval.high if isinstance(self.interval, Interval) else None,
            "p": self.p,
            "p_corrected": self.corrected,
            "undefined": None if known else str(self.interval),
        }


@dataclass(frozen=True, slots=True)
class SampleRatio:
    """Whether systems were shown to as many users as planned."""

    unit: str
    """What was counted: users, sessions or impressions."""
    counts: Mapping[str, int]
    expected: Mapping[str, float]
    """The planned share of each system."""
    p: float
    """The p-value of the chi-squared test."""
    shared: int = 0
    """Users who saw several systems."""

    @property
    def failed(self) -> bool:
        """Whether the counts are not those of the plan."""
        return self.p < MISMATCH


@dataclass(frozen=True, slots=True)
class SplitCheck:
    """How often the test calls two random halves of one system different."""

    measure: str
    system: str
    splits: int
    alarms: int
    alpha: float
    surprise: float
    """The probability of this many alarms or more, if the test has its level."""

    @property
    def failed(self) -> bool:
        """Whether there are more false alarms than chance explains."""
        return self.surprise < SURPRISE


def label_clusters(clicks: Clicks) -> Ints | None:
    """Return the number of the user of each impression; one without a user has a number of its own below 0."""
    names = clicks.clusters
    if names is None:
        return None
    labels: Ints = np.where(names.codes >= 0, names.codes, -1 - np.arange(len(clicks)))
    return labels


def contrast_systems(
    evaluations: Mapping[str, Evaluation],
    logs: Mapping[str, Clicks],
    measures: Sequence[Measure],
    baselines: Sequence[str],
    *,
    level: float,
    correction: str,
) -> Iterator[ClickContrast]:
    """Yield the contrast of each pair of systems, or of every system with a baseline, measure by measure."""
    names = list(evaluations)
    pairs = (
        [(name, baseline) for baseline in baselines for name in names if name != baseline]
        if baselines
        else [(second, first) for first, second in combinations(names, 2)]
    )
    labels = {name: label_clusters(log) for name, log in logs.items()}
    for measure in measures:
        found = [_contrast(evaluations, labels, measure, pair, level) for pair in pairs]
        corrected = CORRECTIONS[correction]([contrast.p for contrast in found])
        for contrast, p in zip(found, corrected, strict=True):
            yield _with_correction(contrast, p)


def _with_correction(contrast: ClickContrast, p: float | None) -> ClickContrast:
    from dataclasses import replace

    return replace(contrast, corrected=p)


def _contrast(
    evaluations: Mapping[str, Evaluation],
    labels: Mapping[str, Ints | None],
    measure: Measure,
    pair: tuple[str, str],
    level: float,
) -> ClickContrast:
    known, values, clusters = [], [], []
    for name in pair:
        own = evaluations[name].scores.averaged(measure)
        there = ~np.isnan(own)
        label = labels[name]
        known.append(there)
        values.append(own[there])
        clusters.append(None if label is None else label[there])
    if not all(len(own) for own in values):
        empty = pair[0] if not len(values[0]) else pair[1]
        msg = f"`{empty}` has no impression with a value of {measure.label}"
        raise BadSample(msg)
    of = estimate_difference(*values, *clusters)
    p = p_of(of)
    shared = 0
    draws = len(values[0]) + len(values[1])
    if clusters[0] is not None and clusters[1] is not None:
        one, other = np.unique(clusters[0]), np.unique(clusters[1])
        shared = len(np.intersect1d(one[one >= 0], other[other >= 0]))
        draws = len(one) + len(other) - shared
    return ClickContrast(
        measure=measure.label,
        system=pair[0],
        baseline=pair[1],
        impressions=len(values[0]),
        baseline_impressions=len(values[1]),
        draws=draws,
        shared=shared,
        mean=float(values[0].mean()),
        baseline_mean=float(values[1].mean()),
        difference=of.mean,
        interval=student_of(of, level=level),
        p=None if isinstance(p, Undefined) else p,
        corrected=None,
        alpha=1 - level,
        higher_is_better=measure.higher_is_better,
    )


def check_ratio(logs: Mapping[str, Clicks], ratio: Mapping[str, float] | None) -> SampleRatio:
    """Return whether the numbers of users are those of the plan, by default equal ones.

    Where users saw several systems, impressions are counted, since users were not assigned to one.
    """
    labels = {name: label_clusters(log) for name, log in logs.items()}
    users = {name: np.unique(label[label >= 0]) for name, label in labels.items() if label is not None}
    shared, unit = 0, "impression"
    counts = {name: len(log) for name, log in logs.items()}
    if len(users) == len(logs):
        every, times = np.unique(np.concatenate(list(users.values())), return_counts=True)
        shared = int((times > 1).sum())
        if shared <= SHARED * len(every):
            first = next(iter(logs.values()))
            unit = "user" if first.user is not None else "session"
            counts = {name: len(own) for name, own in users.items()}
    shares = _check_shares(ratio, list(logs))
    total = sum(counts.values())
    from scipy.special import chdtrc

    statistic = sum((counts[name] - total * share) ** 2 / (total * share) for name, share in shares.items())
    return SampleRatio(unit, counts, shares, float(chdtrc(len(counts) - 1, statistic)), shared)


def _check_shares(ratio: Mapping[str, float] | None, names: Sequence[str]) -> dict[str, float]:
    if ratio is None:
        return {name: 1 / len(names) for name in names}
    given = {name: float(share) if isinstance(share, int | float) else 0.0 for name, share in ratio.items()}
    if given.keys() != set(names) or not all(share > 0 for share in given.values()):
        listed = ", ".join(f"`{name}`" for name in names)
        msg = f"`ratio` has {dict(ratio)}, expected a number above 0 for each of {listed}"
        raise BadSample(msg)
    return {name: given[name] / sum(given.values()) for name in names}


def split_randomly(
    evaluation: Evaluation, clicks: Clicks, measures: Sequence[Measure], *, level: float, seed: int
) -> Iterator[SplitCheck]:
    """Yield how often two random halves of the users of one system differ, which they do not."""
    from scipy.special import bdtrc

    label, alpha = label_clusters(clicks), 1 - level
    for measure in measures:
        own = evaluation.scores.averaged(measure)
        there = ~np.isnan(own)
        clusters = find_clusters(None if label is None else label[there].tolist(), int(there.sum()))
        if len(clusters) < 4 or float(own[there].std()) == 0:
            continue
        sums = clusters.sum(own[there])
        rng = np.random.default_rng(seed)
        alarms = sum(_halves_differ(sums, clusters.sizes, rng, alpha) for _ in range(SPLITS))
        surprise = float(bdtrc(alarms - 1, SPLITS, alpha)) if alarms else 1.0
        yield SplitCheck(measure.label, evaluation.system, SPLITS, alarms, alpha, surprise)


def _halves_differ(sums: Floats, sizes: Floats, rng: np.random.Generator, alpha: float) -> bool:
    order = rng.permutation(len(sums))
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    p = p_of(subtract(*(estimate_from_sums(sums[half], sizes[half]) for half in halves)))
    return not isinstance(p, Undefined) and p < alpha
