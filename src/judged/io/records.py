"""Records: the rows of a table in an object that holds them under a key, by column, or by query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from judged.tables.schema import Schema, by_spelling

Record: TypeAlias = Mapping[str, Any]
MOST = 100
"""Number of keys up to which an object may be one around a table: those that go from queries to results have more."""

_NUMBERS = frozenset({float, int})


def find_records(value: Mapping[Any, Any], schema: Schema) -> tuple[list[Record], str] | None:
    """Return the rows that an object holds, and a note on where; None if it is not laid out like this.

    >>> from judged.tables.schema import JUDGMENTS
    >>> find_records({"version": 1, "questions": [{"query": "q1", "relevant": ["d1"]}]}, JUDGMENTS)
    ([{'query': 'q1', 'relevant': ['d1']}], 'rows are those under `questions`')
    >>> find_records({"question": ["q1"], "doc_id": ["d1"]}, JUDGMENTS)
    ([{'question': 'q1', 'doc_id': 'd1'}], 'each key holds a column')
    >>> find_records({"q1": {"relevant": ["d1"]}}, JUDGMENTS)
    ([{'query_id': 'q1', 'relevant': ['d1']}], 'each key is a query')
    """
    if not schema.has("question") or not value or not all(isinstance(key, str) for key in value):
        return None
    if len(value) <= MOST:
        found = _find_wrapped(value, schema) or _find_columns(value, schema)
        if found is not None:
            return found
    if _lists_documents(next(iter(value.values())), schema) and all(
        isinstance(inner, Mapping) for inner in value.values()
    ):
        return [{"query_id": query, **inner} for query, inner in value.items()], "each key is a query"
    return None


def _find_wrapped(value: Mapping[str, Any], schema: Schema) -> tuple[list[Record], str] | None:
    """Return the rows of the only list of objects, which name their queries."""
    lists = [key for key, inner in value.items() if isinstance(inner, list)]
    if len(lists) != 1:
        return None
    rows = value[lists[0]]
    if not rows or not all(isinstance(row, Mapping) for row in rows) or not _names_query(rows[0], schema):
        return None
    return list(rows), f"rows are those under `{lists[0]}`"


def _find_columns(value: Mapping[str, Any], schema: Schema) -> tuple[list[Record], str] | None:
    """Return the rows of lists of one length, or of objects with the same keys, as pandas writes its columns."""
    if len(value) < 2:  # queries and documents
        return None
    keyed = all(isinstance(inner, Mapping) for inner in value.values())
    if not keyed and not all(isinstance(inner, list) for inner in value.values()):
        return None
    # the dicts of a training loop are known by their keys and lengths, before any name is spelt
    first, *others = value.values()
    if any(inner.keys() != first.keys() if keyed else len(inner) != len(first) for inner in others):
        return None
    names = by_spelling(value)
    listed = any(schema[field].find(names) for field in ("document", "text"))
    if not listed or not _names_query(value, schema):
        return None
    columns: list[Sequence[Any]] = [[*inner.values()] if keyed else inner for inner in value.values()]
    if keyed and len({tuple(inner) for inner in value.values()}) > 1:
        return None
    rows: list[Record] = [dict(zip(value, cells, strict=True)) for cells in zip(*columns, strict=True)]
    return rows, "each key holds a column"


def _names_query(row: Mapping[str, Any], schema: Schema) -> bool:
    names = by_spelling(key for key in row if isinstance(key, str))
    return any(schema[field].find(names) for field in ("query", "question"))


def _lists_documents(inner: object, schema: Schema) -> bool:
    """Return whether an object has a list, or numbers by document, under a name that says so."""
    if not isinstance(inner, Mapping) or len(inner) > MOST:
        return False
    return not set(map(type, inner.values())) <= _NUMBERS and any(
        isinstance(key, str)
        and (isinstance(listed, list) or _holds_numbers(listed))
        and any(schema[field].is_list(key) for field in ("document", "text"))
        for key, listed in inner.items()
    )


def _holds_numbers(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(number, int | float) for number in value.values())
