"""The preferred result: the first of the most relevant documents that a ranking retrieved."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Flags, segment_max, segment_running_count

__all__ = ["preferred"]


def preferred(ranking: Ranking, rel: float | None = None) -> Flags:
    """Which of the retrieved judged documents is its query's preferred one; none where none is relevant.

    >>> from judged.kernels.ranked.ranking import rank
    >>> preferred(rank([1, 2, 2])).tolist()
    [False, True, False]
    """
    hit = ranking.hits(rel)
    highest = segment_max(np.where(hit, ranking.grade, -1.0), ranking.offset)
    best = hit & (ranking.grade == highest[ranking.query])
    first: Flags = best & (segment_running_count(best, ranking.offset) == 1)
    return first
