"""Rows of named values from CSV, TSV or JSONL: attributes of queries, and timings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judged.errors import Unusable
from judged.io.csv import read_sheet
from judged.io.files import open_file
from judged.io.jsonl import read_records
from judged.problem import Problem, Problems

__all__ = ["Rows", "read_rows"]


@dataclass(frozen=True)
class Rows:
    """What a file holds: a dict for each row, and faults to be told with its lines."""

    columns: tuple[str, ...]
    rows: Sequence[Mapping[str, Any]]
    faults: Problems

    def column(self, role: str, names: Sequence[str]) -> str:
        """The first of the names that is a column, without regard to case; none is an error."""
        by_name = {column.strip().lower(): column for column in reversed(self.columns)}
        found = next((by_name[name] for name in names if name in by_name), None)
        if found is None:
            told = ", ".join(f"`{name}`" for name in self.columns) or "none"
            fault = Problem.error("missing-column", "columns", f"{told}; no {role} among them")
            raise Unusable(self.faults.subject, [fault], hint=f"name the {role} one of {', '.join(names)}")
        return found


def read_rows(path: str | Path) -> Rows:
    """The rows of a file: CSV or TSV with a header, or an object on every line."""
    file = open_file(path)
    if file.extension in {".jsonl", ".ndjson"} or file.head(64).lstrip().startswith(b"{"):
        records, faults = read_records(file)
        for row, record in enumerate(records):
            if not isinstance(record, dict):
                faults.add("rows", row, f"is {type(record).__name__}, expected an object")
        faults.raise_if_any(error=Unusable)
        columns = tuple(dict.fromkeys(name for record in records for name in record))
        return Rows(columns, records, faults)
    sheet = read_sheet(file)
    faults = Problems(file.label, line=sheet.line)
    rows = []
    for line, values in sheet.rows():
        if line < 0 or len(values) != len(sheet.header):
            told = values[0] if line < 0 else f"has {len(values)} values, expected {len(sheet.header)}"
            faults.add_line("malformed-line", abs(line), told)
        else:
            rows.append(dict(zip(sheet.header, values, strict=True)))
    faults.raise_if_any(error=Unusable)
    return Rows(tuple(sheet.header), rows, faults)
