"""Sheets for human graders: CSV with a result on each line, whose gains people fill in; rows without one are not graded yet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path

SHEET = (
    *("number", "gain", "question", "title", "text", "url", "task", "id", "tool", "domain", "domain_id"),
)
"""The columns of a sheet, those that graders need first."""


def encode_sheet(rows: Iterable[Mapping[str, object]]) -> bytes:
    """Return a sheet of results, numbered in their order."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, SHEET, restval="", extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    for number, row in enumerate(rows, 1):
        writer.writerow({**row, "number": str(number)})
    return b"\xef\xbb\xbf" + out.getvalue().encode()  # so that spreadsheets know that it is UTF-8


def read_sheet(source: object) -> list[dict[str, str]] | None:
    """Return the graded rows of a sheet, without the question; None if the source is something else."""
    if not isinstance(source, str | PathLike) or not fspath(source).lower().endswith(".csv"):
        return None
    path = Path(fspath(source))
    if not path.is_file():
        return None
    with path.open(encoding="utf-8-sig", newline="") as file:
        if tuple(name.strip() for name in file.readline().strip().split(",")) != SHEET:
            return None
        rows = csv.DictReader(file, SHEET)
        names = [name for name in SHEET if name not in {"number", "question"}]
        return [
            {name: row[name] for name in names if row[name]} for row in rows if (row["gain"] or "").strip()
        ]
