"""What a system answered: the best documents of every query with their scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DEPTH", "Retrieved", "best"]

DEPTH = 100
"""How many documents a system returns for a query."""


@dataclass(frozen=True, eq=False)
class Retrieved:
    """Row `q` holds the places of the documents of query `q`, best first, and their scores.

    A place of -1 stands for nothing: the system had fewer answers.
    """

    system: str
    places: NDArray[np.int64]
    scores: NDArray[np.float64]


def best(system: str, scores: NDArray[np.floating[Any]], *, depth: int = DEPTH) -> Retrieved:
    """The `depth` documents of the highest positive scores of every row, equal ones in their order.

    >>> best("example", np.array([[0.5, 0.0, 2.0]]), depth=2).places
    array([[2, 0]])
    """
    rounded = scores.astype(np.float64).round(6)  # as they are written to the file
    places = np.argsort(-rounded, axis=1, kind="stable")[:, :depth]
    kept: NDArray[np.float64] = np.take_along_axis(rounded, places, axis=1)
    return Retrieved(system, np.where(kept > 0, places, -1), kept)
