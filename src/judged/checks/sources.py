"""Sources of rows: TREC text in chunks, everything else through `read_table` with problems collected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from judged.arrays import Bytes, Ints
from judged.checks.batch import COLUMNS, Batch, Stretch, cut_text, make_batch
from judged.checks.kinds import declare
from judged.checks.result import Findings
from judged.errors import BadInput, JudgedError
from judged.io.open import BOM, File, Joined, is_file, is_number_text
from judged.io.read import read_judgments, read_run
from judged.io.sniff import Kind as Role
from judged.io.table import RawTable, check, is_frame, open_path, read_file, read_raw
from judged.io.trec import read_line_text, refuse_run
from judged.kernels.scan.rows import RETURN
from judged.kernels.scan.text import BLANK, COMMENT, ROW, SHORT
from judged.problem import Place
from judged.tables.columns import one_array, to_arrow, to_numpy, to_strings
from judged.tables.judgments import Judgments, add_bad_weights, check_intents
from judged.tables.mapping import map_schema, refuse_map
from judged.tables.run import Run
from judged.tables.schema import ITERATION, JUDGMENTS, JUDGMENTS_BY_ITERATION, RUN, Schema

HEAD = 1 << 16
"""Bytes whose lines must look like preferences for a file to be taken for them."""


_EMPTY = {"id": to_strings([]), "number": to_arrow(np.zeros(0))}


FEW_COLUMNS = declare("few-columns", "error", "lines", "The line has too few columns.")
MANY_COLUMNS = declare(
    "many-columns",
    "warning",
    "lines",
    "The line has more columns than its kind of file; the rest is ignored.",
)
COMMENTS = declare(
    "comments", "info", "lines", "The line begins with `#` and is skipped; other tools would read it."
)
BLANK_LINES = declare("blank-lines", "info", "lines", "The line is blank and is skipped.")
CARRIAGE_RETURNS = declare(
    "carriage-returns", "info", "lines", "The line ends with a carriage return and a line feed."
)
BYTE_ORDER_MARK = declare(
    "byte-order-mark", "info", "files", "The file begins with a byte order mark, which is skipped."
)

# found by the readers of tables, which name a problem by its code alone
declare("malformed-line", "error", "lines", "The line is not what its format says.")
declare("not-an-object", "error", "lines", "The line holds a JSON value that is not an object.")
declare("missing-value", "error", "values", "A query, document, score, grade or intent is missing.")
declare("bad-id", "error", "ids", "An id is neither text nor a whole number.")
declare(
    "bad-weight",
    "error",
    "rows",
    "The weight of an intent is negative, not finite, or not the same in all its rows.",
)


class HoldsPreferences(JudgedError):
    """A file given as judgments holds preferences."""


@dataclass(frozen=True, eq=False)
class Source:
    """One file, or one object in memory, whose batches can be read as often as needed."""

    batches: Callable[[], Iterator[Batch]]
    findings: Findings
    data: Bytes
    """The bytes that hold the documents' ids, among others."""


def open_source(given: object, role: Role, *, name: str, intents: bool = False) -> Source:
    """Return the rows of a file or an object, ready to be checked; what a reader finds is in the findings."""
    schema = map_schema(RUN if role == "run" else JUDGMENTS_BY_ITERATION if intents else JUDGMENTS, given)
    if not is_file(given):
        rows = (is_frame(given) or _has_rows(given)) and not isinstance(given, (Judgments, Run))
        raw = read_raw(given, schema, name=name) if rows else given
        if isinstance(raw, RawTable):
            return _from_raw(raw, schema, role, name)
        return _read_strictly(given, role, name, intents=intents)
    opened = given if isinstance(given, Joined) else open_path(given, schema)
    if not isinstance(opened, tuple):
        label = str(given) if isinstance(opened, Path | Joined) else name
        return _read_strictly(given, role, label, intents=intents)
    file, written = opened
    if isinstance(given, (bytes, bytearray, memoryview)):
        file = replace(file, label=name)
    if written.name == "trec":
        refuse_map(schema, file.label, written.title)
        return _from_text(file, role, intents=intents and role == "judgments")
    raw = read_file(file, written, schema)
    if isinstance(raw, RawTable):
        return _from_raw(raw, schema, role, file.label)
    return _read_strictly(raw, role, file.label, intents=intents)


def _has_rows(given: object) -> bool:
    """Return whether an object holds rows one after the other; dicts and matrices have their own readers."""
    return isinstance(given, Iterable) and not isinstance(given, Mapping) and not hasattr(given, "__array__")


def _from_text(file: File, role: Role, *, intents: bool) -> Source:
    """Return TREC text; what is notable about its lines is added the first time it is read."""
    data = np.frombuffer(read_line_text(file), dtype=np.uint8)
    findings = Findings(file.label, role)
    if file.head().startswith(BOM):
        findings.add(BYTE_ORDER_MARK, np.array([1]), lambda _: "a byte order mark")
    if role == "run" and data[:3].tobytes() == BOM:
        data = data[3:]  # as the scanner does
    if role == "judgments":
        refuse_run(data[:HEAD].tobytes(), file.label)
        _check_preferences(data)
    first = True

    def read_batches() -> Iterator[Batch]:
        nonlocal first
        unseen, first = first, False
        for stretch in cut_text(data, columns=COLUMNS[role], intents=intents):
            if unseen:
                _check_lines(stretch, findings, columns=COLUMNS[role])
            yield stretch.batch

    return Source(read_batches, findings, data)


def _check_lines(stretch: Stretch, findings: Findings, *, columns: int) -> None:
    """Report the lines that are not rows, and those that are unusual."""
    rows, kinds = stretch.rows, stretch.rows.kinds & (RETURN - 1)
    for kind, flags, message in (
        (FEW_COLUMNS, kinds == SHORT, None),
        (MANY_COLUMNS, (kinds == ROW) & (rows.counts > columns), None),
        (COMMENTS, kinds == COMMENT, "a comment"),
        (BLANK_LINES, kinds == BLANK, "a blank line"),
        (CARRIAGE_RETURNS, rows.kinds >= RETURN, "ends with CR LF"),
    ):
        which = np.flatnonzero(flags)
        counts = rows.counts[which]

        def describe(i: int, message: str | None = message, counts: Ints = counts) -> str:
            return message or f"{counts[i]} column{'s' if counts[i] != 1 else ''}, expected {columns}"

        findings.add(kind, which + (stretch.line + 1), describe)


def _check_preferences(text: Bytes) -> None:
    """Raise `HoldsPreferences` if rows are `query group subgroup document level`, which have no grade.

    A fourth column of numbers may be grades, and a fifth one merely be ignored: then nothing is certain.
    """
    lines = text[:HEAD].tobytes().split(b"\n")
    fields = [line.split() for line in (lines[:-1] if len(text) > HEAD else lines)]
    rows = [row for row in fields if row and not row[0].startswith(b"#")]
    if rows and all(len(row) == 5 and is_number_text(row[4]) and not is_number_text(row[3]) for row in rows):
        msg = "the lines are like `query group subgroup document level`, expected `query 0 document grade`"
        raise HoldsPreferences(msg)


def _from_raw(raw: RawTable, schema: Schema, role: Role, label: str) -> Source:
    """Return the rows of a table that have no problem; the problems are in the findings."""
    table = check(raw, schema, name=label)
    columns, problems = dict(table.columns), table.problems
    if ITERATION in columns:
        columns["intent"] = columns.pop(ITERATION)
    check_intents(columns, label)
    unsound = set(problems.rows)
    if "weight" in columns:
        add_bad_weights(columns["query"], columns["intent"], columns["weight"], problems)
    findings = Findings(label, role, lambda number: problems.place(number - 1))
    findings.add_problems(problems)
    kept = np.setdiff1d(np.arange(len(table)), np.fromiter(unsound, dtype=np.int64))
    if unsound:
        columns = {name: column.take(to_arrow(kept)) for name, column in columns.items()}
    return _from_columns(columns, kept + 1, findings)


def _read_strictly(given: Any, role: Role, label: str, *, intents: bool = False) -> Source:
    """Return what a reader makes of an object; the problems for which it refuses one become findings."""
    findings = Findings(label, role, lambda number: Place(label, row=number))
    try:
        if role == "judgments":
            table = read_judgments(given, intents=intents).to_arrow()
        else:
            table = read_run(given).as_columns().to_arrow()
    except BadInput as error:
        findings.add_problems(error)
        schema = RUN if role == "run" else JUDGMENTS
        table = pa.table({field.name: _EMPTY[field.kind] for field in schema.fields if field.required})
    columns = {name: one_array(table[name]) for name in table.column_names}
    return _from_columns(columns, np.arange(1, len(table) + 1), findings)


def _from_columns(columns: Mapping[str, Any], numbers: Ints, findings: Findings) -> Source:
    batch = make_batch(
        numbers,
        columns["query"],
        columns["document"],
        to_numpy(columns["score" if findings.role == "run" else "grade"]),
        columns.get("intent"),
    )
    return Source(lambda: iter([batch]), findings, batch.document.data)
