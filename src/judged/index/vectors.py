"""Vectors: rows of numbers of one length, with attributes by which they may be filtered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Flags, Ints
from judged.errors import BadInput
from judged.index.engine import VectorArray
from judged.problem import Locate, Problem, Problems, locate_row
from judged.store.hashing import hash_parts


@dataclass(frozen=True, eq=False)
class Tags:
    """Lists of tags, one for each vector: places among the values, cut by offsets."""

    values: NDArray[np.str_]
    """Every tag, in order."""
    places: Ints
    offsets: Ints

    @classmethod
    def from_lists(cls, lists: Sequence[Sequence[str]]) -> Tags:
        """Return the tags of lists.

        >>> Tags.from_lists([["new", "red"], [], ["red"]]).has(1).tolist()
        [True, False, True]
        """
        flat = np.array([tag for tags in lists for tag in tags], dtype=np.str_)
        values, places = np.unique(flat, return_inverse=True)
        offsets = np.cumsum([0, *map(len, lists)])
        return cls(values, places.astype(np.int64), offsets.astype(np.int64))

    def has(self, place: int) -> Flags:
        """Return which rows have the tag at a place of the values."""
        found = np.zeros(len(self.offsets) - 1, dtype=bool)
        found[np.searchsorted(self.offsets, np.flatnonzero(self.places == place), side="right") - 1] = True
        return found

    def take(self, rows: Ints | Flags | slice) -> Tags:
        """Return the tags of some rows."""
        chosen = np.arange(len(self.offsets) - 1)[rows]
        parts = [self.places[self.offsets[row] : self.offsets[row + 1]] for row in chosen.tolist()]
        offsets = np.cumsum([0, *map(len, parts)]).astype(np.int64)
        return replace(self, places=np.concatenate([np.zeros(0, np.int64), *parts]), offsets=offsets)


@dataclass(frozen=True, eq=False)
class Vectors:
    """A matrix of finite 32-bit floats, a row for each vector; or of bits packed into bytes.

    Make one with `from_array`, or read one with `judged.index.files.vectors.read_vectors`.
    """

    array: VectorArray
    attributes: Mapping[str, Ints] = field(default_factory=dict)
    name: str = "vectors"
    bits: int = 0
    """The number of bits of each vector, where they are packed; 0: numbers."""
    values: Mapping[str, NDArray[np.generic]] = field(default_factory=dict)
    """The values, in order, of attributes that are texts or fractions: the column has their places."""
    tags: Mapping[str, Tags] = field(default_factory=dict)
    """Attributes of which a vector has several."""

    @classmethod
    def from_array(
        cls,
        array: object,
        *,
        attributes: Mapping[str, object] | None = None,
        name: str = "vectors",
        locate: Locate = locate_row,
        packed: bool = False,
    ) -> Vectors:
        """Return vectors of anything that NumPy reads as a matrix; every row without finite numbers is an error.

        `packed` takes bytes for eight bits each.

        >>> Vectors.from_array([[1, 2], [3, 4]]).array.dtype
        dtype('float32')
        """
        matrix = np.asarray(array)
        if matrix.ndim != 2 or not matrix.size or matrix.dtype.kind not in "fiub":
            got = f"{matrix.dtype} of shape {matrix.shape}, expected numbers, with a row for each vector"
            raise BadInput(name, [Problem.error("bad-matrix", "vectors", got)])
        columns, values, tags = _encode(attributes, len(matrix), name)
        if matrix.dtype == bool:
            return cls(np.packbits(matrix, axis=1), columns, name, matrix.shape[1], values, tags)
        if packed:
            if matrix.dtype.kind not in "iu" or matrix.min() < 0 or matrix.max() > 255:
                got = (
                    f"{matrix.dtype} from {matrix.min()} to {matrix.max()}, expected bytes of eight bits each"
                )
                raise BadInput(name, [Problem.error("bad-matrix", "vectors", got)])
            return cls(matrix.astype(np.uint8), columns, name, 8 * matrix.shape[1], values, tags)
        with np.errstate(over="ignore"):
            floats = np.ascontiguousarray(matrix, dtype=np.float32)
        problems = Problems(name, locate)
        bad = np.flatnonzero(~np.isfinite(floats).all(axis=1))
        problems.add_rows(
            "not-finite", bad, lambda row: f"{_first_bad(floats[row])}, expected finite 32-bit floats"
        )
        problems.raise_if_any()
        return cls(floats, columns, name, 0, values, tags)

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
        named: list[tuple[str, NDArray[np.generic]]] = [
            (f"{self.array.dtype} {self.array.shape}", self.array),
            *sorted(self.attributes.items()),
        ]
        named += [(f"values of {name}", values) for name, values in sorted(self.values.items())]
        for name, tags in sorted(self.tags.items()):
            named += [(f"tags of {name}", part) for part in (tags.values, tags.places, tags.offsets)]
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
        return replace(self, array=array)

    def take(self, rows: Ints | Flags | slice) -> Vectors:
        """Return some of the vectors, with their attributes."""
        return replace(
            self,
            array=np.ascontiguousarray(self.array[rows]),
            attributes={name: column[rows] for name, column in self.attributes.items()},
            tags={name: tags.take(rows) for name, tags in self.tags.items()},
        )


def _first_bad(row: NDArray[np.float32]) -> str:
    at = int(np.flatnonzero(~np.isfinite(row))[0])
    return f"dimension {at} is {row[at]}"


def _encode(
    attributes: Mapping[str, object] | None, rows: int, name: str
) -> tuple[dict[str, Ints], dict[str, NDArray[np.generic]], dict[str, Tags]]:
    """Return columns of whole numbers, the values that they stand for, and tags."""
    columns, values, tags = dict[str, Ints](), dict[str, NDArray[np.generic]](), dict[str, Tags]()
    for field_name, given in (attributes or {}).items():
        column, known, listed = _encode_one(field_name, given, rows, name)
        if column is not None:
            columns[field_name] = column
        if known is not None:
            values[field_name] = known
        if listed is not None:
            tags[field_name] = listed
    return columns, values, tags


def _encode_one(
    name: str, given: object, rows: int, source: str
) -> tuple[Ints | None, NDArray[np.generic] | None, Tags | None]:
    """Return a column of whole numbers, the values that they stand for, or the tags of rows that have several each."""
    listed = list(given) if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) else []
    if listed and all(isinstance(item, list | tuple | set | np.ndarray) for item in listed):
        tags = Tags.from_lists([[str(tag) for tag in item] for item in listed])
        if len(listed) == rows:
            return None, None, tags
    try:
        values = np.asarray(given)
    except ValueError:  # rows of several lengths
        values = np.empty(0, dtype=object)
    if values.dtype == object:
        values = np.array([str(item) for item in listed])
    sound = values.shape == (rows,) and values.dtype.kind in "iubfU"
    if not sound or (values.dtype.kind == "f" and not np.isfinite(values).all()):
        got = f"{values.dtype} of shape {values.shape}, expected {rows:,} finite numbers, texts or lists of tags"
        raise BadInput(source, [Problem.error("bad-attribute", f"attribute `{name}`", got)])
    if values.dtype.kind in "iub":
        return values.astype(np.int64), None, None
    known, places = np.unique(values, return_inverse=True)
    return places.astype(np.int64), known, None


def save_attributes(vectors: Vectors, folder: Path) -> None:
    """Write the attributes of vectors to a folder, where other processes find them."""
    named: dict[str, Any] = {
        **{f"column {name}": column for name, column in vectors.attributes.items()},
        **{f"values {name}": values for name, values in vectors.values.items()},
    }
    for name, tags in vectors.tags.items():
        named |= {f"tags.{part} {name}": getattr(tags, part) for part in ("values", "places", "offsets")}
    np.savez(folder / "attributes.npz", **named)


def load_attributes(vectors: Vectors, folder: Path) -> Vectors:
    """Return the vectors with the attributes that a folder has."""
    with np.load(folder / "attributes.npz") as saved:
        parts: dict[str, dict[str, Any]] = {}
        for title in saved.files:
            kind, _, name = title.partition(" ")
            parts.setdefault(kind, {})[name] = saved[title]
    names = parts.get("tags.values", {})
    tags = {
        name: Tags(*(parts[f"tags.{part}"][name] for part in ("values", "places", "offsets")))
        for name in names
    }
    return replace(vectors, attributes=parts.get("column", {}), values=parts.get("values", {}), tags=tags)
