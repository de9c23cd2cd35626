"""Distinct targets: how many different answers the relevant documents give."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Flags, Ints

__all__ = ["targets_found", "targets_judged"]


def targets_found(ranking: Ranking, cutoff: int | None = None, rel: float | None = None) -> Ints:
    """How many distinct targets the relevant documents among each query's first `cutoff` answer."""
    chosen = ranking.hits(rel) & ranking.within(cutoff)
    return _distinct(ranking.target, ranking.query, chosen, len(ranking))


def targets_judged(ranking: Ranking, rel: float | None = None) -> Ints:
    """How many distinct targets all relevant documents of each query answer."""
    at = ranking.threshold(rel)
    return ranking.cached(
        ("targets judged", at),
        lambda: _distinct(ranking.best_target, ranking.best_query, ranking.best_relevant(at), len(ranking)),
    )


def _distinct(target: Ints, query: Ints, chosen: Flags, queries: int) -> Ints:
    """How many distinct chosen targets each query has; a target's number belongs to one query only."""
    _, first = np.unique(target[chosen], return_index=True)
    return np.bincount(query[chosen][first], minlength=queries).astype(np.int64)
