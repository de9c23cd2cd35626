"""Logarithms and powers whose last bit does not depend on the processor.

NumPy computes `log`, `log2`, `exp2` and `power` with instructions that only some processors have (AVX-512), and these
round some numbers differently: `np.log2` differs from the C library at 21 of the first 200,000 ranks. Here the C
library computes every value. Values of whole numbers, which ranks are, are kept in a table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from judged.arrays import Floats, Ints

LIMIT = 1 << 20
"""Numbers from which on no table is kept: one rank of a billion must not take eight gigabytes."""


def map_distinct(function: Callable[[float], float], values: Floats | Ints) -> Floats:
    """Return a function of every value, called once for each distinct one."""
    distinct, place = np.unique(values, return_inverse=True)
    mapped = np.fromiter(map(function, distinct.tolist()), np.float64, len(distinct))
    return mapped[place].reshape(values.shape)


class WholeNumbers:
    """A function of numbers, with a table of its values for whole numbers from `first` on, which grows when needed."""

    def __init__(self, function: Callable[[float], float], first: int) -> None:
        self._function = function
        self._table: Floats = np.full(first, np.nan)

    def __call__(self, numbers: Floats | Ints) -> Floats:
        """Return the function of every number."""
        if not _are_tabled(numbers):
            return map_distinct(self._function, numbers)
        place = numbers.astype(np.int64, copy=False)
        kept: Floats = self._grow(int(place.max(initial=0)) + 1)[place]
        return kept

    def _grow(self, size: int) -> Floats:
        """Return a table of at least that size.

        Threads need no lock: a table is complete before it is shared, and one that is replaced by a smaller one,
        computed at the same time, only has to grow again.
        """
        table = self._table
        if len(table) < size:
            more = map(self._function, range(len(table), min(max(size, 2 * len(table), 1024), LIMIT)))
            table = self._table = np.concatenate((table, np.fromiter(more, np.float64)))
        return table


def _are_tabled(numbers: Floats | Ints) -> bool:
    """Return whether all numbers are whole and in the range of tables."""
    if not len(numbers.reshape(-1)):
        return True
    if not (numbers.min() >= 0 and numbers.max() < LIMIT):
        return False
    return numbers.dtype.kind in "iu" or bool((numbers == np.floor(numbers)).all())


log2 = WholeNumbers(math.log2, first=1)
"""The logarithm to base 2.

>>> log2(np.array([1, 2, 3])).tolist() == [0.0, 1.0, math.log2(3)]
True
"""
log = WholeNumbers(math.log, first=1)
"""The natural logarithm."""


@lru_cache(maxsize=16)
def powers(base: float) -> WholeNumbers:
    """Return the function that raises `base` to a power.

    >>> powers(0.8)(np.array([0, 1, 2])).tolist() == [1.0, 0.8, 0.8**2]
    True
    """
    return WholeNumbers(partial(math.pow, base), first=0)
