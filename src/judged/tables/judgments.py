"""Judgments: which documents were judged for which query, with what grade, answering which target or intent."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from judged.arrays import Floats, Ints
from judged.errors import BadInput
from judged.problem import Locate, Problem, Problems, locate_row
from judged.tables.columns import (
    Column,
    add_repeats,
    as_ids,
    as_numbers,
    call,
    check_lengths,
    encode,
    one_array,
    take,
    to_arrow,
    to_numpy,
    to_strings,
)
from judged.tables.nested import (
    are_plain_ids,
    flatten_lists,
    flatten_mapping,
    flatten_matrix,
    is_plain_dict,
    need_mapping,
)

NUMERAL = re.compile("[0-9]{1,18}")
NUMBERED = "integer ids were taken as their decimal text"


class Lists(NamedTuple):
    """The judgments of a dict of dicts, copied and checked; an Arrow table of a few rows costs more than scoring them."""

    queries: list[str]
    """In the order of their bytes; each has a document."""
    documents: list[str]
    offset: Ints
    """Query `q` owns the documents `offset[q]` to `offset[q + 1]`."""
    grades: Floats


@dataclass(frozen=True, eq=False)
class Judgments:
    """A table of (query, document, grade[, target]), grouped by query, queries in the order of their bytes.

    Judged by intent, a document has one row with the highest of its grades, and `intents` holds them all.

    Make one with `from_columns`, `from_mapping`, `from_lists` or `from_matrix`, or read one with
    `judged.read_judgments`.
    """

    source: pa.Table | Lists
    """The rows in the form in which they were read."""
    name: str = "judgments"
    notes: tuple[str, ...] = ()
    """Notes on how they were read."""
    intents: pa.Table | None = None
    """If given, the columns `row` (of `table`), `intent`, `grade` and maybe `weight`, by row and intent."""
    query_texts: Mapping[str, str] = field(default_factory=dict)
    """Texts of queries by id, where the judgments came with them."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Texts of documents by id, where the judgments came with them."""
    by_text: bool = False
    """Whether documents have no ids: each is identified by its normalised text."""

    @classmethod
    def from_columns(
        cls,
        query: Column,
        document: Column,
        grade: Column,
        target: Column = None,
        *,
        intent: Column = None,
        weight: Column = None,
        name: str = "judgments",
        notes: tuple[str, ...] = (),
        locate: Locate | None = None,
        problems: Problems | None = None,
        distinct: bool = False,
    ) -> Judgments:
        """Return judgments of columns of any Arrow-readable kind; `locate(row)` is a row's place in errors.

        `problems` may hold what a reader has found so far; they are raised together with what is found here.
        `distinct` says that no document can be under its query twice, as keys of a dict cannot.
        A document whose target is null or empty is its own target. `intent` says which of the meanings of
        its query a document was judged for, and `weight` how much that intent counts.
        """
        faults = Problems(name, locate or locate_row) if problems is None else problems
        queries, numbered = as_ids(query, name="query", problems=faults)
        documents, numbered_too = as_ids(document, name="document", problems=faults)
        grades = as_numbers(grade, name="grade", problems=faults)
        columns = {"query": queries, "document": documents, "grade": grades}
        if target is not None:
            columns["target"] = as_ids(target, name="target", absent="", problems=faults)[0]
        if intent is not None:
            columns["intent"] = as_ids(intent, name="intent", problems=faults)[0]
            if weight is not None:
                columns["weight"] = as_numbers(weight, name="weight", problems=faults)
        check_intents(columns, faults.subject)
        check_lengths(columns, faults.subject)
        if target is not None:  # a document that names none is its own
            columns["target"] = call(
                "if_else", call("equal", columns["target"], pa.scalar("")), documents, columns["target"]
            )
        values = to_numpy(grades)
        bad = np.flatnonzero(~np.isfinite(values))
        faults.add_rows("not-finite", bad, lambda row: f"grade is {values[row]}, expected a finite number")
        if not distinct or numbered or numbered_too:  # 1 and "1" are two keys, and one id
            add_repeats(queries, documents, faults, verb="judged", intent=columns.get("intent"))
        if "weight" in columns:
            add_bad_weights(queries, columns["intent"], columns["weight"], faults)
        faults.raise_if_any()
        if numbered or numbered_too:
            notes = (*notes, NUMBERED)
        table, intents = _group_by_query(pa.table(columns)), None
        if intent is not None:
            table, intents = _fold_intents(table)
        return cls(table, name=name, notes=notes, intents=intents)

    def to_binary(self) -> Judgments:
        """Return the judgments with every positive grade as 1."""
        table = self.to_arrow()
        columns = {name: table[name] for name in table.column_names}
        columns["weight"] = columns.pop("intent_weight", None)
        grades = columns["grade"].to_numpy()
        columns["grade"] = np.where(grades > 0, 1.0, grades)
        notes = (*self.notes, "every positive grade counts as 1 (`graded_relevance: false`)")
        return self.with_texts_of(Judgments.from_columns(**columns, name=self.name, notes=notes))

    def with_texts_of(self, made: Judgments) -> Judgments:
        """Return judgments made of these with their texts."""
        if not (self.query_texts or self.texts or self.by_text):
            return made
        return replace(made, query_texts=self.query_texts, texts=self.texts, by_text=self.by_text)

    @classmethod
    def from_mapping(
        cls, mapping: Mapping[object, Mapping[object, object]], *, name: str = "judgments"
    ) -> Judgments:
        """Return judgments of a dict of dicts: query → document → grade, or query → document → intent → grade.

        >>> Judgments.from_mapping({"q1": {"d1": 1, "d2": 0}}).table["grade"].to_pylist()
        [1.0, 0.0]
        """
        ordered = _sort_queries(need_mapping(mapping, name))
        lists = _list_plain(ordered)
        if lists is not None:
            return cls(lists, name=name)
        flat = flatten_mapping(ordered, subject=name, number="grade")
        if flat.number and isinstance(flat.number[0], Mapping):
            intent = flat.unnest(subject=name)
            return cls.from_columns(
                flat.query, flat.document, flat.number, intent=intent, name=name, locate=flat.locate
            )
        return cls.from_columns(
            flat.query, flat.document, flat.number, name=name, locate=flat.locate, distinct=True
        )

    @classmethod
    def from_lists(cls, lists: Mapping[object, object], *, name: str = "judgments") -> Judgments:
        """Return judgments of a dict of lists or sets of relevant documents, each of grade 1.

        >>> Judgments.from_lists({"q1": ["d1", "d2"]}).table["grade"].to_pylist()
        [1.0, 1.0]
        """
        flat = flatten_lists(need_mapping(lists, name), subject=name, ordered=False)
        grades = np.ones(len(flat.query))
        return cls.from_columns(flat.query, flat.document, grades, name=name, locate=flat.locate)

    @classmethod
    def from_matrix(cls, ids: object, *, name: str = "judgments") -> Judgments:
        """Return judgments of a matrix of relevant ids, a row for each query "0", "1", …, each of grade 1.

        Negative whole numbers are padding.

        >>> Judgments.from_matrix(np.array([[7, 3], [5, -1]])).table["document"].to_pylist()
        ['7', '3', '5']
        """
        flat = flatten_matrix(ids, subject=name)
        grades = np.ones(len(flat.query))
        return cls.from_columns(
            flat.query, flat.document, grades, name=name, notes=flat.notes, locate=flat.locate
        )

    def __len__(self) -> int:
        source = self.source
        return len(source.documents) if isinstance(source, Lists) else int(source.num_rows)

    def __repr__(self) -> str:
        return f"Judgments({self.name}: {len(self):,} of {len(self.offset) - 1:,} queries)"

    @cached_property
    def table(self) -> pa.Table:
        """Columns `query`, `document`, `grade` and, where given, `target`."""
        source = self.source
        if not isinstance(source, Lists):
            return source
        return pa.table(
            {
                "query": take(
                    self.queries, np.repeat(np.arange(len(source.queries)), np.diff(source.offset))
                ),
                "document": to_strings(source.documents),
                "grade": to_arrow(source.grades),
            }
        )

    @cached_property
    def offset(self) -> Ints:
        """Query `q` owns rows `offset[q]` to `offset[q + 1]`."""
        return self.source.offset if isinstance(self.source, Lists) else self._groups[0]

    @cached_property
    def queries(self) -> pa.Array:
        """The id of every query, in the order of their bytes."""
        return to_strings(self.source.queries) if isinstance(self.source, Lists) else self._groups[1]

    @cached_property
    def _groups(self) -> tuple[Ints, pa.Array]:
        column = self.column("query")
        if len(column) == 0:
            return np.zeros(1, dtype=np.int64), column
        first = np.concatenate(([0], _find_changes(column)))
        return np.append(first, len(column)).astype(np.int64), take(column, first)

    @cached_property
    def query_names(self) -> list[str]:
        """The id of every query, as Python strings."""
        names: list[str] = self.source.queries if isinstance(self.source, Lists) else self.queries.to_pylist()
        return names

    @cached_property
    def documents(self) -> list[str]:
        """The document of every row, as Python strings."""
        source = self.source
        names: list[str] = (
            source.documents if isinstance(source, Lists) else self.column("document").to_pylist()
        )
        return names

    @cached_property
    def grades(self) -> Floats:
        """The grade of every row."""
        source = self.source
        return source.grades if isinstance(source, Lists) else to_numpy(self.column("grade"))

    @property
    def targets(self) -> pa.Array | None:
        """The target of every row; None if none is given."""
        return self.column("target") if "target" in self.table.column_names else None

    def column(self, name: str) -> pa.Array:
        """Return one column as one contiguous array."""
        return one_array(self.table.column(name))

    @property
    def by_intent(self) -> bool:
        """Whether documents were judged for intents of their query, or for targets, which count as intents."""
        if isinstance(self.source, Lists):
            return False
        return self.intents is not None or "target" in self.source.column_names

    def select(self, queries: Collection[str]) -> Judgments:
        """Return the judgments of some queries.

        >>> Judgments.from_mapping({"q1": {"a": 1}, "q2": {"b": 1}}).select({"q2"}).documents
        ['b']
        """
        rows = self.to_arrow()
        wanted = set(queries)
        chosen = [row for row, query in enumerate(rows["query"].to_pylist()) if query in wanted]
        kept = rows.take(to_arrow(np.array(chosen, dtype=np.int64)))
        columns = {
            name.removeprefix("intent_") if name == "intent_weight" else name: one_array(kept[name])
            for name in kept.column_names
        }
        return self.with_texts_of(
            Judgments.from_columns(**columns, name=self.name, notes=self.notes, distinct=True)
        )

    def to_arrow(self) -> pa.Table:
        """Return the judgments as one Arrow table; with intents, a row for each query, intent and document."""
        if self.intents is None:
            return self.table
        ids = self.table.select(["query", "document"]).take(self.intents["row"])
        rows = ids.append_column("grade", self.intents["grade"]).add_column(
            1, "intent", self.intents["intent"]
        )
        if "weight" in self.intents.column_names:
            rows = rows.append_column("intent_weight", self.intents["weight"])
        return rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def check_intents(columns: Mapping[str, Column], subject: str) -> None:
    """Raise `BadInput` if columns say in two ways what a document answers."""
    if {"intent", "target"} <= set(columns):
        message = (
            "both `intent` and `target` are there, expected one: a target is the one intent of a document"
        )
        raise BadInput(subject, [Problem.error("two-columns", "columns", message)])


def order_intents(intent: pa.Array) -> tuple[Ints, int]:
    """Return a number for each intent, and how many there are: by value if all are numerals, else by bytes.

    This is the order of ndeval, whose intents are whole numbers.
    """
    encoded = intent.dictionary_encode()
    names = encoded.dictionary
    by_bytes = np.empty(len(names), dtype=np.int64)
    by_bytes[to_numpy(call("array_sort_indices", names.view(pa.large_binary())))] = np.arange(len(names))
    order = np.argsort(by_bytes)
    if all(NUMERAL.fullmatch(name) for name in names.to_pylist()):
        order = np.lexsort((by_bytes, to_numpy(names.cast(pa.int64()))))
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return rank[to_numpy(encoded.indices)], len(names)


def has_single_intents(query: pa.Array, intent: pa.Array) -> bool:
    """Return whether no query has more than one intent."""
    return len(np.unique(_pair(encode(query), encode(intent)))) == len(call("unique", query))


def add_bad_weights(query: pa.Array, intent: pa.Array, weight: pa.Array, problems: Problems) -> None:
    """Add every weight that is negative or not finite, or differs from the one its intent had before."""
    values = to_numpy(weight)
    bad = ~(np.isfinite(values) & (values >= 0))
    problems.add_rows(
        "bad-weight", np.flatnonzero(bad), lambda row: f"weight is {values[row]}, expected a number from 0"
    )
    _, start, member = np.unique(_pair(encode(query), encode(intent)), return_index=True, return_inverse=True)
    first = start[member.reshape(-1)]
    problems.add_rows(
        "bad-weight",
        np.flatnonzero(~bad & (values != values[first])),
        lambda row: (
            f"intent `{intent[row]}` of query `{query[row]}` has the weight {values[row]:g}, "
            f"and {values[first[row]]:g} at {problems.place(int(first[row]))}"
        ),
    )


def _fold_intents(rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return a row for each document, with its highest grade, and the rows of its intents.

    The second table says by `row` which document of the first it is about; its rows go by document, then by
    intent in the order of `order_intents`.
    """
    key = _pair(encode(one_array(rows["query"])), encode(one_array(rows["document"])))
    _, start, member = np.unique(key, return_index=True, return_inverse=True)
    number = np.empty(len(start), dtype=np.int64)
    number[np.argsort(start)] = np.arange(len(start))
    document = number[member.reshape(-1)]
    highest = np.full(len(start), -np.inf)
    np.maximum.at(highest, document, to_numpy(one_array(rows["grade"])))
    heads = rows.select(["query", "document"]).take(to_arrow(np.sort(start)))
    order = np.lexsort((order_intents(one_array(rows["intent"]))[0], document))
    kept = [name for name in ("intent", "grade", "weight") if name in rows.column_names]
    details = rows.select(kept).take(to_arrow(order)).add_column(0, "row", to_arrow(document[order]))
    return heads.append_column("grade", to_arrow(highest)), details


def _pair(one: Ints, other: Ints) -> Ints:
    return one * (int(other.max(initial=0)) + 1) + other


def _sort_queries(mapping: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return a dict in the order of its queries' bytes; the dict itself if they are not all sound text."""
    try:
        return dict(sorted(mapping.items(), key=lambda item: str.encode(item[0])))
    except (TypeError, UnicodeEncodeError):
        return mapping


def _list_plain(mapping: Mapping[Any, Any]) -> Lists | None:
    """Return a dict of dicts of text and finite numbers as lists; None for any other, which columns read or refuse."""
    dicts = list(mapping.values())
    if not (all(map(is_plain_dict, dicts)) and are_plain_ids(mapping)):
        return None
    documents: list[Any] = list(chain.from_iterable(dicts))
    numbers = list(chain.from_iterable(inner.values() for inner in dicts))
    if not (documents and are_plain_ids(documents) and set(map(type, numbers)) <= {float, int, bool}):
        return None
    try:
        grades = np.array(numbers, dtype=np.float64)
    except OverflowError:  # an integer beyond any float
        return None
    if not np.isfinite(grades).all() or len(grades) != len(documents):
        return None
    grades.flags.writeable = False
    filled = [(query, len(inner)) for query, inner in mapping.items() if inner]
    offset = np.array([0, *accumulate(count for _, count in filled)], dtype=np.int64)
    return Lists([query for query, _ in filled], documents, offset, grades)


def _find_changes(column: pa.Array) -> Ints:
    """Return the rows whose value differs from the row before."""
    return np.flatnonzero(to_numpy(call("not_equal", column[1:], column[:-1]))) + 1


def _group_by_query(table: pa.Table) -> pa.Table:
    """Return the rows by query, in the order of the queries' bytes; within a query in their own order."""
    queries = one_array(table.column("query"))
    if len(queries) < 2:
        return table
    starts = np.concatenate(([0], _find_changes(queries)))
    heads = take(queries, starts).view(pa.large_binary())
    if len(starts) == 1 or to_numpy(call("less", heads[:-1], heads[1:])).all():
        return table
    encoded = queries.dictionary_encode()
    rank = np.empty(len(encoded.dictionary), dtype=np.int64)
    rank[to_numpy(call("array_sort_indices", encoded.dictionary.view(pa.large_binary())))] = np.arange(
        len(rank)
    )
    return table.take(to_arrow(np.argsort(rank[to_numpy(encoded.indices)], kind="stable")))
