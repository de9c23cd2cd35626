"""Matrices of ids: a row for each query, best first, as vector indexes return them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.errors import BadInput
from judged.problem import Locate, Place, Problem

__all__ = ["Grid", "matrix_columns"]

Ints: TypeAlias = NDArray[np.int64]
Grid: TypeAlias = tuple[pa.Array, Any, NDArray[np.float64], tuple[str, ...], Locate]


def matrix_columns(ids: Any, scores: Any = None, *, subject: str) -> Grid:
    """Query, document and score of every cell that is no padding, notes, and the place of each row.

    Queries are called "0", "1", … by row; without scores, cells score −1, −2, … from the left. Negative
    whole numbers are padding, as vector indexes fill rows that have too few answers.
    """
    matrix = _matrix(ids, "ids", subject)
    _refuse_wrong_cells(matrix, subject)
    rows, width = matrix.shape
    kept = _cells(matrix)
    row, column = np.divmod(kept, max(width, 1))
    values = -(column + 1.0) if scores is None else _scores(scores, matrix.shape, subject)[kept]
    dropped = matrix.size - len(kept)
    notes = (f"{dropped:,} negative ids of the matrix are padding: left out",) if dropped else ()
    names = pa.array(np.arange(rows)).cast(pa.large_string()).take(pa.array(row))
    documents = matrix.reshape(-1)[kept]
    return (
        names,
        _documents(documents),
        values,
        notes,
        lambda at: Place(f"row {row[at]}, column {column[at]}"),
    )


def _matrix(values: Any, what: str, subject: str) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 2:
        got = f"{what} have shape {array.shape}, expected a matrix with a row for each query"
        raise BadInput(subject, [Problem.error("bad-matrix", "matrix", got)])
    return array


def _refuse_wrong_cells(matrix: NDArray[Any], subject: str) -> None:
    if matrix.dtype.kind not in "iuUTO":
        got = f"ids are {matrix.dtype}, expected whole numbers or text"
        hint = "cast them: `ids.astype(int)`" if matrix.dtype.kind == "f" else None
        raise BadInput(subject, [Problem.error("bad-matrix", "matrix", got)], hint=hint)


def _cells(matrix: NDArray[Any]) -> Ints:
    """The numbers of the cells that hold ids, row by row."""
    if matrix.dtype.kind == "i":
        return np.flatnonzero(matrix.reshape(-1) >= 0)
    return np.arange(matrix.size)


def _scores(scores: Any, shape: tuple[int, ...], subject: str) -> NDArray[np.float64]:
    matrix = _matrix(scores, "scores", subject)
    if matrix.shape != shape:
        got = f"ids have shape {shape} and scores {matrix.shape}, expected the same"
        raise BadInput(subject, [Problem.error("bad-matrix", "matrix", got)])
    if matrix.dtype.kind not in "iufb":
        raise BadInput(
            subject, [Problem.error("bad-matrix", "matrix", f"scores are {matrix.dtype}, expected numbers")]
        )
    return matrix.reshape(-1).astype(np.float64)


def _documents(cells: NDArray[Any]) -> Any:
    """Whole numbers as decimal text: rows of a matrix are called by number, so no note is due."""
    if cells.dtype.kind in "iu":
        return pa.array(cells).cast(pa.large_string())
    return cells.tolist()
