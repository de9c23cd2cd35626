"""Rows of tables, sheets and records as batches; what cannot be a row is noted, and the others are read on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from judged.checks.batch import Batch
from judged.checks.findings import Findings
from judged.checks.report import Place
from judged.errors import BadInput
from judged.io.columns import Roles, find_columns
from judged.io.csv import Sheet, read_fast
from judged.io.open import is_number_text
from judged.io.records import flat_rows, keys_of
from judged.io.sniff import Kind as Role
from judged.kernels.scan.folding import fold
from judged.kernels.scan.strings import Strings
from judged.kernels.segments import Flags, Floats, Ints
from judged.problem import Line, Place as ProblemPlace, Problem, Problems
from judged.tables.columns import as_ids, as_numbers, one_array, to_arrow, to_numpy
from judged.tables.intents import BAD_WEIGHTS, add_weight_faults
from judged.tables.judgments import refuse_both
from judged.tables.objects import id_text, is_number

__all__ = [
    "batch_of_columns",
    "batch_of_records",
    "batch_of_sheet",
    "batch_of_table",
    "note_faults",
    "note_gathered",
]

NAMES = {
    "malformed-line": "malformed",
    "few-columns": "malformed",
    "not-an-object": "malformed",
    "score-nan": "score-nan",
    "missing-value": "missing-value",
    "bad-id": "bad-id",
    "not-finite": "grade-not-finite",
    "not-utf-8": "judgment-not-utf-8",
    "empty": "no-judgments",
    BAD_WEIGHTS: "intent-weight",
}
"""The kinds that stand for what readers call their faults."""
NUMBERS = (2, 4)
"""Which of the columns in the order of `_wanted` hold numbers."""


def note_faults(
    counts: Counter[str], findings: Findings, role: Role, *, faults: Sequence[Problem] = ()
) -> None:
    """Note what a reader refused, by kind."""
    number = "score-not-a-number" if role == "run" else "grade-not-a-number"
    for kind, count in counts.items():
        name = NAMES.get(kind, "unreadable")
        if kind == "not-a-number":
            name = number
        elif kind == "repeated-document":
            name = "retrieved-twice" if role == "run" else "judged-twice"
        first = [fault for fault in faults if fault.code == kind]
        for fault in first:
            findings.add_place(name, _placed(fault, findings.file), count=0)
        findings.add_count(name, count)


def note_gathered(faults: Problems, findings: Findings, role: Role) -> None:
    """Note what a reader has gathered and not refused yet."""
    try:
        faults.raise_if_any()
    except BadInput as error:
        note_faults(error.counts, findings, role, faults=error.problems)


def _placed(fault: Problem, file: str) -> Place:
    """Where a fault stands: on a line, or wherever its reader says."""
    line = str(fault.place).rpartition(":")[2]
    if line.isdecimal():
        return Place(file, fault.message, line=int(line))
    return Place(file, f"{fault.place}: {fault.message}")


def batch_of_table(table: pa.Table, role: Role, findings: Findings, *, intents: bool = False) -> Batch:
    """The rows of an Arrow table; those with a null are noted and left out."""
    names = _wanted(find_columns(table.column_names, role, subject=findings.file, intents=intents), findings)
    columns = [table.column(table.column_names.index(name)) for name in names]
    null = np.zeros(table.num_rows, dtype=bool)
    for column in columns:
        if column.null_count:
            null |= to_numpy(one_array(pa.chunked_array([one_array(pc.is_null(column))])))
    number = np.arange(1, table.num_rows + 1)
    findings.add("missing-value", number[null], lambda _: "a value is null")
    if null.any():
        kept = to_arrow(np.flatnonzero(~null))
        columns = [column.take(kept) for column in columns]
    return _weighed(columns, number[~null], findings)


def _wanted(roles: Roles, findings: Findings) -> list[str]:
    """The columns of query, document and number; then of the intent and its weight, where they are."""
    refuse_both(roles.more, findings.file)
    more = [roles.more[role] for role in ("intent", "weight") if role in roles.more]
    return [roles.query, roles.document, roles.number, *more]


def _weighed(columns: Sequence[Any], number: Ints, findings: Findings) -> Batch:
    """Columns in the order of `_wanted` as a batch; weights of intents that cannot be are noted."""
    intent = columns[3] if len(columns) > 3 else None
    batch = batch_of_columns(*columns[:3], number=number, subject=findings.file, intent=intent)
    if len(columns) > 4:
        place = (
            {"line": number.__getitem__}
            if findings.lines
            else {"locate": lambda row: ProblemPlace(row=int(number[row]))}
        )
        faults: Any = Problems(findings.file, **place)
        query, intent = (as_ids(columns[k], name="id", faults=Problems(""))[0] for k in (0, 3))
        add_weight_faults(query, intent, as_numbers(columns[4], name="weight", faults=faults), faults)
        note_gathered(faults, findings, "judgments")
    return batch


def batch_of_columns(
    query: Any,
    document: Any,
    number_column: Any,
    *,
    number: Ints | None = None,
    subject: str = "table",
    intent: Any = None,
) -> Batch:
    """Columns without nulls as a batch."""
    faults = Problems(subject)
    queries = _strings(as_ids(query, name="query", faults=faults)[0])
    documents = _strings(as_ids(document, name="document", faults=faults)[0])
    value = to_numpy(as_numbers(number_column, name="number", faults=faults))
    batch = _batch(queries, documents, value, np.arange(1, len(value) + 1) if number is None else number)
    return (
        batch
        if intent is None
        else replace(batch, intent=_strings(as_ids(intent, name="intent", faults=faults)[0]))
    )


def batch_of_sheet(sheet: Sheet, role: Role, findings: Findings, *, intents: bool = False) -> Batch:
    """The rows of CSV or TSV, at speed where nothing is wrong with them."""
    roles = find_columns(sheet.header, role, subject=findings.file, intents=intents)
    wanted = [sheet.header.index(name) for name in _wanted(roles, findings)]
    try:
        columns = read_fast(sheet, wanted, [place for place in NUMBERS if place < len(wanted)])
        return _weighed(columns, np.arange(1, len(columns[0]) + 1), findings)
    except pa.ArrowInvalid:
        return _careful(sheet, wanted, role, findings)


def batch_of_records(
    records: Sequence[Any], role: Role, findings: Findings, *, line: Line, intents: bool = False
) -> Batch:
    """The rows of objects that name their values, and stand on lines."""
    faults = Problems(findings.file, line=line)
    rows, owner = flat_rows(records, faults)
    note_gathered(faults, findings, role)
    if not rows:
        return batch_of_columns([], [], np.zeros(0))
    roles = find_columns(keys_of(rows[0]), role, subject=findings.file, intents=intents)
    wanted = _wanted(roles, findings)
    cells = [tuple(row.get(name) for name in wanted) for row in rows]
    return _of_cells(cells, np.array([line(record) for record in owner], dtype=np.int64), role, findings)


def _careful(sheet: Sheet, wanted: Sequence[int], role: Role, findings: Findings) -> Batch:
    cells: list[tuple[Any, ...]] = []
    numbers = []
    for number, (line, row) in enumerate(sheet.rows(), 1):
        if line < 0 or len(row) != len(sheet.header):
            told = (
                f"cannot be read: {row[0]}"
                if line < 0
                else f"{len(row)} columns, expected {len(sheet.header)}"
            )
            findings.add("malformed", np.array([number]), lambda _, told=told: told)  # type: ignore[misc]
            continue
        read: list[Any] = [row[place] for place in wanted]
        for place in range(2, len(read), 2):
            read[place] = _number_or_text(read[place])
        cells.append(tuple(read))
        numbers.append(number)
    return _of_cells(cells, np.array(numbers, dtype=np.int64), role, findings)


def _number_or_text(text: str) -> float | str:
    bare = text.strip(" \t")
    return float(bare) if is_number_text(bare.encode(errors="replace")) else text


def _of_cells(cells: Sequence[tuple[Any, ...]], number: Ints, role: Role, findings: Findings) -> Batch:
    """Rows of Python objects; those with a bad id are noted and left out, bad numbers are marked as such."""
    kind = "score-not-a-number" if role == "run" else "grade-not-a-number"
    bad = {
        "missing-value": [None in row for row in cells],
        "bad-id": [None not in row and None in _texts(row) for row in cells],
        kind: [None not in row and None not in _texts(row) and not is_number(row[2]) for row in cells],
        "intent-weight": [None not in row and not all(map(is_number, row[4:])) for row in cells],
    }
    kept: Flags = np.ones(len(cells), dtype=bool)
    for name, flags in bad.items():
        which = np.flatnonzero(flags)
        kept[which] = False
        findings.add(name, number[which], lambda i, which=which: f"the row holds {_shown(cells[which[i]])}")  # type: ignore[misc]
    good = [cells[i] for i in np.flatnonzero(kept).tolist()]
    width = max(map(len, good), default=3)
    columns: list[Any] = [[str(id_text(row[k])) for row in good] for k in (0, 1)]
    columns.append(np.array([float(row[2]) for row in good], dtype=np.float64))
    columns += [[str(id_text(row[3])) for row in good]] if width > 3 else []
    columns += [np.array([float(row[4]) for row in good])] if width > 4 else []
    return _weighed(columns, number[kept], findings)


def _texts(row: tuple[Any, ...]) -> list[str | None]:
    """The ids of a row as text; None for what cannot be one."""
    return [id_text(row[k]) for k in (0, 1, 3) if k < len(row)]


def _shown(cells: tuple[Any, ...]) -> str:
    return ", ".join(ascii(each)[:40] for each in cells)


def _batch(query: Strings, document: Strings, value: Floats, number: Ints) -> Batch:
    folded, fate = fold(document)
    sound = np.ones(len(value), dtype=bool)
    return Batch(number, query, document, value, sound, folded, fate)


def _strings(array: pa.Array) -> Strings:
    """A column of large strings as bytes and offsets."""
    _, offsets, data = array.buffers()
    if data is None or len(array) == 0:
        return Strings.from_offsets(np.zeros(1, dtype=np.uint8), np.zeros(len(array) + 1, dtype=np.int64))
    cuts = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    return Strings.from_offsets(np.frombuffer(data, dtype=np.uint8), cuts)
