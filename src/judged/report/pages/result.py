"""The page of any result that has no page of its own: its sentences, tables, figures and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.blocks import (
    Block,
    Display,
    Estimate,
    Figure,
    Notes,
    Sentence,
    Value,
    format_value,
    is_numeric,
)
from judged.report.packing import Json, to_plain
from judged.report.pages import Page, PageData

if TYPE_CHECKING:
    from judged.report.entry import Entry

MOST_ROWS = 5_000
"""More rows of a table than this are not kept."""


def make_data(entry: Entry) -> PageData:
    """Return the blocks of the result."""
    blocks = entry.result.blocks(Display(notes=False))
    return PageData({"kind": entry.result.kind}, {"blocks": [to_json(block) for block in blocks]})


def to_json(block: Block) -> Json:
    """Return a block as plain data; cells of a table have their text, and their value if it is a number."""
    if isinstance(block, Sentence):
        return {"kind": "sentence", "text": format_value(block.text)}
    if isinstance(block, Notes):
        return {"kind": "notes", "notes": [format_value(note.message) for note in block.notes]}
    if isinstance(block, Figure):
        return {
            "kind": "figure",
            "name": block.name,
            "title": block.title,
            "note": block.note,
            "spec": to_plain(dict(block.spec)),
        }
    return {
        "kind": "table",
        "title": block.title,
        "columns": [format_value(name) for name in block.columns],
        "numeric": [is_numeric(block, column) for column in range(len(block.columns))],
        "rows": [[_to_cell(value) for value in row] for row in block.rows[:MOST_ROWS]],
        "left": max(0, len(block.rows) - MOST_ROWS),
        "best": [list(cell) for cell in sorted(block.best) if cell[0] < MOST_ROWS],
        "foot": block.foot,
    }


def _to_cell(value: Value) -> Json:
    """Return text alone, or the text and the number that it was made of."""
    text = format_value(value)
    if isinstance(value, Estimate):
        return [text, to_plain(value.value)]
    if isinstance(value, int | float):
        return [text, to_plain(value)]
    return text


PAGE = Page("result", "Result", make_data)
