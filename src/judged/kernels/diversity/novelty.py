"""Novelty: a document is worth less to an intent for every one before it that answered the same intent."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from judged.kernels.diversity.by_intent import intent_hits, intent_weight, known_intents
from judged.kernels.diversity.greedy import greedy_order
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, Ints, divide, segment_sum

__all__ = [
    "Discount",
    "best_novelty",
    "logarithmic",
    "novelty",
    "patience",
    "powers",
    "reciprocal",
    "share_of_bound",
]

Discount: TypeAlias = Callable[[Ints], Floats]
"""What is left of a gain at each rank."""


def logarithmic(rank: Ints) -> Floats:
    """One over log₂(rank + 1)."""
    left: Floats = 1.0 / np.log2(rank + 1.0)
    return left


def reciprocal(rank: Ints) -> Floats:
    """One over the rank."""
    return 1.0 / rank


def patience(beta: float) -> Discount:
    """One at the first rank, and from each to the next `beta` of it."""
    return lambda rank: powers(beta, int(rank.max(initial=1)))[rank - 1]


def powers(factor: float, count: int) -> Floats:
    """The first powers of a factor from the 0th, made by multiplying on, as ndeval makes them."""
    factors = np.full(max(count, 1), factor, dtype=np.float64)
    factors[0] = 1.0
    made: Floats = np.multiply.accumulate(factors)
    return made


def novelty(
    ranking: Ranking, discount: Discount, *, alpha: float, rel: float | None, cutoff: int | None = None
) -> Floats:
    """The discounted novelty of each query's first `cutoff` results, added up over ranks and intents."""
    at = ranking.threshold(rel)
    gain = ranking.cached(("novelty", alpha, at), lambda: _gains(ranking, alpha, at))
    counted = np.where(ranking.within(cutoff), gain * discount(ranking.rank), 0.0)
    return segment_sum(counted, ranking.offset)


def best_novelty(
    ranking: Ranking, discount: Discount, *, alpha: float, rel: float | None, cutoff: int | None = None
) -> Floats:
    """The same for the order of all judged documents that takes the one of the greatest novelty next."""
    at, intents = ranking.threshold(rel), known_intents(ranking)
    query, rank, gain = ranking.cached(
        ("greedy", alpha, at, cutoff), lambda: greedy_order(intents, alpha=alpha, at=at, depth=cutoff)
    )
    return np.bincount(query, weights=gain * discount(rank), minlength=len(ranking)).astype(np.float64)


def share_of_bound(
    ranking: Ranking, discount: Discount, *, alpha: float, rel: float | None, cutoff: int
) -> Floats:
    """The novelty of the first `cutoff` results over what no ranking can exceed.

    That would be a ranking in which every result answers every intent.
    """
    rank = np.arange(1, cutoff + 1)
    bound = float(np.cumsum(powers(1.0 - alpha, cutoff) * discount(rank))[-1])
    got = novelty(ranking, discount, alpha=alpha, rel=rel, cutoff=cutoff)
    return divide(got, intent_weight(ranking, rel) * bound)


def _gains(ranking: Ranking, alpha: float, at: float) -> Floats:
    """The novelty of each retrieved judged document: by intent, (1 − α) for each that answered it before."""
    place, intent = intent_hits(ranking, at)
    before = _before(intent)
    left = powers(1.0 - alpha, int(before.max(initial=0)) + 1)[before]
    weighed = left * known_intents(ranking).weight[intent]
    return np.bincount(place, weights=weighed, minlength=len(ranking.rank)).astype(np.float64)


def _before(values: Ints) -> Ints:
    """For each value, how many equal ones stand before it."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    count = np.empty(len(values), dtype=np.int64)
    count[order] = np.arange(len(values)) - np.searchsorted(ordered, ordered, side="left")
    return count
