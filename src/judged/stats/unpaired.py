"""Two samples that are not paired, such as the impressions of two systems: the difference of their means by cluster."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from judged.arrays import Floats, Ints
from judged.stats.clusters import Clusters, SampleMean, estimate_error, find_freedom
from judged.stats.intervals import Interval
from judged.stats.outcome import Undefined
from judged.stats.paired import ROUNDING, check_level, check_values
from judged.stats.prediction_powered import satterthwaite_freedom

Labels: TypeAlias = "Sequence[Hashable] | Ints | None"
"""The cluster of each value, as names or numbers; None: every value is independent."""


def estimate_difference(
    first: Floats, second: Floats, first_clusters: Labels = None, second_clusters: Labels = None
) -> SampleMean:
    r"""Return the difference of the means of two samples, with its standard error by cluster.

    Clusters of both samples that have one name are one draw, such as a user who saw both systems. Where none is shared,
    the squared errors of the two means add up, and the degrees of freedom are Welch and Satterthwaite's. Else, with
    $u_g$ the sum of the deviations of cluster $g$ from the mean of the first sample over its size, minus that of the
    second,

    $$SE^2 = \sum_g \frac{v_g}{e_g} u_g^2, \quad v_g = \frac{a_g}{n_a^2} + \frac{b_g}{n_b^2}, \quad
    e_g = \frac{a_g}{n_a^2} \left(1 - \frac{a_g}{n_a}\right) + \frac{b_g}{n_b^2} \left(1 - \frac{b_g}{n_b}\right)$$

    where $a_g$ and $b_g$ are the numbers of its values in the two samples. The degrees of freedom are
    $(\sum v_g)^2 / \sum v_g^2 - 1$: of clusters with as many values in both, one less than there are.

    >>> of = estimate_difference(np.array([1.0, 0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0]))
    >>> round(of.mean, 4), round(of.error, 4), round(of.freedom, 2)
    (0.4167, 0.4167, 4.03)
    """
    a, b = check_values(first, name="the first sample"), check_values(second, name="the second sample")
    if first_clusters is None or second_clusters is None:
        labels = (first_clusters, second_clusters)
        alone = (None if own is None else _cluster(_number_together(own)[0]) for own in labels)
        return subtract(*(estimate_error(v, own) for v, own in zip((a, b), alone, strict=True)))
    one, other = _number_together(first_clusters, second_clusters)
    if not len(np.intersect1d(one, other)):
        return subtract(*(estimate_error(v, _cluster(label)) for v, label in ((a, one), (b, other))))
    return _combine([(a, one, 1.0), (b, other, -1.0)])


def estimate_contrast(
    samples: Sequence[Floats], weights: Sequence[float], clusters: Sequence[Labels]
) -> SampleMean:
    r"""Return the sum of the means of samples, each times a weight, with its standard error by cluster.

    The weights add up to 0, as those of a slope do. Clusters that several samples share are one draw, as in
    `estimate_difference`, whose formula this is with $a_g/n_a$ times the weight of each sample; so the slope of samples
    of the same clusters has the error of the mean of their own slopes. Where no two samples share a cluster, the
    squared errors add up.

    >>> first, second, third = (np.array(values) for values in ([0.2, 0.4], [0.3, 0.6], [0.6, 0.8]))
    >>> of = estimate_contrast([first, second, third], [-0.5, 0.0, 0.5], [["a", "b"]] * 3)
    >>> round(of.mean, 4), of.undefined
    (0.2, Undefined(reason='no spread'))
    """
    kept = [
        (check_values(sample, name=f"sample {at}"), weight, own)
        for at, (sample, weight, own) in enumerate(zip(samples, weights, clusters, strict=True), start=1)
        if weight
    ]
    labels = _number_together(
        *(
            [(at, row) for row in range(len(sample))] if own is None else list(own)
            for at, (sample, _, own) in enumerate(kept)
        )
    )
    if sum(len(np.unique(label)) for label in labels) > len(np.unique(np.concatenate(labels))):
        return _combine(
            [(sample, label, weight) for (sample, weight, _), label in zip(kept, labels, strict=True)]
        )
    scaled = []
    for (sample, weight, _), label in zip(kept, labels, strict=True):
        part = estimate_error(sample, _cluster(label))
        scaled.append(replace(part, mean=weight * part.mean, error=abs(weight) * part.error))
    total = scaled[0]
    for part in scaled[1:]:
        total = subtract(total, replace(part, mean=-part.mean))
    return total


def _combine(samples: Sequence[tuple[Floats, Ints, float]]) -> SampleMean:
    """Return the weighted sum of the means of samples that share clusters: of each its values, clusters and weight."""
    count = max(int(label.max()) for _, label, _ in samples) + 1
    off, variance, expected = np.zeros(count), np.zeros(count), np.zeros(count)
    mean = 0.0
    for values, label, weight in samples:
        sizes = np.bincount(label, minlength=count).astype(np.float64)
        sums = np.bincount(label, weights=values, minlength=count) - sizes * float(values.mean())
        sums[np.abs(sums) <= ROUNDING * float(np.abs(values).max()) * sizes] = 0.0
        mean += weight * float(values.mean())
        off += weight * sums / len(values)
        variance += weight**2 * sizes / len(values) ** 2
        expected += weight**2 * sizes / len(values) ** 2 * (1 - sizes / len(values))
    drawn = variance > 0
    ratio = np.divide(variance, expected, out=np.ones(count), where=expected > 0)
    freedom = float(variance.sum() ** 2 / (variance**2).sum()) - 1
    largest = max(abs(weight) * float(np.abs(values).max()) / len(values) for values, _, weight in samples)
    off[np.abs(off) <= ROUNDING * largest] = 0.0
    error = math.sqrt(float((ratio * off**2).sum())) if drawn.sum() > 1 else 0.0
    return SampleMean(mean, error, freedom, int(drawn.sum()), clustered=True)


def student_of(of: SampleMean, *, level: float = 0.95) -> Interval | Undefined:
    """Return Student's interval of an estimate with a standard error; undefined where nothing varies."""
    check_level(level)
    if of.undefined is not None:
        return of.undefined
    from scipy.special import stdtrit

    margin = float(stdtrit(of.freedom, (1 + level) / 2)) * of.error
    method = "clustered" if of.clustered else "student"
    return Interval(of.mean, of.mean - margin, of.mean + margin, level, method)


def p_of(of: SampleMean) -> float | Undefined:
    """Return the two-sided p-value of an estimate being 0; undefined where nothing varies."""
    if of.undefined is not None:
        return of.undefined
    from scipy.special import stdtr

    return float(2 * stdtr(of.freedom, -abs(of.mean / of.error)))


def subtract(a: SampleMean, b: SampleMean) -> SampleMean:
    """Return the difference of two independent estimates, with Welch and Satterthwaite's degrees of freedom."""
    draws, clustered = min(a.draws, b.draws), a.clustered or b.clustered
    if draws == 1:
        return SampleMean(a.mean - b.mean, 0.0, 0.0, 1, clustered)
    variances = np.array([a.error**2, b.error**2])
    freedom = satterthwaite_freedom(variances, np.array([a.freedom, b.freedom]))
    return SampleMean(a.mean - b.mean, math.sqrt(variances.sum()), freedom, draws, clustered)


def _number_together(*several: Sequence[Hashable] | Ints) -> list[Ints]:
    """Return the clusters as numbers, the same for one name."""
    numbers = [labels for labels in several if isinstance(labels, np.ndarray)]
    if len(numbers) == len(several):
        _, codes = np.unique(np.concatenate(numbers), return_inverse=True)
        return np.split(codes.reshape(-1), np.cumsum([len(labels) for labels in numbers])[:-1])
    number: dict[Hashable, int] = {}
    return [
        np.array([number.setdefault(name, len(number)) for name in labels], dtype=np.int64)
        for labels in several
    ]


def _cluster(label: Ints) -> Clusters:
    _, compact = np.unique(label, return_inverse=True)
    return Clusters(compact.reshape(-1), np.bincount(compact.reshape(-1)).astype(np.float64))


def estimate_from_sums(sums: Floats, sizes: Floats) -> SampleMean:
    """Return the mean of values with its standard error, from the sum and the number of values of each cluster.

    >>> estimate_from_sums(np.array([2.0, 6.0]), np.array([2.0, 2.0]))
    SampleMean(mean=2.0, error=1.0, freedom=1.0, draws=2, clustered=True)
    """
    count = float(sizes.sum())
    mean = float(sums.sum() / count)
    if len(sizes) < 2:
        return SampleMean(mean, 0.0, 0.0, len(sizes), clustered=True)
    off = sums - sizes * mean
    error = math.sqrt(float((off**2 / (1 - sizes / count)).sum())) / count
    return SampleMean(mean, error, find_freedom(sizes), len(sizes), clustered=True)
