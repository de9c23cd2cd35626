"""Binary preference: how often judged relevant documents stand above judged non-relevant ones."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide, segment_count, segment_running_count, segment_sum

__all__ = ["binary_preference"]


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
