"""Points with two or three numbers as a picture: an SVG, written as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judged.report.svg import (
    BLUE,
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Scale,
    axes,
    line,
    picture,
    scale,
    words,
)

__all__ = ["Point", "scatter"]

SMALL, LARGE = 5.0, 13.0
"""The radius of a point of the least and of the greatest size."""


@dataclass(frozen=True, slots=True)
class Point:
    """A named point: where it stands, the bounds of its height, how large it is, and whether it is filled."""

    name: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    size: float | None = None
    filled: bool = False


def scatter(points: Sequence[Point], *, title: str, x: str, y: str, note: str = "") -> str:
    """An SVG of the points with their names and bounds; `x` and `y` name the axes, `note` says what else is shown."""
    wide = scale([each.x for each in points], LEFT, WIDTH - RIGHT)
    heights = [value for each in points for value in (each.y, each.low, each.high) if value is not None]
    high = scale(heights, HEIGHT - BOTTOM, TOP)
    parts = axes(wide, high, x, y)
    radius = _radii([each.size for each in points])
    for each, size in zip(points, radius, strict=True):
        parts += _drawn(each, wide.at(each.x), high, size)
    return picture(parts, title=title, note=note)


def _radii(sizes: Sequence[float | None]) -> list[float]:
    known = [size for size in sizes if size is not None]
    if not known or max(known) == min(known):
        return [SMALL] * len(sizes)
    spread = max(known) - min(known)
    return [
        SMALL if size is None else SMALL + (LARGE - SMALL) * (size - min(known)) / spread for size in sizes
    ]


def _drawn(point: Point, left: float, high: Scale, radius: float) -> list[str]:
    top = high.at(point.y)
    fill = BLUE if point.filled else "#ffffff"
    parts = []
    if point.low is not None and point.high is not None:
        parts.append(line(left, high.at(point.low), left, high.at(point.high)))
    shape = f'<circle cx="{left:.1f}" cy="{top:.1f}" r="{radius:.1f}" fill="{fill}" stroke="{BLUE}" stroke-width="1.5"/>'
    return [*parts, shape, words(left + radius + 4, top + 4, point.name)]
