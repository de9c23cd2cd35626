"""Precision at relevant results, interpolated precision, distinct targets, and binary preference."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import (
    Flags,
    Floats,
    Ints,
    divide,
    segment_count,
    segment_max,
    segment_running_count,
    segment_sum,
)

__all__ = [
    "binary_preference",
    "interpolated_precision",
    "precision_at_hits",
    "precision_sum",
    "recall_count",
    "targets_found",
    "targets_judged",
]


def precision_at_hits(ranking: Ranking, rel: float | None = None) -> Floats:
    """Precision at the rank of each retrieved judged document if that is relevant, else 0."""
    at = ranking.threshold(rel)
    return ranking.cached(
        ("precision at hits", at),
        lambda: np.where(ranking.hits(at), ranking.found(at) / ranking.rank, 0.0),
    )


def precision_sum(ranking: Ranking, cutoff: int | None = None, rel: float | None = None) -> Floats:
    """The sum of the precisions at the relevant results among the first `cutoff` of each query."""
    at = ranking.threshold(rel)
    return ranking.cached(
        ("precision sum", cutoff, at),
        lambda: segment_sum(
            np.where(ranking.within(cutoff), precision_at_hits(ranking, at), 0.0), ranking.offset
        ),
    )


def recall_count(ranking: Ranking, recall: float, rel: float | None = None) -> Ints:
    """How many relevant documents make up the share `recall`, by the protocol's way of rounding."""
    share = np.asarray(recall * ranking.relevant(rel), dtype=np.float64)
    whole = np.floor(share)
    truncated = ranking.recall_points == "truncated"
    count: Floats = np.floor(share + 0.9) if truncated else whole + (share - whole >= 0.5)
    return count.astype(np.int64)


def interpolated_precision(ranking: Ranking, recall: float, rel: float | None = None) -> Floats:
    """The highest precision at or after the rank where each query's recall reaches `recall`."""
    reached = ranking.found(rel) >= recall_count(ranking, recall, rel)[ranking.query]
    return segment_max(np.where(reached, precision_at_hits(ranking, rel), 0.0), ranking.offset)


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


def binary_preference(ranking: Ranking, rel: float | None = None) -> Floats:
    """The share of preferences that each query's ranking keeps, of those among its judged documents."""
    at = ranking.threshold(rel)
    return ranking.cached(("binary preference", at), lambda: _binary_preference(ranking, at))


def _binary_preference(ranking: Ranking, at: float) -> Floats:
    hit, relevant = ranking.hits(at), ranking.relevant(at)
    refuted = (ranking.grade >= 0) & ~hit
    judged = segment_count(ranking.best >= 0, ranking.best_offset)
    above = np.minimum(segment_running_count(refuted, ranking.offset), relevant[ranking.query])
    most = np.minimum(judged - relevant, relevant)
    kept = 1.0 - divide(above, most[ranking.query])
    return divide(segment_sum(np.where(hit, kept, 0.0), ranking.offset), relevant)
