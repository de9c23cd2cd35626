"""Effect sizes, and the power of the paired t-test: the smallest difference that it can detect."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np

from judged.arrays import Floats
from judged.errors import BadSample
from judged.stats.outcome import NO_SPREAD, ONE_QUERY, TOO_FEW, Undefined
from judged.stats.paired import summarise, wins_ties_losses

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


def t_test_power(effect: float, size: int, *, alpha: float = 0.05, sides: Literal[1, 2] = 2) -> float:
    r"""Return the chance that the paired t-test of `size` queries finds an effect, given in standard deviations.

    The statistic then follows the noncentral t distribution with $n - 1$ degrees of freedom and noncentrality
    $\delta \sqrt{n}$. The test has one side or two.

    >>> round(t_test_power(0.5, 34), 4)
    0.8078
    """
    from scipy.special import nctdtr, stdtrit

    _check_share(alpha, "alpha")
    if size < 2:
        return 0.0
    critical = float(stdtrit(size - 1, 1 - alpha / sides))
    shift = abs(effect) * math.sqrt(size)
    if (
        shift > critical + 12
    ):  # `nctdtr` of older SciPy is not accurate that far out; the other side has nothing
        return _power_of_large_effect(shift, critical, size - 1) if critical > 0 else 1.0
    upper = 1 - float(nctdtr(size - 1, shift, critical))
    if sides == 1:
        return upper
    lower = float(nctdtr(size - 1, shift, -critical))
    return min(1.0, upper + (lower if math.isfinite(lower) else 0.0))


def _power_of_large_effect(shift: float, critical: float, freedom: int) -> float:
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
    difference: Floats, *, power: float = 0.8, alpha: float = 0.05, critical: float | None = None
) -> float | Undefined:
    """Return the smallest mean difference that these queries would show with the given power, at their own spread.

    It shows where |t| exceeds the `critical` value, by default that of the paired t-test at `alpha`. A smaller difference
    may well be missed: "not significant" then says little.
    """
    spread = _spread(difference, power)
    if critical is not None and not isinstance(spread, Undefined):
        if math.isinf(critical):
            return TOO_FEW
        alpha = _level_of(critical, len(difference) - 1)
    if isinstance(spread, Undefined):
        return spread
    return spread * least_effect(len(difference), power, alpha)


@lru_cache(maxsize=64)
def _level_of(critical: float, freedom: int) -> float:
    """Return the significance level of the two-sided t-test with this critical value."""
    from scipy.special import stdtr

    return 2 * float(stdtr(freedom, -critical))


def queries_needed(
    difference: Floats, wanted: float, *, power: float = 0.8, alpha: float = 0.05
) -> int | Undefined:
    """Return how many queries like these would show a mean difference of `wanted` with the given power.

    >>> import numpy as np
    >>> queries_needed(np.array([-0.1, 0.1, -0.1, 0.1]), 0.05)
    44
    """
    spread = _spread(difference, power)
    if wanted == 0 or not math.isfinite(wanted):
        msg = f"the wanted difference is {wanted}, expected one that is not 0"
        raise BadSample(msg)
    if isinstance(spread, Undefined):
        return spread
    needed = least_size(abs(wanted) / spread, power, alpha)
    return Undefined(f"more than {MOST:,} queries") if needed is None else needed


@lru_cache(maxsize=64)
def least_effect(size: int, power: float, alpha: float, sides: Literal[1, 2] = 2) -> float:
    """Return the effect, in standard deviations, that `size` queries find with the given power."""
    low, high = 0.0, 1.0
    while t_test_power(high, size, alpha=alpha, sides=sides) < power:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        enough = t_test_power(middle, size, alpha=alpha, sides=sides) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def least_size(effect: float, power: float, alpha: float, sides: Literal[1, 2] = 2) -> int | None:
    """Return how many queries find an effect, in standard deviations, with the given power; None if over `MOST`."""
    if t_test_power(effect, MOST, alpha=alpha, sides=sides) < power:
        return None
    low, high = 1, MOST
    while high - low > 1:
        middle = (low + high) // 2
        enough = t_test_power(effect, middle, alpha=alpha, sides=sides) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def _spread(difference: Floats, power: float) -> float | Undefined:
    """Return the standard deviation of the differences, with the power checked."""
    _check_share(power, "power")
    of = summarise(difference, name="the differences")
    if of.size == 1:
        return ONE_QUERY
    return of.deviation or NO_SPREAD


def _check_share(share: float, name: str) -> None:
    if not 0 < share < 1:
        msg = f"`{name}` is {share}, expected a number between 0 and 1"
        raise BadSample(msg)
