"""Precision where it changes: at the relevant results, and interpolated over recall."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, Ints, segment_max, segment_sum

__all__ = ["interpolated_precision", "precision_at_hits", "precision_sum", "recall_count"]


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
