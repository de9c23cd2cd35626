"""Tables in HTML, for notebooks and pages."""

from __future__ import annotations

from html import escape

from judged.report.layout import Estimate, Table, Value, numeric, written

__all__ = ["to_html"]


def to_html(table: Table, *, digits: int = 4) -> str:
    """The table as a `<table>`, the best cells in bold, marks as superscripts; text is escaped.

    >>> print(to_html(Table(("run", "AP"), (("<bm25>", 0.25),))))
    <table>
    <thead><tr><th style="text-align:left">run</th><th style="text-align:right">AP</th></tr></thead>
    <tbody>
    <tr><td style="text-align:left">&lt;bm25&gt;</td><td style="text-align:right">0.2500</td></tr>
    </tbody>
    </table>
    """
    sides = ["right" if numeric(table, column) else "left" for column in range(len(table.columns))]
    head = "".join(
        _tag("th", side, escape(written(name))) for name, side in zip(table.columns, sides, strict=True)
    )
    rows = []
    for line, row in enumerate(table.rows):
        cells = [_cell(value, digits) for value in row]
        marked = [f"<b>{cell}</b>" if (line, at) in table.best else cell for at, cell in enumerate(cells)]
        rows.append("".join(_tag("td", side, cell) for side, cell in zip(sides, marked, strict=True)))
    title = [] if table.title is None else [f"<caption>{escape(written(table.title))}</caption>"]
    body = [f"<tr>{row}</tr>" for row in rows]
    lines = ["<table>", *title, f"<thead><tr>{head}</tr></thead>", "<tbody>", *body, "</tbody>", "</table>"]
    return "\n".join(lines) + "\n"


def _tag(name: str, side: str, content: str) -> str:
    return f'<{name} style="text-align:{side}">{content}</{name}>'


def _cell(value: Value, digits: int) -> str:
    """A value, escaped; letters that mark an estimate stand above it."""
    text = escape(written(value, digits=digits))
    if isinstance(value, Estimate) and value.marks:
        number, blank, rest = text.partition(" ")
        return f"{number}<sup>{escape(value.marks)}</sup>{blank}{rest}"
    return text
