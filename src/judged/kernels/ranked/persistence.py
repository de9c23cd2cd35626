"""Persistence: a reader goes on from each result to the next with a fixed chance."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats

__all__ = ["reach"]


def reach(ranking: Ranking, p: float) -> Floats:
    """The chance that the reader reaches each retrieved judged document, p to the power of the ranks above it.

    The powers are made by multiplying on, rank by rank, as trec_eval makes them, so that both round alike.
    """
    powers = np.cumprod(np.full(int(ranking.rank.max(initial=1)), p))
    chance: Floats = np.concatenate(([1.0], powers))[ranking.rank - 1]
    return chance
