"""The view of clicks: flat arrays cut by impression, on which their measures are computed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.kernels.segments import segment_ids, segment_max


@dataclass(frozen=True, eq=False)
class ClickView:
    """The impressions of one system; `offset` cuts the documents shown by impression."""

    offset: Ints
    click: Flags
    rank: Ints
    """From 1; 0 where the log has no ranks."""
    dwell: Floats
    """Seconds spent after each click; NaN where that is not known."""
    delay: Floats
    """Seconds from the impression to each click; NaN where there is none."""
    last: Flags
    """Whether each row is the last click of its session."""
    team: Ints
    """0 or 1 for the team of each document of an interleaved list; −1 for one that counts for neither."""
    unknown_dwell: bool = True
    """Whether the last click of a session whose dwell is not known is satisfied."""

    def __len__(self) -> int:
        return len(self.offset) - 1

    def count(self, flags: Flags) -> Floats:
        """Return the number of rows of each impression that have the flag."""
        owner = segment_ids(self.offset)
        counts: Floats = np.bincount(owner[flags], minlength=len(self)).astype(np.float64)
        return counts

    def has(self, flags: Flags) -> Floats:
        """Return 1 for an impression of which a row has the flag, else 0."""
        return (self.count(flags) > 0).astype(np.float64)

    def best(self, values: Floats) -> Floats:
        """Return the largest value of each impression; 0 without rows."""
        return segment_max(values, self.offset)


def add_up(labels: Ints, weights: Floats, size: int) -> Floats:
    """Return the sum of the weights of each label from 0, at least `size` of them."""
    sums: Floats = np.bincount(labels, weights=weights, minlength=size).astype(np.float64)
    return sums


def least(values: Floats, offset: Ints) -> Floats:
    """Return the least known value of each segment; NaN where none is known."""
    found = segment_max(np.where(np.isnan(values), -np.inf, -values), offset)
    return np.where(np.isinf(found) | (np.diff(offset) == 0), np.nan, 0.0 - found)
