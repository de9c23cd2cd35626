"""Student's t-tests: of paired samples, and of independent ones; and Welch's, of unequal variances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadSample
from judged.stats.sample import sample

__all__ = ["TTest", "independent_t", "paired_t", "welch_t"]


@dataclass(frozen=True, slots=True)
class TTest:
    """What a test says of the difference between two means, first minus second."""

    test: Literal["paired", "independent", "welch"]
    difference: float
    statistic: float
    p: float
    effect: float
    """The difference in standard deviations: of the differences if paired, else of both samples pooled."""


def paired_t(
    first: Sequence[float] | NDArray[np.float64], second: Sequence[float] | NDArray[np.float64]
) -> TTest:
    r"""The paired t-test of two systems on the same queries.

    $$t = \bar{d} \sqrt{n} / s_d, \quad d_i = a_i - b_i, \quad n - 1 \text{ degrees of freedom}$$

    Where every difference is the same, or there is only one, nothing can be estimated: no difference
    gives t = 0 and p = 1; the same non-zero difference throughout gives t = ±∞ and p = 0, as the limit
    demands; a single pair gives t = 0 and p = 1, for it is evidence of nothing.

    Example:
        >>> test = paired_t([0.5, 0.6, 0.9], [0.4, 0.6, 0.6])
        >>> round(test.statistic, 4), round(test.p, 4)
        (1.5119, 0.2697)
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if len(a) != len(b):
        msg = f"a paired test was given {len(a):,} and {len(b):,} scores, expected the same queries in both"
        raise BadSample(msg, hint="use the independent test for samples that are not paired")
    sample(a, name="the first scores")
    sample(b, name="the second scores")
    of = sample(a - b, name="the differences")
    if of.deviation == 0:
        return _without_spread("paired", of.mean, of.size - 1)
    statistic = of.mean * math.sqrt(of.size) / of.deviation
    return TTest("paired", of.mean, statistic, _two_sided(statistic, of.size - 1), of.mean / of.deviation)


def independent_t(
    first: Sequence[float] | NDArray[np.float64], second: Sequence[float] | NDArray[np.float64]
) -> TTest:
    r"""Student's t-test of two samples that have nothing to do with each other, variances pooled.

    Samples without any spread, or with one value each, are treated as in `paired_t`.

    Example:
        >>> test = independent_t([0.5, 0.6, 0.9], [0.4, 0.6])
        >>> round(test.statistic, 4), round(test.p, 4)
        (0.9682, 0.4043)
    """
    a, b = sample(first, name="the first scores"), sample(second, name="the second scores")
    freedom = a.size + b.size - 2
    difference = a.mean - b.mean
    squares = (a.size - 1) * a.deviation**2 + (b.size - 1) * b.deviation**2
    if squares == 0:
        return _without_spread("independent", difference, freedom)
    pooled = math.sqrt(squares / freedom)
    statistic = difference / (pooled * math.sqrt(1 / a.size + 1 / b.size))
    return TTest("independent", difference, statistic, _two_sided(statistic, freedom), difference / pooled)


def welch_t(
    first: Sequence[float] | NDArray[np.float64], second: Sequence[float] | NDArray[np.float64]
) -> TTest:
    r"""Welch's t-test of two samples that have nothing to do with each other, each with its own variance.

    $$t = (\bar{a} - \bar{b}) / \sqrt{s_a^2/n_a + s_b^2/n_b}$$

    with the degrees of freedom of Satterthwaite. Samples without any spread, or with one value each, are treated as
    in `paired_t`.

    Example:
        >>> test = welch_t([0.5, 0.6, 0.9], [0.4, 0.6])
        >>> round(test.statistic, 4), round(test.p, 4)
        (1.066, 0.3664)
    """
    a, b = sample(first, name="the first scores"), sample(second, name="the second scores")
    difference = a.mean - b.mean
    parts = [each.deviation**2 / each.size for each in (a, b)]
    if sum(parts) == 0 or min(a.size, b.size) < 2:
        return _without_spread("welch", difference, min(a.size, b.size) - 1)
    freedom = sum(parts) ** 2 / sum(
        part**2 / (each.size - 1) for part, each in zip(parts, (a, b), strict=True)
    )
    statistic = difference / math.sqrt(sum(parts))
    spread = math.sqrt((a.deviation**2 + b.deviation**2) / 2)
    return TTest("welch", difference, statistic, _two_sided(statistic, freedom), difference / spread)


def _without_spread(
    test: Literal["paired", "independent", "welch"], difference: float, freedom: int
) -> TTest:
    if difference == 0 or freedom < 1:
        return TTest(test, difference, 0.0, 1.0, 0.0)
    endless = math.copysign(math.inf, difference)
    return TTest(test, difference, endless, 0.0, endless)


def _two_sided(statistic: float, freedom: float) -> float:
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(statistic)))
