"""Power of the paired t-test: what these queries can detect, and how many would be needed."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

from judged.errors import BadSample
from judged.stats.paired import Floats
from judged.stats.sample import sample
from judged.stats.undefined import NO_SPREAD, ONE_QUERY, Undefined

__all__ = ["detectable_difference", "least_effect", "least_size", "power_of", "queries_needed"]

MOST = 10_000_000
"""More queries than this nobody has; a difference that needs them is as good as none."""


def power_of(effect: float, size: int, *, alpha: float = 0.05, sides: Literal[1, 2] = 2) -> float:
    r"""The chance that the paired t-test of `size` queries, of one side or two, finds an effect in standard deviations.

    The statistic then follows the noncentral t distribution with $n - 1$ degrees of freedom and noncentrality
    $\delta \sqrt{n}$.

    >>> round(power_of(0.5, 34), 4)
    0.8078
    """
    from scipy.special import nctdtr, stdtrit

    _checked(alpha, "alpha")
    if size < 2:
        return 0.0
    critical = float(stdtrit(size - 1, 1 - alpha / sides))
    shift = abs(effect) * math.sqrt(size)
    if shift > critical + 12:
        return 1.0  # to the last digit, and the distribution's tails are not computed so far out
    upper = 1 - float(nctdtr(size - 1, shift, critical))
    if sides == 1:
        return upper
    lower = float(nctdtr(size - 1, shift, -critical))
    return min(1.0, upper + (lower if math.isfinite(lower) else 0.0))


def detectable_difference(
    difference: Floats, *, power: float = 0.8, alpha: float = 0.05
) -> float | Undefined:
    """The smallest mean difference that these queries would show with the given power, at their own spread.

    Whatever is smaller than this, the comparison cannot be relied upon to find; "not significant" then says little.
    """
    _checked(power, "power")
    of = sample(difference, name="the differences")
    if of.size == 1:
        return ONE_QUERY
    if of.deviation == 0:
        return NO_SPREAD
    return of.deviation * least_effect(of.size, power, alpha)


def queries_needed(
    difference: Floats, wanted: float, *, power: float = 0.8, alpha: float = 0.05
) -> int | Undefined:
    """The number of queries like these that would show a mean difference of `wanted` with the given power.

    >>> import numpy as np
    >>> queries_needed(np.array([-0.1, 0.1, -0.1, 0.1]), 0.05)
    44
    """
    _checked(power, "power")
    of = sample(difference, name="the differences")
    if wanted == 0 or not math.isfinite(wanted):
        msg = f"the wanted difference is {wanted}, expected one that is not 0"
        raise BadSample(msg)
    if of.size == 1:
        return ONE_QUERY
    if of.deviation == 0:
        return NO_SPREAD
    needed = least_size(abs(wanted) / of.deviation, power, alpha)
    return Undefined(f"more than {MOST:,} queries") if needed is None else needed


@lru_cache(maxsize=64)
def least_effect(size: int, power: float, alpha: float, sides: Literal[1, 2] = 2) -> float:
    """The effect, in standard deviations, that so many queries find with the given power."""
    low, high = 0.0, 1.0
    while power_of(high, size, alpha=alpha, sides=sides) < power:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        enough = power_of(middle, size, alpha=alpha, sides=sides) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def least_size(effect: float, power: float, alpha: float, sides: Literal[1, 2] = 2) -> int | None:
    """The number of queries that find an effect, in standard deviations, with the given power; None: nobody has them."""
    if power_of(effect, MOST, alpha=alpha, sides=sides) < power:
        return None
    low, high = 1, MOST
    while high - low > 1:
        middle = (low + high) // 2
        enough = power_of(effect, middle, alpha=alpha, sides=sides) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def _checked(share: float, name: str) -> None:
    if not 0 < share < 1:
        msg = f"`{name}` is {share}, expected a number between 0 and 1"
        raise BadSample(msg)
