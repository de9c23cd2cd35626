"""Sorting within segments: by falling value, equal values in the order of the input."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Flags, Floats, Ints
from judged.kernels.segments import segment_ids

FEW = 512
"""Number of values below which looking for levels costs more than it saves."""
LEVELS = 256
"""Range of whole numbers that are sorted as levels."""
EXACT = 1 << 24
"""Whole numbers up to this are different as 32-bit floats."""


def sort_descending(values: Floats, offset: Ints, *, single: bool = False) -> Ints:
    """Return the places of each segment's values from the highest down, equal ones in order; NaN is not allowed.

    `single` compares the values as 32-bit floats.

    >>> sort_descending(np.array([1.0, 3.0, 3.0, 2.0, 5.0]), np.array([0, 3, 5])).tolist()
    [1, 2, 0, 4, 3]
    """
    levels = _sort_levels(values, offset)
    if levels is not None:
        return levels
    order, same, exact = _sort_single(values, offset)
    return order if single or exact or not same.any() else _sort_runs(order, same, -values)


def find_equal(values: Floats, offset: Ints, order: Ints, *, single: bool = False) -> Flags:
    """Flag the sorted values that equal the one before in their segment."""
    ordered = (values.astype(np.float32) if single else values)[order]
    same = np.zeros(len(order), dtype=bool)
    same[1:] = ordered[1:] == ordered[:-1]
    starts = offset[:-1]
    same[starts[starts < len(same)]] = False
    return same


def count_ties(same: Flags, offset: Ints) -> tuple[Ints, Ints]:
    """Return for each sorted value how many of its segment exceed it, and how many equal it, itself included."""
    first = np.flatnonzero(~same)
    length = np.diff(np.append(first, len(same)))
    above = np.repeat(first, length) - np.repeat(offset[:-1], np.diff(offset))
    return above, np.repeat(length, length)


def _sort_levels(values: Floats, offset: Ints) -> Ints | None:
    """Sort whole numbers of a narrow range, as grades are; None for any others.

    Segment and level fit into 16 bits for many segments at once, and NumPy sorts these by counting.
    """
    if len(values) < FEW or values[0] != np.floor(values[0]):
        return None
    low, high = float(values.min()), float(values.max())
    narrow = -EXACT <= low <= high < min(low + LEVELS, EXACT)
    if not narrow or (values != np.floor(values)).any():
        return None
    levels = int(high - low) + 1
    level, order = (high - values).astype(np.uint16), np.empty(len(values), dtype=np.int64)
    last = len(offset) - 1
    for first in range(0, last, (1 << 16) // levels):
        cuts = offset[first : min(first + (1 << 16) // levels, last) + 1]
        rows = slice(int(cuts[0]), int(cuts[-1]))
        key = segment_ids(cuts).astype(np.uint16) * np.uint16(levels) + level[rows]
        order[rows] = np.argsort(key, kind="stable") + cuts[0]
    return order


def _sort_single(values: Floats, offset: Ints) -> tuple[Ints, Flags, bool]:
    """Sort by the values as 32-bit floats; flag those that equal the one before, and say whether they lost no digit.

    Segment and value fit into one integer, which NumPy sorts several times as fast as two keys.
    """
    with np.errstate(over="ignore"):  # beyond the range of 32 bits lies infinity, where the order is refined
        rounded = values.astype(np.float32) + np.float32(0)  # which makes −0 positive
    bits = rounded.view(np.int32)
    rising = bits ^ (bits >> 31 & np.int32(0x7FFFFFFF))  # an integer in the order of the float
    key = (segment_ids(offset) << 32) - rising
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    same = np.zeros(len(order), dtype=bool)
    same[1:] = ordered[1:] == ordered[:-1]
    return order, same, bool((rounded == values).all())


def _sort_runs(order: Ints, same: Flags, key: NDArray[Any]) -> Ints:
    """Sort each run of places by their key, places with equal keys in order."""
    tied = same.copy()
    tied[:-1] |= same[1:]
    place = np.flatnonzero(tied)
    run = np.cumsum(~same[place])
    order = order.copy()
    order[place] = order[place][np.lexsort((key[order[place]], run))]
    return order
