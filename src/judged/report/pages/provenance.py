"""Provenance: files and hashes, protocol, settings, versions, machine, every note, and the tables as data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from judged.blocks import format_value
from judged.problem import group_notes
from judged.report.packing import Json, to_plain
from judged.report.pages import Page, PageData

if TYPE_CHECKING:
    from judged.report.entry import Entry

MOST_CELLS = 200_000
"""A table with more cells than this is not kept; what it was made of is, on the other pages."""


def make_data(entry: Entry) -> PageData:
    """Return how the result was made; its tables as blocks, so that their CSV equals that of the command."""
    result = entry.result
    provenance = result.provenance.to_saved()
    kept, left = _choose_tables(entry)
    head = {
        "kind": result.kind,
        "notes": [
            {"severity": severity, "message": format_value(text)}
            for severity, text in group_notes(entry.notes, most=None)
        ],
        "inputs": [{**file.to_dict(), "system": file.system} for file in provenance.inputs],
        "protocols": [
            {
                "text": record.text,
                "fingerprint": record.fingerprint,
                "profile": record.profile,
                "measures": list(record.labels),
                "conventions": {name: str(value) for name, value in record.conventions.items()},
            }
            for record in provenance.protocols
        ],
        "settings": {name: _describe(value) for name, value in provenance.settings.items()},
        "version": provenance.version,
        "machine": provenance.machine,
        "tables": {
            name: {"rows": table.num_rows, "columns": table.column_names} for name, table in kept.items()
        },
        "left": left,
    }
    blocks = {f"table:{name}": _pack_table(table) for name, table in kept.items()}
    return PageData(to_plain(head), blocks)


def _choose_tables(entry: Entry) -> tuple[dict[str, pa.Table], list[str]]:
    """Return the tables that are kept, and the names of those that are too large.

    The table of queries may be very large, and is made in the page from the scores.
    """
    tables, result = entry.result.tables(), entry.result
    kept: dict[str, pa.Table] = {}
    left = []
    for name in tables:
        if name == result.detail and result.detail_by_query:
            left.append(name)
            continue
        table = tables[name]
        if table.num_rows * table.num_columns > MOST_CELLS:
            left.append(name)
        else:
            kept[name] = table
    return kept, left


def _pack_table(table: pa.Table) -> Json:
    """Return columns of values with their types: `f` for numbers that CSV writes with a point, else as they are."""
    return [
        {
            "name": name,
            "float": pa.types.is_floating(table.schema.field(name).type),
            "values": to_plain([_to_value(value) for value in table[name].to_pylist()]),
        }
        for name in table.column_names
    ]


def _to_value(value: object) -> Json:
    if isinstance(value, float) and value in {float("inf"), float("-inf")}:
        return "inf" if value > 0 else "-inf"
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def _describe(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


PAGE = Page("provenance", "Provenance", make_data)
