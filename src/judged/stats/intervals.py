"""Confidence intervals of a mean: Student's t, and Wilson's score for values that are 0 or 1."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from judged.arrays import Floats
from judged.errors import BadSample
from judged.stats.clusters import ClustersLike, estimate_error, find_clusters, sum_deviations
from judged.stats.outcome import NO_BASE, TOO_FEW, TOO_FEW_CLUSTERS, Undefined
from judged.stats.paired import Values, check_level, check_values, summarise


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean (or another statistic), and the bounds that contain the true one with the given confidence."""

    mean: float
    low: float
    high: float
    level: float
    method: str = "student"
    """Method: `student`, `clustered` (Student's by cluster), `wilson`, `delta`, `percentile`, `bca` or `maxT` (simultaneous)."""


def student_interval(
    values: Iterable[float] | Floats, *, level: float = 0.95, clusters: ClustersLike = None
) -> Interval:
    r"""Return the interval of Student's t around the mean of `values`.

    $$\bar{x} \pm t_{n-1,\,(1+\mathrm{level})/2} \; s / \sqrt{n}$$

    One value, or values that are all equal, have an interval of width 0. `clusters` has the cluster of each value, if they
    are not independent: then the standard error and its degrees of freedom are those of `estimate_error`.

    Example:
        >>> interval = student_interval([0.2, 0.4, 0.6])
        >>> round(interval.low, 4), round(interval.high, 4)
        (-0.0968, 0.8968)
    """
    check_level(level)
    of = estimate_error(values, clusters)
    method = "clustered" if of.clustered else "student"
    if of.error == 0:
        return Interval(of.mean, of.mean, of.mean, level, method)
    from scipy.special import stdtrit

    margin = float(stdtrit(of.freedom, (1 + level) / 2)) * of.error
    return Interval(of.mean, of.mean - margin, of.mean + margin, level, method)


def ratio_interval(numerator: Values, denominator: Values, *, level: float = 0.95) -> Interval | Undefined:
    r"""Return the interval of a ratio of means over the same units, by linearisation (the delta method).

    $$r \pm t_{n-1,\,(1+\mathrm{level})/2} \; s_e / \sqrt{n}, \quad
    r = \bar{x} / \bar{y}, \quad e_i = (x_i - r y_i) / \bar{y}$$

    Both means vary with the sample, and so does the interval. Undefined for one unit, for a mean of 0 below the line,
    and for ratios that do not vary.

    Example:
        >>> interval = ratio_interval([1, 2, 4], [2, 4, 6])
        >>> round(interval.mean, 4), round(interval.low, 4), round(interval.high, 4)
        (0.5833, 0.3095, 0.8572)
    """
    above, below = check_values(numerator), check_values(denominator)
    base = summarise(below).mean
    if base == 0:
        return NO_BASE
    ratio = summarise(above).mean / base
    residual = defined_student_interval((above - ratio * below) / base, level=level)
    if isinstance(residual, Undefined):
        return residual
    half = (residual.high - residual.low) / 2
    return Interval(ratio, ratio - half, ratio + half, level, "delta")


def defined_student_interval(
    values: Values, *, level: float = 0.95, clusters: ClustersLike = None
) -> Interval | Undefined:
    """Return Student's interval; undefined for one value or cluster, and for values without spread."""
    undefined = estimate_error(values, clusters).undefined
    return undefined or student_interval(values, level=level, clusters=clusters)


def mean_interval(
    values: Values,
    *,
    level: float = 0.95,
    clusters: ClustersLike = None,
    binary: bool = False,
    scale: tuple[float, float] | None = None,
) -> Interval | Undefined:
    """Return the interval of the mean of a measure, the same wherever a mean is shown.

    It is Wilson's if the measure is `binary`, else Student's, or by cluster; no end is beyond the `scale` of the measure,
    its lowest and its highest value.

    >>> interval = mean_interval([0.9, 0.5], scale=(0.0, 1.0))
    >>> interval.low, interval.high
    (0.0, 1.0)
    """
    # the means of several attempts lie between 0 and 1
    if binary and clusters is None and is_binary(values):
        return wilson_interval(values, level=level)
    found = defined_student_interval(values, level=level, clusters=clusters)
    if scale is None or isinstance(found, Undefined):
        return found
    lowest, highest = scale
    return replace(found, low=max(found.low, lowest), high=min(found.high, highest))


def critical_interval(
    values: Values, critical: float, *, level: float = 0.95, clusters: ClustersLike = None
) -> Interval | Undefined:
    r"""Return the mean ± `critical` standard errors, as single-step maxT has them at the given confidence level.

    $$\bar{x} \pm c \; s / \sqrt{n}$$

    By cluster it has every mean that sign flips of the clusters' sums would not reject at the same critical value: those
    $\mu$ where t of the sums of $x_i - \mu$ is at most c. With clusters of unequal size the mean is not in its middle.

    Undefined for one value or cluster, for values without spread, and where no bound is finite: for so few queries, or
    clusters so unequal, that no difference can be significant.
    """
    of = estimate_error(values, clusters)
    if of.undefined is not None:
        return of.undefined
    if math.isinf(critical):
        return TOO_FEW if clusters is None else TOO_FEW_CLUSTERS
    below = above = critical * of.error
    if clusters is not None:
        ends = _invert_flips(np.asarray(values, dtype=np.float64), critical, clusters)
        if ends is None:
            return TOO_FEW_CLUSTERS
        below, above = ends
    return Interval(of.mean, of.mean - below, of.mean + above, level, "maxT")


def _invert_flips(values: Floats, critical: float, clusters: ClustersLike) -> tuple[float, float] | None:
    r"""Return how far below and above the mean the sign flips of clusters reject; None if they never do.

    Flips order assignments by $|\sum E_g| / \sqrt{\sum E_g^2}$ with $E_g = u_g - n_g \delta$ the sums of the deviations
    from $\bar{x} + \delta$. It is at most $k$, where $k^2 = G c^2 / (G - 1 + c^2)$, between the roots of
    $(n^2 - k^2 \sum n_g^2) \delta^2 + 2 k^2 \delta \sum n_g u_g - k^2 \sum u_g^2$.
    """
    found = find_clusters(clusters, len(values))
    off = sum_deviations(values, found)
    limit = len(found) * critical**2 / (len(found) - 1 + critical**2)
    square = len(values) ** 2 - limit * float((found.sizes**2).sum())
    half = limit * float((found.sizes * off).sum())
    if square <= 0:
        return None
    root = math.sqrt(half**2 + square * limit * float((off**2).sum()))
    return (root + half) / square, (root - half) / square


def wilson_interval(values: Values, *, level: float = 0.95) -> Interval:
    r"""Return the interval of Wilson's score around the share of ones; it stays within 0 and 1, and its width is never 0.

    $$\frac{\hat{p} + z^2/2n}{1 + z^2/n} \pm \frac{z}{1 + z^2/n} \sqrt{\frac{\hat{p}(1-\hat{p})}{n} + \frac{z^2}{4n^2}}$$

    Example:
        >>> interval = wilson_interval([1, 1, 1, 0])
        >>> round(interval.low, 4), round(interval.high, 4)
        (0.3006, 0.9544)
    """
    from scipy.special import ndtri

    check_level(level)
    array = check_values(values)
    if not is_binary(array):
        msg = "Wilson's interval is of values that are 0 or 1, and there are others"
        raise BadSample(msg, hint="Student's t is for all values")
    size, share = len(array), summarise(array).mean
    z2 = float(ndtri((1 + level) / 2)) ** 2
    centre = (share + z2 / (2 * size)) / (1 + z2 / size)
    margin = math.sqrt(z2 * (share * (1 - share) / size + z2 / (4 * size**2))) / (1 + z2 / size)
    low, high = max(0.0, centre - margin), min(1.0, centre + margin)
    # exactly 0 and 1 at the ends, where rounding would leave a bound just inside
    return Interval(share, low if share else 0.0, high if share < 1 else 1.0, level, "wilson")


def is_binary(values: Values) -> bool:
    """Return whether every value is 0 or 1."""
    array = np.asarray(values, dtype=np.float64)
    return bool(((array == 0) | (array == 1)).all())
