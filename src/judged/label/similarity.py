"""Labels without any language model: similarity of query and text, calibrated on human grades."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from judged.agreements.api import agreement
from judged.agreements.grades import Graded, Grades, graded_of, read_grades
from judged.agreements.result import Agreement
from judged.errors import Unusable
from judged.io.read import read_labels
from judged.label.calibration import LEAST, Cuts, calibrate, cross_validated
from judged.label.embedding import Embedder, load_model
from judged.label.pool import Item
from judged.problem import Problem
from judged.stats.paired import Floats
from judged.tables.labels import Label, Labels

__all__ = ["SimilarityLabels", "similarities_of", "similarity_labels"]

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class SimilarityLabels:
    """Labels of the results that nobody graded, with how they were made and how far they can be trusted."""

    labels: Labels
    cuts: Cuts
    """From which similarity on each grade is given."""
    agreement: Agreement
    """With the human grades, each result labelled by cuts that its task had no part in."""
    model: str


def similarity_labels(
    items: Iterable[Item],
    *,
    calibration: Any,
    model: str | Path | Embedder | None = None,
    threshold: float = 2,
    folds: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
) -> SimilarityLabels:
    """Grades 0 to 4 of the items that `calibration` has no grade of, by the cosine of query and text.

    `calibration` holds human grades of some of the items, in whatever form `judged.read_labels` or
    `judged.read_judgments` takes. `model` is a folder, or anything with `name` and `embed`; by default the small model
    of the extra `similarity`. Every label says what made it.
    """
    pool = list(items)
    people = read_grades(calibration)
    places = [people.place_of(graded) for graded in _graded(pool)]
    known = [at for at, place in enumerate(places) if place is not None]
    if len(known) < LEAST:
        raise _too_few(people, len(known), len(pool))
    embedder = load_model(model) if model is None or isinstance(model, str | Path) else model
    similarity = similarities_of(pool, embedder, progress=progress)
    truth = [people.items[place].grade for place in places if place is not None]
    grades = _whole(truth, people)
    tasks = [people.items[place].task for place in places if place is not None]
    cuts = calibrate(similarity[known], grades)
    out_of_fold = cross_validated(similarity[known], grades, tasks, folds=folds, seed=seed)
    name = f"similarity {embedder.name}, calibrated on {len(known):,} grades of {people.name}"
    found = _agreement([pool[at] for at in known], grades, out_of_fold, name, people.name, threshold, seed)
    rest = [at for at, place in enumerate(places) if place is None]
    labels = _labels([pool[at] for at in rest], cuts.grades(similarity[rest]), labeller=name)
    return SimilarityLabels(Labels.from_rows(labels, name="similarity"), cuts, found, embedder.name)


def similarities_of(items: Sequence[Item], model: Embedder, *, progress: Progress | None = None) -> Floats:
    """The cosine of each item's query and its title and text; every different text is read once."""
    pairs = [(item.query, "\n".join(part for part in (item.title, item.text) if part)) for item in items]
    vectors: dict[str, Floats] = {}
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    for done, text in enumerate(texts, 1):
        vectors[text] = model.embed(text)
        if progress is not None:
            progress(done, len(texts))
    return np.array([float(vectors[query] @ vectors[text]) for query, text in pairs])


def _graded(items: Sequence[Item]) -> list[Graded]:
    """What each item is known by, as grades know it."""
    return [graded_of(label) for label in _labels(items, [0] * len(items))]


def _labels(items: Sequence[Item], gains: Iterable[int], *, labeller: str | None = None) -> tuple[Label, ...]:
    told = {} if labeller is None else {"labeller": labeller}
    rows = [{**item.row, "gain": int(gain), **told} for item, gain in zip(items, gains, strict=True)]
    return read_labels(rows).rows if rows else ()


def _whole(grades: Sequence[float], people: Grades) -> list[int]:
    """The human grades, which must be whole numbers of the scale."""
    strange = next((grade for grade in grades if grade not in range(5)), None)
    if strange is not None:
        told = f"holds the grade {strange}, expected whole numbers from 0 to 4"
        raise Unusable("the calibration", [Problem.error("bad-grades", people.name, told)])
    return [int(grade) for grade in grades]


def _too_few(people: Grades, known: int, items: int) -> Unusable:
    told = f"grades {known:,} of the {items:,} results, expected {LEAST} or more to find where grades begin"
    hint = "similarity says nothing of grades until people have graded some of the results; 200 to 400 are a good number"
    return Unusable("the calibration", [Problem.error("bad-grades", people.name, told)], hint=hint)


def _agreement(
    items: Sequence[Item],
    human: Sequence[int],
    machine: Iterable[int],
    name: str,
    people: str,
    threshold: float,
    seed: int,
) -> Agreement:
    labels = Labels.from_rows(_labels(items, machine), name=name)
    return agreement(labels, Labels.from_rows(_labels(items, human), name=people), threshold=threshold, seed=seed)
