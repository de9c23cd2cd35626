"""Tables in Markdown, as GitHub and most others read it."""

from __future__ import annotations

import re

from judged.report.layout import Table, numeric, written

__all__ = ["to_markdown"]

_SPECIAL = re.compile(r"([\\|*`<\[\]]|(?<!\w)_|_(?!\w))")


def to_markdown(table: Table, *, digits: int = 4) -> str:
    """The table in Markdown, the best cells in bold.

    >>> print(to_markdown(Table(("run", "AP"), (("bm25", 0.25),), best=frozenset({(0, 1)}))))
    | run  |         AP |
    | :--- | ---------: |
    | bm25 | **0.2500** |
    """
    names = [_escaped(written(name)) for name in table.columns]
    rows = [
        [
            _marked(_escaped(written(value, digits=digits)), (line, column) in table.best)
            for column, value in enumerate(row)
        ]
        for line, row in enumerate(table.rows)
    ]
    right = [numeric(table, column) for column in range(len(names))]
    widths = [max(4, *map(len, column)) for column in zip(names, *rows, strict=True)]
    rule = [
        "-" * (width - 1) + ":" if flush else ":" + "-" * (width - 1)
        for width, flush in zip(widths, right, strict=True)
    ]
    lines = [_line(each, widths, right) for each in (names, rule, *rows)]
    title = [] if table.title is None else [f"**{_escaped(written(table.title))}**", ""]
    return "\n".join([*title, *lines]) + "\n"


def _line(cells: list[str], widths: list[int], right: list[bool]) -> str:
    padded = [
        cell.rjust(width) if flush else cell.ljust(width)
        for cell, width, flush in zip(cells, widths, right, strict=True)
    ]
    return f"| {' | '.join(padded)} |"


def _marked(cell: str, best: bool) -> str:  # noqa: FBT001 - a cell and its mark
    return f"**{cell}**" if best else cell


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
