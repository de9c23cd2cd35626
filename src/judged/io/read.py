"""`read_judgments`, `read_run` and the other readers: tables from files, data frames and dicts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from judged.errors import BadInput, UnknownName, Unreadable, WrongKind
from judged.io import beir, ir_datasets, trec
from judged.io.open import File, is_file
from judged.io.sheet import read_sheet
from judged.io.sniff import Format, Kind, kind_of_columns
from judged.io.table import RawTable, Table, from_rows, open_path, read_file, read_raw, read_table
from judged.problem import Problem
from judged.tables.columns import MOST_DIGITS
from judged.tables.judgments import Judgments
from judged.tables.run import Run
from judged.tables.schema import (
    ITERATION,
    JUDGMENTS,
    JUDGMENTS_BY_ITERATION,
    LABELS,
    PREFERENCES,
    RUN,
    TIMINGS,
    Schema,
)

if TYPE_CHECKING:  # the tables below are loaded by the readers that return them
    from judged.tables.inputs import (
        JudgmentsLike,
        LabelsLike,
        PreferencesLike,
        RunLike,
        TimingsLike,
    )
    from judged.tables.labels import Labels
    from judged.tables.preferences import Preferences
    from judged.tables.timings import Timings


def read_judgments(
    source: JudgmentsLike,
    *,
    format: str | None = None,  # noqa: A002 - what users call it
    name: str | None = None,
    intents: bool = False,
) -> Judgments:
    """Return the judgments of a file, a folder, a data set's id, or an object in memory, called `name`.

    `format` names the format of a file, where neither its name nor its first bytes show it. A column called
    `intent` is always read; `intents` reads the second column of TREC judgments as such, or a column
    `iteration`, which are otherwise ignored.

    >>> read_judgments({"q1": {"d1": 1}})
    Judgments(judgments: 1 of 1 queries)
    """
    if isinstance(source, Judgments):
        return source if name is None else replace(source, name=name)
    if isinstance(source, Run):
        msg = "a run where judgments should be"
        raise WrongKind(msg, hint="judgments come first, then the run")
    judgments = _read_judgments(source, format, name, intents=intents)
    if len(judgments) == 0:
        raise _empty(source, judgments.name, "judgments")
    return judgments


def read_run(
    source: RunLike,
    *,
    format: str | None = None,  # noqa: A002 - what users call it
    name: str | None = None,
) -> Run:
    """Return the run of a file, a data set's id, or an object in memory, called `name`.

    `format` names the format of a file, where neither its name nor its first bytes show it.

    >>> read_run({"q1": ["d2", "d1"]}, name="bm25")
    Run(bm25)
    """
    if isinstance(source, Run):
        return source if name is None else replace(source, name=name)
    if isinstance(source, Judgments):
        msg = "judgments where a run should be"
        raise WrongKind(msg, hint="judgments come first, then the run")
    opened: Any = open_path(source, RUN, format) if is_file(source) else source
    if isinstance(opened, Path):
        msg = f"{opened} is a folder, expected a file that holds a run"
        raise Unreadable(msg)
    if _is_opened(opened):
        file, written = opened
        run = (
            trec.read_run(file) if written.name == "trec" else _make_run(read_file(file, written, RUN), file)
        )
        return replace(run, name=name or run.name or "run")
    called = name or _own_name(opened) or "run"
    if _is_matrix(opened) or _is_pair(opened):
        ids, scores = opened if _is_pair(opened) else (opened, None)
        return Run.from_matrix(ids, scores, name=called)
    return _make_run(_read_object(opened, RUN, called), File(b"", called, called))


def read_preferences(
    source: PreferencesLike, *, columns: int | None = None, name: str | None = None
) -> Preferences:
    r"""Return preferences, or the grades of several judges, of a file, a data frame, or nested dicts.

    Lines of TREC text are `query group subgroup document level` or, of four columns, `query group document
    level`; the first line decides, unless `columns` does. A dict goes from query to group to document to level.

    >>> read_preferences(b"q1 ann d1 2\nq1 ann d2 1\nq1 bob d2 1\n")
    Preferences(preferences: 3 levels by 2 groups on 1 query)
    """
    from judged.tables.preferences import Preferences

    if isinstance(source, Preferences):
        return source if name is None else replace(source, name=name)
    if isinstance(source, Run | Judgments):
        kind = type(source).__name__
        msg = f"measures of preferences were given an object of type `{kind}`, expected preferences"
        raise WrongKind(msg, hint="`judged.read_preferences` reads them")
    if not (columns is None or (isinstance(columns, int) and columns in PREFERENCES.lines)):
        known = [str(count) for count in PREFERENCES.lines]
        raise UnknownName("number of columns of preferences", str(columns), known)
    schema = (
        PREFERENCES if columns is None else replace(PREFERENCES, lines={columns: PREFERENCES.lines[columns]})
    )
    if is_file(source):
        file, written = _open_file(source, schema)
        raw, called = read_file(file, written, schema), file.name or "preferences"
    else:
        raw, called = read_raw(source, schema, name="preferences"), "preferences"
    if isinstance(raw, RawTable):
        made = Preferences.from_columns(**raw.columns, name=called, problems=raw.problems)
    else:
        made = Preferences.from_mapping(raw, name=called)
    if len(made) == 0:
        raise _empty(source, made.name, "preferences")
    return made if name is None else replace(made, name=name)


def read_labels(source: LabelsLike, *, name: str | None = None) -> Labels:
    r"""Return the labels of a file, a data frame, judgments, a dict of dicts, or an iterable of labels or dicts.

    A file of TREC judgments has `task 0 id gain`. A dict goes from task to id to gain. Every gain is a whole
    number from 0 to 4.

    >>> [(label.task, label.url, label.gain) for label in read_labels(b'{"task": "t1", "url": "a.org", "gain": 3}')]
    [('t1', 'a.org', 3)]
    """
    from judged.tables.labels import Labels

    if isinstance(source, Labels):
        return source if name is None else replace(source, name=name)
    sheet = read_sheet(source)
    if sheet is not None:
        name = name or Path(str(source)).stem
        source = [{**row, "gain": _to_gain(row["gain"])} for row in sheet]
    table = read_table(source, LABELS, name=source.name if isinstance(source, Judgments) else None)
    labels = _check_labels(table)
    if len(labels) == 0:
        raise _empty(source, labels.name, "labels")
    return labels if name is None else replace(labels, name=name)


def _to_gain(text: str) -> int | str:
    """Return a gain that a person wrote; anything but a whole number stays, and is refused with its row."""
    return int(text) if text.strip().isdecimal() and len(text) <= MOST_DIGITS else text


def read_timings(source: TimingsLike, *, name: str | None = None) -> Timings:
    r"""Return the timings of a file, a data frame, rows, or a dict from system to samples in seconds.

    A column `system` and one whose name says the unit are needed, such as `seconds` or `milliseconds`.

    >>> read_timings(b"system,ms\nbm25,250\n").samples("bm25").tolist()
    [0.25]
    """
    from judged.tables.timings import Timings

    if isinstance(source, Timings):
        return source if name is None else replace(source, name=name)
    table = read_table(source, TIMINGS, name=name)
    return Timings.from_columns(**table.columns, name=table.name, problems=table.problems)


def kind_of(source: Any, *, format: str | None = None) -> Kind | None:  # noqa: A002 - what users call it
    """Return whether a file holds judgments or a run, as far as it shows; None if it may be either."""
    opened = open_path(source, JUDGMENTS, format)
    if not _is_opened(opened):
        return "judgments"  # folders and data sets are known by their judgments
    file, written = opened
    if written.kind is not None:
        return written.kind(file)
    return None if written.columns is None else kind_of_columns(written.columns(file))


def _read_judgments(
    source: object,
    format: str | None,  # noqa: A002
    name: str | None,
    *,
    intents: bool,
) -> Judgments:
    schema = JUDGMENTS_BY_ITERATION if intents else JUDGMENTS
    opened: Any = open_path(source, schema, format) if is_file(source) else source
    notes: tuple[str, ...] = ()
    if isinstance(opened, Path):
        split, notes = beir.find_split(opened)
        name = name or opened.resolve().name
        opened = _open_file(split, schema)
    if _is_opened(opened):
        file, written = opened
        if written.name == "trec":
            made = trec.read_judgments(file, intents=intents, forced=format is not None)
        else:
            made = _make_judgments(read_file(file, written, schema), file)
        return replace(made, name=name or made.name or "judgments", notes=(*made.notes, *notes))
    called = name or _own_name(opened) or "judgments"
    if _is_pair(opened):
        msg = "judgments are a pair of matrices, expected one matrix of relevant ids"
        raise WrongKind(msg, hint="give grades as a dict of dicts or as a data frame")
    if _is_matrix(opened):
        return Judgments.from_matrix(opened, name=called)
    return _make_judgments(_read_object(opened, schema, called), File(b"", called, called))


def _read_object(source: object, schema: Schema, name: str) -> RawTable | Mapping[object, object]:
    if ir_datasets.is_dataset(source):
        return from_rows(ir_datasets.iterate(source, schema), schema, subject=name)
    return read_raw(source, schema, name=name)


def _make_judgments(raw: RawTable | Mapping[Any, Any], file: File) -> Judgments:
    if isinstance(raw, RawTable):
        columns = dict(raw.columns)
        if ITERATION in columns:
            columns["intent"] = columns.pop(ITERATION)
        return Judgments.from_columns(**columns, name=file.name, notes=raw.notes, problems=raw.problems)
    make = Judgments.from_mapping if _is_nested(raw) else Judgments.from_lists
    made = make(raw, name=file.label)
    # not replaced without need: the copy would not have the documents that `from_mapping` has kept
    return made if file.name == file.label else replace(made, name=file.name)


def _make_run(raw: RawTable | Mapping[Any, Any], file: File) -> Run:
    if isinstance(raw, RawTable):
        return Run.from_columns(**raw.columns, name=file.name, notes=raw.notes, problems=raw.problems)
    make = Run.from_mapping if _is_nested(raw) else Run.from_lists
    return replace(make(raw, name=file.label), name=file.name)


def _check_labels(table: Table) -> Labels:
    """Return labels; each needs exactly one kind of id, or another key."""
    from judged.tables.labels import KEYS, SCHEMA as LABEL_COLUMNS, Labels

    columns, problems = table.columns, table.problems
    rows = len(table)
    present = {key: columns[key].is_valid().to_numpy(zero_copy_only=False) for key in KEYS if key in columns}
    if "id" in present and "domain_id" in present:
        problems.add_rows(
            "two-ids",
            np.flatnonzero(present["id"] & present["domain_id"]),
            lambda row: (
                f"has both `id` ({columns['id'][row]}) and `domain_id` ({columns['domain_id'][row]}), "
                "expected one of them"
            ),
        )
    known = np.logical_or.reduce([*present.values(), np.zeros(rows, dtype=bool)])
    unknown = [row for row in np.flatnonzero(~known).tolist() if row not in problems.rows]
    problems.add_rows(
        "label-without-key", unknown, lambda _: f"names no result, expected one of {', '.join(KEYS)}"
    )
    problems.raise_if_any()
    held = {
        column.name: columns.get(column.name, pa.nulls(rows, pa.large_string())) for column in LABEL_COLUMNS
    }
    return Labels(pa.table(held, schema=LABEL_COLUMNS), name=table.name, notes=table.notes)


def _open_file(source: object, schema: Schema) -> tuple[File, Format]:
    opened = open_path(source, schema)
    if not _is_opened(opened):
        msg = f"{source} is not a file; expected a file of {schema.name}"
        raise Unreadable(msg)
    file, written = opened
    return file, written


def _is_opened(opened: object) -> bool:
    return isinstance(opened, tuple) and len(opened) == 2 and isinstance(opened[0], File)


def _is_matrix(source: object) -> bool:
    """Return whether this is an array of NumPy's or of a library that shares its memory (DLPack)."""
    return isinstance(source, np.ndarray) or hasattr(type(source), "__dlpack__")


def _is_pair(source: object) -> bool:
    return isinstance(source, tuple) and len(source) == 2 and all(_is_matrix(matrix) for matrix in source)


def _is_nested(mapping: Mapping[object, object]) -> bool:
    return any(isinstance(inner, Mapping) for inner in mapping.values()) or not mapping


def _own_name(source: Any) -> str | None:
    return str(source.dataset_id()) if ir_datasets.is_dataset(source) else None


def _empty(source: object, name: str, kind: str) -> BadInput:
    """Return the error that a file, called as the user wrote it, or a table holds nothing."""
    label = os.fsdecode(source) if isinstance(source, str | os.PathLike) and source != "-" else name
    return BadInput(label, [Problem.error("empty", label, f"holds no {kind}")])
