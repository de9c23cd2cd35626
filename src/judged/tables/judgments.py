"""Judgments: which documents were judged for which query, with what grade, answering which target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from judged.errors import BadInput
from judged.problem import Locate, Problem, Problems, locate_row
from judged.tables.arrays import arrow_of, numpy_of
from judged.tables.intents import add_weight_faults, folded, unfolded
from judged.tables.matrices import matrix_columns
from judged.tables.nested import flat_lists, flat_mapping, need_mapping
from judged.tables.repeats import add_repeats
from judged.tables.strings import as_ids, as_numbers, one_array

__all__ = ["NUMBERED", "TWICE", "Judgments", "refuse_both"]

NUMBERED = "integer ids were taken as their decimal text"
NOT_FINITE = "not-finite"
TWICE = "repeated-document"


@dataclass(frozen=True, eq=False)
class Judgments:
    """A table of (query, document, grade[, target]), grouped by query, queries in the order of their bytes.

    Judged by intent, a document has one row with the highest of its grades, and `intents` holds them all.

    Make one with `from_columns`, `from_mapping`, `from_lists` or `from_matrix`, or read one with
    `judged.read_judgments`.
    """

    table: pa.Table
    """Columns `query`, `document`, `grade` and, where given, `target`."""
    name: str = "judgments"
    notes: tuple[str, ...] = ()
    """What was noticed on reading that a user should know."""
    intents: pa.Table | None = None
    """Where given, the columns `row` (of `table`), `intent`, `grade` and maybe `weight`, by row and intent."""

    @classmethod
    def from_columns(
        cls,
        query: Any,
        document: Any,
        grade: Any,
        target: Any = None,
        *,
        intent: Any = None,
        weight: Any = None,
        name: str = "judgments",
        notes: tuple[str, ...] = (),
        where: Locate | None = None,
        faults: Problems | None = None,
        distinct: bool = False,
    ) -> Judgments:
        """Judgments from columns of any Arrow-readable kind; `where(row)` words a row's place in errors.

        `faults` may hold what a reader has found so far; it is refused together with what is found here.
        `distinct` says that no document can stand twice under its query, as the keys of a dict cannot.
        A document whose target is null or empty is its own target. `intent` says which of the meanings of
        its query a document was judged for, and `weight` how much that intent counts.
        """
        found = Problems(name, where or locate_row) if faults is None else faults
        queries, numbered = as_ids(query, name="query", faults=found)
        documents, numbered_too = as_ids(document, name="document", faults=found)
        grades = as_numbers(grade, name="grade", faults=found)
        columns = {"query": queries, "document": documents, "grade": grades}
        if target is not None:
            columns["target"] = as_ids(target, name="target", absent="", faults=found)[0]
        columns |= _intent_columns(intent, weight, found)
        refuse_both(columns, found.subject)
        _refuse_unequal_lengths(columns, found.subject)
        if target is not None:
            columns["target"] = _own_where_absent(columns["target"], documents)
        _add_not_finite(grades, found)
        if not distinct or numbered or numbered_too:  # 1 and "1" are two keys, and one id
            add_repeats(queries, documents, found, kind=TWICE, verb="judged", intent=columns.get("intent"))
        if "weight" in columns:
            add_weight_faults(queries, columns["intent"], columns["weight"], found)
        found.raise_if_any()
        if numbered or numbered_too:
            notes = (*notes, NUMBERED)
        table, intents = _grouped(pa.table(columns)), None
        if intent is not None:
            table, intents = folded(table)
        return cls(table, name=name, notes=notes, intents=intents)

    @classmethod
    def from_mapping(cls, mapping: Mapping[Any, Mapping[Any, Any]], *, name: str = "judgments") -> Judgments:
        """Judgments from a dict of dicts: query → document → grade, or query → document → intent → grade.

        >>> Judgments.from_mapping({"q1": {"d1": 1, "d2": 0}}).table["grade"].to_pylist()
        [1.0, 0.0]
        """
        ordered = _in_order(need_mapping(mapping, name))
        flat = flat_mapping(ordered, subject=name, number="grade")
        if flat.number and isinstance(flat.number[0], Mapping):
            intent = flat.unnest(subject=name)
            where = flat.place()
            return cls.from_columns(
                flat.query, flat.document, flat.number, intent=intent, name=name, where=where
            )
        query = _repeated(ordered) if ordered is not mapping else flat.query
        judgments = cls.from_columns(
            query, flat.document, flat.number, name=name, where=flat.place(), distinct=True
        )
        if NUMBERED not in judgments.notes:  # then rows and names stand as they came
            judgments.__dict__["documents"] = flat.document
        return judgments

    @classmethod
    def from_lists(cls, lists: Mapping[Any, Any], *, name: str = "judgments") -> Judgments:
        """Judgments from a dict of lists or sets of relevant documents, each of grade 1.

        >>> Judgments.from_lists({"q1": ["d1", "d2"]}).table["grade"].to_pylist()
        [1.0, 1.0]
        """
        flat = flat_lists(need_mapping(lists, name), subject=name, ordered=False)
        grades = np.ones(len(flat.query))
        return cls.from_columns(flat.query, flat.document, grades, name=name, where=flat.place())

    @classmethod
    def from_matrix(cls, ids: Any, *, name: str = "judgments") -> Judgments:
        """Judgments from a matrix of relevant ids, a row for each query "0", "1", …, each of grade 1.

        Negative whole numbers are padding.

        >>> Judgments.from_matrix(np.array([[7, 3], [5, -1]])).table["document"].to_pylist()
        ['7', '3', '5']
        """
        query, document, _, notes, where = matrix_columns(ids, subject=name)
        grades = np.ones(len(query))
        return cls.from_columns(query, document, grades, name=name, notes=notes, where=where)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"Judgments({self.name}: {len(self):,} of {len(self.queries):,} queries)"

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
        return np.append(first, len(column)).astype(np.int64), column.take(arrow_of(first))

    @cached_property
    def documents(self) -> list[str]:
        """The document of every row, as Python strings."""
        names: list[str] = self.column("document").to_pylist()
        return names

    @property
    def grades(self) -> NDArray[np.float64]:
        """The grade of every row."""
        return numpy_of(self.column("grade"))

    def column(self, name: str) -> pa.Array:
        """One column as one contiguous array."""
        return one_array(self.table.column(name))

    @property
    def by_intent(self) -> bool:
        """Whether documents were judged for intents of their query, or for targets, which are taken as such."""
        return self.intents is not None or "target" in self.table.column_names

    def to_arrow(self) -> pa.Table:
        """The judgments as one Arrow table; with intents, a row for each query, intent and document."""
        return self.table if self.intents is None else unfolded(self.table, self.intents)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def _in_order(mapping: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The queries of a dict in the order of their bytes; the dict itself if they are not all sound text."""
    try:
        return dict(sorted(mapping.items(), key=lambda item: str.encode(item[0])))
    except (TypeError, UnicodeEncodeError):
        return mapping


def _repeated(mapping: Mapping[str, Mapping[Any, Any]]) -> pa.Array:
    """The query of every row of a dict of dicts, each written into Arrow once and not row by row."""
    times = [len(inner) for inner in mapping.values()]
    heads = pa.array(list(mapping), pa.large_string())
    return heads.take(arrow_of(np.repeat(np.arange(len(times)), times)))


def _intent_columns(intent: Any, weight: Any, faults: Problems) -> dict[str, pa.Array]:
    """The columns `intent` and `weight`, as far as they are given."""
    if intent is None:
        return {}
    columns = {"intent": as_ids(intent, name="intent", faults=faults)[0]}
    return (
        columns if weight is None else columns | {"weight": as_numbers(weight, name="weight", faults=faults)}
    )


def refuse_both(columns: Mapping[str, Any], subject: str) -> None:
    """Refuse columns that say in two ways what a document answers."""
    if {"intent", "target"} <= set(columns):
        told = "both `intent` and `target` are there, expected one: a target is the one intent of a document"
        raise BadInput(subject, [Problem.error("missing-column", "columns", told)])


def _own_where_absent(target: pa.Array, document: pa.Array) -> pa.Array:
    """The target of each document; one that names none is its own."""
    return pc.if_else(pc.equal(target, ""), document, target)


def _changes(column: pa.Array) -> NDArray[np.int64]:
    """The rows whose value differs from the row before."""
    return np.flatnonzero(numpy_of(pc.not_equal(column[1:], column[:-1]))) + 1


def _grouped(table: pa.Table) -> pa.Table:
    """The rows by query, in the order of the queries' bytes; within a query as they came."""
    order = _order(one_array(table.column("query")))
    return table if order is None else table.take(arrow_of(order))


def _order(queries: pa.Array) -> NDArray[np.int64] | None:
    """The order that groups rows by query, bytewise; None if they are so already."""
    if len(queries) < 2:
        return None
    starts = np.concatenate(([0], _changes(queries)))
    heads = queries.take(arrow_of(starts)).cast(pa.large_binary())
    if len(starts) == 1 or pc.all(pc.less(heads[:-1], heads[1:])).as_py():
        return None
    encoded = queries.dictionary_encode()
    rank = np.empty(len(encoded.dictionary), dtype=np.int64)
    rank[numpy_of(pc.sort_indices(encoded.dictionary.cast(pa.large_binary())))] = np.arange(len(rank))
    return np.argsort(rank[numpy_of(encoded.indices)], kind="stable")


def _refuse_unequal_lengths(columns: dict[str, pa.Array], subject: str) -> None:
    lengths = {column: len(values) for column, values in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"`{column}` has {length:,} rows" for column, length in lengths.items())
        raise BadInput(
            subject, [Problem.error("unequal-columns", "columns", f"{told}, expected the same number")]
        )


def _add_not_finite(grades: pa.Array, faults: Problems) -> None:
    values = numpy_of(grades)
    bad = np.flatnonzero(~np.isfinite(values))
    faults.add_rows(NOT_FINITE, bad, lambda row: f"grade is {values[row]}, expected a finite number")
