"""Grades that look upside down: better grades at lower scores, far beyond what chance would do."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from judged.checks.batch import Batch
from judged.checks.findings import Findings
from judged.kernels.scan.keys import Keys
from judged.kernels.scan.strings import Words
from judged.kernels.segments import Floats, Ints

__all__ = ["Graded", "Inversion"]

FEWEST_DOCUMENTS = 3
"""Judged documents that a query needs, of at least two grades and two scores, to have a say."""
FEWEST_QUERIES = 5
"""Queries with a say that a run needs."""
STANDARD_ERRORS = 5.0
CORRELATION = -0.2
"""How far below 0 the mean correlation must be: in its standard errors, and at all."""


class Graded:
    """The grade of every judged pair of query and document, to be found by its key."""

    def __init__(self) -> None:
        self._keys: list[Words] = []
        self._grades: list[Floats] = []
        self._by_intent = False

    def add(self, batch: Batch) -> None:
        """Take in judgments whose grades are finite."""
        self._keys.append(batch.keys)
        self._grades.append(batch.value)
        self._by_intent |= batch.intent is not None

    def close(self) -> None:
        """Make ready for `find`; of a document's grades for its intents the highest counts."""
        keys = np.concatenate([np.zeros(0, dtype=np.uint64), *self._keys])
        grades: Floats = np.concatenate([np.zeros(0), *self._grades])
        order = np.lexsort((grades, keys)) if self._by_intent else np.argsort(keys)
        if self._by_intent:
            order = order[np.append(np.diff(keys[order]) != 0, True)[: len(order)]]
        self.keys = Keys(keys[order])
        self.grades = grades[order]

    def find(self, keys: Words) -> tuple[Ints, Floats]:
        """Which keys are judged, and their grades."""
        which, at = self.keys.find(keys)
        return which, self.grades[at]


@dataclass
class Inversion:
    """The judged documents that a run retrieved: do grades fall where scores rise?

    For each query the correlation of score ranks and grades is taken. Were the order of the documents a matter
    of chance, it would have mean 0 and variance 1/(n − 1) for n documents, whatever the grades are; so the sum
    of all, each over its standard deviation, has a variance of as many as there are queries.
    """

    graded: Graded
    _query: list[Words] = field(default_factory=list)
    _score: list[Floats] = field(default_factory=list)
    _grade: list[Floats] = field(default_factory=list)

    def add(self, batch: Batch) -> None:
        """Take in the judged documents of a batch."""
        which, grade = self.graded.find(batch.keys)
        self._query.append(batch.query.hashes[which])
        self._score.append(batch.compared[which].astype(np.float64))
        self._grade.append(grade)

    def note(self, findings: Findings) -> None:
        """Note that the grades look upside down, if they do."""
        correlation, count = self._correlations()
        if len(correlation) < FEWEST_QUERIES:
            return
        deviation = float((correlation * np.sqrt(count - 1)).sum() / np.sqrt(len(correlation)))
        mean = float(correlation.mean())
        if deviation <= -STANDARD_ERRORS and mean <= CORRELATION:
            told = (
                f"the correlation of score and grade is {mean:.2f} on average over {len(correlation):,} queries, "
                f"{-deviation:.1f} standard errors below 0"
            )
            negative = int((correlation < 0).sum())
            findings.add_place("inverted-grades", findings.whole(told), count=negative)

    def _correlations(self) -> tuple[Floats, Floats]:
        """Of each query with a say, the correlation of score rank and grade, and how many documents it is of."""
        if not self._query:
            return np.zeros(0), np.zeros(0)
        query = np.concatenate(self._query)
        score: Floats = np.concatenate(self._score)
        grade: Floats = np.concatenate(self._grade)
        order = np.lexsort((score, query))
        _, group = np.unique(query[order], return_inverse=True)
        group = group.reshape(-1)
        rank, grade = _middle_ranks(group, score[order]), grade[order]
        count = np.bincount(group).astype(np.float64)
        rank = rank - (np.bincount(group, rank) / count)[group]
        grade = grade - (np.bincount(group, grade) / count)[group]
        spread = np.bincount(group, rank**2) * np.bincount(group, grade**2)
        has_say = (count >= FEWEST_DOCUMENTS) & (spread > 1e-12)
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = np.bincount(group, rank * grade) / np.sqrt(spread)
        return correlation[has_say], count[has_say]


def _middle_ranks(group: Ints, score: Floats) -> Floats:
    """The place of each score in its group, equal ones sharing the mean of theirs; scores come sorted."""
    place = np.arange(len(score), dtype=np.float64)
    if len(score) == 0:
        return place
    new = np.concatenate(([True], (group[1:] != group[:-1]) | (score[1:] != score[:-1])))
    tie = np.cumsum(new) - 1
    middle: Floats = (np.bincount(tie, place) / np.bincount(tie))[tie]
    return middle
