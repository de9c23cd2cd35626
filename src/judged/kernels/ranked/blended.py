"""The blended ratio of NTCIR's measures, which combines precision and cumulated gain."""

from __future__ import annotations

import numpy as np

from judged.arrays import Flags, Floats
from judged.kernels.ranked.gains import Gain, Gains, grade_gains
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import divide, segment_cumsum, segment_max, segment_running_count


def relevant_gains(
    ranking: Ranking, rel: float | None = None, gain: Gain = "linear", gains: Gains | None = None
) -> Floats:
    """Return the gain of every retrieved judged document that is relevant, and 0 for others."""
    return np.where(ranking.hits(rel), grade_gains(ranking.grade, gain, gains), 0.0)


def best_relevant_gains(
    ranking: Ranking, rel: float | None = None, gain: Gain = "linear", gains: Gains | None = None
) -> Floats:
    """Return the gains of all relevant documents, highest first within a query, then 0 for other judged ones."""
    value = np.where(ranking.best_relevant(rel), np.maximum(grade_gains(ranking.best, gain, gains), 0.0), 0.0)
    return value if gains is None else value[np.lexsort((-value, ranking.best_query))]


def ideal_gain_down_to(
    ranking: Ranking, rel: float | None = None, gain: Gain = "linear", gains: Gains | None = None
) -> Floats:
    """Return the gain of the best order down to the rank of every retrieved judged document."""
    best = best_relevant_gains(ranking, rel, gain, gains)
    running = np.concatenate(([0.0], segment_cumsum(best, ranking.best_offset)))
    start, end = ranking.best_offset[ranking.query], ranking.best_offset[ranking.query + 1]
    down_to: Floats = running[np.minimum(start + ranking.rank, end)]
    return down_to


def blended_ratio(
    ranking: Ranking,
    beta: float = 1.0,
    rel: float | None = None,
    gain: Gain = "linear",
    gains: Gains | None = None,
) -> Floats:
    """Return the blended ratio at every retrieved judged document that is relevant, and 0 at others.

    >>> from judged.kernels.examples import make_ranking
    >>> blended_ratio(make_ranking([0, 1, 2])).round(4).tolist()
    [0.0, 0.4, 0.8333]
    """
    at = ranking.threshold(rel)

    def compute() -> Floats:
        found = segment_cumsum(relevant_gains(ranking, at, gain, gains), ranking.offset)
        ideal = ideal_gain_down_to(ranking, at, gain, gains)
        ratio = divide(ranking.found(at) + beta * found, ranking.rank + beta * ideal)
        return np.where(ranking.hits(at), ratio, 0.0)

    return ranking.cached(("blended ratio", beta, at, gain, gains), compute)


def is_top_document(ranking: Ranking, rel: float | None = None) -> Flags:
    """Flag the first of the most relevant documents that every query retrieved.

    >>> from judged.kernels.examples import make_ranking
    >>> is_top_document(make_ranking([1, 2, 2])).tolist()
    [False, True, False]
    """
    hit = ranking.hits(rel)
    highest = segment_max(np.where(hit, ranking.grade, -1.0), ranking.offset)
    best = hit & (ranking.grade == highest[ranking.query])
    first: Flags = best & (segment_running_count(best, ranking.offset) == 1)
    return first
