"""Results in HTML, for notebooks and pages."""

from __future__ import annotations

from html import escape

from judged.blocks import (
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


def render_html(result: Result, display: Display) -> str:
    """Return the blocks of a result as a fragment of HTML; figures are left out."""
    blocks = result.blocks(display)
    return "".join(_render_block(block, display) for block in blocks if not isinstance(block, Figure))


def _render_block(block: Sentence | Table | Notes, display: Display) -> str:
    if isinstance(block, Sentence):
        return f"<p>{escape(format_value(block.text))}</p>\n"
    if isinstance(block, Notes):
        return "".join(f"<p>{escape(format_value(text))}</p>\n" for _, text in group_notes(block.notes))
    return to_html(block, digits=display.digits)


def to_html(table: Table, *, digits: int = 4) -> str:
    """Return a table as a `<table>`, the best cells in bold, marks as superscripts; text is escaped.

    >>> print(to_html(Table(("run", "AP"), (("<bm25>", 0.25),))))
    <table>
    <thead><tr><th style="text-align:left">run</th><th style="text-align:right">AP</th></tr></thead>
    <tbody>
    <tr><td style="text-align:left">&lt;bm25&gt;</td><td style="text-align:right">0.2500</td></tr>
    </tbody>
    </table>
    """
    sides = ["right" if is_numeric(table, column) else "left" for column in range(len(table.columns))]
    head = "".join(
        _wrap("th", side, escape(format_value(name))) for name, side in zip(table.columns, sides, strict=True)
    )
    rows = []
    for line, row in enumerate(table.rows):
        cells = [_cell(value, digits) for value in row]
        marked = [f"<b>{cell}</b>" if (line, at) in table.best else cell for at, cell in enumerate(cells)]
        rows.append("".join(_wrap("td", side, cell) for side, cell in zip(sides, marked, strict=True)))
    title = [] if table.title is None else [f"<caption>{escape(format_value(table.title))}</caption>"]
    body = [f"<tr>{row}</tr>" for row in rows]
    lines = ["<table>", *title, f"<thead><tr>{head}</tr></thead>", "<tbody>", *body, "</tbody>", "</table>"]
    return "\n".join(lines) + "\n"


def _wrap(name: str, side: str, content: str) -> str:
    return f'<{name} style="text-align:{side}">{content}</{name}>'


def _cell(value: Value, digits: int) -> str:
    """Return a value, escaped, with the marks of an estimate as a superscript."""
    if not isinstance(value, Estimate):
        return escape(format_value(value, digits=digits))
    number, interval, marks = split_estimate(value, digits=digits)
    above = f"<sup>{escape(marks)}</sup>" if marks else ""
    return f"{number}{above}" + (f" {escape(interval)}" if interval else "")
