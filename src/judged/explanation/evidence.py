"""Evidence: what in a query's results, or in its judgments, makes a convention matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from judged.explanation.listing import Listing, Results, grades_of
from judged.explanation.stance import Convention, Stance
from judged.kernels.ranked.gains import grade_gains
from judged.protocol import Protocol
from judged.tables.judgments import Judgments
from judged.tables.run import Run

__all__ = ["Scene", "evidence"]

NAMED = 3
"""So many documents are named in a sentence."""

Moved: TypeAlias = tuple[str, float, int | None, int | None]
"""A judged document, its grade, and the rank that it has on either side; None: it is not in the list."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Where evidence is looked for: the inputs, and both sides."""

    judgments: Judgments
    run: Run
    first: Stance
    second: Stance


def evidence(scene: Scene, query: str, cause: Convention) -> str:
    """What makes the convention matter for the query, in words."""
    declared = Protocol.conventions().get(cause.name)
    if declared is not None and declared.affects == "queries":
        return declared.concerns
    if declared is not None and declared.affects == "ranks":
        return _moved(scene, query, cause)
    if cause.name in {"gain", "gains"}:
        return _worth(scene, query)
    if cause.name == "rel":
        return _threshold(scene, query, cause)
    if cause.name == "negative":
        below = sum(grade < 0 for grade in grades_of(scene.judgments, query).values())
        return f"{below:,} judged {'document has' if below == 1 else 'documents have'} a negative grade"
    first, second = cause.words
    return f"`{cause.name}` is {first} in one and {second} in the other"


def _moved(scene: Scene, query: str, cause: Convention) -> str:
    """The judged documents, of highest grade first, that stand elsewhere; with the scores that they share."""
    results = Results.of(scene.judgments, scene.run, query)
    for stance, value in ((scene.first, cause.second), (scene.second, cause.first)):
        sides = [
            results.under(each) for each in (stance.protocol, stance.protocol.replace(**{cause.name: value}))
        ]
        here, there = sides if stance is scene.first else sides[::-1]
        moved = _that_matter(_elsewhere(here, there), stance.measure.parameters.get("cutoff"))
        if moved:
            told = ", ".join(
                f"`{name}` (grade {grade:g}) {_ranks(*ranks)}" for name, grade, *ranks in moved[:NAMED]
            )
            more = f", and {len(moved) - NAMED:,} more" if len(moved) > NAMED else ""
            tied = _shared(here, there, moved[0][0]) if cause.name in {"ties", "precision"} else ""
            return f"{told}{more}{tied}"
    return "no judged document moves"


def _elsewhere(here: Listing, there: Listing) -> list[Moved]:
    """Judged documents with their grades and both ranks, where these differ; None: not in the list."""
    grade = {
        name: each
        for listing in (here, there)
        for name, each in zip(listing.documents, listing.grade, strict=True)
        if each is not None
    }
    first, second = (dict(zip(each.documents, each.rank.tolist(), strict=True)) for each in (here, there))
    moved = [(name, each, first.get(name), second.get(name)) for name, each in grade.items()]
    return [each for each in moved if each[2] != each[3]]


def _that_matter(moved: list[Moved], cutoff: object) -> list[Moved]:
    """Those that one side has within the cutoff, if there are any; relevant ones first, from the top down."""
    places = {each: min(rank for rank in each[2:] if rank is not None) for each in moved}
    near = [each for each in moved if isinstance(cutoff, int) and places[each] <= cutoff]
    return sorted(near or moved, key=lambda each: (each[1] <= 0, places[each]))


def _ranks(here: int | None, there: int | None) -> str:
    if here is None or there is None:
        return f"at rank {here or there} in one only"
    return f"at rank {here} or {there}"


def _shared(here: Listing, there: Listing, document: str) -> str:
    """How many results share the document's score, in the list where it is tied; different ones are named."""
    for listing in (here, there):
        at = listing.documents.index(document) if document in listing.documents else 0
        if document in listing.documents and listing.tied[at] > 1:
            scores = np.unique(listing.score[listing.above == listing.above[at]])[::-1]
            if len(scores) > 1:
                return f"; {scores[0]!s} and {scores[1]!s} are equal as 32-bit floats"
            return f"; {int(listing.tied[at])} results share the score {scores[0]:g}"
    return ""


def _worth(scene: Scene, query: str) -> str:
    """What each grade of the query is worth to either side."""
    grades = np.unique([each for each in grades_of(scene.judgments, query).values() if each > 0])[::-1]
    sides = []
    for stance in (scene.first, scene.second):
        given = stance.measure.parameters
        sides.append(grade_gains(grades, given.get("gain") or "linear", given.get("gains")).tolist())  # type: ignore[arg-type]
    triples = [each for each in zip(grades.tolist(), *sides, strict=True) if each[1] != each[2]]
    return ", ".join(f"grade {grade:g} is worth {first:g} or {second:g}" for grade, first, second in triples)


def _threshold(scene: Scene, query: str, cause: Convention) -> str:
    """How many judged documents are relevant to one side only."""
    least = [
        float(scene.first.protocol.rel if value is None else value) for value in (cause.first, cause.second)
    ]
    grades = grades_of(scene.judgments, query).values()
    many = sum(min(least) <= grade < max(least) for grade in grades)
    some = "document is" if many == 1 else "documents are"
    return f"{many:,} judged {some} relevant from grade {min(least):g} and not from {max(least):g}"
