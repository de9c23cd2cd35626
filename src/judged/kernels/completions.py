"""Completions: the view as it would be if the unjudged results were judged.

The completion with the highest nDCG is found without trying all. Among completions with the same grades, the best has
the higher ones further up, so a completion is determined by the number aₗ of unjudged results with the grade of level l
or more. The gain and the ideal gain are then both sums over levels, and their ratio is highest where, for some λ, the
sum over levels of gain − λ · ideal gain is highest and 0 (Dinkelbach). For a given λ every level is maximised in turn,
with aₗ not rising from one level to the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from judged.arrays import Floats, Ints
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.ties import Valuation

CELLS = 1 << 20
"""The number of results evaluated at once, over all completions; it changes no value."""


def grade_levels(ranking: Ranking) -> Floats:
    """Return the grades that a document can have: 0, and those that occur in the judgments."""
    return np.unique(np.append(ranking.best[ranking.best > 0], [0.0, max(ranking.highest, 0.0)]))


@dataclass(frozen=True, slots=True)
class UnjudgedResults:
    """The results of one query, and which of them are unjudged.

    A completion is a row of grades, one for every unjudged result from the top down.
    """

    ranking: Ranking
    query: int
    grade: Floats
    """The grade of every result from the top down; 0 where it is unjudged."""
    target: Ints
    unjudged: Ints
    """The places of the unjudged results, from 0."""
    best: Floats
    best_target: Ints
    visible: int
    """The number of results considered; those below count as missed."""

    def evaluate(self, value: Valuation, rows: Floats, counted: Floats | None = None) -> Floats:
        """Return the value of the measure for every completion.

        `counted` may hold other grades for the list of all judged documents than for the results: bounds of
        measures that compare the two are found by giving both what suits the bound.
        """
        listed, share = rows if counted is None else counted, self.batch
        parts = [
            value(self._view(rows[first : first + share], listed[first : first + share]))
            for first in range(0, len(rows), share)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    @property
    def batch(self) -> int:
        """The number of completions evaluated at once."""
        return max(CELLS // max(len(self.grade) + len(self.best) + len(self.unjudged), 1), 1)

    def _view(self, rows: Floats, listed: Floats) -> Ranking:
        many, results = len(rows), self.visible
        near = self.unjudged[self.unjudged < results]
        grades = np.tile(self.grade[:results], (many, 1))
        grades[:, near] = rows[:, : len(near)]
        known = np.tile(self.best, (many, 1))
        every = np.concatenate([known, listed], axis=1)
        fresh = int(max(self.target.max(initial=0), self.best_target.max(initial=0))) + 1
        target = self.target.copy()
        target[self.unjudged] = fresh + np.arange(
            len(self.unjudged)
        )  # an unjudged result is a target of its own
        names = np.concatenate([self.best_target, target[self.unjudged]])
        order = np.argsort(-every, axis=1, kind="stable")
        lowest = int(min(self.target.min(initial=0), self.best_target.min(initial=0)))
        apart = (fresh + len(self.unjudged) - lowest) * np.arange(many)[:, None]
        return replace(
            self.ranking,
            rank=np.tile(np.arange(1, results + 1), many),
            grade=grades.ravel(),
            offset=np.arange(many + 1) * results,
            retrieved=np.full(many, len(self.grade)),
            best=np.take_along_axis(every, order, axis=1).ravel(),
            best_offset=np.arange(many + 1) * every.shape[1],
            target=(target[:results] + apart).ravel(),
            best_target=(names[order] + apart).ravel(),
            document=np.zeros(0, dtype=np.int64),
            intents=None,
            above=None,
            tied=None,
            _cache={},
        )


def find_unjudged(ranking: Ranking, query: int, cutoff: int | None = None) -> UnjudgedResults:
    """Return the results of one query, of which a measure uses the first `cutoff`, or all.

    A negative grade means unjudged, as everywhere.
    """
    own = slice(int(ranking.offset[query]), int(ranking.offset[query + 1]))
    listed = slice(int(ranking.best_offset[query]), int(ranking.best_offset[query + 1]))
    judged = ranking.grade[own] >= 0
    place = ranking.rank[own][judged] - 1
    grade = np.zeros(int(ranking.retrieved[query]))
    target = np.zeros(len(grade), dtype=np.int64)
    grade[place], target[place] = ranking.grade[own][judged], ranking.target[own][judged]
    unjudged = np.setdiff1d(np.arange(len(grade)), place)
    known = ranking.best[listed] >= 0
    best, names = ranking.best[listed][known], ranking.best_target[listed][known]
    visible = len(grade) if cutoff is None else min(cutoff, len(grade))
    return UnjudgedResults(ranking, query, grade, target, unjudged, best, names, visible)


ROUNDS = 100
"""λ rises in every round and there are finitely many completions, so this is never reached."""


def best_completion_counts(
    step: Floats, known: Ints, gained: float, weight: Floats, possible: Floats
) -> Ints:
    """Return how many unjudged results have the grade of every level or more, for the highest ratio.

    `step` is the rise of the gain at every level, `known` the number of judged documents of that level or more, `gained`
    the gain of the judged results, `weight` the weights of the unjudged results from the top down, and `possible` the sum
    of the weights of the first ranks, by their number.
    """
    rising = np.concatenate(([0.0], np.cumsum(weight)))
    chosen = np.zeros(len(step), dtype=np.int64)
    most, ratio = np.arange(len(rising)), -1.0

    def ideal_of(level: int, count: Ints) -> Floats:
        deep: Floats = possible[np.minimum(known[level] + count, len(possible) - 1)]
        return deep

    for _ in range(ROUNDS):
        gain = gained + float((step * rising[chosen]).sum())
        ideal = sum(float(step[level] * ideal_of(level, chosen[level])) for level in range(len(step)))
        now = gain / ideal if ideal > 0 else 0.0
        if now <= ratio:
            break
        ratio = now
        score = (
            step[level] * (rising - ratio * ideal_of(level, most)) for level in reversed(range(len(step)))
        )
        chosen = _falling(score, len(step), len(rising))
    return chosen


def _falling(scores: Iterable[Floats], levels: int, width: int) -> Ints:
    """Return the column of every row with the highest sum of scores, columns not rising from row to row.

    Rows come from the last to the first, one at a time: all together would be the largest array here.
    """
    total = np.zeros(width)
    back = np.zeros((levels, width), dtype=np.int32)
    # the highest level first: fewer results reach it
    for level, score in zip(reversed(range(levels)), scores, strict=True):
        back[level] = _running_argmax(total)
        total = score + total[back[level]]
    chosen = np.zeros(levels, dtype=np.int64)
    at = int(np.argmax(total))
    for level in range(levels):
        chosen[level] = at
        at = int(back[level][at])
    return chosen


def _running_argmax(values: Floats) -> Ints:
    """Return for every place where the highest value up to there is."""
    running = np.maximum.accumulate(values)
    new = np.concatenate(([True], values[1:] > running[:-1]))
    place: Ints = np.maximum.accumulate(np.where(new, np.arange(len(values)), 0))
    return place
