"""The cascade: a reader goes down the list and stops at each result with a chance that its grade gives."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, Ints, segment_cumprod_before, segment_sum

__all__ = ["best_reciprocal_rank", "expected_reciprocal_rank", "stop_probability"]


def stop_probability(grade: Floats, highest: float) -> Floats:
    """The chance that a reader is satisfied by each grade: (2^g − 1) / 2^highest, grades above it as it."""
    top = max(highest, 0.0)
    chance: Floats = (np.exp2(np.clip(grade, 0.0, top)) - 1.0) / np.exp2(top)
    return chance


def expected_reciprocal_rank(ranking: Ranking, highest: float, cutoff: int | None = None) -> Floats:
    """The mean of one over the rank at which a reader of each query's results stops."""
    term = ranking.cached(
        ("cascade", highest),
        lambda: _cascade(stop_probability(ranking.grade, highest), ranking.rank, ranking.offset),
    )
    return segment_sum(np.where(ranking.within(cutoff), term, 0.0), ranking.offset)


def best_reciprocal_rank(ranking: Ranking, highest: float, cutoff: int | None = None) -> Floats:
    """The same for the best order of all judged documents."""
    term = ranking.cached(
        ("best cascade", highest),
        lambda: _cascade(stop_probability(ranking.best, highest), ranking.best_rank, ranking.best_offset),
    )
    near = True if cutoff is None else ranking.best_rank <= cutoff
    return segment_sum(np.where(near, term, 0.0), ranking.best_offset)


def _cascade(stop: Floats, rank: Ints, offset: Ints) -> Floats:
    """The chance of stopping at each result, over its rank."""
    return segment_cumprod_before(1.0 - stop, offset) * stop / rank
