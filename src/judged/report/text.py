"""Tables as aligned text, for terminals and for pipes."""

from __future__ import annotations

from unicodedata import combining, east_asian_width

from judged.report.layout import Table, numeric, written

__all__ = ["to_text", "width_of"]

BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
GAP = "  "


def to_text(table: Table, *, digits: int = 4, bold: bool = False) -> str:
    """The table in aligned columns, numbers flush right; `bold` marks names and the best cells.

    >>> print(to_text(Table(("run", "AP"), (("bm25", 0.25), ("dense", 0.5)))))
    run        AP
    ─────────────
    bm25   0.2500
    dense  0.5000
    """
    cells = [[written(value, digits=digits) for value in row] for row in table.rows]
    names = [written(name) for name in table.columns]
    right = [numeric(table, column) for column in range(len(names))]
    widths = [max(map(_cells_wide, column)) for column in zip(names, *cells, strict=True)]
    rule = "─" * (sum(widths) + len(GAP) * (len(widths) - 1))
    lines = [_line(names, widths, right, set(range(len(names))) if bold else set()), rule]
    for number, row in enumerate(cells):
        if table.foot and number == len(cells) - table.foot:
            lines.append(rule)
        marked = {column for line, column in table.best if line == number} if bold else set()
        lines.append(_line(row, widths, right, marked))
    title = [] if table.title is None else [written(table.title), ""]
    return "\n".join([*title, *lines]) + "\n"


def width_of(table: Table, *, digits: int = 4) -> int:
    """How many columns of a terminal the table takes."""
    return max(map(_cells_wide, to_text(table, digits=digits).splitlines()), default=0)


def _line(cells: list[str], widths: list[int], right: list[bool], bold: set[int]) -> str:
    parts = []
    for column, cell in enumerate(cells):
        padding = " " * (widths[column] - _cells_wide(cell))
        shown = f"{BOLD}{cell}{PLAIN}" if column in bold and cell else cell
        parts.append(padding + shown if right[column] else shown + padding)
    return GAP.join(parts).rstrip()


def _cells_wide(text: str) -> int:
    """How many cells of a terminal the text takes: ideographs two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
