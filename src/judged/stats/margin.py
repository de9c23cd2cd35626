"""Is a difference above a margin or below it (non-inferiority), or within a margin either way (equivalence)?

`margin_test` works on the *excess*: each query's difference less the margin. A difference above the margin is an excess
above 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Literal, TypeAlias

import numpy as np

from judged.arrays import Floats
from judged.errors import BadSample, check_kind
from judged.stats.clusters import ClustersLike, SampleMean, estimate_error, find_clusters
from judged.stats.effects import least_shift, least_size
from judged.stats.outcome import NO_SPREAD, Undefined
from judged.stats.paired import check_resamples, summarise
from judged.stats.randomisation import EXACT_UP_TO, draw_flips

Verdict: TypeAlias = Literal["pass", "fail", "inconclusive"]
OneSidedTest: TypeAlias = Literal["t", "randomisation", "welch", "crossed"]
"""`welch` is of independent rounds, `crossed` of queries and rounds; `margin_of_mean` takes both."""

NOT_ASKED = Undefined(
    "wall times of two days differ for other reasons too, and nobody asked to decide by them"
)
"""The reason why a difference that was measured is not decided about."""
POWER = 0.8
"""Power at which an effect counts as detectable."""
CELLS = 2**21
"""About how many flips are held at once; the result does not depend on it."""
SAME = 1e-12
"""Sums that differ by less than this share of the total are equal."""

LEAST_ALPHA = 1e-9
"""The least probability of an error: quantiles of much less are not found."""


@dataclass(frozen=True, slots=True)
class MarginTest:
    """The result of a one-sided paired test of a mean difference against a margin."""

    test: OneSidedTest
    queries: int
    difference: float
    """The mean difference; above the margin is good."""
    margin: float
    alpha: float
    low: float
    """The lower confidence bound of the difference at 1 − alpha, one-sided; −∞ if there is none."""
    high: float
    """The upper bound, likewise."""
    p_above: float
    """The p-value of the test that could show the difference to be above the margin."""
    p_below: float
    """The p-value of the test that could show it to be below."""
    verdict: Verdict
    detectable: float | None = None
    """Distance of the true difference from the margin that is detected with a power of 0.8; None if undefined."""
    needed: int | None = None
    """With this many queries (or clusters), two equally good systems would pass with that power; None if undefined, or never."""
    undefined: Undefined | None = None
    """Reason why no test was possible."""
    exact: bool = True
    """Whether p-values are computed rather than estimated from resamples."""
    resamples: int = 0
    """The number of random sign flips, if p-values are estimated."""
    clusters: int = 0
    """The number of clusters that the queries are in; 0 if every query is independent."""


def margin_test(
    differences: Iterable[float] | Floats,
    *,
    margin: float | Floats = 0.0,
    alpha: float = 0.05,
    test: OneSidedTest = "t",
    clusters: ClustersLike = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> MarginTest:
    r"""Test whether the mean of `differences` is above `margin`, below it, or neither can be shown.

    With excesses $e_i = d_i - m_i$ (a margin is one number, or one for each query) and their mean and standard
    deviation over $n$ queries, the bounds of Student's t are

    $$\bar{d} \pm t_{n-1,\,1-\alpha} \; s_e / \sqrt{n}$$

    It is a `pass` if the lower bound lies above the (mean) margin, a `fail` if the upper bound lies below it, and
    otherwise `inconclusive`. Each of the two errors has a probability of at most `alpha` if excesses are normal, and
    about that if they are not too skewed. `randomisation` assumes no distribution and flips the signs of the
    excesses: in every way up to 20 queries, else in `resamples` random ways, where $p = (k + 1) / (B + 1)$.

    One query shows nothing: `inconclusive`. Where excesses are all equal, or no query differs at all, there is no
    spread, and the observed difference decides: a `pass` from the margin up.

    `clusters` has the cluster of each query, if they are not independent: the standard error is then that of
    `estimate_error`, and signs are flipped for whole clusters.

    Example:
        >>> found = margin_test([0.0, 0.01, -0.005, 0.02, 0.0, 0.005], margin=-0.01)
        >>> found.verdict, round(found.low, 4), round(found.p_above, 4)
        ('pass', -0.0024, 0.0046)
    """
    _check_settings(alpha, test, resamples, seed)
    given = np.asarray(differences if isinstance(differences, np.ndarray) else list(differences), np.float64)
    of = summarise(given, name="the differences")
    excess, mean_margin = given - margin, float(np.mean(margin))
    left = estimate_error(excess, clusters, name="the differences, less the margin")
    alike = np.ptp(excess) <= SAME * max(1.0, abs(left.mean))  # but for the last bits
    if left.undefined is not None or alike or not given.any():
        return _decide_by_sight(test, of.mean, left, mean_margin, alpha, size=of.size)
    bounds = _t_bounds(left, alpha) if test == "t" else _sign_bounds(excess, clusters, alpha, resamples, seed)
    allowed, exact = alpha * (1 + SAME), test == "t" or left.draws <= EXACT_UP_TO
    needed = None
    if mean_margin < 0:
        needed = least_size(-mean_margin / left.deviation, POWER, alpha, sides=1, balance=left.balance)
    return MarginTest(
        test,
        of.size,
        of.mean,
        mean_margin,
        alpha,
        bounds.low + mean_margin,
        bounds.high + mean_margin,
        bounds.p_above,
        bounds.p_below,
        "pass" if bounds.p_above <= allowed else "fail" if bounds.p_below <= allowed else "inconclusive",
        detectable=left.error * least_shift(left.freedom, POWER, alpha, sides=1),
        needed=needed,
        exact=exact,
        resamples=0 if exact else resamples,
        clusters=left.draws if left.clustered else 0,
    )


def margin_of_mean(
    of: SampleMean, *, margin: float, alpha: float, test: OneSidedTest, size: int
) -> MarginTest:
    """Test an estimated difference against a margin, by its own error and degrees of freedom; as `margin_test` does.

    `size` is the number of values that it was estimated from.

    >>> from judged.stats.rounds import welch_mean
    >>> of = welch_mean([1.0, 1.1, 0.9], [1.0, 1.2, 0.8])
    >>> margin_of_mean(of, margin=-0.5, alpha=0.05, test="welch", size=3).verdict
    'pass'
    """
    left = replace(of, mean=of.mean - margin)
    if of.undefined is not None:
        return _decide_by_sight(test, of.mean, left, margin, alpha, size=size)
    bounds, allowed = _t_bounds(left, alpha), alpha * (1 + SAME)
    verdict: Verdict = (
        "pass" if bounds.p_above <= allowed else "fail" if bounds.p_below <= allowed else "inconclusive"
    )
    ends = bounds.low + margin, bounds.high + margin
    return MarginTest(test, size, of.mean, margin, alpha, *ends, bounds.p_above, bounds.p_below, verdict)


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The bounds of the mean excess, and the two p-values."""

    low: float
    high: float
    p_above: float
    p_below: float


def _check_settings(alpha: float, test: str, resamples: int, seed: int) -> None:
    check_kind("alpha", alpha, Real, "a number")
    check_kind("test", test, str, "`t` or `randomisation`")
    check_kind("seed", seed, Integral, "a whole number")
    if not LEAST_ALPHA <= alpha < 0.5:
        msg = f"`alpha` is {alpha}, expected a number from {LEAST_ALPHA:g} and below 0.5"
        raise BadSample(msg, hint="5 % is written 0.05")
    if test not in {"t", "randomisation"}:
        msg = f"the test is `{test}`, expected `t` or `randomisation`"
        raise BadSample(msg)
    check_resamples(resamples)
    if seed < 0:
        msg = f"`seed` is {seed}, expected a whole number from 0"
        raise BadSample(msg)


def _decide_by_sight(
    test: OneSidedTest, difference: float, left: SampleMean, margin: float, alpha: float, *, size: int
) -> MarginTest:
    """Return the result where nothing can be estimated: one query shows nothing, equal ones decide themselves."""
    if left.draws == 1:
        bounds = _Bounds(-math.inf, math.inf, 1.0, 1.0)
        verdict: Verdict = "inconclusive"
    else:
        passes = left.mean >= -SAME
        bounds = _Bounds(difference, difference, *((0.0, 1.0) if passes else (1.0, 0.0)))
        verdict = "pass" if passes else "fail"
    numbers = (bounds.low, bounds.high, bounds.p_above, bounds.p_below)
    why, clusters = left.undefined or NO_SPREAD, left.draws if left.clustered else 0
    return MarginTest(
        test, size, difference, margin, alpha, *numbers, verdict, undefined=why, clusters=clusters
    )


def _t_bounds(of: SampleMean, alpha: float) -> _Bounds:
    from scipy.special import stdtr, stdtrit

    reach = float(stdtrit(of.freedom, 1 - alpha)) * of.error
    statistic = of.mean / of.error
    above, below = float(stdtr(of.freedom, -statistic)), float(stdtr(of.freedom, statistic))
    return _Bounds(of.mean - reach, of.mean + reach, above, below)


def _sign_bounds(excess: Floats, clusters: ClustersLike, alpha: float, resamples: int, seed: int) -> _Bounds:
    r"""Test a mean of 0 by sign flips, and find the other means that the same test would not reject.

    Flipping the signs of a set of queries lowers the sum by twice theirs: a flipped sum reaches the observed one exactly
    where the mean excess of that set is 0 or less. So p counts sets by their mean, and the bounds are means of sets.
    With clusters they are sets of whole clusters.
    """
    found = find_clusters(clusters, len(excess))
    terms = np.stack([found.sum(excess), found.sizes], axis=1)
    exact = len(found) <= EXACT_UP_TO
    sums, sizes = (_sum_all_sets(terms) if exact else _sum_random_sets(terms, resamples, seed)).T
    sums[np.abs(sums) <= SAME * float(np.abs(excess).sum())] = 0.0
    extra = 0 if exact else 1  # the observed signs themselves, which the random ones may not include
    total = len(sums) + extra
    above, below = (float((way * sums <= 0).sum() + extra) / total for way in (1, -1))
    allowed = math.floor(alpha * total * (1 + SAME)) - extra
    if allowed < 0:
        return _Bounds(-math.inf, math.inf, above, below)
    means = sums / np.maximum(sizes, 1)
    low, high = (
        float(np.partition(np.where(sizes == 0, -np.inf, way * means), allowed)[allowed]) for way in (1, -1)
    )
    return _Bounds(low, -high, above, below)


def _sum_all_sets(terms: Floats) -> Floats:
    """Return the sum of every set of rows, the empty one first: of excesses, and of the numbers of queries."""
    sums = np.zeros((1, 2))
    for term in terms:
        sums = np.concatenate([sums, sums + term])
    return sums


def _sum_random_sets(terms: Floats, resamples: int, seed: int) -> Floats:
    """Return the sums of random sets of rows."""
    block = max(1, CELLS // len(terms))
    flips = draw_flips(len(terms), resamples=resamples, seed=seed, block=block)
    return np.concatenate([drawn.astype(np.float64) @ terms for drawn in flips])


@dataclass(frozen=True, slots=True)
class Equivalence:
    """The result of two one-sided tests of a mean difference against a margin around 0."""

    margin: float
    p_not_worse: float
    """Of the claim that the true difference is above −margin: "no worse than"."""
    p_not_better: float
    """Of the claim that it is below the margin."""

    @property
    def p(self) -> float:
        """Of the claim that it lies within the margin, either way."""
        return max(self.p_not_worse, self.p_not_better)


def equivalence_test(
    difference: Floats, *, margin: float, clusters: ClustersLike = None
) -> Equivalence | Undefined:
    """Test a mean difference against −margin and margin by two one-sided paired t-tests (TOST).

    A small p is evidence *for* equivalence: the difference lies within the margin. The p-value of "no worse than" alone
    is `p_not_worse`. `clusters` has the cluster of each query, if they are not independent.

    Example:
        >>> result = equivalence_test(np.array([0.01, -0.01, 0.02, -0.02, 0.0]), margin=0.03)
        >>> round(result.p, 4)
        0.0066

    References:
        Schuirmann. A comparison of the two one-sided tests procedure and the power approach. Journal of
        Pharmacokinetics and Biopharmaceutics 15, 1987. doi:10.1007/BF01068419
    """
    from scipy.special import stdtr

    if not (math.isfinite(margin) and margin > 0):
        msg = f"the margin is {margin}, expected a number above 0"
        raise BadSample(msg)
    of = estimate_error(difference, clusters, name="the differences")
    if of.undefined is not None:
        return of.undefined
    above, below = (of.mean + margin) / of.error, (of.mean - margin) / of.error
    return Equivalence(margin, float(stdtr(of.freedom, -above)), float(stdtr(of.freedom, below)))
