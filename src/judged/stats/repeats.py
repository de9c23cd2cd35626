"""Repeated values: queries that were answered several times, and what attempts and queries contribute to an error.

The mean of all queries is tested and estimated by the queries' means alone, whose spread $S^2$ contains both parts: queries
differ, and so do attempts at one query. The parts tell whether more queries or more attempts would make it more precise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judged.arrays import Floats
from judged.errors import BadSample
from judged.stats.clusters import ClustersLike, estimate_error
from judged.stats.outcome import Undefined
from judged.stats.paired import ROUNDING, check_level

MOST = 10_000_000
"""No more queries or attempts than this are considered."""


@dataclass(frozen=True, slots=True)
class AttemptSpread:
    """Spread of the attempts of one system at one query, over all queries."""

    fewest: int
    """The least number of attempts at a query."""
    most: int
    mean: float
    """The harmonic mean of the numbers of attempts: the variance of a query's mean is on average that of an attempt over it."""
    variance: float
    """The variance of attempts at one query, pooled over queries; 0 where no query has two."""

    @property
    def repeated(self) -> bool:
        """Whether any query has several attempts, so that their spread is known."""
        return self.most > 1


def measure_attempts(attempts: Floats) -> AttemptSpread:
    r"""Return the spread of attempts: a row for each query, NaN where there is no attempt.

    $$s^2_{\mathrm{attempt}} = \frac{\sum_q \sum_a (x_{qa} - \bar{x}_q)^2}{\sum_q (m_q - 1)}$$

    >>> spread = measure_attempts(np.array([[0.0, 1.0], [0.5, np.nan]]))
    >>> spread.variance, round(spread.mean, 4)
    (0.5, 1.3333)
    """
    there = ~np.isnan(attempts)
    many = there.sum(axis=1)
    if len(attempts) == 0 or (many == 0).any():
        msg = "a query has no attempt, expected one or more at every query"
        raise BadSample(msg)
    values = np.where(there, attempts, 0.0)
    off = np.where(there, values - (values.sum(axis=1) / many)[:, None], 0.0)
    off[np.abs(off) <= ROUNDING * float(np.abs(values).max())] = 0.0
    freedom = int((many - 1).sum())
    variance = float((off**2).sum()) / freedom if freedom else 0.0
    return AttemptSpread(int(many.min()), int(many.max()), float(len(many) / (1 / many).sum()), variance)


@dataclass(frozen=True, slots=True)
class Components:
    """Components of the error of a mean over queries with repeated values."""

    mean: float
    error: float
    """The standard error of the mean: that of the queries' means, by cluster if there are clusters."""
    draws: int
    """The number of independent draws: queries, or clusters."""
    balance: float
    """Share of the degrees of freedom of as many equal draws."""
    queries: int
    fewest: int
    """The least number of attempts at a query, of any system."""
    most: int
    attempts: float
    """The mean number of attempts that `attempt_variance` is divided by."""
    attempt_variance: float
    """The variance of one attempt at a query; of a difference, of both systems together."""
    level: float = 0.95

    @property
    def total(self) -> float:
        """The variance of a query's mean: the squared error times the number of queries."""
        return self.error**2 * self.queries

    @property
    def within(self) -> float:
        """The part of it that is due to attempts."""
        return self.attempt_variance / self.attempts

    @property
    def query_variance(self) -> float:
        """The part that is due to queries, whatever the number of attempts; 0 where attempts explain all of it."""
        return max(0.0, self.total - self.within)

    @property
    def share(self) -> float:
        """The share of the variance that is due to attempts."""
        return self.within / (self.within + self.query_variance)

    @property
    def floor(self) -> float:
        """The share of the interval's width that no number of attempts removes."""
        return math.sqrt(self.query_variance / (self.within + self.query_variance))

    @property
    def draws_to_halve(self) -> int | None:
        """Number of queries (or clusters) like these that halves the interval; None if over ten million."""
        wanted = self._width(self.draws) / 2
        if self._width(MOST) > wanted:
            return None
        low, high = self.draws, MOST
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._width(middle) > wanted else (low, middle)
        return high

    @property
    def attempts_to_halve(self) -> int | None:
        """Number of attempts at each query that halves the interval; None if no number does."""
        whole = self.within + self.query_variance
        left = whole / 4 - self.query_variance
        needed = self.attempt_variance / left if left > 0 else math.inf
        return math.ceil(needed * (1 - 1e-12)) if needed <= MOST else None

    def _width(self, draws: int) -> float:
        from scipy.special import stdtrit

        return float(stdtrit(self.balance * (draws - 1), (1 + self.level) / 2)) / math.sqrt(draws)


def find_components(
    means: Floats,
    attempts: Sequence[Floats],
    *,
    clusters: ClustersLike = None,
    level: float = 0.95,
) -> Components | Undefined:
    r"""Return what the error of the mean of `means` consists of: queries, and attempts at them.

    `means` has one value for each query: the mean of a system's attempts, or the difference of the means of two systems.
    `attempts` has the attempts of that system, or of both, a row for each query with NaN where there is none. With
    $\tilde{m}_s$ the harmonic mean of a system's numbers of attempts,

    $$s^2_{\mathrm{query}} = \max\left(0, S^2_{\mathrm{means}} - \sum_s s^2_{\mathrm{attempt},s} / \tilde{m}_s\right)$$

    Attempts are taken as independent, also those of two systems. A system with one attempt at each query shows no spread
    of attempts, and its whole spread counts as the queries'. Undefined for one query, for means without spread, and where no
    system has two attempts at a query.

    Example:
        >>> attempts = np.array([[0.1, 0.3], [0.5, 0.5], [0.9, 0.7]])
        >>> found = find_components(attempts.mean(axis=1), [attempts])
        >>> round(found.attempt_variance, 4), round(found.query_variance, 4), found.attempts_to_halve
        (0.0133, 0.0833, None)

    References:
        Miller. Adding error bars to evals: a statistical approach to language model evaluations. 2024. arXiv:2411.00640
        Searle, Casella and McCulloch. Variance components. Wiley, 1992.
    """
    check_level(level)
    of = estimate_error(means, clusters)
    if of.undefined is not None:
        return of.undefined
    spreads = [measure_attempts(rows) for rows in attempts]
    repeated = [spread for spread in spreads if spread.repeated]
    if not repeated:
        return Undefined("no query has two attempts")
    variance = sum(spread.variance for spread in repeated)
    within = sum(spread.variance / spread.mean for spread in repeated)
    mean = variance / within if within else min(spread.mean for spread in repeated)
    return Components(
        of.mean,
        of.error,
        of.draws,
        of.balance,
        len(means),
        min(spread.fewest for spread in spreads),
        max(spread.most for spread in spreads),
        mean,
        variance,
        level,
    )
