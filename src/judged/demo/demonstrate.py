"""The demonstration from end to end: collect, retrieve, score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from judged.demo import bm25, fusion, lsa
from judged.demo.collection import Collection, build
from judged.demo.docstrings import entries
from judged.demo.retrieved import Retrieved
from judged.engine.evaluate import evaluate
from judged.engine.evaluation import Evaluation
from judged.errors import JudgedError
from judged.tables.judgments import Judgments
from judged.tables.run import Run

__all__ = ["MEASURES", "Demonstration", "demonstrate"]

MEASURES = ("nDCG@10", "RR(rel=3)", "Success(rel=3)@1", "R@100", "DR@20")
"""Grades 1 and 2 are neighbours of the answer, so measures of finding it ask for grade 3."""


@dataclass(frozen=True, eq=False)
class Demonstration:
    """A collection, what each system retrieved from it, and how each scored."""

    collection: Collection
    judgments: Judgments
    runs: tuple[Run, ...]
    evaluations: tuple[Evaluation, ...]


def demonstrate(*, limit: int | None = None, tell: Callable[[str], None] = lambda _: None) -> Demonstration:
    """Collect, retrieve and score, telling each step before it is taken."""
    bm25.engine()  # what is missing is better said now than after the work
    tell("reading the docstrings of the standard library")
    collection = build(entries(), limit=limit)
    if not collection.queries:
        msg = "this Python carries no docstrings to build a collection from"
        raise JudgedError(msg, hint="start it without `-OO` and without PYTHONOPTIMIZE=2")
    tell(f"{len(collection.documents):,} documents, {len(collection.queries):,} queries")
    runs = tuple(_run(collection, each) for each in _retrieve(collection, tell))
    tell(f"scoring {len(runs)} runs")
    judgments = _judgments(collection)
    scored = tuple(evaluate(judgments, run, MEASURES) for run in runs)
    return Demonstration(collection, judgments, runs, scored)


def _retrieve(collection: Collection, tell: Callable[[str], None]) -> list[Retrieved]:
    documents = [document.text for document in collection.documents]
    queries = [query.text for query in collection.queries]
    tell("retrieving: bm25 (shared words)")
    words = bm25.retrieve(documents, queries)
    tell("retrieving: lsa (vectors of 200 dimensions)")
    vectors = lsa.retrieve(documents, queries)
    tell("retrieving: fusion (reciprocal ranks of both)")
    return [words, vectors, fusion.fuse([words, vectors], documents=len(documents))]


def _run(collection: Collection, retrieved: Retrieved) -> Run:
    """The answers of one system as a table, without the places that stand for nothing."""
    row, column = np.nonzero(retrieved.places >= 0)
    places = retrieved.places[row, column].tolist()
    return Run.from_columns(
        [collection.queries[number].name for number in row.tolist()],
        [collection.documents[place].name for place in places],
        retrieved.scores[row, column],
        name=retrieved.system,
    )


def _judgments(collection: Collection) -> Judgments:
    grades = collection.grades
    return Judgments.from_columns(
        [each.query for each in grades],
        [each.document for each in grades],
        [each.grade for each in grades],
        [each.target for each in grades],
        name="judgments of the demonstration",
    )
