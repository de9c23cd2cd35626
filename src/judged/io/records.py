"""Records: rows that name their own columns, as JSON objects and lists of dicts do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judged.io.columns import Roles, find_columns, has_ids, kind_of_columns
from judged.io.format import Kind
from judged.problem import Problems
from judged.tables.judgments import Judgments
from judged.tables.run import Run

__all__ = ["flat_rows", "is_record", "judgments_of", "keys_of", "kind_of_record", "run_of"]

RESULTS = "results"
"""The key under which a record may hold all documents of its query."""
NO_RECORDS = "not-an-object"


def judgments_of(records: Sequence[Any], *, name: str, faults: Problems, intents: bool = False) -> Judgments:
    """Judgments of records that name a query, a document, a grade and maybe a target or an intent."""
    rows, roles = _rows_and_roles(records, "judgments", faults, intents=intents)
    if roles is None:
        return Judgments.from_columns([], [], [], name=name, faults=faults)
    columns = roles.judged([_column(rows, key) for key in roles.all()])
    return Judgments.from_columns(**columns, name=name, notes=roles.notes, faults=faults)


def run_of(records: Sequence[Any], *, name: str, faults: Problems) -> Run:
    """A run of records that name a query, a document and a score."""
    rows, roles = _rows_and_roles(records, "run", faults)
    if roles is None:
        return Run.from_columns([], [], [], name=name, faults=faults)
    query, document, score = (_column(rows, role) for role in (roles.query, roles.document, roles.number))
    return Run.from_columns(query, document, score, name=name, notes=roles.notes, faults=faults)


def is_record(thing: Any) -> bool:
    """Whether an object names a query and a document, or a query and its results, of its own."""
    return isinstance(thing, Mapping) and (has_ids(keys_of(thing)) or _is_nested(thing))


def kind_of_record(record: Any) -> Kind | None:
    """What a record is a row of, as far as its keys tell."""
    if not isinstance(record, Mapping):
        return None
    if _is_nested(record):
        return kind_of_record(next(iter(record[RESULTS]), None))
    return kind_of_columns(keys_of(record))


def _rows_and_roles(
    records: Sequence[Any], kind: Kind, faults: Problems, *, intents: bool = False
) -> tuple[list[Mapping[str, Any]], Roles | None]:
    """Flat rows and the roles of their keys; None if there is no row."""
    rows, owner = flat_rows(records, faults)
    line = faults.line
    if line is not None:
        faults.line = lambda row: line(owner[row])
    if not rows:
        return rows, None
    return rows, find_columns(keys_of(rows[0]), kind, subject=faults.subject, intents=intents)


def flat_rows(records: Sequence[Any], faults: Problems) -> tuple[list[Mapping[str, Any]], list[int]]:
    """Every row, those under `results` with the query of their record, and the record each came from."""
    rows: list[Mapping[str, Any]] = []
    owner: list[int] = []
    for number, record in enumerate(records):
        if not isinstance(record, Mapping):
            faults.add(
                NO_RECORDS, number, f"holds {type(record).__name__}, expected an object with named values"
            )
            continue
        inner = _results(record) if _is_nested(record) else [record]
        rows += inner
        owner += [number] * len(inner)
    return rows, owner


def _results(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    outer = {key: value for key, value in record.items() if key != RESULTS}
    return [{**outer, **result} for result in record[RESULTS]]


def _is_nested(record: Mapping[str, Any]) -> bool:
    results = record.get(RESULTS)
    return isinstance(results, list) and all(isinstance(each, Mapping) for each in results)


def keys_of(record: Mapping[Any, Any]) -> list[str]:
    """The keys of a record that are text."""
    return [key for key in record if isinstance(key, str)]


def _column(rows: list[Mapping[str, Any]], key: str) -> list[Any]:
    return [row.get(key) for row in rows]
