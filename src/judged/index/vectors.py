"""Vectors: rows of numbers of one length, with whole-number attributes by which they may be filtered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Ints
from judged.errors import BadInput
from judged.index.engine import VectorArray
from judged.problem import Locate, Problem, Problems, locate_row
from judged.store.hashing import hash_parts


@dataclass(frozen=True, eq=False)
class Vectors:
    """A matrix of finite 32-bit floats, a row for each vector; or of bits packed into bytes.

    Make one with `from_array`, or read one with `judged.index.vector_files.read_vectors`.
    """

    array: VectorArray
    attributes: Mapping[str, Ints] = field(default_factory=dict)
    name: str = "vectors"
    bits: int = 0
    """The number of bits of each vector, where they are packed; 0: numbers."""

    @classmethod
    def from_array(
        cls,
        array: object,
        *,
        attributes: Mapping[str, object] | None = None,
        name: str = "vectors",
        locate: Locate = locate_row,
    ) -> Vectors:
        """Return vectors of anything that NumPy reads as a matrix; every row without finite numbers is an error.

        >>> Vectors.from_array([[1, 2], [3, 4]]).array.dtype
        dtype('float32')
        """
        matrix = np.asarray(array)
        if matrix.ndim != 2 or not matrix.size or matrix.dtype.kind not in "fiub":
            got = f"{matrix.dtype} of shape {matrix.shape}, expected numbers, with a row for each vector"
            raise BadInput(name, [Problem.error("bad-matrix", "vectors", got)])
        if matrix.dtype == bool:
            packed = np.packbits(matrix, axis=1)
            return cls(packed, _check_attributes(attributes, len(matrix), name), name, matrix.shape[1])
        with np.errstate(over="ignore"):
            floats = np.ascontiguousarray(matrix, dtype=np.float32)
        problems = Problems(name, locate)
        bad = np.flatnonzero(~np.isfinite(floats).all(axis=1))
        problems.add_rows(
            "not-finite", bad, lambda row: f"{_first_bad(floats[row])}, expected finite 32-bit floats"
        )
        problems.raise_if_any()
        return cls(floats, _check_attributes(attributes, len(matrix), name), name)

    def __len__(self) -> int:
        return len(self.array)

    def __repr__(self) -> str:
        return f"Vectors({self.name}: {len(self):,} of {self.dimensions} {'bits' if self.bits else 'dimensions'})"

    @property
    def dimensions(self) -> int:
        """Number of dimensions of a vector, in bits if it is binary."""
        return self.bits or int(self.array.shape[1])

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the vectors and their attributes."""
        named = [(f"{self.array.dtype} {self.array.shape}", self.array), *sorted(self.attributes.items())]
        parts = ((name.encode(), np.ascontiguousarray(array).data) for name, array in named)
        return hash_parts(chain.from_iterable(parts)).hex()

    def normalise(self) -> Vectors:
        """Return the vectors at length 1; a vector of zeros has no direction, and is an error."""
        lengths = np.linalg.norm(self.array.astype(np.float64, copy=False), axis=1)
        problems = Problems(self.name)
        zeros = np.flatnonzero(lengths == 0)
        problems.add_rows("zero-vector", zeros, lambda _: "all zeros, which have no cosine distance")
        problems.raise_if_any(hint="leave these vectors out, or choose another metric")
        array = (self.array / lengths[:, None]).astype(np.float32)
        return Vectors(array, self.attributes, self.name)


def _first_bad(row: NDArray[np.float32]) -> str:
    at = int(np.flatnonzero(~np.isfinite(row))[0])
    return f"dimension {at} is {row[at]}"


def _check_attributes(attributes: Mapping[str, object] | None, rows: int, name: str) -> dict[str, Ints]:
    columns = {}
    for field_name, values in (attributes or {}).items():
        column = np.asarray(values)
        if column.shape != (rows,) or column.dtype.kind not in "iub":
            got = f"{column.dtype} of shape {column.shape}, expected {rows:,} whole numbers"
            raise BadInput(name, [Problem.error("bad-attribute", f"attribute `{field_name}`", got)])
        columns[field_name] = column.astype(np.int64)
    return columns
