"""Results as data for programs: CSV, TSV, JSON, JSON Lines and Parquet, every number in full."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from math import isnan

import pyarrow as pa

from judged.blocks import Display
from judged.result import Result, to_records
from judged.saved import to_builtins

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Prefixes of cells that a spreadsheet may run; it reads full-width signs as the plain ones."""


def render_csv(result: Result, display: Display) -> str:
    """Return one table of the result as CSV."""
    return to_delimited(choose_table(result, display), escape_formulas=display.escape_formulas)


def render_tsv(result: Result, display: Display) -> str:
    """Return one table of the result as TSV."""
    table = choose_table(result, display)
    return to_delimited(table, delimiter="\t", escape_formulas=display.escape_formulas)


def render_jsonl(result: Result, display: Display) -> str:
    """Return one table of the result as JSON Lines; empty cells are left out."""
    return to_json_lines(to_records(choose_table(result, display)))


def render_json(result: Result, display: Display) -> str:
    """Return the whole result as one JSON document."""
    return to_json(result.to_dict(per_query=display.per_query))


def render_parquet(result: Result, display: Display) -> bytes:
    """Return one table of the result as a Parquet file, with its provenance in the file's metadata."""
    return to_parquet(choose_table(result, display), about=describe(result))


def choose_table(result: Result, display: Display) -> pa.Table:
    """Return the table that formats of a single table hold: the main one, or that of the queries."""
    return result.to_arrow(result.detail if display.per_query else None)


def describe(result: Result) -> dict[str, str]:
    """Return the provenance of a result as key-value metadata of a file."""
    provenance = result.provenance
    about = {"judged": provenance.version, "judged.kind": result.kind}
    about |= {"judged.provenance": json.dumps(to_builtins(provenance.to_dict()), ensure_ascii=False)}
    return about


def to_delimited(table: pa.Table, *, delimiter: str = ",", escape_formulas: bool = False) -> str:
    """Return a table with a header line, values separated by `delimiter` and quoted where needed.

    With `escape_formulas`, an apostrophe comes before texts that a spreadsheet would run.

    >>> print(to_delimited(pa.table({"run": ["bm25"], "AP": [0.1 + 0.2]})))
    run,AP
    bm25,0.30000000000000004
    """
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    rows = [table.column_names, *zip(*(_to_cells(column) for column in table.columns), strict=True)]
    writer.writerows(map(_escape_formulas, rows) if escape_formulas else rows)
    return out.getvalue()


def _escape_formulas(row: Iterable[object]) -> list[object]:
    """Return the cells of a row, an apostrophe before each text that begins as a formula does."""
    return [f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell for cell in row]


def _to_cells(column: pa.ChunkedArray) -> list[object]:
    """Return the values of a column; nothing where a number is undefined."""
    return [None if isinstance(value, float) and isnan(value) else value for value in column.to_pylist()]


def to_json(document: Mapping[str, object] | Sequence[Mapping[str, object]]) -> str:
    """Return a document as indented JSON.

    >>> print(to_json({"AP": 0.5}))
    {
      "AP": 0.5
    }
    """
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_json_lines(records: Iterable[Mapping[str, object]]) -> str:
    """Return a JSON object for each record; None is left out.

    >>> print(to_json_lines([{"run": "bm25", "value": 0.5, "text": None}]))
    {"run": "bm25", "value": 0.5}
    """
    known = ({name: value for name, value in record.items() if value is not None} for record in records)
    return "".join(json.dumps(to_builtins(record), ensure_ascii=False) + "\n" for record in known)


def to_parquet(table: pa.Table, *, about: Mapping[str, str] | None = None) -> bytes:
    """Return the bytes of a Parquet file; `about` becomes the file's key-value metadata."""
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(dict(about or {})), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content
