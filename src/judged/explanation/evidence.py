"""Evidence: what in the results of a query, or in its judgments, makes a convention matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from judged.explanation.lists import QueryResults, RankedList, query_grades
from judged.explanation.scoring_rule import RuleDifference, ScoringRule
from judged.kernels.ranked.gains import grade_gains
from judged.protocol import Protocol
from judged.tables.judgments import Judgments
from judged.tables.run import Run

MAX_NAMED = 3
"""The number of documents named in a sentence."""


class Moved(NamedTuple):
    """A judged document with its rank in both lists; None if a list lacks it."""

    document: str
    grade: float
    first: int | None
    second: int | None

    @property
    def best_rank(self) -> int:
        """The higher of the two ranks."""
        return min(rank for rank in (self.first, self.second) if rank is not None)

    def __str__(self) -> str:
        where = f"{self.first} or {self.second}"
        if self.first is None or self.second is None:
            where = f"{self.first or self.second} in one only"
        return f"`{self.document}` (grade {self.grade:g}) at rank {where}"


@dataclass(frozen=True, eq=False)
class Evidence:
    """The inputs and both rules, in which evidence is found."""

    judgments: Judgments
    run: Run
    first: ScoringRule
    second: ScoringRule

    def describe(self, query: str, cause: RuleDifference) -> str:
        """Say what makes the convention matter for the query."""
        declared = Protocol.conventions().get(cause.name)
        if declared is not None and declared.affects == "queries":
            return declared.concerns
        if declared is not None and declared.affects == "ranks":
            return self._describe_ranks(query, cause)
        if cause.name in {"gain", "gains"}:
            return self._describe_gains(query)
        if cause.name == "rel":
            return self._describe_threshold(query, cause)
        if cause.name == "negative":
            below = sum(grade < 0 for grade in query_grades(self.judgments, query).values())
            return f"{below:,} judged {'document has' if below == 1 else 'documents have'} a negative grade"
        first, second = cause.words
        return f"`{cause.name}` is {first} in one and {second} in the other"

    def _describe_ranks(self, query: str, cause: RuleDifference) -> str:
        """Name the judged documents that change their rank, and the scores that they share."""
        results = QueryResults.find(self.judgments, self.run, query)
        for rule, value in ((self.first, cause.second), (self.second, cause.first)):
            changed = rule.protocol.replace(**{cause.name: value})
            lists = [results.rank(protocol) for protocol in (rule.protocol, changed)]
            here, there = lists if rule is self.first else lists[::-1]
            moved = _sort_moved(_find_moved(here, there), rule.measure.parameters.get("cutoff"))
            if moved:
                named = ", ".join(map(str, moved[:MAX_NAMED]))
                more = f", and {len(moved) - MAX_NAMED:,} more" if len(moved) > MAX_NAMED else ""
                tied = (
                    _describe_tie(here, there, moved[0].document)
                    if cause.name in {"ties", "precision"}
                    else ""
                )
                return f"{named}{more}{tied}"
        # an average over orders has no order in which a document could have moved
        return self._describe_tied_grades(results) if cause.name == "ties" else "no judged document moves"

    def _describe_tied_grades(self, results: QueryResults) -> str:
        """Name the documents of different grades that share a score, whose orders are averaged or chosen by grade."""
        ranked = results.rank(self.first.protocol.replace(depth=None))
        for above in np.unique(ranked.above[ranked.tied > 1]).tolist():
            at = np.flatnonzero(ranked.above == above)
            grades = {ranked.documents[i]: ranked.grade[i] or 0 for i in at.tolist()}
            if len(set(grades.values())) > 1:
                by_grade = sorted(grades, key=lambda document: -grades[document])[:MAX_NAMED]
                named = ", ".join(f"`{document}` (grade {grades[document]:g})" for document in by_grade)
                more = f", and {len(at) - MAX_NAMED:,} more" if len(at) > MAX_NAMED else ""
                return f"{named}{more} share the score {ranked.score[at[0]]:g}"
        return "no judged document moves"

    def _describe_gains(self, query: str) -> str:
        """Say what every grade of the query is worth under both rules."""
        grades = np.unique([grade for grade in query_grades(self.judgments, query).values() if grade > 0])[
            ::-1
        ]
        sides = []
        for rule in (self.first, self.second):
            given = rule.measure.parameters
            sides.append(grade_gains(grades, given.get("gain") or "linear", given.get("gains")).tolist())  # type: ignore[arg-type]
        rows = [row for row in zip(grades.tolist(), *sides, strict=True) if row[1] != row[2]]
        return ", ".join(f"grade {grade:g} is worth {first:g} or {second:g}" for grade, first, second in rows)

    def _describe_threshold(self, query: str, cause: RuleDifference) -> str:
        """Count the judged documents that are relevant under one rule only."""
        least = [
            float(self.first.protocol.rel if value is None else value)
            for value in (cause.first, cause.second)
        ]
        grades = query_grades(self.judgments, query).values()
        count = sum(min(least) <= grade < max(least) for grade in grades)
        some = "document is" if count == 1 else "documents are"
        return f"{count:,} judged {some} relevant from grade {min(least):g} and not from {max(least):g}"


def _find_moved(here: RankedList, there: RankedList) -> list[Moved]:
    """Return the judged documents whose ranks differ in two lists."""
    grades = {
        name: grade
        for ranked in (here, there)
        for name, grade in zip(ranked.documents, ranked.grade, strict=True)
        if grade is not None
    }
    first, second = (
        dict(zip(ranked.documents, ranked.rank.tolist(), strict=True)) for ranked in (here, there)
    )
    moved = [Moved(name, grade, first.get(name), second.get(name)) for name, grade in grades.items()]
    return [document for document in moved if document.first != document.second]


def _sort_moved(moved: list[Moved], cutoff: object) -> list[Moved]:
    """Return the documents within the cutoff, or all if there are none; relevant ones first, by rank."""
    near = [document for document in moved if isinstance(cutoff, int) and document.best_rank <= cutoff]
    return sorted(near or moved, key=lambda document: (document.grade <= 0, document.best_rank))


def _describe_tie(here: RankedList, there: RankedList, document: str) -> str:
    """Count the results that share the document's score, in the list where it is tied; name different scores."""
    for ranked in (here, there):
        at = ranked.documents.index(document) if document in ranked.documents else 0
        if document in ranked.documents and ranked.tied[at] > 1:
            scores = np.unique(ranked.score[ranked.above == ranked.above[at]])[::-1]
            if len(scores) > 1:
                return f"; {scores[0]!s} and {scores[1]!s} are equal as 32-bit floats"
            return f"; {int(ranked.tied[at])} results share the score {scores[0]:g}"
    return ""
