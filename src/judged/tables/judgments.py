"""Judgments: which documents were judged for which query, with what grade, answering which target."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from judged.errors import BadInput, Fault
from judged.tables.strings import as_ids, as_numbers

__all__ = ["Judgments"]


@dataclass(frozen=True, eq=False)
class Judgments:
    """A table of (query, document, grade[, target]), grouped by query, queries in the order of their bytes.

    Make one with `from_columns` or `from_mapping`, or read one with `judged.read_judgments`.
    """

    table: pa.Table
    """Columns `query`, `document`, `grade` and, where given, `target`."""
    name: str = "judgments"
    notes: tuple[str, ...] = ()
    """What was noticed on reading that a user should know."""

    @classmethod
    def from_columns(
        cls,
        query: Any,
        document: Any,
        grade: Any,
        target: Any = None,
        *,
        name: str = "judgments",
        notes: tuple[str, ...] = (),
        where: Any = None,
    ) -> Judgments:
        """Judgments from columns of any Arrow-readable kind; `where(row)` words a row's place in errors."""
        place = where or (lambda row: f"row {row + 1}")
        queries, numbered = as_ids(query, name="query", subject=name)
        documents, numbered_too = as_ids(document, name="document", subject=name)
        grades = as_numbers(grade, name="grade", subject=name)
        columns = {"query": queries, "document": documents, "grade": grades}
        if target is not None:
            columns["target"] = as_ids(target, name="target", subject=name)[0]
        if numbered or numbered_too:
            notes = (*notes, "integer ids were taken as their decimal text")
        _refuse_unequal_lengths(columns, name)
        _refuse_not_finite(grades, name, place)
        order, starts = _grouped(queries)
        table = pa.table(columns)
        _refuse_repeated(table, order, starts, name, place)
        if order is not None:
            table = table.take(pa.array(order))
        return cls(table, name=name, notes=notes)

    @classmethod
    def from_mapping(cls, mapping: Any, *, name: str = "judgments") -> Judgments:
        """Judgments from a dict of dicts: query → document → grade."""
        queries = [query for query, grades in mapping.items() for _ in grades]
        documents = [document for grades in mapping.values() for document in grades]
        grades = [grade for grades in mapping.values() for grade in grades.values()]
        place = lambda row: f"query `{queries[row]}`"  # noqa: E731 - a closure is the shortest way to say it
        return cls.from_columns(
            _ids(queries), _ids(documents), np.array(grades, dtype=np.float64), name=name, where=place
        )

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def offset(self) -> NDArray[np.int64]:
        """Query `q` owns rows `offset[q]` to `offset[q + 1]`."""
        return self._groups[0]

    @cached_property
    def queries(self) -> pa.Array:
        """The id of every query, in order."""
        return self._groups[1]

    @cached_property
    def _groups(self) -> tuple[NDArray[np.int64], pa.Array]:
        column = self.column("query")
        if len(column) == 0:
            return np.zeros(1, dtype=np.int64), column
        first = np.concatenate(([0], _changes(column)))
        return np.append(first, len(column)).astype(np.int64), column.take(pa.array(first))

    def column(self, name: str) -> pa.Array:
        """One column as one contiguous array."""
        chunked = self.table.column(name)
        return chunked.chunk(0) if chunked.num_chunks == 1 else chunked.combine_chunks()

    def to_arrow(self) -> pa.Table:
        """The table, as Arrow."""
        return self.table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def _ids(values: list[Any]) -> pa.Array:
    """Ids of a dict's keys: strings, or integers taken as decimal text."""
    try:
        return pa.array(values, type=pa.large_string())
    except (pa.ArrowTypeError, pa.ArrowInvalid, TypeError):
        return pa.array([str(value) for value in values], type=pa.large_string())


def _changes(column: pa.Array) -> NDArray[np.int64]:
    """The rows whose value differs from the row before."""
    return np.flatnonzero(pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)) + 1


def _grouped(queries: pa.Array) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
    """The order that groups rows by query, bytewise (None if they are so already), and group starts."""
    if len(queries) == 0:
        return None, np.zeros(0, dtype=np.int64)
    starts = np.concatenate(([0], _changes(queries)))
    heads = queries.take(pa.array(starts)).cast(pa.large_binary())
    if len(starts) == 1 or pc.all(pc.less(heads[:-1], heads[1:])).as_py():
        return None, starts
    encoded = queries.dictionary_encode()
    rank = np.empty(len(encoded.dictionary), dtype=np.int64)
    rank[pc.sort_indices(encoded.dictionary.cast(pa.large_binary())).to_numpy()] = np.arange(len(rank))
    codes = rank[encoded.indices.to_numpy()]
    order = np.argsort(codes, kind="stable")
    grouped = codes[order]
    return order, np.concatenate(([0], np.flatnonzero(np.diff(grouped)) + 1))


def _refuse_unequal_lengths(columns: dict[str, pa.Array], name: str) -> None:
    lengths = {column: len(values) for column, values in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"`{column}` has {length:,} rows" for column, length in lengths.items())
        raise BadInput(name, [Fault("columns", "columns", f"{told}, expected the same number")])


def _refuse_not_finite(grades: pa.Array, name: str, place: Any) -> None:
    bad = np.flatnonzero(~np.isfinite(grades.to_numpy()))
    if len(bad):
        faults = [
            Fault("grades that are not finite", place(row), f"grade is {grades[row]}, expected a finite number")
            for row in bad[:100].tolist()
        ]
        from collections import Counter

        raise BadInput(name, faults, counts=Counter({"grades that are not finite": len(bad)}))


def _refuse_repeated(table: pa.Table, order: Any, starts: NDArray[np.int64], name: str, place: Any) -> None:
    """Refuse a document judged twice for one query."""
    rows = table.num_rows
    if rows == 0:
        return
    order = np.arange(rows) if order is None else order
    group = np.zeros(rows, dtype=np.int64)
    group[starts[1:]] = 1
    group = np.cumsum(group)
    document = table.column("document").combine_chunks().dictionary_encode().indices.to_numpy()[order]
    key = group * (int(document.max()) + 1) + document
    arrangement = np.argsort(key, kind="stable")
    again = np.flatnonzero(np.diff(key[arrangement]) == 0)
    if len(again):
        from collections import Counter

        second = np.sort(order[arrangement[again + 1]])
        faults = [
            Fault(
                "documents judged twice",
                place(row),
                f"document `{table['document'][row]}` is judged again for query `{table['query'][row]}`",
            )
            for row in second[:100].tolist()
        ]
        raise BadInput(name, faults, counts=Counter({"documents judged twice": len(second)}))
