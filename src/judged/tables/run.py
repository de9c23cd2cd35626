"""Runs: what a system retrieved, with scores; held as it came, read only as far as scoring needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.errors import BadInput
from judged.problem import Locate, Place, Problem, Problems, locate_row
from judged.tables.arrays import numpy_of
from judged.tables.judgments import NUMBERED
from judged.tables.matrices import matrix_columns
from judged.tables.nested import Flat, flat_lists, flat_mapping, looks_plain, need_mapping
from judged.tables.strings import as_ids, as_numbers

__all__ = ["Columns", "Mappings", "Run", "Source", "Text"]

NOT_NUMBERS = "score-nan"


@dataclass(frozen=True, eq=False)
class Text:
    """Lines of a TREC run, as bytes that nobody has decoded."""

    buffer: Any
    """Bytes, a memory map, or anything else with the buffer protocol."""
    parse: Callable[[], pa.Table]
    """Reads all lines into columns, for those who need more than ranks."""
    file: str = "run"
    """What messages call the file, as the user wrote it."""

    def place(self, byte: int) -> Place:
        """The file and line that a byte stands in."""
        before = np.frombuffer(self.buffer, dtype=np.uint8, count=byte)
        line = np.count_nonzero(before == ord("\n")) + 1
        return Place(self.file, line=int(line))


@dataclass(frozen=True, eq=False)
class Columns:
    """Three columns of equal length: ids as large strings, scores as float64."""

    query: pa.Array
    document: pa.Array
    score: NDArray[np.float64]
    place: Locate = locate_row
    """Words where a row stands, for messages."""


@dataclass(frozen=True, eq=False)
class Mappings:
    """A dict of dicts as the user gave it: query → document → score."""

    mapping: Mapping[str, Mapping[str, float]]


Source: TypeAlias = Text | Columns | Mappings


@dataclass(frozen=True, eq=False)
class Run:
    """What one system retrieved for each query.

    Make one with `from_columns`, `from_mapping`, `from_lists` or `from_matrix`, or read one with
    `judged.read_run`.
    """

    source: Source
    name: str = "run"
    notes: tuple[str, ...] = ()
    """What was noticed on reading that a user should know."""

    @classmethod
    def from_columns(
        cls,
        query: Any,
        document: Any,
        score: Any,
        *,
        name: str = "run",
        notes: tuple[str, ...] = (),
        where: Locate | None = None,
        faults: Problems | None = None,
    ) -> Run:
        """A run from columns of any Arrow-readable kind; `where(row)` words a row's place in errors.

        `faults` may hold what a reader has found so far; it is refused together with what is found here.
        """
        found = Problems(name, where or locate_row) if faults is None else faults
        queries, numbered = as_ids(query, name="query", faults=found)
        documents, numbered_too = as_ids(document, name="document", faults=found)
        scores = numpy_of(as_numbers(score, name="score", faults=found))
        _refuse_unequal_lengths(queries, documents, scores, found.subject)
        missing = np.flatnonzero(np.isnan(scores))
        found.add_rows(NOT_NUMBERS, missing, lambda _: "score is nan, expected a number")
        found.raise_if_any()
        if numbered or numbered_too:
            notes = (*notes, NUMBERED)
        return cls(Columns(queries, documents, scores, place=found.place), name=name, notes=notes)

    @classmethod
    def from_mapping(cls, mapping: Mapping[Any, Mapping[Any, Any]], *, name: str = "run") -> Run:
        """A run from a dict of dicts: query → document → score; the dict is kept, never copied or changed.

        >>> Run.from_mapping({"q1": {"d1": 2.5}}).to_arrow()["score"].to_pylist()
        [2.5]
        """
        if looks_plain(need_mapping(mapping, name)):
            return cls(Mappings(mapping), name=name)
        return cls._from_flat(flat_mapping(mapping, subject=name, number="score"), name)

    @classmethod
    def from_lists(cls, lists: Mapping[Any, Any], *, name: str = "run") -> Run:
        """A run from a dict of lists of documents, best first; they score −1, −2, … so that order is kept.

        >>> Run.from_lists({"q1": ["d2", "d1"]}).to_arrow()["score"].to_pylist()
        [-1.0, -2.0]
        """
        return cls._from_flat(flat_lists(need_mapping(lists, name), subject=name, ordered=True), name)

    @classmethod
    def from_matrix(cls, ids: Any, scores: Any = None, *, name: str = "run") -> Run:
        """A run from a matrix of ids, a row for each query "0", "1", …, best first, and maybe their scores.

        Negative whole numbers are padding: left out, and counted in the notes.

        >>> Run.from_matrix(np.array([[7, 3], [5, -1]])).to_arrow()["document"].to_pylist()
        ['7', '3', '5']
        """
        query, document, values, notes, where = matrix_columns(ids, scores, subject=name)
        return cls.from_columns(query, document, values, name=name, notes=notes, where=where)

    @classmethod
    def _from_flat(cls, flat: Flat, name: str) -> Run:
        return cls.from_columns(flat.query, flat.document, flat.number, name=name, where=flat.place())

    def __repr__(self) -> str:
        return f"Run({self.name})"

    def as_columns(self) -> Run:
        """The same run held as columns; every id and score is looked at, and what is none is refused by name."""
        source = self.source
        if isinstance(source, Columns):
            return self
        if isinstance(source, Mappings):
            made = self._from_flat(flat_mapping(source.mapping, subject=self.name, number="score"), self.name)
        else:
            made = self.from_columns(*source.parse().columns, name=self.name)
        return replace(made, notes=(*self.notes, *made.notes))

    def to_arrow(self) -> pa.Table:
        """The run as a table of columns `query`, `document`, `score`."""
        source = self.source
        if isinstance(source, Text):
            return source.parse()
        if isinstance(source, Mappings):
            return self.as_columns().to_arrow()
        return pa.table({"query": source.query, "document": source.document, "score": source.score})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def _refuse_unequal_lengths(query: Any, document: Any, score: Any, subject: str) -> None:
    if not len(query) == len(document) == len(score):
        told = f"query has {len(query):,}, document {len(document):,}, score {len(score):,} rows"
        raise BadInput(
            subject, [Problem.error("unequal-columns", "columns", f"{told}, expected the same number")]
        )
