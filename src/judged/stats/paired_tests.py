"""Tests of two systems: Student's and Welch's t, Wilcoxon's signed ranks, the sign test, and every test by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from judged.arrays import Floats, Ints
from judged.errors import BadSample, UnknownName
from judged.stats.bootstrap import shifted_bootstrap_p
from judged.stats.clusters import ClustersLike, estimate_error, find_clusters
from judged.stats.outcome import NO_DIFFERENCE, NO_SPREAD, ONE_QUERY, Outcome, Undefined
from judged.stats.paired import Sample, Values, check_values, differences, steady, summarise, wins_ties_losses
from judged.stats.randomisation import randomise

TName: TypeAlias = Literal["paired", "independent", "welch"]

EXACT_RANKS_UP_TO = 50
"""Up to this many differing queries, or clusters, Wilcoxon's p-value is exact; beyond, the normal approximation is used."""
MOST_RANK_SUMS = 2_000_000
"""The most rank sums that are counted for an exact p-value; clusters of thousands of queries have more."""
EXACT_SIGNS_UP_TO = 1000
"""Up to this many clusters the p-value of the sign test is exact."""


@dataclass(frozen=True, slots=True)
class TTest:
    """The result of a t-test of the difference between two means, first minus second."""

    test: TName
    difference: float
    statistic: float
    p: float
    effect: float
    """The difference in standard deviations: of the differences if paired, else of both samples pooled."""


def difference_test(
    first: Values,
    second: Values,
    test: str = "randomisation",
    *,
    clusters: ClustersLike = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Outcome | Undefined:
    """Test the difference between two systems on the same queries; the test is two-sided.

    `test` is one of `randomisation`, `t`, `wilcoxon`, `sign`, `bootstrap` and `welch`; the last treats the samples as
    independent. `resamples` and `seed` are for `randomisation` and `bootstrap`. `clusters` has the cluster of each query, if
    they are not independent; every test but Welch's then takes clusters as the independent draws.

    Example:
        >>> difference_test([0.5, 0.6, 0.9], [0.4, 0.6, 0.6], "sign")
        Outcome(test='sign', statistic=2.0, p=0.5)
        >>> print(difference_test([0.5, 0.6], [0.4, 0.5], "t"))
        undefined: no spread
    """
    if test not in TESTS:
        kind = "test"
        raise UnknownName(kind, test, list(TESTS))
    if test == "welch":
        if clusters is not None:
            raise BadSample(WELCH_BY_CLUSTER, hint="the test `t` is by cluster, and paired")
        return _t_outcome(welch_t(first, second), "welch", len(first))
    d = differences(first, second)
    return TESTS[test](d, None if clusters is None else find_clusters(clusters, len(d)), resamples, seed)


def paired_t(first: Values, second: Values) -> TTest:
    r"""Test two systems on the same queries by the paired t-test.

    $$t = \bar{d} \sqrt{n} / s_d, \quad d_i = a_i - b_i, \quad n - 1 \text{ degrees of freedom}$$

    Where every difference is the same, or there is only one, nothing can be estimated: no difference
    gives t = 0 and p = 1; the same non-zero difference throughout gives t = ±∞ and p = 0, as in the limit;
    a single pair gives t = 0 and p = 1, since it is evidence of nothing. Differences that are due to rounding alone,
    such as 0.1 + 0.2 − 0.3, are 0.

    Example:
        >>> test = paired_t([0.5, 0.6, 0.9], [0.4, 0.6, 0.6])
        >>> round(test.statistic, 4), round(test.p, 4)
        (1.5119, 0.2697)
    """
    of = summarise(differences(first, second), name="the differences")
    if of.deviation == 0:
        return _t_without_spread("paired", of.mean, of.size - 1)
    statistic, p = t_of_mean(of.mean, of.deviation, of.size)
    return TTest("paired", of.mean, statistic, p, of.mean / of.deviation)


def independent_t(first: Values, second: Values) -> TTest:
    r"""Test two independent samples by Student's t-test, with pooled variances.

    Samples without any spread, or with one value each, are treated as in `paired_t`.

    Example:
        >>> test = independent_t([0.5, 0.6, 0.9], [0.4, 0.6])
        >>> round(test.statistic, 4), round(test.p, 4)
        (0.9682, 0.4043)
    """
    a, b = _summarise_both(first, second)
    freedom = a.size + b.size - 2
    difference = a.mean - b.mean
    squares = (a.size - 1) * a.deviation**2 + (b.size - 1) * b.deviation**2
    if squares == 0:
        return _t_without_spread("independent", difference, freedom)
    pooled = math.sqrt(squares / freedom)
    statistic = difference / (pooled * math.sqrt(1 / a.size + 1 / b.size))
    return TTest("independent", difference, statistic, _two_sided(statistic, freedom), difference / pooled)


def welch_t(first: Values, second: Values) -> TTest:
    r"""Test two independent samples by Welch's t-test, each with its own variance.

    $$t = (\bar{a} - \bar{b}) / \sqrt{s_a^2/n_a + s_b^2/n_b}$$

    with Satterthwaite's degrees of freedom. Samples without any spread, or with one value each, are treated as
    in `paired_t`.

    Example:
        >>> test = welch_t([0.5, 0.6, 0.9], [0.4, 0.6])
        >>> round(test.statistic, 4), round(test.p, 4)
        (1.066, 0.3664)
    """
    a, b = _summarise_both(first, second)
    difference = a.mean - b.mean
    parts = [a.deviation**2 / a.size, b.deviation**2 / b.size]
    if sum(parts) == 0 or min(a.size, b.size) < 2:
        return _t_without_spread("welch", difference, min(a.size, b.size) - 1)
    # of shares, whose squares do not underflow as those of tiny variances do
    shares = [part / sum(parts) for part in parts]
    freedom = 1 / (shares[0] ** 2 / (a.size - 1) + shares[1] ** 2 / (b.size - 1))
    statistic = difference / math.sqrt(sum(parts))
    spread = math.sqrt((a.deviation**2 + b.deviation**2) / 2)
    return TTest("welch", difference, statistic, _two_sided(statistic, freedom), difference / spread)


def _summarise_both(first: Values, second: Values) -> tuple[Sample, Sample]:
    """Summarise two samples, with values made equal that differ by rounding alone."""
    a, b = check_values(first, name="the first scores"), check_values(second, name="the second scores")
    both = steady(np.concatenate([a, b]), scale=float(max(np.abs(a).max(), np.abs(b).max())))
    return summarise(both[: len(a)]), summarise(both[len(a) :])


def t_of_mean(mean: float, deviation: float, size: int) -> tuple[float, float]:
    """Return Student's t of a mean and its two-sided p-value; without spread as in `paired_t`."""
    if deviation == 0:
        test = _t_without_spread("paired", mean, size - 1)
        return test.statistic, test.p
    statistic = mean * math.sqrt(size) / deviation
    return statistic, _two_sided(statistic, size - 1)


def _t_without_spread(test: TName, difference: float, freedom: int) -> TTest:
    if difference == 0 or freedom < 1:
        return TTest(test, difference, 0.0, 1.0, 0.0)
    infinite = math.copysign(math.inf, difference)
    return TTest(test, difference, infinite, 0.0, infinite)


def _two_sided(statistic: float, freedom: float) -> float:
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(statistic)))


def sign_test(difference: Floats, clusters: ClustersLike = None) -> Outcome:
    """Test by the exact two-sided binomial test whether wins and losses are equally likely; ties are left out.

    Where no query differs, p is 1. By cluster, p is the share of all assignments of signs to whole clusters whose wins
    are at least as far from half of all.

    >>> sign_test(np.array([0.1, 0.2, 0.3, 0.0, 0.4, 0.1])).p
    0.0625
    """
    from scipy.special import bdtr

    count = wins_ties_losses(difference)
    if clusters is not None:
        won = find_clusters(clusters, len(difference)).sum(np.sign(difference))
        return Outcome("sign", float(count.wins), _sign_sum_p(won, exact=len(won) <= EXACT_SIGNS_UP_TO))
    fewer = min(count.wins, count.losses)
    p = min(1.0, 2 * float(bdtr(fewer, count.wins + count.losses, 0.5)))
    return Outcome("sign", float(count.wins), p)


def wilcoxon(difference: Floats, clusters: ClustersLike = None) -> Outcome | Undefined:
    """Test by Wilcoxon's signed ranks, two-sided; queries that do not differ are left out (Wilcoxon's own rule).

    Up to 50 differing queries p is exact, also with tied differences: the share of all assignments of signs whose
    rank sum is at least as far from its expectation. Beyond, the normal distribution with the variance of tied
    ranks is used, without a correction for continuity. By cluster, the queries are ranked as before, and signs are those of
    the clusters' sums of signed ranks (Rosner, Glynn and Lee).

    >>> wilcoxon(np.array([0.1, 0.2, 0.3, 0.4, 0.5])).p
    0.0625

    References:
        Wilcoxon. Individual comparisons by ranking methods. Biometrics Bulletin 1(6), 1945. doi:10.2307/3001968
        Rosner, Glynn and Lee. The Wilcoxon signed rank test for paired comparisons of clustered data. Biometrics 62(1),
        2006. doi:10.1111/j.1541-0420.2005.00389.x
    """
    differs = difference != 0
    kept = difference[differs]
    if len(kept) == 0:
        return NO_DIFFERENCE
    _, group, count = np.unique(np.abs(kept), return_inverse=True, return_counts=True)
    doubled: Ints = (2 * np.cumsum(count) - count + 1)[group]  # twice the mean rank: whole numbers
    signed = np.sign(kept) * doubled
    statistic = float(doubled[kept > 0].sum()) / 2
    if clusters is not None:
        label = find_clusters(clusters, len(difference)).label[differs]
        signed = find_clusters(label.tolist(), len(label)).sum(signed)
    exact = len(signed) <= EXACT_RANKS_UP_TO and int(np.abs(signed).sum()) <= MOST_RANK_SUMS
    return Outcome("wilcoxon", statistic, _sign_sum_p(signed, exact=exact))


def _sign_sum_p(terms: Floats, *, exact: bool) -> float:
    """Return the share of all assignments of signs to whole numbers whose sum is as far from 0 as theirs is."""
    sizes, observed = np.abs(terms).astype(np.int64), abs(int(terms.sum()))
    if not exact:
        return _normal_sign_p(sizes, observed)
    total = int(sizes.sum())
    # the share of assignments with each sum of the positive ones
    share = np.zeros(total + 1)
    share[0] = 1.0
    for size in sizes.tolist():
        share[size:] = (share[size:] + share[: total + 1 - size]) / 2
        share[:size] /= 2
    extreme = np.abs(2 * np.arange(total + 1) - total) >= observed
    return min(1.0, float(share[extreme].sum()))


def _normal_sign_p(sizes: Ints, observed: int) -> float:
    from scipy.special import ndtr

    deviation = math.sqrt(float((sizes.astype(np.float64) ** 2).sum()))
    return float(2 * ndtr(-observed / deviation)) if deviation else 1.0


def _t(difference: Floats, clusters: ClustersLike, _resamples: int, _seed: int) -> Outcome | Undefined:
    if clusters is None:
        return _t_outcome(paired_t(difference, np.zeros_like(difference)), "t", len(difference))
    of = estimate_error(difference, clusters, name="the differences")
    if of.undefined is not None:
        # as in `_t_outcome`: equal values are evidence for no difference, rather than a case that cannot be tested
        return Outcome("t", 0.0, 1.0) if of.draws > 1 and of.mean == 0 else of.undefined
    statistic = of.mean / of.error
    return Outcome("t", statistic, _two_sided(statistic, of.freedom))


def _t_outcome(result: TTest, test: str, size: int) -> Outcome | Undefined:
    if size == 1:
        return ONE_QUERY
    return Outcome(test, result.statistic, result.p) if np.isfinite(result.statistic) else NO_SPREAD


def _randomisation(difference: Floats, clusters: ClustersLike, resamples: int, seed: int) -> Outcome:
    both = np.column_stack([difference, np.zeros_like(difference)])
    result = randomise(both, clusters=clusters, resamples=resamples, seed=seed)
    return Outcome("randomisation", float(difference.mean()), float(result.p[0]))


def _bootstrap(difference: Floats, clusters: ClustersLike, resamples: int, seed: int) -> Outcome | Undefined:
    of = estimate_error(difference, clusters, name="the differences")
    if of.draws == 1 or (of.error == 0 and of.mean != 0):
        return of.undefined or NO_SPREAD
    p = shifted_bootstrap_p(difference, clusters=clusters, resamples=resamples, seed=seed)
    return Outcome("bootstrap", float(difference.mean()), p)


TESTS: dict[str, Callable[[Floats, ClustersLike, int, int], Outcome | Undefined]] = {
    "randomisation": _randomisation,
    "t": _t,
    "wilcoxon": lambda difference, clusters, _resamples, _seed: wilcoxon(difference, clusters),
    "sign": lambda difference, clusters, _resamples, _seed: sign_test(difference, clusters),
    "bootstrap": _bootstrap,
    "welch": _t,
}
"""Every test of differences by name; `difference_test` calls Welch's, which is not of differences, itself."""
WELCH_BY_CLUSTER = "Welch's test takes the queries of both systems as independent, and these are in clusters"
