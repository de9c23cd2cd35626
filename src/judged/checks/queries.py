"""Checks within queries: repeated documents, tied scores, ranks against scores, and grades that look inverted."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, Words
from judged.checks.batch import Batch, decode_id
from judged.checks.kinds import declare
from judged.checks.result import Findings
from judged.kernels.scan.strings import Keys, distinct, is_among
from judged.problem import Place

FEWEST_DOCUMENTS = 3
"""Judged documents that a query needs, of at least two grades and two scores, to count."""
FEWEST_QUERIES = 5
"""Queries that a run needs for grades to look inverted."""
STANDARD_ERRORS = 5.0
CORRELATION = -0.2
"""Thresholds of the mean correlation below 0: in its standard errors, and in absolute value."""


REPEATED_DOCUMENT = declare(
    "repeated-document",
    "error",
    "rows",
    "The document is retrieved or judged again for the same query; if judged, with the same grade.",
)
CONFLICTING_GRADES = declare(
    "conflicting-grades",
    "error",
    "rows",
    "The document is judged again for the same query, with a different grade.",
)
INVERTED_GRADES = declare(
    "inverted-grades",
    "warning",
    "queries",
    "Documents with better grades have lower scores, far beyond chance: the grades may be inverted, or the scores may be distances.",
)
TIED_SCORES = declare(
    "tied-scores",
    "warning",
    "rows",
    "The document shares its score, as a 32-bit float, with another of its query: a tie rule decides.",
)
RANK_CONTRADICTS_SCORE = declare(
    "rank-contradicts-score",
    "warning",
    "rows",
    "In the order of the rank column the score rises here; scores decide the order, ranks are ignored.",
)
RANK_NOT_A_NUMBER = declare("rank-not-a-number", "warning", "rows", "The rank is not a number.")
RANKS_FROM_ZERO = declare(
    "ranks-from-zero", "warning", "queries", "The ranks of the query begin at 0, expected 1."
)


def check_queries(batch: Batch, findings: Findings) -> None:
    """Add what is wrong within the queries of a batch, where every row is valid."""
    if len(batch) == 0:
        return
    again, first = batch.repeats
    if findings.role == "judgments":
        _check_judged_again(batch, again, first, findings)
        return
    findings.add(
        REPEATED_DOCUMENT,
        batch.number[again],
        lambda i: (
            f"document `{decode_id(batch.document, int(again[i]))}` is retrieved again for query "
            f"`{decode_id(batch.query, int(again[i]))}`, first at {findings.locate(int(batch.number[first[i]]))}"
        ),
    )
    _check_ties(batch, findings)
    if batch.rank is not None:
        _check_ranks(batch, batch.rank, findings)


def _check_judged_again(batch: Batch, again: Ints, first: Ints, findings: Findings) -> None:
    """Add documents judged again, those with the same grade and those with another."""
    if batch.intent is None and len(again) and (second := batch.second) is not None:
        findings.distinguished += int((~second[again].equals(second[first])).sum())
    same = batch.value[again] == batch.value[first]
    for kind, which in ((REPEATED_DOCUMENT, same), (CONFLICTING_GRADES, ~same)):
        later, earlier = again[which], first[which]

        def describe(i: int, later: Ints = later, earlier: Ints = earlier) -> str:
            row, before = int(later[i]), int(earlier[i])
            intent = "" if batch.intent is None else f" and intent `{decode_id(batch.intent, row)}`"
            return (
                f"document `{decode_id(batch.document, row)}` of query `{decode_id(batch.query, row)}`{intent} "
                f"has grade {batch.value[row]:g}, and {batch.value[before]:g} at "
                f"{findings.locate(int(batch.number[before]))}"
            )

        findings.add(kind, batch.number[later], describe)


def _check_ties(batch: Batch, findings: Findings) -> None:
    """Add documents that share their score with another of their query."""
    score, same_block = batch.compared, np.diff(batch.block) == 0
    if not (same_block & ~(score[1:] < score[:-1])).any():
        return  # strictly falling, so nothing is tied
    # block and score in one word: one sort of whole numbers in place of two keys
    keys = (batch.block.astype(np.uint64) << np.uint64(32)) | _to_ordered_bits(score)
    ordered = np.sort(keys)
    equal = ordered[1:] == ordered[:-1]
    tied = np.concatenate((equal, [False])) | np.concatenate(([False], equal))
    if not tied.any():
        return
    if not findings.wants(TIED_SCORES, int(batch.number.min())):
        findings.counts[TIED_SCORES] += int(tied.sum())
        return
    which = np.flatnonzero(is_among(keys, distinct(ordered[tied])))
    findings.add(
        TIED_SCORES,
        batch.number[which],
        lambda i: (
            f"document `{decode_id(batch.document, int(which[i]))}` of query "
            f"`{decode_id(batch.query, int(which[i]))}` shares the score {batch.value[which[i]]:g}"
        ),
    )


def _check_ranks(batch: Batch, rank: Floats, findings: Findings) -> None:
    """Report ranks that are not numbers, begin at 0, or contradict the scores."""
    bad = np.flatnonzero(np.isnan(rank))
    findings.add(RANK_NOT_A_NUMBER, batch.number[bad], lambda _: "the rank is not a number")
    zero = batch.starts[np.fmin.reduceat(rank, batch.starts) == 0]
    findings.add(
        RANKS_FROM_ZERO,
        batch.number[zero],
        lambda i: f"the ranks of query `{decode_id(batch.query, int(zero[i]))}` begin at 0",
    )
    later, earlier = _find_rises(batch, rank)
    findings.add(
        RANK_CONTRADICTS_SCORE,
        batch.number[later],
        lambda i: (
            f"rank {rank[later[i]]:g} has score {batch.value[later[i]]:g}, and rank {rank[earlier[i]]:g} of the "
            f"same query {batch.value[earlier[i]]:g}"
        ),
    )


def _find_rises(batch: Batch, rank: Floats) -> tuple[Ints, Ints]:
    """Return rows whose score is above that of the row with the next lower rank, and that row."""
    order = np.arange(len(batch))
    same_block = np.diff(batch.block) == 0
    if (same_block & ~(rank[1:] > rank[:-1])).any():  # some ranks do not grow from row to row
        order = _sort_by_rank(batch, rank)
        same_block = np.diff(batch.block[order]) == 0
    score = batch.compared[order]
    with np.errstate(invalid="ignore"):
        risen = same_block & (score[1:] > score[:-1]) & (rank[order[1:]] > rank[order[:-1]])
    later = np.flatnonzero(risen) + 1
    by_row = np.argsort(order[later])
    return order[later][by_row], order[later - 1][by_row]


def _sort_by_rank(batch: Batch, rank: Floats) -> Ints:
    """Return the rows by block, then rank, then score from the greatest."""
    if ((rank >= 0) & (rank < 2**32)).all():  # one sort of whole numbers, where no two ranks are equal
        keys = (batch.block.astype(np.uint64) << np.uint64(32)) | rank.astype(np.uint64)
        order = np.argsort(keys)
        if (np.diff(keys[order]) > 0).all() and (rank == np.floor(rank)).all():
            return order
    return np.lexsort((-batch.compared, rank, batch.block))


def _to_ordered_bits(score: NDArray[np.float32]) -> Words:
    """Return whole numbers in the order of the scores."""
    bits = score.view(np.uint32)
    negative = bits >> np.uint32(31) == 1
    return np.where(negative, ~bits, bits | np.uint32(0x80000000)).astype(np.uint64)


class Grades:
    """The grade of every judged pair of query and document, looked up by its key."""

    def __init__(self) -> None:
        self._keys: list[Words] = []
        self._grades: list[Floats] = []
        self._by_intent = False

    def add(self, batch: Batch) -> None:
        """Add judgments with finite grades."""
        self._keys.append(batch.keys)
        self._grades.append(batch.value)
        self._by_intent |= batch.intent is not None

    def close(self) -> None:
        """Prepare for `find`; of a document's grades for its intents the highest counts."""
        keys = np.concatenate([np.zeros(0, dtype=np.uint64), *self._keys])
        grades: Floats = np.concatenate([np.zeros(0), *self._grades])
        order = np.lexsort((grades, keys)) if self._by_intent else np.argsort(keys)
        if self._by_intent:
            order = order[np.append(np.diff(keys[order]) != 0, True)[: len(order)]]
        self.keys = Keys(keys[order])
        self.grades = grades[order]

    def find(self, keys: Words) -> tuple[Ints, Floats]:
        """Return which keys are judged, and their grades."""
        which, at = self.keys.find(keys)
        return which, self.grades[at]


@dataclass
class Inversion:
    """The judged documents that a run retrieved: do grades fall where scores rise?

    For each query the correlation of score ranks and grades is computed. If the order of the documents were a
    matter of chance, it would have mean 0 and variance 1/(n − 1) for n documents, for any grades; so
    the sum of all, each over its standard deviation, has a variance equal to the number of queries.
    """

    judged: Grades
    _query: list[Words] = field(default_factory=list)
    _score: list[Floats] = field(default_factory=list)
    _grade: list[Floats] = field(default_factory=list)

    def add(self, batch: Batch) -> None:
        """Take in the judged documents of a batch."""
        which, grade = self.judged.find(batch.keys)
        self._query.append(batch.query.hashes[which])
        self._score.append(batch.compared[which].astype(np.float64))
        self._grade.append(grade)

    def check(self, findings: Findings) -> None:
        """Add that the grades look inverted, if they do."""
        correlation, count = self._correlate()
        if len(correlation) < FEWEST_QUERIES:
            return
        deviation = float((correlation * np.sqrt(count - 1)).sum() / np.sqrt(len(correlation)))
        mean = float(correlation.mean())
        if deviation <= -STANDARD_ERRORS and mean <= CORRELATION:
            message = (
                f"the correlation of score and grade is {mean:.2f} on average over {len(correlation):,} queries, "
                f"{-deviation:.1f} standard errors below 0"
            )
            negative = int((correlation < 0).sum())
            findings.add_at(INVERTED_GRADES, Place(findings.file), message, count=negative)

    def _correlate(self) -> tuple[Floats, Floats]:
        """Return the correlation of score rank and grade of each query that counts, and its documents."""
        if not self._query:
            return np.zeros(0), np.zeros(0)
        query = np.concatenate(self._query)
        score: Floats = np.concatenate(self._score)
        grade: Floats = np.concatenate(self._grade)
        order = np.lexsort((score, query))
        _, group = np.unique(query[order], return_inverse=True)
        group = group.reshape(-1)
        rank, grade = _rank_with_ties(group, score[order]), grade[order]
        count = np.bincount(group).astype(np.float64)
        rank = rank - (np.bincount(group, rank) / count)[group]
        grade = grade - (np.bincount(group, grade) / count)[group]
        spread = np.bincount(group, rank**2) * np.bincount(group, grade**2)
        counts = (count >= FEWEST_DOCUMENTS) & (spread > 1e-12)
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = np.bincount(group, rank * grade) / np.sqrt(spread)
        return correlation[counts], count[counts]


def _rank_with_ties(group: Ints, score: Floats) -> Floats:
    """Return the rank of each score in its group, the mean rank for equal ones; scores are sorted."""
    place = np.arange(len(score), dtype=np.float64)
    if len(score) == 0:
        return place
    new = np.concatenate(([True], (group[1:] != group[:-1]) | (score[1:] != score[:-1])))
    tie = np.cumsum(new) - 1
    middle: Floats = (np.bincount(tie, place) / np.bincount(tie))[tie]
    return middle
