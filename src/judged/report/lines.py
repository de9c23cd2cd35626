"""Lines over whole numbers as a picture, each with the band of its interval: an SVG, written as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import isnan

from judged.report.svg import (
    BOTTOM,
    GREY,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Scale,
    axes,
    picture,
    scale,
    words,
)

__all__ = ["Dot", "Line", "lines"]

SMALL, LARGE = 1.5, 4.5
"""The radius of a dot of size 0 and of size 1."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#1a1a1a")
"""Told apart by people who see colours differently, too; then they begin again, dashed."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A place on a line, the bounds of its height, its size, and what is told of it to whoever points at it."""

    x: int
    y: float
    low: float | None = None
    high: float | None = None
    size: float = 1.0
    """From 0 to 1."""
    told: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A named line."""

    name: str
    dots: tuple[Dot, ...]


def lines(of: Sequence[Line], *, title: str, x: str, y: str, note: str = "") -> str:
    """An SVG of the lines, each with its name at its end; a height that is NaN leaves a gap."""
    drawn = [Line(each.name, tuple(dot for dot in each.dots if not isnan(dot.y))) for each in of]
    dots = [dot for each in drawn for dot in each.dots]
    if not dots:
        return picture([words(LEFT, TOP + 40, "nothing to show", colour=GREY)], title=title, note=note)
    wide = scale([dot.x for dot in dots], LEFT, WIDTH - RIGHT)
    heights = [value for dot in dots for value in (dot.y, dot.low, dot.high) if value is not None]
    high = scale(heights, HEIGHT - BOTTOM, TOP)
    parts = axes(wide, high, x, y)
    ends = _apart([high.at(each.dots[-1].y) + 4 for each in drawn if each.dots])
    with_dots = (each for each in drawn if each.dots)
    for at, (each, end) in enumerate(zip(with_dots, ends, strict=True)):
        parts += _drawn(each, wide, high, at, end)
    return picture(parts, title=title, note=note)


def _drawn(of: Line, wide: Scale, high: Scale, at: int, end: float) -> list[str]:
    colour = COLOURS[at % len(COLOURS)]
    dash = "" if at < len(COLOURS) else ' stroke-dasharray="6 3"'
    places = [(wide.at(dot.x), high.at(dot.y)) for dot in of.dots]
    path = " ".join(f"{left:.1f},{top:.1f}" for left, top in places)
    parts = _band(of, wide, high, colour)
    parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
    for dot, (left, top) in zip(of.dots, places, strict=True):
        told = f"<title>{escape(dot.told)}</title>" if dot.told else ""
        parts.append(
            f'<circle cx="{left:.1f}" cy="{top:.1f}" r="{SMALL + (LARGE - SMALL) * dot.size:.1f}" fill="{colour}">{told}</circle>'
        )
    return [*parts, words(places[-1][0] + 8, end, of.name, colour=colour)]


def _band(of: Line, wide: Scale, high: Scale, colour: str) -> list[str]:
    """The area between the bounds, where there are any."""
    known = [(wide.at(dot.x), dot.low, dot.high) for dot in of.dots if dot.low is not None]
    if len(known) < 2:
        return []
    over = [f"{left:.1f},{high.at(top):.1f}" for left, _, top in known if top is not None]
    under = [f"{left:.1f},{high.at(low):.1f}" for left, low, _ in reversed(known) if low is not None]
    return [f'<polygon points="{" ".join(over + under)}" fill="{colour}" fill-opacity="0.12"/>']


def _apart(tops: Sequence[float], least: float = 13.0) -> list[float]:
    """The heights of names, moved down where they would stand on one another."""
    order = sorted(range(len(tops)), key=lambda at: tops[at])
    out, last = list(tops), float("-inf")
    for at in order:
        out[at] = last = max(tops[at], last + least)
    return out
