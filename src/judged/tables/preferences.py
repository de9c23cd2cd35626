"""Preferences: what one or more people think of documents, in groups that may disagree with each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.errors import BadInput
from judged.problem import Locate, Problem, Problems, locate_row
from judged.tables.columns import (
    Column,
    as_ids,
    as_numbers,
    check_lengths,
    encode,
    one_array,
    to_arrow,
    to_numpy,
)
from judged.tables.judgments import NUMBERED, Judgments
from judged.wording import counted

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
    """Notes on how they were read."""

    @classmethod
    def from_columns(
        cls,
        query: Column,
        group: Column,
        document: Column,
        level: Column,
        subgroup: Column = None,
        *,
        name: str = "preferences",
        locate: Locate | None = None,
        problems: Problems | None = None,
    ) -> Preferences:
        """Return preferences of columns of any Arrow-readable kind; without `subgroup`, each group is whole.

        `problems` may hold what a reader has found so far; they are raised together with what is found here.
        """
        faults = Problems(name, locate or locate_row) if problems is None else problems
        named = {"query": query, "group": group, "document": document}
        ids = {role: as_ids(column, name=role, problems=faults) for role, column in named.items()}
        levels = as_numbers(level, name="level", problems=faults)
        if subgroup is None:
            whole = np.zeros(len(levels), dtype=np.int64)
            parts = pa.array([WHOLE], pa.large_string()).take(to_arrow(whole))
        else:
            parts = as_ids(subgroup, name="subgroup", problems=faults)[0]
        columns = {
            "query": ids["query"][0],
            "group": ids["group"][0],
            "subgroup": parts,
            "document": ids["document"][0],
            "level": levels,
        }
        check_lengths(columns, faults.subject)
        _check(columns, faults)
        faults.raise_if_any()
        numbered = any(converted for _, converted in ids.values())
        return cls(_sort(pa.table(columns)), name=name, notes=(NUMBERED,) if numbered else ())

    @classmethod
    def from_mapping(
        cls, mapping: Mapping[Any, Mapping[Any, Mapping[Any, Any]]], *, name: str = "preferences"
    ) -> Preferences:
        """Return preferences of a dict of dicts of dicts: query → group → document → level.

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
            problem = Problem.error("bad-value", "the dict", "is not query → group → document → level")
            raise BadInput(name, [problem], hint="for example {'q1': {'ann': {'d1': 2, 'd2': 0}}}") from None
        columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], [], []]
        return cls.from_columns(*columns, name=name)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        groups, queries = int(self.group[-1]) + 1 if len(self) else 0, len(self.queries)
        counts = f"{counted(len(self), 'level')} by {counted(groups, 'group')} on {counted(queries, 'query')}"
        return f"Preferences({self.name}: {counts})"

    @cached_property
    def queries(self) -> pa.Array:
        """The id of every query, in the order of their bytes."""
        _, first = np.unique(self.query, return_index=True)
        return self.column("query").take(to_arrow(first.astype(np.int64)))

    @cached_property
    def query(self) -> NDArray[np.int64]:
        """The number of every row's query."""
        return self._number("query")

    @cached_property
    def group(self) -> NDArray[np.int64]:
        """The number of every row's group; groups of different queries have different numbers."""
        return self._number("query", "group")

    @cached_property
    def subgroup(self) -> NDArray[np.int64]:
        """The number of every row's sub-group; sub-groups of different groups have different numbers."""
        return self._number("query", "group", "subgroup")

    @property
    def levels(self) -> NDArray[np.float64]:
        """The level of every row."""
        return to_numpy(self.column("level"))

    @cached_property
    def documents(self) -> Judgments:
        """Every document of a query's groups, once, in the order of bytes; all with grade 0."""
        once = self.table.select(["query", "document"]).group_by(["query", "document"]).aggregate([])
        once = _sort(once, ("query", "document"))
        return Judgments(once.append_column("grade", to_arrow(np.zeros(len(once)))), name=self.name)

    @cached_property
    def document(self) -> NDArray[np.int64]:
        """For every row, the row of `documents` that has its query and document."""
        every = self.documents.table
        both = pa.concat_tables(
            [every.select(["query", "document"]), self.table.select(["query", "document"])]
        )
        documents = encode(one_array(both["document"]))
        key = encode(one_array(both["query"])) * (int(documents.max(initial=0)) + 1) + documents
        order = np.argsort(key[: len(every)], kind="stable")
        return order[np.searchsorted(key[: len(every)][order], key[len(every) :])]

    def column(self, name: str) -> pa.Array:
        """Return one column as one contiguous array."""
        return one_array(self.table.column(name))

    def to_arrow(self) -> pa.Table:
        """Return the table, as Arrow."""
        return self.table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def _number(self, *names: str) -> NDArray[np.int64]:
        """Return the number of each row's combination of sorted columns, from 0."""
        new = np.zeros(len(self), dtype=bool)
        for name in names:
            codes = encode(self.column(name))
            new[1:] |= codes[1:] != codes[:-1]
        return np.cumsum(new)


def _sort(table: pa.Table, by: tuple[str, ...] = ("query", "group", "subgroup")) -> pa.Table:
    """Return the rows in the order of the bytes of some columns; equal ones keep their order."""
    import pyarrow.compute as pc

    keys = pa.table({name: table[name].cast(pa.large_binary()) for name in by})
    keys = keys.append_column("row", to_arrow(np.arange(len(table))))
    return table.take(pc.sort_indices(keys, [(name, "ascending") for name in (*by, "row")]))


def _check(columns: dict[str, pa.Array], problems: Problems) -> None:
    """Add levels that are not finite, repeated documents, and levels that are 0 and more at once."""
    levels = to_numpy(columns["level"])
    problems.add_rows(
        "not-finite",
        np.flatnonzero(~np.isfinite(levels)),
        lambda row: f"level is {levels[row]}, expected a finite number",
    )

    def describe(row: int, what: str) -> str:
        document, group, query = (columns[name][row] for name in ("document", "group", "query"))
        return f"document `{document}` of group `{group}` on query `{query}` {what}"

    person = _combine(columns, ("query", "group", "document"))
    part = _combine({**columns, "person": to_arrow(person)}, ("person", "subgroup"))
    again = np.setdiff1d(np.arange(len(part)), np.unique(part, return_index=True)[1])
    problems.add_rows("repeated-document", again, lambda row: describe(row, "is twice in a sub-group"))
    relevant = np.zeros(int(person.max(initial=-1)) + 1, dtype=bool)
    relevant[person[levels > 0]] = True
    problems.add_rows(
        "conflicting-levels",
        np.flatnonzero((levels == 0) & relevant[person]),
        lambda row: describe(row, "has level 0 here and more elsewhere"),
    )


def _combine(columns: dict[str, pa.Array], names: tuple[str, ...]) -> NDArray[np.int64]:
    """Return a number for each combination of values, equal where all of them are."""
    key = np.zeros(len(columns[names[0]]), dtype=np.int64)
    for name in names:
        codes = encode(columns[name])
        _, key = np.unique(key * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    return key.reshape(-1).astype(np.int64)
