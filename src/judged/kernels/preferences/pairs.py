"""Preferences as pairs: who is preferred to whom within a sub-group, and what follows from that."""

from __future__ import annotations

import numpy as np

from judged.kernels.segments import Flags, Floats, Ints

__all__ = ["closed", "stated_pairs"]


def stated_pairs(level: Floats, group: Ints) -> tuple[Ints, Ints]:
    """For every two rows of a group with different levels, the row of the higher and that of the lower.

    >>> [rows.tolist() for rows in stated_pairs(np.array([1.0, 3.0, 2.0, 9.0]), np.array([0, 0, 0, 1]))]
    [[1, 1, 2], [2, 0, 0]]
    """
    order = np.lexsort((-level, group))
    ordered, levels = group[order], level[order]
    new = np.ones(len(order) + 1, dtype=bool)
    new[1:-1] = (ordered[1:] != ordered[:-1]) | (levels[1:] != levels[:-1])
    starts = np.flatnonzero(new)
    lower = starts[np.searchsorted(starts, np.arange(len(order)), side="right")]
    count = np.searchsorted(ordered, ordered, side="right") - lower
    first = np.repeat(lower - np.cumsum(count) + count, count)
    return np.repeat(order, count), order[first + np.arange(int(count.sum()))]


def closed(better: Ints, worse: Ints, size: int) -> Flags:
    """The square of flags whose entry (a, b) says that a is preferred to b, directly or through others.

    A flag on the diagonal means that the preferences contradict each other.

    >>> closed(np.array([0, 1]), np.array([1, 2]), 3).astype(int).tolist()
    [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    """
    reached = np.zeros((size, size), dtype=bool)
    reached[better, worse] = True
    while True:
        counts = reached.astype(np.float32)
        further = reached | ((counts @ counts) > 0)
        if (further == reached).all():
            return reached
        reached = further
