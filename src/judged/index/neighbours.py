"""Neighbours: the exact nearest vectors of every query, with their distances, and what an index answered instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.errors import BadInput
from judged.problem import Problem
from judged.tables.judgments import Judgments
from judged.tables.run import Run
from judged.tables.timings import Timings


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The nearest vectors of every query: a row for each query, nearest first; −1 fills rows that are shorter.

    As judgments, every neighbour has grade 1; distances are kept separately.

    >>> truth = Neighbours(np.array([[7, 3], [5, 1]]), np.array([[0.1, 0.2], [0.0, 0.5]]), population=10)
    >>> truth.to_judgments().table["document"].to_pylist()
    ['7', '3', '5', '1']
    """

    ids: Ints
    distances: Floats
    """Ascending in every row: Euclidean, 1 − cosine, −inner product, or the number of bits that differ."""
    population: int
    """Number of vectors to choose from; rows of that length are complete."""
    name: str = "exact neighbours"

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", np.asarray(self.ids, dtype=np.int64))
        object.__setattr__(self, "distances", np.asarray(self.distances, dtype=np.float64))
        if self.ids.ndim != 2 or self.ids.shape != self.distances.shape:
            got = f"ids have shape {self.ids.shape} and distances {self.distances.shape}, expected the same, with a row for each query"
            raise BadInput(self.name, [Problem.error("bad-matrix", "matrix", got)])
        if not self.ids.size:
            message = f"{len(self.ids):,} queries with {self.ids.shape[1]:,} neighbours each, expected at least one of both"
            raise BadInput(self.name, [Problem.error("empty", "matrix", message)])

    @property
    def depth(self) -> int:
        """Maximum number of neighbours of a query."""
        return int(self.ids.shape[1])

    def __len__(self) -> int:
        return len(self.ids)

    def to_judgments(self) -> Judgments:
        """Return the neighbours as judgments of grade 1; queries are called "0", "1", … by row."""
        return Judgments.from_matrix(self.ids, name=self.name)


@dataclass(frozen=True, eq=False)
class IndexResults:
    """Answers of an index to every query, in its order; −1 fills rows that are shorter."""

    family: ClassVar[str] = "neighbour"
    """The measures that score this table."""

    ids: Ints
    distances: Floats | None = None
    """The exact distance of every answer, which distance-aware measures need; infinite where there is none."""
    seconds: Floats | None = None
    """Latency of each query."""
    name: str = "index"

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", np.asarray(self.ids, dtype=np.int64))
        for field in ("distances", "seconds"):
            if getattr(self, field) is not None:
                object.__setattr__(self, field, np.asarray(getattr(self, field), dtype=np.float64))

    def __len__(self) -> int:
        return len(self.ids)

    def to_run(self) -> Run:
        """Return the answers as a run, scored by rank; repeated ids are left out after the first."""
        ids = np.where(find_repeats(self.ids), -1, self.ids)
        return Run.from_matrix(ids, name=self.name)

    def to_timings(self) -> Timings:
        """Return the time of every query."""
        seconds = np.zeros(0) if self.seconds is None else self.seconds
        queries = [str(number) for number in range(len(seconds))]
        return Timings.from_columns([self.name] * len(seconds), seconds, query=queries, name=self.name)


def find_repeats(ids: Ints) -> Flags:
    """Return which cells of a matrix repeat an id that is further left in their row; −1 repeats nothing.

    >>> find_repeats(np.array([[4, 2, 4], [-1, -1, 0]])).tolist()
    [[False, False, True], [False, False, False]]
    """
    repeats = np.zeros(ids.shape, dtype=bool)
    ordered = np.sort(ids, axis=1)
    suspect = np.flatnonzero(((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1))
    for row in suspect.tolist():
        _, first = np.unique(ids[row], return_index=True)
        repeats[row] = ids[row] >= 0
        repeats[row, first] = False
    return repeats
