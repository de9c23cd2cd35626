"""Arithmetic within segments: a flat array cut by offsets, with one segment for every query.

Segment `q` of `values` is `values[offset[q]:offset[q + 1]]`. Every result depends on its own segment
alone, to the last bit, so scores do not change with the number of queries computed together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np

from judged.arrays import Flags, Floats, Ints

T = TypeVar("T")


class ViewCache:
    """What measures of one view share: a view is computed on by several, and most of them need the same arrays."""

    _cache: dict[tuple[object, ...], object]

    def cached(self, key: tuple[object, ...], compute: Callable[[], T]) -> T:
        """Return the result of `compute`, computed once for this view."""
        if key not in self._cache:
            self._cache[key] = compute()
        return cast("T", self._cache[key])


def divide(numerator: Floats | Ints, denominator: Floats | Ints) -> Floats:
    """Divide element by element, with 0 where the denominator is 0."""
    out = np.zeros(np.broadcast(numerator, denominator).shape)
    np.divide(numerator, denominator, out=out, where=np.asarray(denominator) != 0)
    return out


def segment_ids(offset: Ints) -> Ints:
    """Return the number of the segment of every element."""
    # `np.diff` takes three times as long for few queries
    return np.repeat(np.arange(len(offset) - 1), offset[1:] - offset[:-1])


def take_segments(offset: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """Return the places of the elements of the chosen segments, one segment after the other, and their offsets."""
    length = np.diff(offset)[chosen]
    cuts = np.concatenate(([0], np.cumsum(length))).astype(np.int64)
    return np.arange(int(cuts[-1])) + np.repeat(offset[chosen] - cuts[:-1], length), cuts


def segment_sum(values: Floats, offset: Ints) -> Floats:
    """Sum every segment from left to right, as trec_eval does; 0 for an empty one."""
    # `bincount` adds one by one; the sums of NumPy are pairwise, and round differently
    total: Floats = np.bincount(segment_ids(offset), weights=values, minlength=len(offset) - 1).astype(
        np.float64
    )
    return total


def segment_max(values: Floats, offset: Ints) -> Floats:
    """Return the largest value of every segment; 0 for an empty one."""
    return _reduce(np.maximum, values, offset)


def segment_count(flags: Flags, offset: Ints) -> Ints:
    """Count the flags set in every segment."""
    # a tenth of the time of sums that run over all flags
    before = np.searchsorted(np.flatnonzero(flags), offset)
    return before[1:] - before[:-1]


def segment_running_count(flags: Flags, offset: Ints) -> Ints:
    """Count for every element the flags set in its segment up to and including it."""
    running = np.cumsum(flags, dtype=np.int64)
    before = np.concatenate(([0], running))[offset[:-1]]
    counted: Ints = running - np.repeat(before, np.diff(offset))
    return counted


def segment_cumsum(values: Floats, offset: Ints) -> Floats:
    """Return for every element the sum of its segment up to and including it, added in order."""
    return _scan(np.add, values, offset)


def segment_cumprod_before(values: Floats, offset: Ints) -> Floats:
    """Return for every element the product of its segment before it; 1 for the first."""
    shifted = np.ones_like(values)
    if len(values) > 1:
        shifted[1:] = values[:-1]
    first = offset[:-1][np.diff(offset) > 0]
    shifted[first] = 1.0
    return _scan(np.multiply, shifted, offset)


def _reduce(operation: np.ufunc, values: Floats, offset: Ints) -> Floats:
    """Reduce every segment; `reduceat` alone would give an empty segment its neighbour's value."""
    out = np.zeros(len(offset) - 1)
    filled = np.diff(offset) > 0
    if filled.any():
        out[filled] = operation.reduceat(values, offset[:-1][filled])
    return out


def _scan(operation: np.ufunc, values: Floats, offset: Ints) -> Floats:
    """Accumulate within every segment, in order.

    Takes one vector step per position or one call per segment, whichever is fewer; both
    combine the same numbers in the same order, so they agree to the last bit.
    """
    out = np.array(values, dtype=np.float64)
    start, length = offset[:-1], np.diff(offset)
    longest = int(length.max(initial=0))
    if longest > len(length):
        for first, last in zip(start.tolist(), offset[1:].tolist(), strict=True):
            operation.accumulate(out[first:last], out=out[first:last])
        return out
    order = np.argsort(-length, kind="stable")
    start, length = start[order], length[order]
    for position in range(1, longest):
        at = start[: np.searchsorted(-length, -position, side="left")] + position
        out[at] = operation(out[at - 1], out[at])
    return out
