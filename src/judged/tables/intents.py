"""Intents: what different people may mean by one query, and the grades that documents have for each."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from judged.problem import Problems
from judged.tables.arrays import arrow_of, numpy_of
from judged.tables.strings import one_array

__all__ = ["BAD_WEIGHTS", "add_weight_faults", "codes_in_order", "folded", "single", "unfolded"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
BAD_WEIGHTS = "bad-weight"


def folded(rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Judgments with one row for each document, of its highest grade, and the rows of its intents.

    `rows` are grouped by query, with the columns `query`, `document`, `grade`, `intent` and maybe
    `weight`. The second table says by `row` which document of the first it is about; its rows go by
    document, then by intent in the order of `codes_in_order`.
    """
    document = _documents(rows)
    first, grade = _firsts(document), numpy_of(one_array(rows["grade"]))
    highest = np.full(len(first), -np.inf)
    np.maximum.at(highest, document, grade)
    heads = rows.select(["query", "document"]).take(arrow_of(first))
    order = np.lexsort((codes_in_order(one_array(rows["intent"]))[0], document))
    kept = [name for name in ("intent", "grade", "weight") if name in rows.column_names]
    details = rows.select(kept).take(arrow_of(order))
    return (
        heads.append_column("grade", arrow_of(highest)),
        details.add_column(0, "row", arrow_of(document[order])),
    )


def unfolded(table: pa.Table, intents: pa.Table) -> pa.Table:
    """A row for each query, intent and document, as judgments by intent are written."""
    ids = table.select(["query", "document"]).take(intents["row"])
    long = ids.append_column("grade", intents["grade"]).add_column(1, "intent", intents["intent"])
    return (
        long.append_column("intent_weight", intents["weight"]) if "weight" in intents.column_names else long
    )


def codes_in_order(intent: pa.Array) -> tuple[Ints, int]:
    """A number for each intent, and how many there are: by value if all are numerals, else by bytes.

    So are they taken by ndeval, whose intents are whole numbers.
    """
    encoded = intent.dictionary_encode()
    names = encoded.dictionary
    rank = np.empty(len(names), dtype=np.int64)
    rank[_sorted(names)] = np.arange(len(names))
    return rank[numpy_of(encoded.indices)], len(names)


def single(query: pa.Array, intent: pa.Array) -> bool:
    """Whether no query has more than one intent."""
    return len(np.unique(_pair(_codes(query), _codes(intent)))) == len(pc.unique(query))


def add_weight_faults(query: pa.Array, intent: pa.Array, weight: pa.Array, faults: Problems) -> None:
    """Note every weight that is no number from 0, or that differs from the one the intent had before."""
    values = numpy_of(weight)
    bad = ~(np.isfinite(values) & (values >= 0))
    faults.add_rows(
        BAD_WEIGHTS, np.flatnonzero(bad), lambda row: f"weight is {values[row]}, expected a number from 0"
    )
    key = _pair(_codes(query), _codes(intent))
    _, start, member = np.unique(key, return_index=True, return_inverse=True)
    first = start[member.reshape(-1)]
    other = ~bad & (values != values[first])
    faults.add_rows(
        BAD_WEIGHTS,
        np.flatnonzero(other),
        lambda row: (
            f"intent `{intent[row]}` of query `{query[row]}` has the weight {values[row]:g}, "
            f"and {values[first[row]]:g} at {faults.place(int(first[row]))}"
        ),
    )


def _documents(rows: pa.Table) -> Ints:
    """For each row the number of its query and document, in the order in which they first stand."""
    key = _pair(*(_codes(one_array(rows[name])) for name in ("query", "document")))
    _, start, member = np.unique(key, return_index=True, return_inverse=True)
    number = np.empty(len(start), dtype=np.int64)
    number[np.argsort(start)] = np.arange(len(start))
    return number[member.reshape(-1)]


def _firsts(number: Ints) -> Ints:
    return np.unique(number, return_index=True)[1]


def _sorted(names: pa.Array) -> Ints:
    """The order of the names: that of the numbers they write, where all do, else that of their bytes."""
    if pc.all(pc.match_substring_regex(names, r"^[0-9]{1,18}$")).as_py():
        return np.lexsort((numpy_of(_in_bytes(names)), numpy_of(names.cast(pa.int64()))))
    return np.argsort(numpy_of(_in_bytes(names)))


def _in_bytes(names: pa.Array) -> pa.Array:
    """The place of each name in the order of their bytes."""
    place = np.empty(len(names), dtype=np.int64)
    place[numpy_of(pc.sort_indices(names.cast(pa.large_binary())))] = np.arange(len(names))
    return arrow_of(place)


def _codes(column: pa.Array) -> Ints:
    codes: Ints = numpy_of(column.dictionary_encode().indices).astype(np.int64)
    return codes


def _pair(one: Ints, other: Ints) -> Ints:
    return one * (int(other.max(initial=0)) + 1) + other
