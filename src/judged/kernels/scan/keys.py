"""Sets of 64-bit keys in which many others are looked up, most of them in vain."""

from __future__ import annotations

import numpy as np

from judged.kernels.scan.strings import Words
from judged.kernels.segments import Flags, Ints

__all__ = ["Keys", "distinct"]

_SIEVE = 22
"""Bits of a key that decide, before it is looked up, whether it can be there at all."""


class Keys:
    """Sorted keys, and a sieve that lets few others through."""

    def __init__(self, ordered: Words) -> None:
        self.ordered = ordered
        self._sieve = np.zeros(1 << _SIEVE, dtype=bool)
        self._sieve[_cell(ordered)] = True

    def find(self, keys: Words) -> tuple[Ints, Ints]:
        """Which of the keys are there, and where among the sorted ones each stands first."""
        maybe = np.flatnonzero(self._sieve[_cell(keys)])
        if len(maybe) == 0:
            return maybe, maybe
        at = np.minimum(np.searchsorted(self.ordered, keys[maybe]), len(self.ordered) - 1)
        right: Flags = self.ordered[at] == keys[maybe]
        return maybe[right], at[right]


def distinct(keys: Words) -> Words:
    """Each key once, sorted; far quicker for many than `np.unique`, which may build a table of hashes."""
    ordered = np.sort(keys)
    new: Flags = np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ordered)]
    return ordered[new]


def _cell(keys: Words) -> Ints:
    """Where a key falls in the sieve."""
    return (keys >> np.uint64(64 - _SIEVE)).astype(np.int64)
