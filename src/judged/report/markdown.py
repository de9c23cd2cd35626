"""Results in Markdown, as GitHub and most others read it."""

from __future__ import annotations

import re
from dataclasses import replace

from judged.blocks import (
    TIED,
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
)
from judged.problem import group_notes
from judged.result import Result

_SPECIAL = re.compile(r"([\\|*`<\[\]]|(?<!\w)_|_(?!\w))")


def render_markdown(result: Result, display: Display) -> str:
    """Return the blocks of a result in Markdown; figures are left out."""
    shown = replace(display, paper=not display.full)
    blocks = result.blocks(shown)
    return "\n".join(_render_block(block, shown) for block in blocks if not isinstance(block, Figure))


def _render_block(block: Sentence | Table | Notes, display: Display) -> str:
    if isinstance(block, Sentence):
        return _escape(format_value(block.text)) + "\n"
    if isinstance(block, Notes):
        return "".join(f"- {_escape(format_value(text))}\n" for _, text in group_notes(block.notes))
    caption = f"{_escape(format_value(block.caption))}\n\n" if display.paper and block.caption else ""
    return caption + to_markdown(block, digits=display.digits)


def to_markdown(table: Table, *, digits: int = 4) -> str:
    """Return a table in Markdown, the best cells in bold.

    >>> print(to_markdown(Table(("run", "AP"), (("bm25", 0.25),), best=frozenset({(0, 1)}))))
    | run  |         AP |
    | :--- | ---------: |
    | bm25 | **0.2500** |
    """
    names = [_escape(format_value(name)) for name in table.columns]
    rows = [
        [_format_cell(value, digits, best=(line, column) in table.best) for column, value in enumerate(row)]
        for line, row in enumerate(table.rows)
    ]
    right = [is_numeric(table, column) for column in range(len(names))]
    widths = [max(4, *map(len, column)) for column in zip(names, *rows, strict=True)]
    rule = [
        "-" * (width - 1) + ":" if flush else ":" + "-" * (width - 1)
        for width, flush in zip(widths, right, strict=True)
    ]
    lines = [_join_cells(line, widths, right) for line in (names, rule, *rows)]
    title = [] if table.title is None else [f"**{_escape(format_value(table.title))}**", ""]
    return "\n".join([*title, *lines]) + "\n"


def _join_cells(cells: list[str], widths: list[int], right: list[bool]) -> str:
    padded = [
        cell.rjust(width) if flush else cell.ljust(width)
        for cell, width, flush in zip(cells, widths, right, strict=True)
    ]
    return f"| {' | '.join(padded)} |"


def _format_cell(value: Value, digits: int, *, best: bool) -> str:
    """Return a value, in bold if it is the best, with the marks of an estimate as superscripts."""
    if not isinstance(value, Estimate):
        text = _escape(format_value(value, digits=digits))
        return f"**{text}**" if best else text
    number, interval, marks = split_estimate(value, digits=digits)
    bare = number.removesuffix(TIED)
    above = f"<sup>{number[len(bare) :]}{marks}</sup>" if value.tied or marks else ""
    shown = f"**{bare}**{above}" if best else f"{bare}{above}"
    return f"{shown} {_escape(interval)}" if interval else shown


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
