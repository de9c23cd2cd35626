"""Sets of 64-bit keys for many lookups, most of which fail."""

from __future__ import annotations

import numpy as np

from judged.arrays import Flags, Ints, Words

__all__ = ["Keys", "distinct"]

_SIEVE = 22
"""Bits of a key that decide, before it is looked up, whether it can be there at all."""


class Keys:
    """Sorted keys, and a bit table that rejects most keys that are not among them."""

    def __init__(self, ordered: Words) -> None:
        self.ordered = ordered
        self._sieve = np.zeros(1 << _SIEVE, dtype=bool)
        self._sieve[_cell(ordered)] = True

    def find(self, keys: Words) -> tuple[Ints, Ints]:
        """Return which of the given keys are in the set, and their first place among the sorted ones."""
        maybe = np.flatnonzero(self._sieve[_cell(keys)])
        if len(maybe) == 0:
            return maybe, maybe
        at = np.minimum(np.searchsorted(self.ordered, keys[maybe]), len(self.ordered) - 1)
        right: Flags = self.ordered[at] == keys[maybe]
        return maybe[right], at[right]


def distinct(keys: Words) -> Words:
    """Return the distinct keys, sorted; much faster for many keys than `np.unique`, which may build a hash table."""
    ordered = np.sort(keys)
    new: Flags = np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ordered)]
    return ordered[new]


def _cell(keys: Words) -> Ints:
    """Return the cell of the table for every key."""
    return (keys >> np.uint64(64 - _SIEVE)).astype(np.int64)
