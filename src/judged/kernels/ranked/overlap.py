"""Rank-biased overlap of a ranking with the most similar of its ideal rankings."""

from __future__ import annotations

import numpy as np

from judged.arrays import Floats, Ints
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import segment_count, segment_sum

__all__ = ["ideal_overlap", "ideal_places", "overlap_of_ideals", "overlap_weights"]


def overlap_weights(p: float, depth: int) -> Floats:
    """Return for every rank what a document adds that both lists hold from there on: the sum of pᵈ⁻¹/d to `depth`.

    The last one, for ranks below the depth, is 0.

    >>> overlap_weights(0.5, 2).tolist()
    [1.25, 0.25, 0.0]
    """
    rank = np.arange(1, depth + 1)
    terms = p ** (rank - 1.0) / rank
    return np.concatenate((np.cumsum(terms[::-1])[::-1], [0.0]))


def ideal_places(ranking: Ranking) -> Ints:
    """Return the rank of every retrieved judged document in the most similar ideal ranking.

    Ideal rankings hold the documents of positive grade, the highest grades first. Among equal grades the
    most similar one follows the run, with the documents that were not retrieved last.

    >>> from judged.kernels.examples import make_ranking
    >>> ideal_places(make_ranking([1, 3, 1], missed=[[3]])).tolist()
    [3, 1, 4]
    """
    order = np.lexsort((ranking.rank, -ranking.grade, ranking.query))
    query, grade = ranking.query[order], ranking.grade[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (query[1:] != query[:-1]) | (grade[1:] != grade[:-1])
    start = np.flatnonzero(new)
    within = np.arange(len(order)) - start[np.cumsum(new) - 1] if len(order) else order
    place = np.empty(len(order), dtype=np.int64)
    place[order] = within + 1
    return place + _above(ranking)


def ideal_overlap(ranking: Ranking, weights: Floats) -> Floats:
    """Return the weighted overlap of the results of every query with that ideal ranking."""
    last = len(weights)
    shared = np.minimum(np.maximum(ranking.rank, ideal_places(ranking)), last)
    return segment_sum(np.where(ranking.grade > 0, weights[shared - 1], 0.0), ranking.offset)


def overlap_of_ideals(ranking: Ranking, weights: Floats) -> Floats:
    """Return the overlap of every query's ideal ranking with itself, the highest possible value."""
    wanted = segment_count(ranking.best > 0, ranking.best_offset)
    running = np.concatenate(([0.0], np.cumsum(weights)))
    highest: Floats = running[np.minimum(wanted, len(weights))]
    return highest


def _above(ranking: Ranking) -> Ints:
    """Count the judged documents with a higher grade than every retrieved one, retrieved or not."""
    level, code = np.unique(np.concatenate((-ranking.best, -ranking.grade)), return_inverse=True)
    judged = ranking.best_query * (len(level) + 1) + code[: len(ranking.best)]
    found = ranking.query * (len(level) + 1) + code[len(ranking.best) :]
    return np.searchsorted(judged, found, side="left") - ranking.best_offset[ranking.query]
