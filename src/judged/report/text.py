"""Results as text: aligned columns, for terminals and pipes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from unicodedata import combining, east_asian_width

from judged.blocks import Block, Display, Figure, Notes, Sentence, Table, format_value, is_numeric, transpose
from judged.result import Result

__all__ = ["render_blocks", "render_critical_difference", "render_table", "to_text", "width_of"]

BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
GAP = "  "
MANY = 9
"""A table with more columns than this is transposed, if it can be."""
WIDE = 120
"""The widest table where no terminal says how wide it is."""


def render_table(result: Result, display: Display) -> str:
    """Return the blocks of a result as text; figures are left out."""
    return render_blocks(result.blocks(display), display)


def render_blocks(blocks: Iterable[Block], display: Display) -> str:
    """Return blocks as text, an empty line between them; figures are left out."""
    parts = [_render_block(block, display) for block in blocks if not isinstance(block, Figure)]
    return "\n".join(parts)


def _render_block(block: Sentence | Table | Notes, display: Display) -> str:
    if isinstance(block, Sentence):
        return format_value(block.text) + "\n"
    if isinstance(block, Notes):
        return "".join(f"{format_value(note.message)}\n" for note in block.notes)
    return to_text(fit(block, display), digits=display.digits, bold=display.bold)


def fit(table: Table, display: Display) -> Table:
    """Return the table, transposed if it has many columns or is wider than the display."""
    if table.corner is None:
        return table
    wide = width_of(table, digits=display.digits) > (display.width or WIDE)
    return transpose(table) if wide or len(table.columns) > MANY else table


def to_text(table: Table, *, digits: int = 4, bold: bool = False) -> str:
    """Return a table in aligned columns, numbers to the right; `bold` emphasises names and the best cells.

    >>> print(to_text(Table(("run", "AP"), (("bm25", 0.25), ("dense", 0.5)))))
    run        AP
    ─────────────
    bm25   0.2500
    dense  0.5000
    """
    cells = [[format_value(value, digits=digits) for value in row] for row in table.rows]
    names = [format_value(name) for name in table.columns]
    right = [is_numeric(table, column) for column in range(len(names))]
    widths = [max(map(_display_width, column)) for column in zip(names, *cells, strict=True)]
    rule = "─" * (sum(widths) + len(GAP) * (len(widths) - 1))
    lines = [_join_cells(names, widths, right, set(range(len(names))) if bold else set()), rule]
    for number, row in enumerate(cells):
        if table.foot and number == len(cells) - table.foot:
            lines.append(rule)
        marked = {column for line, column in table.best if line == number} if bold else set()
        lines.append(_join_cells(row, widths, right, marked))
    title = [] if table.title is None else [format_value(table.title), ""]
    return "\n".join([*title, *lines]) + "\n"


def width_of(table: Table, *, digits: int = 4) -> int:
    """Return the number of terminal columns that the table takes."""
    return max(map(_display_width, to_text(table, digits=digits).splitlines()), default=0)


def _join_cells(cells: list[str], widths: list[int], right: list[bool], bold: set[int]) -> str:
    parts = []
    for column, cell in enumerate(cells):
        padding = " " * (widths[column] - _display_width(cell))
        shown = f"{BOLD}{cell}{PLAIN}" if column in bold and cell else cell
        parts.append(padding + shown if right[column] else shown + padding)
    return GAP.join(parts).rstrip()


def _display_width(text: str) -> int:
    """Return the number of terminal cells a text takes: two for an ideograph, none for a combining mark."""
    if text.isascii():
        return len(text)
    return sum(
        0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1 for character in text
    )


def render_critical_difference(
    ranks: Mapping[str, float], cliques: Sequence[Sequence[str]], critical_difference: float
) -> str:
    """Return a critical-difference diagram as text: a line for each system, best first, a column for each clique."""
    names = sorted(ranks, key=lambda system: ranks[system])
    widest = max(map(len, map(format_value, names)))
    lines = [f"critical difference {critical_difference:.3f}"]
    for name in names:
        strokes = " ".join("│" if name in clique else " " for clique in cliques)
        lines.append(f"{ranks[name]:8.3f}  {format_value(name):<{widest}}  {strokes}".rstrip())
    return "\n".join([*lines, ""])
