"""Effect sizes, and the power of the paired t-test: the smallest difference that it can detect."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np

from judged.arrays import Floats
from judged.errors import BadSample
from judged.stats.clusters import ClustersLike, SampleMean, estimate_error
from judged.stats.outcome import NO_SPREAD, ONE_QUERY, TOO_FEW, TOO_FEW_CLUSTERS, Undefined
from judged.stats.paired import summarise, wins_ties_losses

Sides: TypeAlias = Literal[1, 2]
"""Whether a test is one-sided or two-sided."""
MOST = 10_000_000
"""No more queries than this are considered; a difference that needs more is out of reach."""


def standardised_difference(difference: Floats) -> float | Undefined:
    r"""Return the mean difference in standard deviations of the differences.

    $$d = \bar{d} / s_d$$

    No difference at all is 0; the same difference on every query leaves it undefined, for lack of spread.

    >>> import numpy as np
    >>> standardised_difference(np.array([0.0, 0.5, 1.0])), str(standardised_difference(np.array([0.2, 0.2])))
    (1.0, 'undefined: no spread')
    """
    of = summarise(difference, name="the differences")
    if of.size == 1:
        return ONE_QUERY
    if of.deviation == 0:
        return NO_SPREAD if of.mean else 0.0
    return of.mean / of.deviation


def hedges(difference: Floats) -> float | Undefined:
    r"""Return the standardised difference without its bias in small samples (Hedges' g).

    $$g = d \; \frac{\Gamma(m/2)}{\sqrt{m/2}\;\Gamma((m-1)/2)}, \quad m = n - 1$$

    References:
        Hedges. Distribution theory for Glass's estimator of effect size and related estimators. Journal of
        Educational Statistics 6(2), 1981. doi:10.3102/10769986006002107
    """
    raw = standardised_difference(difference)
    freedom = len(difference) - 1
    if isinstance(raw, Undefined):
        return raw
    if freedom < 2:
        return Undefined("two queries") if raw else 0.0
    # by logarithms: Γ itself overflows from 345 queries on
    factor = math.exp(math.lgamma(freedom / 2) - math.lgamma((freedom - 1) / 2)) / math.sqrt(freedom / 2)
    return raw * factor


def probability_of_superiority(difference: Floats) -> float:
    """Return the share of queries on which the first system is better, ties counted half.

    >>> import numpy as np
    >>> probability_of_superiority(np.array([0.1, 0.0, 0.2, -0.1]))
    0.625
    """
    count = wins_ties_losses(difference)
    return (count.wins + count.ties / 2) / len(difference)


def t_test_power(effect: float, size: int, *, alpha: float = 0.05, sides: Sides = 2) -> float:
    r"""Return the chance that the paired t-test of `size` queries finds an effect, given in standard deviations.

    The statistic then follows the noncentral t distribution with $n - 1$ degrees of freedom and noncentrality
    $\delta \sqrt{n}$. The test has one side or two.

    >>> round(t_test_power(0.5, 34), 4)
    0.8078
    """
    _check_share(alpha, "alpha")
    return 0.0 if size < 2 else power_of_shift(abs(effect) * math.sqrt(size), size - 1, alpha, sides)


def power_of_shift(shift: float, freedom: float, alpha: float, sides: Sides = 2) -> float:
    """Return the chance that Student's t finds a difference of `shift` standard errors, which is not negative."""
    from scipy.special import nctdtr, stdtrit

    critical = float(stdtrit(freedom, 1 - alpha / sides))
    if (
        shift > critical + 12
    ):  # `nctdtr` of older SciPy is not accurate that far out; the other side has nothing
        return _power_of_large_effect(shift, critical, freedom) if critical > 0 else 1.0
    upper = 1 - float(nctdtr(freedom, shift, critical))
    if sides == 1:
        return upper
    lower = float(nctdtr(freedom, shift, -critical))
    return min(1.0, upper + (lower if math.isfinite(lower) else 0.0))


def _power_of_large_effect(shift: float, critical: float, freedom: float) -> float:
    r"""Return the chance that Z + shift exceeds critical · S, where $\nu S^2$ has the $\chi^2_\nu$ distribution.

    Given S it is Φ(shift − critical · S), which falls from 1 to 0 around S = shift / critical: below that region the
    distribution of S has it, within it the integral is computed by Gauss and Legendre's rule.
    """
    from scipy.special import chdtr, gammaln, ndtr

    low, high = (shift - 9) / critical, (shift + 9) / critical
    node, weight = _gauss_legendre()
    s = low + (high - low) * (node + 1) / 2
    constant = math.log(2) + freedom / 2 * math.log(freedom / 2) - float(gammaln(freedom / 2))
    density = np.exp(constant + (freedom - 1) * np.log(s) - freedom * s * s / 2)
    within = float((weight * ndtr(shift - critical * s) * density).sum()) * (high - low) / 2
    return min(1.0, float(chdtr(freedom, freedom * low * low)) + within)


@lru_cache(maxsize=1)
def _gauss_legendre() -> tuple[Floats, Floats]:
    """Return 200 points and weights on −1 to 1."""
    points, weights = np.polynomial.legendre.leggauss(200)
    return points, weights


def detectable_difference(
    difference: Floats,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    critical: float | None = None,
    clusters: ClustersLike = None,
) -> float | Undefined:
    """Return the smallest mean difference that these queries would show with the given power, at their own spread.

    It shows where |t| exceeds the `critical` value, by default that of the paired t-test at `alpha`; of clusters, if there
    are any. A smaller difference may well be missed: "not significant" then says little.
    """
    of = _measure_error(difference, power, clusters)
    if isinstance(of, Undefined):
        return of
    if critical is not None:
        if math.isinf(critical):
            return TOO_FEW if clusters is None else TOO_FEW_CLUSTERS
        alpha = _level_of(critical, of.draws - 1)
    return of.error * least_shift(of.freedom, power, alpha)


@lru_cache(maxsize=64)
def _level_of(critical: float, freedom: int) -> float:
    """Return the significance level of the two-sided t-test with this critical value."""
    from scipy.special import stdtr

    return 2 * float(stdtr(freedom, -critical))


def queries_needed(
    difference: Floats,
    wanted: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    sides: Sides = 2,
    clusters: ClustersLike = None,
) -> int | Undefined:
    """Return how many queries like these would show a mean difference of `wanted` with the given power.

    With `clusters` it is the number of clusters like these, of sizes like theirs.

    >>> import numpy as np
    >>> queries_needed(np.array([-0.1, 0.1, -0.1, 0.1]), 0.05)
    44
    """
    of = _measure_error(difference, power, clusters)
    if wanted == 0 or not math.isfinite(wanted):
        msg = f"the wanted difference is {wanted}, expected one that is not 0"
        raise BadSample(msg)
    if isinstance(of, Undefined):
        return of
    needed = least_size(abs(wanted) / of.deviation, power, alpha, sides, balance=of.balance)
    many = "queries" if clusters is None else "clusters"
    return Undefined(f"more than {MOST:,} {many}") if needed is None else needed


@lru_cache(maxsize=64)
def least_shift(freedom: float, power: float, alpha: float, sides: Sides = 2) -> float:
    """Return the difference, in standard errors, that Student's t finds with the given power."""
    low, high = 0.0, 1.0
    while power_of_shift(high, freedom, alpha, sides) < power:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        enough = power_of_shift(middle, freedom, alpha, sides) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def least_size(
    effect: float, power: float, alpha: float, sides: Sides = 2, *, balance: float = 1.0
) -> int | None:
    """Return how many draws find an effect, in standard deviations, with the given power; None if over `MOST`.

    `balance` is the share of their degrees of freedom that unequal clusters have: 1 for queries.
    """

    def is_enough(size: int) -> bool:
        return power_of_shift(abs(effect) * math.sqrt(size), balance * (size - 1), alpha, sides) >= power

    if not is_enough(MOST):
        return None
    low, high = 1, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _measure_error(difference: Floats, power: float, clusters: ClustersLike) -> SampleMean | Undefined:
    """Return the mean difference with its error, and the power checked."""
    _check_share(power, "power")
    of = estimate_error(difference, clusters, name="the differences")
    return of.undefined or of


def _check_share(share: float, name: str) -> None:
    if not 0 < share < 1:
        msg = f"`{name}` is {share}, expected a number between 0 and 1"
        raise BadSample(msg)
