"""Values that are not independent: queries of one document, questions of one user; clusters are the independent draws.

Everything that the size of a sample decides is by cluster then: standard errors and their degrees of freedom here, signs
that are flipped and queries that are resampled by the sums of clusters. Where every value is a cluster of its own, every
number is that of independent values.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from judged.arrays import Floats, Ints
from judged.errors import BadSample
from judged.stats.outcome import NO_SPREAD, ONE_QUERY, Undefined
from judged.stats.paired import ROUNDING, check_values, summarise

ONE_CLUSTER = Undefined("one cluster")


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The cluster of every value, by number."""

    label: Ints
    """The number of each value's cluster, from 0."""
    sizes: Floats
    """The number of values in each cluster."""

    def __len__(self) -> int:
        return len(self.sizes)

    def sum(self, values: Floats) -> Floats:
        """Return the sum of each cluster, for each column of values."""
        # by sorted rows, not `np.add.at`: an order of magnitude faster
        order = np.argsort(self.label, kind="stable")
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)
        sums: Floats = np.add.reduceat(values[order], starts, axis=0)
        return sums


ClustersLike: TypeAlias = "Clusters | Sequence[Hashable] | None"
"""The cluster of each value, in the same order; None: every value is independent."""


def find_clusters(clusters: ClustersLike, size: int) -> Clusters:
    """Return the clusters of `size` values, numbered as they first occur; without any, every value is one.

    >>> find_clusters(["b", "a", "b"], 3).sizes.tolist()
    [2.0, 1.0]
    """
    if clusters is None:
        return Clusters(np.arange(size), np.ones(size))
    if not isinstance(clusters, Clusters):
        number: dict[Hashable, int] = {}
        label = np.array([number.setdefault(name, len(number)) for name in clusters], dtype=np.int64)
        clusters = Clusters(label, np.bincount(label).astype(np.float64))
    if len(clusters.label) != size:
        msg = f"there are {len(clusters.label):,} clusters of {size:,} values, expected the cluster of each"
        raise BadSample(msg)
    return clusters


@dataclass(frozen=True, slots=True)
class SampleMean:
    """A mean with its standard error, and the degrees of freedom of Student's t around it."""

    mean: float
    error: float
    """The standard error; 0 if nothing varies."""
    freedom: float
    draws: int
    """The number of independent draws: of clusters, or of values if there are none."""
    clustered: bool = False

    @property
    def undefined(self) -> Undefined | None:
        """The reason why nothing can be said about the error; None if something can."""
        if self.draws == 1:
            return ONE_CLUSTER if self.clustered else ONE_QUERY
        return NO_SPREAD if self.error == 0 else None

    @property
    def deviation(self) -> float:
        """The standard deviation of independent draws that would have this error."""
        return self.error * math.sqrt(self.draws)

    @property
    def balance(self) -> float:
        """The degrees of freedom as a share of those of as many equal draws: less than 1 where clusters are unequal."""
        return self.freedom / (self.draws - 1) if self.draws > 1 else 1.0


def estimate_error(
    values: Iterable[float] | Floats, clusters: ClustersLike = None, *, name: str = "scores"
) -> SampleMean:
    r"""Return the mean of `values` with its standard error; by cluster, if there are clusters.

    With $u_g$ the sum of the deviations from the mean $\bar{x}$ in cluster $g$ of $n_g$ values, $n$ in all,

    $$SE^2 = \frac{1}{n^2} \sum_g \frac{u_g^2}{1 - n_g / n}$$

    which is the bias-reduced estimate CR2 for a mean: $s^2 / n$ where every value is a cluster. The degrees of freedom are
    Bell and McCaffrey's, by Satterthwaite's rule for independent values: $G - 1$ for $G$ clusters of one size, fewer for
    unequal ones.

    Example:
        >>> of = estimate_error([1, 1, 2, 4], ["a", "a", "b", "b"])
        >>> of.mean, of.error, of.freedom
        (2.0, 1.0, 1.0)

    References:
        Bell and McCaffrey. Bias reduction in standard errors for linear regression with multi-stage samples. Survey
        Methodology 28(2), 2002.
        Imbens and Kolesár. Robust standard errors in small samples. Review of Economics and Statistics 98(4), 2016.
        doi:10.1162/REST_a_00552
    """
    array = check_values(values, name=name)
    of = summarise(array, name=name)
    if clusters is None:
        return SampleMean(of.mean, of.deviation / math.sqrt(of.size), of.size - 1, of.size)
    found = find_clusters(clusters, of.size)
    if len(found) == 1 or of.deviation == 0:
        return SampleMean(of.mean, 0.0, max(len(found) - 1, 0), len(found), clustered=True)
    off = sum_deviations(array, found)
    rest = 1 - found.sizes / of.size
    error = math.sqrt(float((off**2 / rest).sum())) / of.size
    return SampleMean(of.mean, error, find_freedom(found.sizes), len(found), clustered=True)


def sum_deviations(values: Floats, clusters: Clusters) -> Floats:
    """Return the sum of the deviations from the mean in each cluster; rounding errors are 0."""
    off = clusters.sum(values) - clusters.sizes * float(values.mean())
    off[np.abs(off) <= ROUNDING * float(np.abs(values).max()) * clusters.sizes] = 0.0
    return off


def find_freedom(sizes: Floats) -> float:
    r"""Return the degrees of freedom of the squared error: $(\sum \lambda)^2 / \sum \lambda^2$ of its eigenvalues.

    These are of the covariance $M$ of the terms $u_g / \sqrt{1 - n_g/n}$ under independent values, so the two sums are
    $\mathrm{tr} M$ and $\mathrm{tr} M^2$: with $s = n_g / n$ and $w = 1 / (1 - s)$, $M_{gh} \propto \sqrt{w_g w_h}
    (s_g \delta_{gh} - s_g s_h)$.
    """
    share = sizes / sizes.sum()
    weight = 1 / (1 - share)
    # the trace is Σ w s (1 − s) = Σ s = 1
    crossed = weight * share**2
    squares = float((share**2).sum() + crossed.sum() ** 2 - (crossed**2).sum())
    return 1 / squares
