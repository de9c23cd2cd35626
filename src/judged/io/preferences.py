"""`read_preferences`: TREC text of four or five columns, data frames and dicts, as preferences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from judged.errors import BadInput, WrongKind
from judged.io import frames
from judged.io.format import File
from judged.io.lines import read_lines
from judged.io.read import is_file, open_source
from judged.io.trec import text_of_lines
from judged.problem import Problem, Problems
from judged.tables.judgments import Judgments
from judged.tables.preferences import Preferences
from judged.tables.run import Run

__all__ = ["read_preferences"]

ROLES = {
    "query": ("query", "query_id", "qid", "topic"),
    "group": ("group", "judge", "assessor", "user", "ujg"),
    "document": ("document", "document_id", "doc_id", "docno"),
    "level": ("level", "rel_level", "grade", "relevance"),
    "subgroup": ("subgroup", "sub_group", "ujsubg"),
}
"""For each role, the names that a column may have, without regard to case; the first one present is taken."""

COLUMNS = {4: ((0, 2, 3), (1, 1, 3)), 5: ((0, 3, 4), (1, 2, 4))}
"""Where query, document and level, then group and sub-group stand in a line of four or five columns."""


def read_preferences(source: Any, *, columns: int | None = None, name: str | None = None) -> Preferences:
    r"""Preferences, or the grades of several judges, of a file, a data frame, or a dict of dicts of dicts.

    Lines of a file are `query group subgroup document level` or, of four columns, `query group document level`;
    the first line tells which, unless `columns` does. A dict goes from query to group to document to level.

    >>> read_preferences(b"q1 ann d1 2\nq1 ann d2 1\nq1 bob d2 1\n")
    Preferences(preferences: 3 levels by 2 groups on 1 query)
    """
    made = _read(source, columns)
    if len(made) == 0:
        raise BadInput(made.name, [Problem.error("empty", made.name, "holds no preferences")])
    return made if name is None else replace(made, name=name)


def _read(source: Any, columns: int | None) -> Preferences:
    """The table, by whichever reader knows the kind of the source."""
    if isinstance(source, Preferences):
        return source
    if isinstance(source, Run | Judgments):
        kind = type(source).__name__
        msg = f"measures of preferences were given an object of type `{kind}`, expected preferences"
        raise WrongKind(msg, hint="`judged.read_preferences` reads them")
    if is_file(source):
        opened = open_source(source, None)
        if isinstance(opened, tuple):
            return _of_file(opened[0], opened[1].name, columns)
    elif isinstance(source, Mapping):
        return Preferences.from_mapping(source)
    elif frames.is_frame(source):
        return _of_table(frames.table_of(source, subject="preferences"), "preferences")
    msg = f"preferences cannot be read from an object of type `{type(source).__name__}`"
    raise WrongKind(
        msg, hint="expected a file of TREC text, a data frame, or a dict: query → group → document → level"
    )


def _of_file(file: File, format_name: str, columns: int | None) -> Preferences:
    if format_name != "trec":
        fault = Problem.error("format", file.label, f"looks like {format_name}, expected TREC text")
        raise BadInput(file.label, [fault], hint="read it into a data frame, and give that")
    data = text_of_lines(file)
    width = columns or _width(bytes(data[:65_536]))
    wanted, groups = COLUMNS[width]
    lines = read_lines(data, columns=width, wanted=wanted)
    faults = Problems(file.label, line=lines.line)
    query, document, level = lines.table("level", faults)
    if lines.wide:
        many = "line has" if lines.wide == 1 else "lines have"
        faults.add_line("malformed-line", 1, f"{lines.wide:,} {many} more than {width} columns")
    group, subgroup = read_lines(data, columns=width, wanted=groups).ids
    parts = None if width == 4 else subgroup
    return Preferences.from_columns(
        query, group, document, level, parts, name=file.name or "preferences", faults=faults
    )


def _width(head: bytes) -> int:
    """How many columns the first line has that is neither blank nor a comment; five if that is none known."""
    rows = (line.split() for line in head.splitlines())
    first = next((row for row in rows if row and not row[0].startswith(b"#")), [])
    return 4 if len(first) == 4 else 5


def _of_table(table: pa.Table, name: str) -> Preferences:
    lower = {column.lower(): column for column in reversed(table.column_names)}
    found = {
        role: next((lower[each] for each in names if each in lower), None) for role, names in ROLES.items()
    }
    absent = [role for role, column in found.items() if column is None and role != "subgroup"]
    if absent:
        told = f"{', '.join(table.column_names)}; no column for {', '.join(absent)}"
        hint = f"name it `{ROLES[absent[0]][0]}`"
        raise BadInput(name, [Problem.error("missing-column", "the columns", told)], hint=hint)
    columns = {role: table[column] for role, column in found.items() if column is not None}
    return Preferences.from_columns(**columns, name=name)
