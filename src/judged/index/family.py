"""The neighbour family: answers of a vector index, scored against exact neighbours by id and by distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from judged.arrays import Ints
from judged.errors import BadInput, BadMeasure
from judged.index.measures import NeighbourView
from judged.index.neighbours import IndexResults, Neighbours, find_repeats
from judged.measures.measure import Measure
from judged.problem import Note, Problem
from judged.protocol import BaseProtocol
from judged.scoring.alignment import Alignment
from judged.scoring.family import Family
from judged.tables.columns import to_strings
from judged.wording import counted


@dataclass(frozen=True, slots=True)
class NeighbourProtocol(BaseProtocol):
    """Nothing to choose: what differs between benchmarks is a parameter of the measures."""

    family: ClassVar[str] = "neighbour"

    subject: ClassVar[str] = "a protocol of neighbours"

    @property
    def heading(self) -> str:
        """Beginning of its line."""
        return "exact neighbours; repeated ids count once"


@dataclass(frozen=True, slots=True)
class NeighbourCounts:
    """Counts made while comparing answers with neighbours."""

    queries: int
    repeated: int = 0
    empty: int = 0

    def notes(self, protocol: NeighbourProtocol) -> tuple[Note, ...]:  # noqa: ARG002 - the same under every protocol
        """Return a note on repeated ids, and on queries without answers."""
        notes = []
        if self.repeated:
            message = f"{counted(self.repeated, 'answer')} repeated an id of the same query: counted once"
            notes.append(Note("repeated-answers", "warning", message))
        if self.empty:
            message = f"{counted(self.empty, 'query')} without any answer: scored 0"
            notes.append(Note("empty-answers", "warning", message))
        return tuple(notes)


def align_neighbours(
    truth: Neighbours, answers: IndexResults, protocol: NeighbourProtocol, measures: Sequence[Measure] = ()
) -> Alignment:
    """Return for every answer its place among the exact neighbours; raise errors for what cannot be compared."""
    if len(truth) != len(answers):
        got = f"answers to {len(answers):,} queries, expected {len(truth):,}, as {truth.name} has"
        raise BadInput(answers.name, [Problem.error("other-queries", "answers", got)])
    for measure in measures:
        check_depth(measure, truth)
    repeats = find_repeats(answers.ids)
    ids = np.where(repeats, -1, answers.ids)
    distance = None if answers.distances is None else np.where(ids < 0, np.inf, answers.distances)
    returned = (ids >= 0).sum(axis=1)
    view = NeighbourView(
        find_places(truth.ids, ids),
        distance,
        returned,
        truth.distances,
        (truth.ids >= 0).sum(axis=1),
        answers.seconds,
    )
    return Alignment(
        view,
        to_strings(map(str, range(len(truth)))),
        protocol,
        NeighbourCounts(len(truth), int(repeats.sum()), int((returned == 0).sum())),
        returned > 0,
        name=answers.name,
    )


def check_depth(measure: Measure, truth: Neighbours) -> None:
    """Raise `BadMeasure` for a cutoff that the known neighbours do not reach, unless there are no others."""
    cutoff = measure.parameters.get("cutoff")
    if isinstance(cutoff, int) and truth.depth < min(cutoff, truth.population):
        msg = f"{measure} looks at {cutoff} neighbours, and {truth.name} has {truth.depth} for each query"
        raise BadMeasure(msg, hint="compute deeper neighbours, or take a lower cutoff")


def find_places(known: Ints, ids: Ints) -> Ints:
    """Return for every id the column in which its row of `known` holds it, or −1.

    >>> find_places(np.array([[4, 2], [7, -1]]), np.array([[2, 4, 9], [7, -1, 4]])).tolist()
    [[1, 0, -1], [0, -1, -1]]
    """
    span = int(max(known.max(initial=0), ids.max(initial=0))) + 2
    rows = np.arange(len(known), dtype=np.int64)[:, None] * span
    order = np.argsort(known, axis=1)
    keys = (np.take_along_axis(known, order, axis=1) + 1 + rows).reshape(-1)
    wanted = (ids + 1 + rows).reshape(-1)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    is_neighbour = (keys[at] == wanted) & (ids.reshape(-1) >= 0)
    return np.where(is_neighbour, order.reshape(-1)[at], -1).reshape(ids.shape)


NEIGHBOUR = Family(
    name="neighbour",
    unit="query",
    protocol=NeighbourProtocol,
    view=NeighbourView,
    align=align_neighbours,
    default_measures=(
        'R(over="cutoff", tolerance=0)@10',
        'R(over="cutoff")@10',
        "R@10",
        "P@10",
        "RR",
    ),
    input_roles=("neighbours", "answers"),
)
"""Answers of a vector index, scored against exact neighbours."""
