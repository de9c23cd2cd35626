"""Where rows come from: TREC text line by line, tables and records row by row, anything else through its reader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from judged.checks.batch import Batch, Source
from judged.checks.findings import Findings
from judged.checks.preferences import refuse_preferences
from judged.checks.tables import (
    batch_of_columns,
    batch_of_records,
    batch_of_sheet,
    batch_of_table,
    note_faults,
    note_gathered,
)
from judged.checks.text import COLUMNS, note_lines, stretches
from judged.errors import BadInput
from judged.io import arrow, csv, frames, parquet
from judged.io.jsonl import read_records
from judged.io.open import BOM, File, Format, Kind as Role
from judged.io.read import is_file, open_source as opened, read_judgments, read_run
from judged.io.trec import text_of_lines

__all__ = ["open_source", "text_source"]


def open_source(given: Any, role: Role, *, name: str, intents: bool = False) -> Source:
    """The rows of a file or an object, ready to be looked through."""
    if not is_file(given):
        if frames.is_frame(given) and not hasattr(given, "as_columns"):
            findings = Findings(name, lines=False)
            batch = batch_of_table(frames.table_of(given, subject=name), role, findings, intents=intents)
            return _table_source(batch, role, findings)
        return _read(given, role, name, intents=intents)
    found = opened(given, None)
    if isinstance(found, tuple):
        file, written = replace(found[0], intents=intents), found[1]
        label = name if isinstance(given, (bytes, bytearray, memoryview)) else file.label
        return _of_file(file, written, role, label)
    return _read(given, role, str(given) if isinstance(found, Path) else name, intents=intents)


def text_source(file: File, role: Role, label: str) -> Source:
    """TREC text; what is notable about its lines is noted the first time it is gone through."""
    data = np.frombuffer(text_of_lines(file), dtype=np.uint8)
    findings = Findings(label)
    if file.head().startswith(BOM):
        findings.add("byte-order-mark", np.array([1]), lambda _: "a byte order mark")
    if role == "run" and data[:3].tobytes() == BOM:
        data = data[3:]  # as the scanner does
    if role == "judgments":
        refuse_preferences(data)
    columns, looked, by_intent = COLUMNS[role], [False], file.intents and role == "judgments"

    def batches() -> Iterator[Batch]:
        first, looked[0] = not looked[0], True
        for stretch in stretches(data, columns=columns, intents=by_intent):
            if first:
                note_lines(stretch, findings, columns=columns)
            yield stretch.batch

    return Source(label, role, batches, findings, data)


def _of_file(file: File, written: Format, role: Role, label: str) -> Source:
    if written.name == "trec":
        return text_source(file, role, label)
    findings = Findings(label, lines=False)
    if written.name in {"csv", "tsv", "beir"}:
        batch = batch_of_sheet(csv.read_sheet(file), role, findings, intents=file.intents)
    elif written.name == "jsonl":
        findings = Findings(label)
        records, faults = read_records(file)
        line = faults.line or int
        batch = batch_of_records(records, role, findings, line=line, intents=file.intents)
        note_gathered(faults, findings, role)
    elif written.name == "parquet":
        batch = batch_of_table(parquet.read_table(file, role), role, findings, intents=file.intents)
    elif written.name == "arrow":
        batch = batch_of_table(arrow.read_table(file), role, findings, intents=file.intents)
    else:
        reader = written.read_judgments if role == "judgments" else written.read_run
        return _read(file, role, label, reader)
    return _table_source(batch, role, findings)


def _read(given: Any, role: Role, label: str, reader: Any = None, *, intents: bool = False) -> Source:
    """What a reader makes of an object; the faults that it refuses become findings."""
    findings = Findings(label, lines=False)
    strict: Any = reader or (read_judgments if role == "judgments" else read_run)
    try:
        table = strict(given, **({"intents": True} if intents and role == "judgments" else {}))
        columns = (table if role == "judgments" else table.as_columns()).to_arrow()
    except BadInput as error:
        note_faults(error.counts, findings, role, faults=error.problems)
        return _table_source(batch_of_columns([], [], np.zeros(0)), role, findings)
    number = "grade" if role == "judgments" else "score"
    intent = columns["intent"] if "intent" in columns.column_names else None
    batch = batch_of_columns(columns["query"], columns["document"], columns[number], intent=intent)
    return _table_source(batch, role, findings)


def _table_source(batch: Batch, role: Role, findings: Findings) -> Source:
    return Source(findings.file, role, lambda: iter([batch]), findings, batch.document.data)
