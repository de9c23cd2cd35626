"""The plain table that every format is made from: names over columns, values in rows, some cells marked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

__all__ = [
    "Between",
    "Estimate",
    "Table",
    "Value",
    "numeric",
    "probability",
    "transposed",
    "with_best",
    "written",
]


@dataclass(frozen=True, slots=True)
class Between:
    """The two values between which a number lies."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with the bounds of its interval, or the reason why it has none, and what else is to be said of it."""

    value: float
    low: float | None = None
    high: float | None = None
    reason: str = ""
    """What stands in place of bounds that are None."""
    marks: str = ""
    """Letters that formats with superscripts set above the value."""
    ties: Between | None = None
    """The values that other orders of tied results would have given."""


_LIKE_NUMBER = re.compile(r"[<+-]?\d+(\.\d+)?$")

Value: TypeAlias = str | int | float | Estimate | Between | None
"""What a cell may hold; None is shown as nothing."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values under the names of their columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    best: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    """The cells (row, column) that hold the best value."""
    title: str | None = None
    foot: int = 0
    """How many of the last rows sum up the others."""


def written(value: Value, *, digits: int = 4) -> str:
    """A value as people read it: floats with `digits` decimals, control characters made visible.

    >>> written(0.12345), written(7), written(Estimate(0.5, 0.25, 0.75), digits=2), written(None)
    ('0.1235', '7', '0.50 [0.25, 0.75]', '')
    >>> written(Estimate(0.5, ties=Between(0.4, 0.6)), digits=1)
    '0.5 (ties 0.4–0.6)'
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value if value.isprintable() else "".join(map(_visible, value))
    if isinstance(value, Estimate):
        return _estimated(value, digits)
    if isinstance(value, Between):
        return f"{written(value.low, digits=digits)}–{written(value.high, digits=digits)}"
    if isinstance(value, int):
        return str(value)
    return f"{round(value, digits) + 0.0:.{digits}f}"  # adding 0 makes −0 positive


def _estimated(value: Estimate, digits: int) -> str:
    told = [written(value.value, digits=digits)]
    if value.low is not None:
        told.append(f"[{written(value.low, digits=digits)}, {written(value.high, digits=digits)}]")
    elif value.reason:
        told.append(f"[{value.reason}]")
    if value.ties is not None:
        told.append(f"(ties {written(value.ties, digits=digits)})")
    return " ".join(told)


def probability(p: float, *, digits: int = 4) -> float | str:
    """A p-value as people read it, said to be below what can be shown rather than shown as 0.

    >>> probability(0.04), probability(0.00004)
    (0.04, '<0.0001')
    """
    least = 10.0**-digits
    return f"<{least:.{digits}f}" if p < least else p


def numeric(table: Table, column: int) -> bool:
    """Whether a column holds numbers, or text that reads like them, and is set flush right.

    Where some numbers have more to say than others, they stand below each other flush left.
    """
    cells = [row[column] for row in table.rows if row[column] is not None]
    if any(isinstance(cell, Estimate) and cell.ties is not None for cell in cells):
        return False
    return bool(cells) and not any(isinstance(cell, str) and not _LIKE_NUMBER.match(cell) for cell in cells)


def with_best(table: Table, better: Mapping[str, bool | None], *, digits: int = 4) -> Table:
    """The table with the best cells of each column marked, where `better` says whether high is good.

    Values that read the same are equally good; a column whose values all read the same has no best.
    """
    best: set[tuple[int, int]] = set()
    for at, name in enumerate(table.columns):
        if better.get(name) is None:
            continue
        cells = {row: _number(cells[at]) for row, cells in enumerate(table.rows)}
        values = {row: round(value, digits) for row, value in cells.items() if value is not None}
        if len(set(values.values())) > 1:
            winner = max(values.values()) if better[name] else min(values.values())
            best |= {(row, at) for row, value in values.items() if value == winner}
    return replace(table, best=frozenset(best))


def transposed(table: Table, *, corner: str) -> Table:
    """The table with rows and columns exchanged; the first column's values become the names."""
    names = (corner, *(written(row[0]) for row in table.rows))
    rows: Sequence[tuple[Value, ...]] = [
        (name, *(row[at] for row in table.rows)) for at, name in enumerate(table.columns) if at > 0
    ]
    best = frozenset((column - 1, row + 1) for row, column in table.best)
    return replace(table, columns=names, rows=tuple(rows), best=best)


def _number(value: Value) -> float | None:
    if isinstance(value, Estimate):
        return value.value
    return None if value is None or isinstance(value, (str, Between)) else float(value)


def _visible(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()
