"""Points with two or three numbers as a picture: an SVG, written as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Point", "scatter"]

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 400, 90, 130, 72, 50
SMALL, LARGE = 5.0, 13.0
"""The radius of a point of the least and of the greatest size."""
INK, GREY, BLUE = "#1a1a1a", "#767676", "#0072b2"


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
    wide = _scale([each.x for each in points], LEFT, WIDTH - RIGHT)
    heights = [value for each in points for value in (each.y, each.low, each.high) if value is not None]
    high = _scale(heights, HEIGHT - BOTTOM, TOP)
    parts = [_text(16, 24, title, size=15), _text(16, 41, note, size=11, colour=GREY)]
    parts += _axes(wide, high, x, y)
    radius = _radii([each.size for each in points])
    for each, size in zip(points, radius, strict=True):
        parts += _drawn(each, wide.at(each.x), high, size)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" role="img" aria-label="{escape(title)}">'
    )
    ground = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    return "\n".join([head, ground, *parts, "</svg>", ""])


@dataclass(frozen=True, slots=True)
class _Scale:
    """From numbers to places."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """About five round numbers."""
        rough = (self.high - self.low) / 4
        power = 10.0 ** math.floor(math.log10(rough))
        step = power * next(each for each in (1, 2, 5, 10) if each * power >= rough)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def _scale(values: Sequence[float], start: float, end: float) -> _Scale:
    """A scale with some room beyond the values."""
    low, high = min(values), max(values)
    room = (high - low) * 0.08 or max(abs(high), 1.0) * 0.1
    return _Scale(low - room, high + room, start, end)


def _radii(sizes: Sequence[float | None]) -> list[float]:
    known = [size for size in sizes if size is not None]
    if not known or max(known) == min(known):
        return [SMALL] * len(sizes)
    spread = max(known) - min(known)
    return [
        SMALL if size is None else SMALL + (LARGE - SMALL) * (size - min(known)) / spread for size in sizes
    ]


def _axes(wide: _Scale, high: _Scale, x: str, y: str) -> list[str]:
    parts = [
        _line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM),
        _line(LEFT, TOP, LEFT, HEIGHT - BOTTOM),
    ]
    foot = HEIGHT - BOTTOM + 16
    parts += [_text(wide.at(tick), foot, f"{tick:g}", anchor="middle", size=11) for tick in wide.ticks()]
    parts += [
        _text(LEFT - 8, high.at(tick) + 4, f"{tick:.4g}", anchor="end", size=11) for tick in high.ticks()
    ]
    middle = (LEFT + WIDTH - RIGHT) / 2
    return [*parts, _text(middle, HEIGHT - 14, x, anchor="middle"), _text(LEFT - 8, TOP - 8, y, anchor="end")]


def _drawn(point: Point, left: float, high: _Scale, radius: float) -> list[str]:
    top = high.at(point.y)
    fill = BLUE if point.filled else "#ffffff"
    parts = []
    if point.low is not None and point.high is not None:
        parts.append(_line(left, high.at(point.low), left, high.at(point.high)))
    shape = f'<circle cx="{left:.1f}" cy="{top:.1f}" r="{radius:.1f}" fill="{fill}" stroke="{BLUE}" stroke-width="1.5"/>'
    return [*parts, shape, _text(left + radius + 4, top + 4, point.name)]


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{GREY}"/>'


def _text(
    left: float, top: float, words: str, *, size: int = 12, anchor: str = "start", colour: str = INK
) -> str:
    place = f'x="{left:.1f}" y="{top:.1f}" font-size="{size}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}">{escape(words)}</text>'
