"""Wilcoxon's signed-rank test."""

from __future__ import annotations

import math

import numpy as np

from judged.stats.outcome import Outcome
from judged.stats.paired import Floats
from judged.stats.undefined import NO_DIFFERENCE, Undefined

__all__ = ["EXACT_UP_TO", "wilcoxon"]

EXACT_UP_TO = 50
"""How many queries may differ for every assignment of signs to be counted; beyond, the normal is used."""


def wilcoxon(difference: Floats) -> Outcome | Undefined:
    """The two-sided signed-rank test; queries that do not differ are left out (Wilcoxon's own rule).

    Up to 50 differing queries, p is exact, tied differences included: the share of all assignments of signs whose
    rank sum is at least as far from its expectation. Beyond, the normal distribution with the variance of tied
    ranks takes its place, without a correction for continuity.

    >>> import numpy as np
    >>> wilcoxon(np.array([0.1, 0.2, 0.3, 0.4, 0.5])).p
    0.0625

    References:
        Wilcoxon. Individual comparisons by ranking methods. Biometrics Bulletin 1(6), 1945. doi:10.2307/3001968
    """
    kept = difference[difference != 0]
    if len(kept) == 0:
        return NO_DIFFERENCE
    doubled = _doubled_ranks(np.abs(kept))
    positive = int(doubled[kept > 0].sum())
    p = _exact(doubled, positive) if len(kept) <= EXACT_UP_TO else _normal(doubled, positive)
    return Outcome("wilcoxon", positive / 2, p)


def _doubled_ranks(sizes: Floats) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Twice the rank of each size from the smallest, ties at their mean, so that all are whole numbers."""
    _, group, count = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    ranks: np.ndarray[tuple[int], np.dtype[np.int64]] = (2 * last - count + 1)[group]
    return ranks


def _exact(doubled: np.ndarray[tuple[int], np.dtype[np.int64]], positive: int) -> float:
    """The share of all assignments of signs that are as extreme, by counting the ways to each sum."""
    total = int(doubled.sum())
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in doubled.tolist():
        ways[rank:] = ways[rank:] + ways[: total + 1 - rank]
    far = abs(2 * positive - total)
    extreme = np.abs(2 * np.arange(total + 1) - total) >= far
    return float(ways[extreme].sum() / ways.sum())


def _normal(doubled: np.ndarray[tuple[int], np.dtype[np.int64]], positive: int) -> float:
    from scipy.special import ndtr

    deviation = math.sqrt(float((doubled.astype(np.float64) ** 2).sum()) / 4)
    return float(2 * ndtr(-abs(positive - doubled.sum() / 2) / deviation))
