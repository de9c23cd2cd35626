"""Preferences: what one or more people think of documents, in groups that may disagree with each other."""

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
from judged.tables.judgments import NUMBERED, Judgments
from judged.tables.strings import as_ids, as_numbers, one_array
from judged.wording import counted

__all__ = ["Preferences"]

WHOLE = "0"
"""The name of a group's only sub-group, where none is given."""


@dataclass(frozen=True, eq=False)
class Preferences:
    """A table of (query, group, subgroup, document, level), sorted by the bytes of the first three.

    Within a sub-group, a document is preferred to every document of a lower level. The sub-groups of a
    group are parts of one person's view, which must not contradict itself; groups may contradict each other.
    Level 0 means "not relevant". Make one with `from_columns` or `from_mapping`, or read one with
    `judged.read_preferences`.
    """

    table: pa.Table
    name: str = "preferences"
    notes: tuple[str, ...] = ()
    """What was noticed on reading that a user should know."""

    @classmethod
    def from_columns(
        cls,
        query: Any,
        group: Any,
        document: Any,
        level: Any,
        subgroup: Any = None,
        *,
        name: str = "preferences",
        where: Locate | None = None,
        faults: Problems | None = None,
    ) -> Preferences:
        """Preferences from columns of any Arrow-readable kind; without `subgroup`, each group is one whole.

        `faults` may hold what a reader has found so far; it is refused together with what is found here.
        """
        found = Problems(name, where or locate_row) if faults is None else faults
        named = {"query": query, "group": group, "document": document}
        ids = {role: as_ids(column, name=role, faults=found) for role, column in named.items()}
        levels = as_numbers(level, name="level", faults=found)
        parts = (
            _whole(len(levels)) if subgroup is None else as_ids(subgroup, name="subgroup", faults=found)[0]
        )
        columns = {
            "query": ids["query"][0],
            "group": ids["group"][0],
            "subgroup": parts,
            "document": ids["document"][0],
            "level": levels,
        }
        _refuse_unequal_lengths(columns, found.subject)
        _add_faults(columns, found)
        found.raise_if_any()
        numbered = any(told for _, told in ids.values())
        return cls(_sorted(pa.table(columns)), name=name, notes=(NUMBERED,) if numbered else ())

    @classmethod
    def from_mapping(
        cls, mapping: Mapping[Any, Mapping[Any, Mapping[Any, Any]]], *, name: str = "preferences"
    ) -> Preferences:
        """Preferences from a dict of dicts of dicts: query → group → document → level.

        >>> Preferences.from_mapping({"q1": {"ann": {"d1": 2, "d2": 1}, "bob": {"d2": 1, "d1": 0}}})
        Preferences(preferences: 4 levels by 2 groups on 1 query)
        """
        try:
            rows = [
                (query, group, document, level)
                for query, groups in mapping.items()
                for group, levels in groups.items()
                for document, level in levels.items()
            ]
        except AttributeError:
            fault = Problem.error("bad-value", "the dict", "is not query → group → document → level")
            raise BadInput(name, [fault], hint="for example {'q1': {'ann': {'d1': 2, 'd2': 0}}}") from None
        columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], [], []]
        return cls.from_columns(*columns, name=name)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        groups, queries = int(self.group[-1]) + 1 if len(self) else 0, len(self.queries)
        told = f"{counted(len(self), 'level')} by {counted(groups, 'group')} on {counted(queries, 'query')}"
        return f"Preferences({self.name}: {told})"

    @cached_property
    def queries(self) -> pa.Array:
        """The id of every query, in the order of their bytes."""
        column = self.column("query")
        _, first = np.unique(self.query, return_index=True)
        return column.take(arrow_of(first.astype(np.int64)))

    @cached_property
    def query(self) -> NDArray[np.int64]:
        """The number of every row's query."""
        return _numbered(self.column("query"))

    @cached_property
    def group(self) -> NDArray[np.int64]:
        """The number of every row's group; groups of different queries have different numbers."""
        return _numbered(self.column("query"), self.column("group"))

    @cached_property
    def subgroup(self) -> NDArray[np.int64]:
        """The number of every row's sub-group; sub-groups of different groups have different numbers."""
        return _numbered(self.column("query"), self.column("group"), self.column("subgroup"))

    @property
    def levels(self) -> NDArray[np.float64]:
        """The level of every row."""
        return numpy_of(self.column("level"))

    @cached_property
    def documents(self) -> Judgments:
        """Every document that a query's groups speak of, once, in the order of bytes; all with grade 0."""
        once = self.table.select(["query", "document"]).group_by(["query", "document"]).aggregate([])
        once = _sorted(once, ("query", "document"))
        return Judgments(once.append_column("grade", arrow_of(np.zeros(len(once)))), name=self.name)

    @cached_property
    def document(self) -> NDArray[np.int64]:
        """For every row, the row of `documents` that has its query and document."""
        every = self.documents.table
        both = pa.concat_tables(
            [every.select(["query", "document"]), self.table.select(["query", "document"])]
        )
        codes = _codes(one_array(both["query"])), _codes(one_array(both["document"]))
        key = codes[0] * (int(codes[1].max(initial=0)) + 1) + codes[1]
        order = np.argsort(key[: len(every)], kind="stable")
        return order[np.searchsorted(key[: len(every)][order], key[len(every) :])]

    def column(self, name: str) -> pa.Array:
        """One column as one contiguous array."""
        return one_array(self.table.column(name))

    def to_arrow(self) -> pa.Table:
        """The table, as Arrow."""
        return self.table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def _whole(length: int) -> pa.Array:
    return pa.array([WHOLE], pa.large_string()).take(arrow_of(np.zeros(length, dtype=np.int64)))


def _sorted(table: pa.Table, by: tuple[str, ...] = ("query", "group", "subgroup")) -> pa.Table:
    """The rows in the order of the bytes of some columns; otherwise as they came."""
    keys = pa.table({name: table[name].cast(pa.large_binary()) for name in by})
    keys = keys.append_column("row", arrow_of(np.arange(len(table))))
    return table.take(pc.sort_indices(keys, [(name, "ascending") for name in (*by, "row")]))


def _codes(column: pa.Array) -> NDArray[np.int64]:
    """A number for each value, equal where the values are equal."""
    return numpy_of(column.dictionary_encode().indices).astype(np.int64)


def _numbered(*columns: pa.Array) -> NDArray[np.int64]:
    """For sorted columns, the number of each row's combination, from 0."""
    length = len(columns[0])
    new = np.zeros(length, dtype=bool)
    for column in columns:
        codes = _codes(column)
        new[1:] |= codes[1:] != codes[:-1]
    return np.cumsum(new)


def _refuse_unequal_lengths(columns: dict[str, pa.Array], subject: str) -> None:
    lengths = {column: len(values) for column, values in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"`{column}` has {length:,} rows" for column, length in lengths.items())
        raise BadInput(
            subject, [Problem.error("unequal-columns", "columns", f"{told}, expected the same number")]
        )


def _add_faults(columns: dict[str, pa.Array], faults: Problems) -> None:
    """Note levels that are not finite, documents that stand twice, and levels that are 0 and more at once."""
    levels = numpy_of(columns["level"])
    bad = np.flatnonzero(~np.isfinite(levels))
    faults.add_rows("not-finite", bad, lambda row: f"level is {levels[row]}, expected a finite number")
    person = _combined(columns, ("query", "group", "document"))
    part = _combined({**columns, "person": arrow_of(person)}, ("person", "subgroup"))
    again = np.setdiff1d(np.arange(len(part)), np.unique(part, return_index=True)[1])
    faults.add_rows(
        "repeated-document", again, lambda row: _told(columns, row, "stands twice in a sub-group")
    )
    highest = np.zeros(int(person.max(initial=-1)) + 1, dtype=bool)
    highest[person[levels > 0]] = True
    torn = np.flatnonzero((levels == 0) & highest[person])
    faults.add_rows(
        "conflicting-levels",
        torn,
        lambda row: _told(columns, row, "has level 0 here and more elsewhere"),
    )


def _told(columns: dict[str, pa.Array], row: int, what: str) -> str:
    document, group, query = (columns[name][row] for name in ("document", "group", "query"))
    return f"document `{document}` of group `{group}` on query `{query}` {what}"


def _combined(columns: dict[str, pa.Array], names: tuple[str, ...]) -> NDArray[np.int64]:
    """A number for each combination of values, equal where all of them are."""
    key = np.zeros(len(columns[names[0]]), dtype=np.int64)
    for name in names:
        codes = _codes(columns[name])
        _, key = np.unique(key * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    return key.reshape(-1).astype(np.int64)
