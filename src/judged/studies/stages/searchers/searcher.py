"""The seam of searchers: how a study declares what searches the collection."""

from __future__ import annotations

import numpy as np

from judged.arrays import Floats, Ints
from judged.studies.stages.stage import Ranked, Searcher, StageFailed, StageSpec, Workshop
from judged.studies.stages.vectors import VectorSpace

RETRIEVAL = "retrieval"
"""The stage in which the collection is searched."""


class SearchSpec(StageSpec, frozen=True, kw_only=True):
    """A searcher as a study declares it."""

    stage: str = RETRIEVAL
    """The name under which it is timed."""

    def build(self, workshop: Workshop, space: VectorSpace | None) -> Searcher:
        """Return the searcher, ready for queries; `space` has the vectors of the system's encoder, if it has one."""
        raise NotImplementedError


def need_space(space: VectorSpace | None, searcher: str) -> VectorSpace:
    """Return the space; raise `StageFailed` if the system has no encoder."""
    if space is None:
        msg = f"`{searcher}` searches vectors, and the system has no encoder"
        raise StageFailed(msg, hint="add `encoder:` to the system")
    return space


def pick_best(scores: Floats, depth: int) -> Ints:
    """Return the rows of the highest scores, best first; of equal ones the first.

    >>> pick_best(np.array([0.5, 2.0, 0.5, 3.0, 0.5]), 3).tolist()
    [3, 1, 0]
    """
    if depth < len(scores):
        least = np.partition(scores, len(scores) - depth)[len(scores) - depth]
        above, equal = np.flatnonzero(scores > least), np.flatnonzero(scores == least)
        rows = np.concatenate((above, equal[: depth - len(above)]))
    else:
        rows = np.arange(len(scores))
    best: Ints = rows[np.lexsort((rows, -scores[rows]))]
    return best


def rank_rows(workshop: Workshop, rows: Ints, scores: Floats) -> Ranked:
    """Return rows of the collection, in their order, as ranked documents."""
    documents = workshop.collection.documents
    return Ranked(tuple(documents[row] for row in rows.tolist()), tuple(scores.tolist()))
