"""Building blocks of what a result shows, in any format: sentences, tables, figures and notes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TypeAlias

from judged.errors import UnknownName
from judged.problem import Note
from judged.wording import escape


@dataclass(frozen=True, slots=True)
class Display:
    """Options for how much of a result is shown, and how."""

    digits: int = 4
    """Decimals of a number."""
    per_query: bool = False
    """Show every query (or session), not only the whole."""
    intervals: bool = False
    """Show the confidence interval of every mean."""
    marks: bool = True
    """Mark the effect of ties and significant differences next to numbers."""
    full: bool = False
    """Show everything that is known about each difference."""
    columns: tuple[str, ...] = ()
    """The columns of a table of differences; empty: the usual ones."""
    paper: bool = False
    """Show one table to paste into a paper, with how it was made."""
    floating: bool = True
    """In LaTeX, set every table in a `table` with a caption and a label."""
    sort: str = ""
    """The column that queries are sorted by: its name, `query`, `value` or `difference`; after `-`, descending."""
    limit: int | None = None
    """The largest number of queries to show."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """The text of each query, shown next to its id."""
    width: int | None = None
    """Columns of the terminal; None: a fixed layout, tables as wide as they are."""
    bold: bool = False
    """Emphasise headings and best values, on a terminal."""
    notes: bool = True
    """Show notes; commands print theirs on standard error instead."""
    title: str | None = None
    """Title of the first table."""
    escape_formulas: bool = False
    """Put an apostrophe before CSV and TSV cells that a spreadsheet would run as formulas."""


@dataclass(frozen=True, slots=True)
class Between:
    """A range that a number lies in."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval, or the reason why it has none."""

    value: float
    low: float | None = None
    high: float | None = None
    reason: str = ""
    """Shown in place of an interval that does not exist."""
    marks: str = ""
    """Letters of the systems that this one beats, set above the value in formats with superscripts."""
    tied: bool = False
    """Whether another order of tied results would give another value."""


Value: TypeAlias = str | int | float | Estimate | Between | None
"""Types of cells; None is shown as nothing."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the result: its answer, or how it was made."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values under column names, as people read them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    best: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    """The cells (row, column) with the best value."""
    title: str | None = None
    caption: str = ""
    """Caption for a table that is read alone, as in a paper; shown where there is one table."""
    foot: int = 0
    """Number of rows at the end that summarise the others."""
    corner: str | None = None
    """Heading of the first column if the table is transposed to fit; None: it is never transposed."""
    keys: int = 1
    """Number of columns at the start that say what a row is about: repeated where columns are set below each other."""

    def select(self, columns: Sequence[int]) -> Table:
        """Return the table with some of its columns."""
        place = {column: at for at, column in enumerate(columns)}
        return replace(
            self,
            columns=tuple(self.columns[column] for column in columns),
            rows=tuple(tuple(row[column] for column in columns) for row in self.rows),
            best=frozenset((row, place[column]) for row, column in self.best if column in place),
        )


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart: a Vega-Lite specification with its data, from which every format is drawn."""

    name: str
    title: str
    spec: Mapping[str, object]
    note: str = ""
    """A caption: how to read the chart."""

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> object:  # noqa: ARG002 - IPython's
        return import_module("judged.report.notebook").to_bundle(self)


@dataclass(frozen=True, slots=True)
class Notes:
    """Notes on the numbers."""

    notes: tuple[Note, ...]


Block: TypeAlias = Sentence | Table | Figure | Notes


TIED = "~"
"""The mark of a number that another order of tied results would change."""


def format_value(value: Value, *, digits: int = 4) -> str:
    """Return a value as people read it: floats with `digits` decimals, control characters escaped.

    >>> format_value(0.12345), format_value(7), format_value(Estimate(0.5, 0.25, 0.75), digits=2), format_value(None)
    ('0.1235', '7', '0.50 [0.25, 0.75]', '')
    >>> format_value(Estimate(0.5, marks="bc", tied=True), digits=1)
    '0.5~ bc'
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, Estimate):
        return " ".join(filter(None, split_estimate(value, digits=digits)))
    if isinstance(value, Between):
        return f"{format_value(value.low, digits=digits)}–{format_value(value.high, digits=digits)}"
    if isinstance(value, int):
        return str(value)
    return f"{round(value, digits) + 0.0:.{digits}f}"  # adding 0 makes −0 positive


def split_estimate(value: Estimate, *, digits: int = 4) -> tuple[str, str, str]:
    """Return the number with its mark of ties, the interval or its reason, and the marks of significance."""
    number = format_value(value.value, digits=digits) + (TIED if value.tied else "")
    interval = f"[{value.reason}]" if value.reason else ""
    if value.low is not None:
        interval = f"[{format_value(value.low, digits=digits)}, {format_value(value.high, digits=digits)}]"
    return number, interval, value.marks


def state_p(p: float, *, digits: int = 4) -> str:
    """Return a p-value for a sentence.

    >>> state_p(0.0312), state_p(1e-9)
    ('p = 0.0312', 'p < 0.0001')
    """
    least = 10.0**-digits
    return f"p < {least:.{digits}f}" if p < least else f"p = {p:.{digits}f}"


def format_p(p: float | None, *, digits: int = 4) -> float | str | None:
    """Return a p-value as people read it: below the last decimal rather than 0.

    >>> format_p(0.04), format_p(0.00004)
    (0.04, '<0.0001')
    """
    least = 10.0**-digits
    return f"<{least:.{digits}f}" if p is not None and p < least else p


_LIKE_NUMBER = re.compile(r"[<+−-]?\d+(\.\d+)?( ?%)?$")


def is_numeric(table: Table, column: int) -> bool:
    """Return whether a column holds numbers, or text that reads like them, and is aligned right."""
    cells = [row[column] for row in table.rows if row[column] is not None]
    return bool(cells) and not any(isinstance(cell, str) and not _LIKE_NUMBER.match(cell) for cell in cells)


def mark_best(table: Table, higher_is_better: Mapping[str, bool | None], *, digits: int = 4) -> Table:
    """Return the table with the best cells of each column marked.

    `higher_is_better` gives the direction of a column; columns without one have no best cell. Values that read
    the same at `digits` decimals are equally good, and a column of equal values has no best cell.
    """
    best: set[tuple[int, int]] = set()
    for column, name in enumerate(table.columns):
        if higher_is_better.get(name) is None:
            continue
        cells = {row: _to_number(cells[column]) for row, cells in enumerate(table.rows)}
        values = {row: round(value, digits) for row, value in cells.items() if value is not None}
        if len(set(values.values())) > 1:
            winner = max(values.values()) if higher_is_better[name] else min(values.values())
            best |= {(row, column) for row, value in values.items() if value == winner}
    return replace(table, best=frozenset(best))


def _to_number(value: Value) -> float | None:
    if isinstance(value, Estimate):
        return value.value
    return None if value is None or isinstance(value, (str, Between)) else float(value)


def transpose(table: Table) -> Table:
    """Return the table with rows and columns exchanged, the values of the first column as names."""
    names = (table.corner or "", *(format_value(row[0]) for row in table.rows))
    rows: Sequence[tuple[Value, ...]] = [
        (name, *(row[column] for row in table.rows))
        for column, name in enumerate(table.columns)
        if column > 0
    ]
    best = frozenset((column - 1, row + 1) for row, column in table.best)
    return replace(table, columns=names, rows=tuple(rows), best=best)


def query_table(
    unit: str,
    ids: Sequence[str],
    columns: Mapping[str, Sequence[Value]],
    display: Display,
    *,
    foot: Sequence[Value] = (),
    difference: Sequence[float] | None = None,
    title: str | None = None,
) -> Table:
    """Return a row for each query (or session) under the columns, with its text where that is known.

    `display` sorts and limits the rows, and `foot` ends them. `difference` is what `--sort difference` means; without
    it, the spread of the values.
    """
    texts = [[display.texts.get(query) for query in ids]] if display.texts else []
    cells: list[Sequence[Value]] = [ids, *texts, *columns.values()]
    order = _sort_queries(ids, unit, columns, display.sort, difference)
    shown = order if display.limit is None else order[: display.limit]
    rows = [tuple(column[at] for column in cells) for at in shown]
    if len(shown) < len(ids):
        title = f"{title or ''} ({len(shown):,} of {len(ids):,})".strip()
    if foot:
        rows.append(("all", *([None] * len(texts)), *foot))
    names = (unit, *(["text"] * len(texts)), *columns)
    return Table(names, tuple(rows), title=title, foot=bool(foot))


def _sort_queries(
    ids: Sequence[str],
    unit: str,
    columns: Mapping[str, Sequence[Value]],
    sort: str,
    difference: Sequence[float] | None,
) -> list[int]:
    """Return the places of the queries in the order asked for; what has no value comes last."""
    places, name = list(range(len(ids))), sort.removeprefix("-")
    if not name:
        return places
    keys: Sequence[Value]
    if name in columns:
        keys = columns[name]
    elif name in {"query", unit}:
        keys = ids
    elif name == "value":
        keys = next(iter(columns.values()))
    elif name == "difference":
        keys = difference if difference is not None else _spreads(columns)
    else:
        raise UnknownName("column to sort by", name, ["query", "value", "difference", *columns])
    return sort_places(keys, descending=sort.startswith("-"))


def sort_places(keys: Sequence[Value], *, descending: bool) -> list[int]:
    """Return the places of values in their order; equal ones stay as they are, and what has no value comes last.

    >>> sort_places([0.5, None, 2.0, float("nan"), 0.5], descending=True)
    [2, 0, 4, 1, 3]
    """
    known = [at for at, key in enumerate(keys) if key is not None and key == key]  # noqa: PLR0124 - NaN
    missing = sorted(set(range(len(keys))).difference(known))
    known.sort(key=lambda at: keys[at], reverse=descending)  # type: ignore[arg-type,return-value]
    return [*known, *missing]


def _spreads(columns: Mapping[str, Sequence[Value]]) -> list[float]:
    """Return how far apart the values of each query are."""
    spreads = []
    for row in zip(*columns.values(), strict=True):
        numbers = [float(value) for value in row if isinstance(value, int | float)]
        spreads.append(max(numbers) - min(numbers) if numbers else 0.0)
    return spreads
