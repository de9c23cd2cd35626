"""The completion with the highest nDCG: how many of the unjudged results should have each grade, or more?

Among completions with the same grades, the best has the higher ones further up. So a completion is known by the
number aₗ of unjudged results with the grade of level l or more. What is gained and what the best order would
gain are then both sums over levels, and their ratio is highest where, for some λ, the sum over levels of
gained − λ · possible is highest and 0 (Dinkelbach). For a given λ each level is looked at in turn, with aₗ not
rising from one level to the next.
"""

from __future__ import annotations

import numpy as np

from judged.kernels.segments import Floats, Ints

__all__ = ["best_counts"]

ROUNDS = 100
"""λ rises with each round and there are finitely many completions, so that this is never reached."""


def best_counts(step: Floats, known: Ints, gained: float, weight: Floats, possible: Floats) -> Ints:
    """How many unjudged results have the grade of each level or more, for the highest ratio.

    `step` is what the gain rises by at each level, `known` how many judged documents have that level or more,
    `gained` what the judged results gain, `weight` the weights of the unjudged results from the top down and
    `possible` the sum of the weights of the first ranks, by their number.
    """
    rising = np.concatenate(([0.0], np.cumsum(weight)))
    chosen = np.zeros(len(step), dtype=np.int64)
    most = np.arange(len(rising))
    deep = np.minimum(known[:, None] + most, len(possible) - 1)
    ratio = -1.0
    for _ in range(ROUNDS):
        gain = gained + float((step * rising[chosen]).sum())
        ideal = float((step * possible[deep[np.arange(len(step)), chosen]]).sum())
        now = gain / ideal if ideal > 0 else 0.0
        if now <= ratio:
            break
        ratio = now
        chosen = _falling(step[:, None] * (rising - ratio * possible[deep]))
    return chosen


def _falling(score: Floats) -> Ints:
    """The column of each row with the highest sum of scores, columns not rising from row to row."""
    levels, width = score.shape
    total = np.zeros(width)
    back = np.zeros((levels, width), dtype=np.int64)
    for level in range(levels - 1, -1, -1):  # the highest level first: fewer results reach it
        back[level] = _running_argmax(total)
        total = score[level] + total[back[level]]
    chosen = np.zeros(levels, dtype=np.int64)
    at = int(np.argmax(total))
    for level in range(levels):
        chosen[level] = at
        at = int(back[level][at])
    return chosen


def _running_argmax(values: Floats) -> Ints:
    """For each place, where the highest value up to there stands."""
    running = np.maximum.accumulate(values)
    new = np.concatenate(([True], values[1:] > running[:-1]))
    place: Ints = np.maximum.accumulate(np.where(new, np.arange(len(values)), 0))
    return place
