"""Runs: what a system retrieved, with scores, kept in their original form and read only as far as needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.problem import Locate, Place, Problems, locate_row
from judged.tables.columns import Column, as_ids, as_numbers, check_lengths, to_numpy
from judged.tables.judgments import NUMBERED
from judged.tables.nested import (
    Flat,
    flatten_lists,
    flatten_mapping,
    flatten_matrix,
    has_text_queries,
    need_mapping,
)

if TYPE_CHECKING:
    from judged.errors import BadInput
    from judged.result import InputFile

STRETCH = 1 << 21
"""Bytes of a file in which lines are counted at a time."""


@dataclass(frozen=True, eq=False)
class Text:
    """Lines of a TREC run, as bytes that are not decoded."""

    buffer: Any
    """Bytes, anything else with the buffer protocol, or a file on disk whose slices are arrays of bytes."""
    parse: Callable[[], pa.Table]
    """Reads all lines into columns, for callers that need more than ranks."""
    file: str = "run"
    """The file as the user wrote it, for messages."""
    before: int = 0
    """The number of lines of the file before these."""

    def place(self, byte: int) -> Place:
        """Return the file and line that a byte is in."""
        stretches = (self.buffer[at : min(at + STRETCH, byte)] for at in range(0, byte, STRETCH))
        return Place(
            self.file, line=self.before + 1 + sum(bytes(stretch).count(b"\n") for stretch in stretches)
        )

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Raise `Unreadable` if the file changes meanwhile, in place of any error that this caused."""
        verify = getattr(self.buffer, "verify", lambda: None)
        try:
            yield
        except Exception:
            verify()
            raise
        verify()


@dataclass(frozen=True, eq=False)
class Columns:
    """Three columns of equal length: ids as large strings, scores as float64."""

    query: pa.Array
    document: pa.Array
    score: NDArray[np.float64]
    place: Locate = locate_row
    """Returns the place of a row, for messages."""
    self_matches: int = 0
    """Rows that were removed because their document has the id of their query."""
    empty: pa.Array | None = None
    """Queries that the run may have without rows, as an empty dict says."""

    def to_arrow(self) -> pa.Table:
        """Return them as a table."""
        return pa.table({"query": self.query, "document": self.document, "score": self.score})


@dataclass(frozen=True, eq=False)
class Mappings:
    """A dict of dicts as the user gave it: query → document → score."""

    mapping: Mapping[str, Mapping[str, float]]


Source: TypeAlias = Text | Columns | Mappings


@dataclass(frozen=True, eq=False)
class Run:
    """The results that one system retrieved for each query.

    Make one with `from_columns`, `from_mapping`, `from_lists` or `from_matrix`, or read one with
    `judged.read_run`.
    """

    source: Source
    name: str = "run"
    notes: tuple[str, ...] = ()
    """Notes on how it was read."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Texts of documents by id, where the run came with them."""
    by_text: bool = False
    """Whether documents have no ids: each is identified by its normalised text."""
    unnamed: BadInput | None = None
    """What is wrong with such a run where judgments have ids."""
    input_files: tuple[InputFile, ...] = ()
    """The file of predictions that it was made from, which no path says later."""

    @classmethod
    def from_columns(
        cls,
        query: Column,
        document: Column,
        score: Column,
        *,
        name: str = "run",
        notes: tuple[str, ...] = (),
        locate: Locate | None = None,
        problems: Problems | None = None,
    ) -> Run:
        """Return a run of columns of any Arrow-readable kind; `locate(row)` is a row's place in errors.

        `problems` may hold what a reader has found so far; they are raised together with what is found here.
        """
        faults = Problems(name, locate or locate_row) if problems is None else problems
        queries, numbered = as_ids(query, name="query", problems=faults)
        documents, numbered_too = as_ids(document, name="document", problems=faults)
        scores = to_numpy(as_numbers(score, name="score", problems=faults))
        check_lengths({"query": queries, "document": documents, "score": scores}, faults.subject)
        missing = np.flatnonzero(np.isnan(scores))
        faults.add_rows("score-nan", missing, lambda _: "score is nan, expected a number")
        faults.raise_if_any()
        if numbered or numbered_too:
            notes = (*notes, NUMBERED)
        return cls(Columns(queries, documents, scores, place=faults.place), name=name, notes=notes)

    @classmethod
    def from_mapping(cls, mapping: Mapping[Any, Mapping[Any, Any]], *, name: str = "run") -> Run:
        """Return a run of a dict of dicts: query → document → score; the dict is kept, never copied or changed.

        >>> Run.from_mapping({"q1": {"d1": 2.5}}).to_arrow()["score"].to_pylist()
        [2.5]
        """
        if has_text_queries(need_mapping(mapping, name)):
            return cls(Mappings(mapping), name=name)
        return cls.from_flat(flatten_mapping(mapping, subject=name, number="score"), name)

    @classmethod
    def from_lists(cls, lists: Mapping[object, object], *, name: str = "run") -> Run:
        """Return a run of a dict of lists of documents, best first; they score −1, −2, … to keep the order.

        >>> Run.from_lists({"q1": ["d2", "d1"]}).to_arrow()["score"].to_pylist()
        [-1.0, -2.0]
        """
        return cls.from_flat(flatten_lists(need_mapping(lists, name), subject=name, ordered=True), name)

    @classmethod
    def from_matrix(cls, ids: object, scores: object = None, *, name: str = "run") -> Run:
        """Return a run of a matrix of ids, a row for each query "0", "1", …, best first, and maybe scores.

        Negative whole numbers are padding: left out, and counted in the notes.

        >>> Run.from_matrix(np.array([[7, 3], [5, -1]])).to_arrow()["document"].to_pylist()
        ['7', '3', '5']
        """
        return cls.from_flat(flatten_matrix(ids, scores, subject=name), name)

    @classmethod
    def from_flat(cls, flat: Flat, name: str) -> Run:
        """Return a run of the rows of a nested object."""
        made = cls.from_columns(
            flat.query, flat.document, flat.number, name=name, notes=flat.notes, locate=flat.locate
        )
        if not flat.empty:
            return made
        empty, _ = as_ids(flat.empty, name="query", problems=Problems(name, locate_row))
        return replace(made, source=replace(made.to_columns(), empty=empty))

    def __repr__(self) -> str:
        return f"Run({self.name})"

    def as_columns(self) -> Run:
        """Return the same run held as columns; every id and score is checked."""
        source = self.source
        if isinstance(source, Columns):
            return self
        if isinstance(source, Mappings):
            flat = flatten_mapping(source.mapping, subject=self.name, number="score")
            made = self.from_flat(flat, self.name)
        else:
            made = self.from_columns(*source.parse().columns, name=self.name)
        return replace(
            made,
            notes=(*self.notes, *made.notes),
            texts=self.texts,
            by_text=self.by_text,
            unnamed=self.unnamed,
        )

    def to_columns(self) -> Columns:
        """Return its columns, with every id and score checked."""
        source = self.as_columns().source
        assert isinstance(source, Columns)  # noqa: S101 - `as_columns` returns nothing else
        return source

    def to_arrow(self) -> pa.Table:
        """Return the run as a table of columns `query`, `document`, `score`."""
        source = self.source
        return source.parse() if isinstance(source, Text) else self.to_columns().to_arrow()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)
