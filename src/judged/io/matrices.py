"""NumPy matrices of ids, alone or with a matrix of scores, as vector indexes return them."""

from __future__ import annotations

from typing import Any

import numpy as np

from judged.errors import WrongKind
from judged.tables.judgments import Judgments
from judged.tables.run import Run

__all__ = ["is_matrix", "is_pair", "read_judgments", "read_run"]


def is_matrix(source: Any) -> bool:
    """Whether this is an array of NumPy's or of a library that shares its memory (DLPack)."""
    return isinstance(source, np.ndarray) or hasattr(type(source), "__dlpack__")


def is_pair(source: Any) -> bool:
    """Whether this is a pair (ids, scores) of matrices."""
    return isinstance(source, tuple) and len(source) == 2 and all(is_matrix(each) for each in source)


def read_judgments(source: Any, *, name: str, intents: bool = False) -> Judgments:  # noqa: ARG001
    """Judgments of a matrix of relevant ids."""
    if is_pair(source):
        msg = "judgments are a pair of matrices, expected one matrix of relevant ids"
        raise WrongKind(msg, hint="give grades as a dict of dicts or as a data frame")
    return Judgments.from_matrix(source, name=name)


def read_run(source: Any, *, name: str) -> Run:
    """A run of a matrix of ids, best first, or of ids and their scores."""
    ids, scores = source if is_pair(source) else (source, None)
    return Run.from_matrix(ids, scores, name=name)
