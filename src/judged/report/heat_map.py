"""A table of counts as a picture: an SVG whose cells are darker the more they hold of their row."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["heat_map"]

CELL, LEFT, RIGHT, TOP, BOTTOM = 64, 110, 24, 100, 16
INK, GREY, PALE = "#1a1a1a", "#767676", "#ffffff"
DARK = (0, 90, 142)
"""The colour of a cell that holds its whole row."""


def heat_map(
    counts: Sequence[Sequence[int]], labels: Sequence[str], *, title: str, x: str, y: str, note: str = ""
) -> str:
    """An SVG of the counts, rows and columns under the same labels; a cell tells its count and its share of the row."""
    side = CELL * len(labels)
    width, height = max(LEFT + side + RIGHT, 420), TOP + side + BOTTOM
    parts = [_text(16, 24, title, size=15), _text(16, 41, note, size=11, colour=GREY)]
    parts += [_text(LEFT + side / 2, TOP - 30, x, anchor="middle"), _text(16, TOP + side / 2, y)]
    for at, label in enumerate(labels):
        middle = CELL * at + CELL / 2
        parts.append(_text(LEFT + middle, TOP - 10, label, anchor="middle"))
        parts.append(_text(LEFT - 10, TOP + middle + 4, label, anchor="end"))
    for row, line in enumerate(counts):
        whole = sum(line)
        for column, count in enumerate(line):
            parts += _cell(LEFT + CELL * column, TOP + CELL * row, count, count / whole if whole else 0.0)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'font-family="sans-serif" role="img" aria-label="{escape(title)}">'
    )
    ground = f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>'
    return "\n".join([head, ground, *parts, "</svg>", ""])


def _cell(left: float, top: float, count: int, share: float) -> list[str]:
    place = f'x="{left:.1f}" y="{top:.1f}" width="{CELL}" height="{CELL}"'
    colour = PALE if share > 0.7 else INK
    middle = left + CELL / 2
    return [
        f'<rect {place} fill="{_shade(share)}" stroke="{PALE}"/>',
        _text(middle, top + CELL / 2, f"{count:,}", anchor="middle", size=14, colour=colour),
        _text(middle, top + CELL / 2 + 16, f"{share:.0%}", anchor="middle", size=11, colour=colour),
    ]


def _shade(share: float) -> str:
    """From white to the darkest, as much as the share."""
    return "#" + "".join(f"{round(255 + (end - 255) * share):02x}" for end in DARK)


def _text(
    left: float, top: float, words: str, *, size: int = 12, anchor: str = "start", colour: str = INK
) -> str:
    place = f'x="{left:.1f}" y="{top:.1f}" font-size="{size}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}">{escape(words)}</text>'
