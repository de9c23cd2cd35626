"""A table of counts as a picture: an SVG whose cells are darker the more they hold of their row."""

from __future__ import annotations

from collections.abc import Sequence

from judged.report.svg import INK, picture, words

__all__ = ["heat_map"]

CELL, LEFT, RIGHT, TOP, BOTTOM = 64, 110, 24, 100, 16
PALE = "#ffffff"
DARK = (0, 90, 142)
"""The colour of a cell that holds its whole row."""


def heat_map(
    counts: Sequence[Sequence[int]], labels: Sequence[str], *, title: str, x: str, y: str, note: str = ""
) -> str:
    """An SVG of the counts, rows and columns under the same labels; a cell tells its count and its share of the row."""
    side = CELL * len(labels)
    width, height = max(LEFT + side + RIGHT, 420), TOP + side + BOTTOM
    parts = [words(LEFT + side / 2, TOP - 30, x, anchor="middle"), words(16, TOP + side / 2, y)]
    for at, label in enumerate(labels):
        middle = CELL * at + CELL / 2
        parts.append(words(LEFT + middle, TOP - 10, label, anchor="middle"))
        parts.append(words(LEFT - 10, TOP + middle + 4, label, anchor="end"))
    for row, line in enumerate(counts):
        whole = sum(line)
        for column, count in enumerate(line):
            parts += _cell(LEFT + CELL * column, TOP + CELL * row, count, count / whole if whole else 0.0)
    return picture(parts, title=title, note=note, width=width, height=height)


def _cell(left: float, top: float, count: int, share: float) -> list[str]:
    place = f'x="{left:.1f}" y="{top:.1f}" width="{CELL}" height="{CELL}"'
    colour = PALE if share > 0.7 else INK
    middle = left + CELL / 2
    return [
        f'<rect {place} fill="{_shade(share)}" stroke="{PALE}"/>',
        words(middle, top + CELL / 2, f"{count:,}", anchor="middle", size=14, colour=colour),
        words(middle, top + CELL / 2 + 16, f"{share:.0%}", anchor="middle", size=11, colour=colour),
    ]


def _shade(share: float) -> str:
    """From white to the darkest, as much as the share."""
    return "#" + "".join(f"{round(255 + (end - 255) * share):02x}" for end in DARK)
