"""Student's t-tests: of paired samples, and of independent ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadSample
from judged.stats.sample import sample

__all__ = ["Comparison", "holm", "independent_t", "paired_t", "stars"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a test says of the difference between two means, first minus second."""

    test: Literal["paired", "independent"]
    difference: float
    statistic: float
    p: float
    effect: float
    """The difference in standard deviations: of the differences if paired, else of both samples pooled."""


def paired_t(
    first: Sequence[float] | NDArray[np.float64], second: Sequence[float] | NDArray[np.float64]
) -> Comparison:
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
    return Comparison(
        "paired", of.mean, statistic, _two_sided(statistic, of.size - 1), of.mean / of.deviation
    )


def independent_t(
    first: Sequence[float] | NDArray[np.float64], second: Sequence[float] | NDArray[np.float64]
) -> Comparison:
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
    return Comparison(
        "independent", difference, statistic, _two_sided(statistic, freedom), difference / pooled
    )


def holm(ps: Sequence[float]) -> list[float]:
    """The p-values corrected for being several, by Holm's step-down rule, in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, highest = [0.0] * len(ps), 0.0
    for done, at in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        highest = max(highest, min(1.0, ps[at] * (len(ps) - done)))
        corrected[at] = highest
    return corrected


def stars(p: float) -> str:
    """`***` below 0.001, `**` below 0.01, `*` below 0.05, else `ns`.

    >>> [stars(p) for p in (0.0001, 0.005, 0.04, 0.05)]
    ['***', '**', '*', 'ns']
    """
    return "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else "ns"


def _without_spread(test: Literal["paired", "independent"], difference: float, freedom: int) -> Comparison:
    if difference == 0 or freedom < 1:
        return Comparison(test, difference, 0.0, 1.0, 0.0)
    endless = math.copysign(math.inf, difference)
    return Comparison(test, difference, endless, 0.0, endless)


def _two_sided(statistic: float, freedom: int) -> float:
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(statistic)))
