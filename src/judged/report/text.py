"""Results as text: aligned columns, for terminals and pipes.

On a terminal nothing is wider than the terminal. A table that does not fit is transposed if that makes it fit; else
names and texts are wrapped within their columns; else the columns are set below each other, each part with the first
column. Without a terminal the layout is fixed: tables are as wide as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from unicodedata import combining, east_asian_width

from judged.blocks import (
    Block,
    Display,
    Estimate,
    Figure,
    Notes,
    Sentence,
    Table,
    Value,
    format_value,
    is_numeric,
    split_estimate,
    transpose,
)
from judged.problem import group_notes
from judged.result import Result

BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
GAP = "  "
MANY = 9
"""A table with more columns than this is transposed, if it can be."""
WIDE = 120
"""The width beyond which a table is transposed where no terminal says how wide it is."""
LINE = 100
"""Width at which sentences are wrapped if the terminal's is unknown."""
NARROW = 16
"""Text is wrapped to no fewer columns than this, and headings to half of it, before columns are set apart."""

_WORDS = re.compile(r"\s*\S+(?: %\S*| [=<≤≥] \S+)?")
"""Words with the blanks before them; a number stays with its unit, and `p = 0.05` whole."""
_WORD = re.compile(r"\s*\S+")
_FRAGMENTS = re.compile(r"[^_\-./,;:|=(]+[_\-./,;:|=(]*|[_\-./,;:|=(]+")
"""Names are broken after punctuation."""


def render_table(result: Result, display: Display) -> str:
    """Return the blocks of a result as text; figures are left out."""
    return render_blocks(result.blocks(display), display)


def render_blocks(blocks: Iterable[Block], display: Display) -> str:
    """Return blocks as text, an empty line between them; figures are left out."""
    parts = [_render_block(block, display) for block in blocks if not isinstance(block, Figure)]
    return "\n".join(filter(None, parts))


def _render_block(block: Sentence | Table | Notes, display: Display) -> str:
    if isinstance(block, Sentence):
        return _join_lines(wrap(format_value(block.text), display.width or LINE))
    if isinstance(block, Notes):
        lines = (
            wrap(format_value(text), display.width or LINE, indent="  ")
            for _, text in group_notes(block.notes)
        )
        return "".join(map(_join_lines, lines))
    return to_text(block, digits=display.digits, bold=display.bold, width=display.width)


def to_text(table: Table, *, digits: int = 4, bold: bool = False, width: int | None = None) -> str:
    """Return a table in aligned columns, numbers to the right; `bold` emphasises names and the best cells.

    With a `width` no line is wider; without one, the table is as wide as it is.

    >>> print(to_text(Table(("run", "AP"), (("bm25", 0.25), ("dense", 0.5)))))
    run        AP
    ─────────────
    bm25   0.2500
    dense  0.5000
    """
    parts = [_lay_out(part, widths, digits, bold=bold) for part, widths in fit(table, width, digits=digits)]
    title = [] if table.title is None else [*wrap(format_value(table.title), width or 10**9), ""]
    return "\n".join([*title, "\n\n".join(parts)]) + "\n"


def fit(table: Table, width: int | None, *, digits: int = 4) -> Iterator[tuple[Table, list[int]]]:
    """Yield the parts of a table that fit the width, one below the other, each with the widths of its columns."""
    natural = [max(map(_display_width, column)) for column in _columns(table, digits)]
    limit = width or WIDE
    if table.corner is not None and (_total(natural) > limit or len(natural) > MANY):
        turned = transpose(table)
        widths = [max(map(_display_width, column)) for column in _columns(turned, digits)]
        if _total(widths) <= limit:
            yield turned, widths
            return
    if width is None or _total(natural) <= width:
        yield table, natural
        return
    least = [_least_width(table, column, cells) for column, cells in enumerate(_columns(table, digits))]
    for columns in _split(least, width, keys=table.keys):
        yield (
            table.select(columns),
            _shrink([natural[at] for at in columns], [least[at] for at in columns], width),
        )


def _split(least: Sequence[int], width: int, *, keys: int) -> Iterator[list[int]]:
    """Yield the columns of each part: as many as fit next to the keys."""
    part = list(range(keys))
    for column in range(keys, len(least)):
        if len(part) > keys and _total([least[at] for at in (*part, column)]) > width:
            yield part
            part = list(range(keys))
        part.append(column)
    yield part


def _least_width(table: Table, column: int, cells: list[str]) -> int:
    """Return the width down to which a column may be wrapped: numbers stay whole."""
    heading, *values = map(_display_width, cells)
    widest = max(values, default=0)
    return max(min(heading, NARROW // 2), widest if is_numeric(table, column) else min(widest, NARROW))


def _shrink(natural: list[int], least: list[int], width: int) -> list[int]:
    """Take from the widest columns until they fit, first down to the least width of each, then from any."""
    widths = list(natural)
    for floor in (least, [1] * len(least)):
        while (excess := _total(widths) - width) > 0:
            room = [at for at in range(len(widths)) if widths[at] > floor[at]]
            if not room:
                break
            widest = max(room, key=lambda at: widths[at])
            others = [widths[at] for at in room if widths[at] < widths[widest]]
            step = widths[widest] - max([floor[widest], *others]) or 1
            widths[widest] -= max(1, min(excess, step))
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _columns(table: Table, digits: int) -> list[list[str]]:
    """Return the heading and the cells of every column as text; in numeric ones the numbers line up."""
    columns = []
    for column, name in enumerate(table.columns):
        values = [row[column] for row in table.rows]
        cells = [_split_cell(value, digits) for value in values]
        if is_numeric(table, column):
            before, after = (max(map(_display_width, part), default=0) for part in zip(*cells, strict=True))
            texts = [head.rjust(before) + tail.ljust(after) for head, tail in cells]
        else:
            texts = [head + tail for head, tail in cells]
        columns.append([format_value(name), *texts])
    return columns


def _split_cell(value: Value, digits: int) -> tuple[str, str]:
    """Return what is aligned to the right, and what follows it: the mark of ties, interval, marks."""
    if not isinstance(value, Estimate):
        return format_value(value, digits=digits), ""
    number, interval, marks = split_estimate(value, digits=digits)
    bare = number.rstrip("~")
    tail = " ".join(filter(None, (interval, marks)))
    return bare, number[len(bare) :] + (f" {tail}" if tail else "")


def _lay_out(table: Table, widths: list[int], digits: int, *, bold: bool) -> str:
    columns = _columns(table, digits)
    right = [is_numeric(table, column) for column in range(len(columns))]
    rule = "─" * _total(widths)
    lines = []
    for number, row in enumerate(zip(*columns, strict=True)):
        if number == 1 or (table.foot and number == len(columns[0]) - table.foot):
            lines.append(rule)
        best = {column for line, column in table.best if line == number - 1}
        marked = set(range(len(columns))) if number == 0 else best
        lines += _lay_out_row(row, widths, right, marked if bold else set())
    return "\n".join([*lines, rule] if len(columns[0]) == 1 else lines)


def _lay_out_row(cells: Sequence[str], widths: list[int], right: list[bool], bold: set[int]) -> Iterator[str]:
    """Yield the lines of a row; a cell that is wider than its column takes several."""
    wrapped = [
        [cell] if _display_width(cell) <= width else wrap(cell.strip(), width)
        for cell, width in zip(cells, widths, strict=True)
    ]
    for line in range(max(map(len, wrapped))):
        parts = []
        for column, pieces in enumerate(wrapped):
            piece = pieces[line] if line < len(pieces) else ""
            padding = " " * (widths[column] - _display_width(piece))
            shown = f"{BOLD}{piece}{PLAIN}" if column in bold and piece else piece
            parts.append(padding + shown if right[column] else shown + padding)
        yield GAP.join(parts).rstrip()


def wrap(text: str, width: int, *, indent: str = "") -> list[str]:
    """Return the lines of a text, broken between words; a word that is wider than a line is broken within.

    >>> wrap("unjudged: bm25 1.2 %", 12, indent="  ")
    ['unjudged:', '  bm25 1.2 %']
    """
    lines = [""]
    for piece in _pieces(text, width - len(indent)):
        if lines[-1].strip() and _display_width(lines[-1] + piece) > width:
            lines.append(indent)
        lines[-1] += piece if lines[-1].strip() else piece.lstrip()
    return lines


def _pieces(text: str, width: int) -> Iterator[str]:
    """Yield the words of a text with the blanks before them; a word that is too wide in fragments."""
    for word in _WORDS.findall(text):
        bare = word.lstrip()
        if _display_width(bare) <= width:
            yield word
            continue
        parts = _WORD.findall(word)
        if len(parts) > 1:  # no unit is worth a broken word
            for part in parts:
                yield from _pieces(part, width)
            continue
        yield from word[: len(word) - len(bare)]
        for fragment in _FRAGMENTS.findall(bare):
            rest = fragment
            while _display_width(rest) > width:
                cut = _cut(rest, width)
                yield rest[:cut]
                rest = rest[cut:]
            yield rest


def _cut(text: str, width: int) -> int:
    """Return how many characters fit the width, at least one."""
    taken = 0
    for at, character in enumerate(text):
        taken += _display_width(character)
        if taken > width:
            return max(1, at)
    return len(text)


def _join_lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


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
