"""Precision at relevant results, interpolated precision, distinct targets, and binary preference."""

from __future__ import annotations

from typing import Literal

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import divide, segment_count, segment_max, segment_running_count, segment_sum


def precision_at_hits(ranking: Ranking, rel: float | None = None) -> Floats:
    """Return the precision at the rank of every retrieved judged document that is relevant, and 0 for others."""
    at = ranking.threshold(rel)
    return ranking.cached(
        ("precision at hits", at), lambda: np.where(ranking.hits(at), ranking.found(at) / ranking.rank, 0.0)
    )


def precision_sum(
    ranking: Ranking, cutoff: int | None = None, rel: float | None = None, *, trapezoid: bool = False
) -> Floats:
    """Return the sum of the precisions at the relevant results among the first `cutoff` of every query.

    With `trapezoid`, each is the mean of the precision there and just above.
    """
    at = ranking.threshold(rel)
    terms = precision_from_above if trapezoid else precision_at_hits
    return ranking.cached(
        ("precision sum", cutoff, at, trapezoid),
        lambda: segment_sum(np.where(ranking.within(cutoff), terms(ranking, at), 0.0), ranking.offset),
    )


def precision_from_above(ranking: Ranking, rel: float | None = None) -> Floats:
    """Return at every relevant result the mean of the precision there and just above, which is 1 above rank 1."""
    above = np.where(ranking.rank == 1, 1.0, (ranking.found(rel) - 1) / np.maximum(ranking.rank - 1, 1))
    return np.where(ranking.hits(rel), (above + precision_at_hits(ranking, rel)) / 2, 0.0)


def count_findable(
    ranking: Ranking,
    *,
    cutoff: int | None,
    rel: float | None = None,
    over: Literal["relevant", "cutoff"] = "relevant",
) -> Ints:
    """Count the relevant documents of every query, and with `over="cutoff"` no more of them than `cutoff`."""
    relevant = ranking.relevant(rel)
    return np.minimum(relevant, cutoff) if over == "cutoff" and cutoff is not None else relevant


def recall_count(ranking: Ranking, recall: float, rel: float | None = None) -> Ints:
    """Return how many relevant documents make up the share `recall`, rounded as the protocol says."""
    share = np.asarray(recall * ranking.relevant(rel), dtype=np.float64)
    whole = np.floor(share)
    truncated = ranking.recall_points == "truncated"
    # trec_eval 9 adds 0.9 and truncates, 10 rounds to the nearest
    count: Floats = np.floor(share + 0.9) if truncated else whole + (share - whole >= 0.5)
    return count.astype(np.int64)


def interpolated_precision(ranking: Ranking, recall: float, rel: float | None = None) -> Floats:
    """Return the highest precision at or after the rank where every query's recall reaches `recall`."""
    reached = ranking.found(rel) >= recall_count(ranking, recall, rel)[ranking.query]
    return segment_max(np.where(reached, precision_at_hits(ranking, rel), 0.0), ranking.offset)


def targets_found(ranking: Ranking, cutoff: int | None = None, rel: float | None = None) -> Ints:
    """Count the distinct targets of the relevant documents among the first `cutoff` of every query."""
    chosen = ranking.hits(rel) & ranking.within(cutoff)
    return _count_distinct(ranking.target, ranking.query, chosen, len(ranking))


def targets_judged(ranking: Ranking, rel: float | None = None) -> Ints:
    """Count the distinct targets of all relevant documents of every query."""
    at = ranking.threshold(rel)
    return ranking.cached(
        ("targets judged", at),
        lambda: _count_distinct(
            ranking.best_target, ranking.best_query, ranking.best_relevant(at), len(ranking)
        ),
    )


def _count_distinct(target: Ints, query: Ints, chosen: Flags, queries: int) -> Ints:
    """Count the distinct chosen targets of every query; a target's number belongs to one query only."""
    _, first = np.unique(target[chosen], return_index=True)
    return np.bincount(query[chosen][first], minlength=queries).astype(np.int64)


def binary_preference(ranking: Ranking, rel: float | None = None) -> Floats:
    """Return the share of the preferences among judged documents that the ranking of every query keeps."""
    at = ranking.threshold(rel)
    return ranking.cached(
        ("binary preference", at),
        lambda: divide(segment_sum(preferences_kept(ranking, at), ranking.offset), ranking.relevant(at)),
    )


def nonrelevant_above(ranking: Ranking, rel: float | None = None) -> Ints:
    """Count the judged non-relevant documents at or above every retrieved judged document."""
    return segment_running_count((ranking.grade >= 0) & ~ranking.hits(rel), ranking.offset)


def preferences_kept(ranking: Ranking, rel: float | None = None) -> Floats:
    """Return the share of preferences that every retrieved relevant document keeps, and 0 for others."""
    hit, relevant = ranking.hits(rel), ranking.relevant(rel)
    judged = segment_count(ranking.best >= 0, ranking.best_offset)
    above = np.minimum(nonrelevant_above(ranking, rel), relevant[ranking.query])
    most = np.minimum(judged - relevant, relevant)
    return np.where(hit, 1.0 - divide(above, most[ranking.query]), 0.0)
