"""The test collection: documents, queries with known answers, and graded judgments."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from judged.demo.docstrings import Entry

__all__ = ["Collection", "Document", "Grade", "Query", "build"]

SHORTEST_TEXT = 40
"""Characters below which the rest of a docstring says too little to be found by."""
SHORTEST_QUERY = 15
LONGEST_QUERY = 200
FEWEST_WORDS = 3

ANSWER, OVERRIDE, NEIGHBOUR = 3, 2, 1

_SIGNATURE = re.compile(r"^[\w.]+\s*\(|->|^[\w.]+: ")
"""What the first line of a docstring looks like when it shows a call rather than saying something."""


@dataclass(frozen=True, slots=True)
class Document:
    """One name of one object, with all of its documentation but the summary."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """A summary, asked as a question."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Grade:
    """How well a document answers a query, and the object that it is a name of."""

    query: str
    document: str
    grade: int
    target: str


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents, queries and judgments that belong together."""

    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    grades: tuple[Grade, ...]


def build(entries: Iterable[Entry], *, limit: int | None = None) -> Collection:
    """The collection of these objects, with at most `limit` queries, taken evenly."""
    told = [entry for entry in entries if len(entry.text) >= SHORTEST_TEXT]
    answers = defaultdict(list)
    for entry in told:
        if _asks(entry):
            answers[entry.summary].append(entry)
    asked = _evenly(sorted(answers), limit)
    graph = _Neighbourhood(told)
    queries, grades = [], []
    for number, text in enumerate(asked, start=1):
        query = Query(f"q{number:04}", text)
        queries.append(query)
        grades += graph.grades(query.name, answers[text])
    documents = [Document(name, entry.text) for entry in told for name in entry.names]
    return Collection(tuple(documents), tuple(queries), tuple(grades))


class _Neighbourhood:
    """Who overrides whom, and who belongs to the same class."""

    def __init__(self, told: list[Entry]) -> None:
        self.entry = {entry.name: entry for entry in told}
        self.members: dict[str, list[str]] = defaultdict(list)
        self.overrides: dict[str, set[str]] = defaultdict(set)
        for entry in told:
            if entry.owner is not None:
                self.members[entry.owner].append(entry.name)
            for other in entry.relatives & self.entry.keys():
                self.overrides[entry.name].add(other)
                self.overrides[other].add(entry.name)

    def grades(self, query: str, answers: list[Entry]) -> list[Grade]:
        """Every document that answers or is near an answer, the best grade of each, under all its names."""
        best: dict[str, int] = {}
        for answer in answers:
            for grade, names in (
                (ANSWER, [answer.name]),
                (OVERRIDE, self.overrides[answer.name]),
                (NEIGHBOUR, self._class_of(answer)),
            ):
                for name in names:
                    best[name] = max(grade, best.get(name, 0))
        return [
            Grade(query, document, grade, name)
            for name, grade in sorted(best.items())
            for document in self.entry[name].names
        ]

    def _class_of(self, entry: Entry) -> list[str]:
        """The class of a method with its other methods, or the methods of a class."""
        owner = entry.owner or entry.name
        return [name for name in (owner, *self.members[owner]) if name in self.entry]


def _asks(entry: Entry) -> bool:
    """Whether the summary is a sentence that someone could ask with, and that its text does not repeat."""
    summary = entry.summary
    sized = SHORTEST_QUERY <= len(summary) <= LONGEST_QUERY and len(summary.split()) >= FEWEST_WORDS
    repeated = summary.rstrip(".").lower() in " ".join(entry.text.split()).lower()
    return sized and not repeated and _SIGNATURE.search(summary) is None


def _evenly(texts: list[str], limit: int | None) -> list[str]:
    if limit is None or limit >= len(texts):
        return texts
    return [texts[place * len(texts) // limit] for place in range(limit)]
