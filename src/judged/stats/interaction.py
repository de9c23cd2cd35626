"""Interaction: whether paired differences depend on the group that a query belongs to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judged.stats.outcome import Outcome
from judged.stats.paired import Floats, steady
from judged.stats.undefined import NO_SPREAD, Undefined

__all__ = ["interaction_test"]

CLOSE = 1e-9
UNIT = 64
"""How many permutations share a stream of random numbers."""


def interaction_test(
    differences: Floats, group: NDArray[np.int64], *, resampled: int = 10_000, seed: int = 0
) -> list[Outcome | Undefined]:
    r"""For each column of `differences`, the test that its mean is the same in all groups of rows.

    It is a test of the difference of differences. The statistic is the sum of squares between the groups,
    $\sum_g n_g (\bar{d}_g - \bar{d})^2$; p is its place among random assignments of the queries to groups of the same
    sizes, $(k + 1) / (B + 1)$. Of two groups that is the permutation test of the difference between their means.
    The assignments are shared by all columns.

    Example:
        >>> d = np.array([[0.5], [0.4], [0.6], [-0.5], [-0.4], [-0.6]])
        >>> round(interaction_test(d, np.array([0, 0, 0, 1, 1, 1]))[0].p, 1)  # 2 of the 20 ways to choose three of six
        0.1
    """
    groups, label = np.unique(group, return_inverse=True)
    if len(groups) < 2 or len(differences) == len(groups):
        why = Undefined("one slice" if len(groups) < 2 else "one query in each slice")
        return [why] * differences.shape[1]
    scale = float(np.abs(differences).max())
    centred = steady(differences - differences.mean(axis=0), scale=scale)
    observed = _between(label[None, :], centred)[0]
    reached = np.zeros(centred.shape[1], dtype=np.int64)
    for number, stream in enumerate(np.random.SeedSequence(seed).spawn(-(-resampled // UNIT))):
        rows = min(UNIT, resampled - number * UNIT)
        shuffled = np.random.default_rng(stream).permuted(np.tile(label, (rows, 1)), axis=1)
        reached += (_between(shuffled, centred) >= observed * (1 - CLOSE)).sum(axis=0)
    ps = ((reached + 1) / (resampled + 1)).tolist()
    spread = (centred != 0).sum(axis=0).tolist()
    return [
        Outcome("interaction", value, p) if there else NO_SPREAD
        for value, p, there in zip(observed.tolist(), ps, spread, strict=True)
    ]


def _between(labels: NDArray[np.int64], centred: Floats) -> Floats:
    """For each row of labels and each column of differences, the sum of squares between groups."""
    total = np.zeros((len(labels), centred.shape[1]))
    for each in range(int(labels.max()) + 1):
        member = (labels == each).astype(np.float64)
        total += (member @ centred) ** 2 / member[0].sum()
    return total
