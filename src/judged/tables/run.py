"""Runs: what a system retrieved, with scores; held as it came, read only as far as scoring needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.errors import BadInput, Fault
from judged.tables.strings import as_ids, as_numbers

__all__ = ["Columns", "Mappings", "Run", "Source", "Text"]


@dataclass(frozen=True, eq=False)
class Text:
    """Lines of a TREC run, as bytes that nobody has decoded."""

    buffer: Any
    """Bytes, a memory map, or anything else with the buffer protocol."""
    parse: Callable[[], pa.Table]
    """Reads all lines into columns, for those who need more than ranks."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Three columns of equal length: ids as large strings, scores as float64."""

    query: pa.Array
    document: pa.Array
    score: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Mappings:
    """A dict of dicts as the user gave it: query → document → score."""

    mapping: Mapping[str, Mapping[str, float]]


Source: TypeAlias = Text | Columns | Mappings


@dataclass(frozen=True, eq=False)
class Run:
    """What one system retrieved for each query.

    Make one with `from_columns`, `from_mapping` or `from_matrix`, or read one with `judged.read_run`.
    """

    source: Source
    name: str = "run"
    notes: tuple[str, ...] = ()
    """What was noticed on reading that a user should know."""

    @classmethod
    def from_columns(
        cls, query: Any, document: Any, score: Any, *, name: str = "run", notes: tuple[str, ...] = ()
    ) -> Run:
        """A run from columns of any Arrow-readable kind."""
        queries, numbered = as_ids(query, name="query", subject=name)
        documents, numbered_too = as_ids(document, name="document", subject=name)
        scores = as_numbers(score, name="score", subject=name)
        lengths = {len(queries), len(documents), len(scores)}
        if len(lengths) > 1:
            told = f"query has {len(queries):,}, document {len(documents):,}, score {len(scores):,} rows"
            raise BadInput(name, [Fault("columns", "columns", f"{told}, expected the same number")])
        if numbered or numbered_too:
            notes = (*notes, "integer ids were taken as their decimal text")
        return cls(Columns(queries, documents, scores.to_numpy(zero_copy_only=False)), name=name, notes=notes)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Mapping[str, float]], *, name: str = "run") -> Run:
        """A run from a dict of dicts: query → document → score."""
        return cls(Mappings(mapping), name=name)

    def to_arrow(self) -> pa.Table:
        """The run as a table of columns `query`, `document`, `score`."""
        source = self.source
        if isinstance(source, Text):
            return source.parse()
        if isinstance(source, Columns):
            return pa.table({"query": source.query, "document": source.document, "score": source.score})
        items = source.mapping.items()
        return pa.table(
            {
                "query": pa.array([query for query, row in items for _ in row], pa.large_string()),
                "document": pa.array([doc for _, row in items for doc in row], pa.large_string()),
                "score": pa.array([float(score) for _, row in items for score in row.values()], pa.float64()),
            }
        )

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)
