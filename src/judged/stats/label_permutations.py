"""The range of the systems' means when labels are exchanged within queries: all arrangements, or drawn ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from judged.errors import BadSample
from judged.stats.layout import Floats, Layout

__all__ = ["RangeP", "range_p_values"]

EXACT = 2**19
"""Up to so many arrangements all are looked at: those of 20 queries and two systems, the first query's order fixed."""
BLOCK = 2**16
"""About how many scores are permuted at a time; the result does not depend on it."""


@dataclass(frozen=True, slots=True)
class RangeP:
    """The p-values of gaps between means, and how many arrangements they come from."""

    p: Floats
    arrangements: int
    exact: bool


def range_p_values(of: Layout, gaps: Floats, *, rounds: int, seed: int, block: int = BLOCK) -> RangeP:
    """The share of arrangements whose range of means is at least as great as each gap.

    The range is the same when all queries exchange labels alike, so that the first query's need not be.
    """
    if rounds < 1:
        msg = f"`rounds` is {rounds}, expected 1 or more"
        raise BadSample(msg)
    values = of.values - of.values.mean(axis=1, keepdims=True)
    total = _arrangements(*values.shape)
    rows = max(1, block // values.size)
    ranges = _every(values, total, rows) if total <= EXACT else _drawn(values, rounds, rows, seed)
    least = gaps - of.rounding  # equal ranges differ by rounding, and must be counted as equal
    count = np.zeros(len(gaps), dtype=np.int64)
    for found in ranges:
        count += len(found) - np.searchsorted(np.sort(found), least)
    if total <= EXACT:
        return RangeP(count / total, total, exact=True)
    return RangeP((count + 1) / (rounds + 1), rounds, exact=False)


def _arrangements(queries: int, systems: int) -> int:
    """How many arrangements there are, systems renamed throughout counting as one; some number over `EXACT` if many."""
    total = 1
    for _ in range(queries - 1):
        total *= math.factorial(systems)
        if total > EXACT:
            break
    return total


def _every(values: Floats, total: int, rows: int) -> Iterator[Floats]:
    """The ranges of all arrangements, in blocks; an arrangement's number has an order of each query as its digits."""
    systems = values.shape[1]
    orders = np.array(list(permutations(range(systems)))) if total > 1 else np.arange(systems)[None]
    for start in range(0, total, rows):
        number = np.arange(start, min(start + rows, total))
        sums = np.broadcast_to(values[0], (len(number), systems)).copy()
        for query in values[1:]:
            number, order = np.divmod(number, len(orders))
            sums += query[orders[order]]
        yield np.ptp(sums, axis=1) / len(values)


def _drawn(values: Floats, rounds: int, rows: int, seed: int) -> Iterator[Floats]:
    """The ranges of arrangements drawn at random, in blocks, all from one stream of random numbers."""
    rng = np.random.default_rng(seed)
    for start in range(0, rounds, rows):
        shape = (min(rows, rounds - start), *values.shape)
        shuffled = rng.permuted(np.broadcast_to(values, shape), axis=2)
        yield np.ptp(shuffled.sum(axis=1), axis=1) / len(values)
