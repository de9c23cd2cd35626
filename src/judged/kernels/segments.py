"""Arithmetic within segments: a flat array cut by offsets, one segment for each query.

Segment `q` of `values` is `values[offset[q]:offset[q + 1]]`. Every result depends on its own segment
alone, to the last bit, so scores do not change with the number of queries computed together.
"""

from __future__ import annotations

import numpy as np

from judged.arrays import Flags, Floats, Ints

__all__ = [
    "Flags",
    "Floats",
    "Ints",
    "divide",
    "segment_count",
    "segment_cumprod_before",
    "segment_cumsum",
    "segment_ids",
    "segment_max",
    "segment_running_count",
    "segment_sum",
    "take_segments",
]


def divide(numerator: Floats | Ints, denominator: Floats | Ints) -> Floats:
    """Numerator over denominator, and 0 where the denominator is 0."""
    out = np.zeros(np.broadcast(numerator, denominator).shape)
    np.divide(numerator, denominator, out=out, where=np.asarray(denominator) != 0)
    return out


def segment_ids(offset: Ints) -> Ints:
    """The number of the segment that each element lies in."""
    return np.repeat(np.arange(len(offset) - 1), np.diff(offset))


def take_segments(offset: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """The places of the elements of the chosen segments, one segment after the other, and how those are cut."""
    length = np.diff(offset)[chosen]
    cuts = np.concatenate(([0], np.cumsum(length))).astype(np.int64)
    return np.arange(int(cuts[-1])) + np.repeat(offset[chosen] - cuts[:-1], length), cuts


def segment_sum(values: Floats, offset: Ints) -> Floats:
    """The sum of each segment, added from left to right as trec_eval does; 0 for an empty one."""
    total: Floats = np.bincount(segment_ids(offset), weights=values, minlength=len(offset) - 1).astype(
        np.float64
    )
    return total


def segment_max(values: Floats, offset: Ints) -> Floats:
    """The largest value of each segment; 0 for an empty one."""
    return _reduce(np.maximum, values, offset)


def segment_count(flags: Flags, offset: Ints) -> Ints:
    """How many flags of each segment are set."""
    running = np.concatenate(([0], np.cumsum(flags, dtype=np.int64)))
    return running[offset[1:]] - running[offset[:-1]]


def segment_running_count(flags: Flags, offset: Ints) -> Ints:
    """For each element, how many flags of its segment are set up to and with it."""
    running = np.cumsum(flags, dtype=np.int64)
    before = np.concatenate(([0], running))[offset[:-1]]
    counted: Ints = running - np.repeat(before, np.diff(offset))
    return counted


def segment_cumsum(values: Floats, offset: Ints) -> Floats:
    """For each element, the sum of its segment up to and with it, added in order."""
    return _scan(np.add, values, offset)


def segment_cumprod_before(values: Floats, offset: Ints) -> Floats:
    """For each element, the product of its segment before it; 1 for the first."""
    shifted = np.ones_like(values)
    if len(values) > 1:
        shifted[1:] = values[:-1]
    first = offset[:-1][np.diff(offset) > 0]
    shifted[first] = 1.0
    return _scan(np.multiply, shifted, offset)


def _reduce(operation: np.ufunc, values: Floats, offset: Ints) -> Floats:
    """Reduce each segment; `reduceat` alone would give an empty segment its neighbour's value."""
    out = np.zeros(len(offset) - 1)
    filled = np.diff(offset) > 0
    if filled.any():
        out[filled] = operation.reduceat(values, offset[:-1][filled])
    return out


def _scan(operation: np.ufunc, values: Floats, offset: Ints) -> Floats:
    """Accumulate within each segment, in order.

    One vector step for each position or one call for each segment, whichever is fewer; both
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
