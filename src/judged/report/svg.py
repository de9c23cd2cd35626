"""The parts of pictures: scales, axes, lines and words of an SVG, written as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = [
    "BLUE",
    "BOTTOM",
    "GREY",
    "HEIGHT",
    "INK",
    "LEFT",
    "RIGHT",
    "TOP",
    "WIDTH",
    "Scale",
    "axes",
    "line",
    "picture",
    "scale",
    "words",
]

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 400, 90, 130, 72, 50
INK, GREY, BLUE = "#1a1a1a", "#767676", "#0072b2"


def picture(
    parts: Sequence[str], *, title: str, note: str = "", width: int = WIDTH, height: int = HEIGHT
) -> str:
    """The whole SVG: its parts on white ground, under a title and a smaller note."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" role="img" aria-label="{escape(title)}">'
    )
    ground = f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    told = [words(16, 24, title, size=15), words(16, 41, note, size=11, colour=GREY)]
    return "\n".join([head, ground, *told, *parts, "</svg>", ""])


@dataclass(frozen=True, slots=True)
class Scale:
    """From numbers to places."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The place of a number."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """About five round numbers."""
        rough = (self.high - self.low) / 6
        power = 10.0 ** math.floor(math.log10(rough))
        step = power * next(each for each in (1, 2, 5, 10) if each * power >= rough)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def scale(values: Sequence[float], start: float, end: float) -> Scale:
    """A scale with some room beyond the values."""
    low, high = min(values), max(values)
    room = (high - low) * 0.08 or max(abs(high), 1.0) * 0.1
    return Scale(low - room, high + room, start, end)


def axes(wide: Scale, high: Scale, x: str, y: str) -> list[str]:
    """Both axes with their ticks and names."""
    parts = [
        line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM),
        line(LEFT, TOP, LEFT, HEIGHT - BOTTOM),
    ]
    foot = HEIGHT - BOTTOM + 16
    parts += [words(wide.at(tick), foot, f"{tick:g}", anchor="middle", size=11) for tick in wide.ticks()]
    parts += [
        words(LEFT - 8, high.at(tick) + 4, f"{tick:.4g}", anchor="end", size=11) for tick in high.ticks()
    ]
    middle = (LEFT + WIDTH - RIGHT) / 2
    return [*parts, words(middle, HEIGHT - 14, x, anchor="middle"), words(LEFT - 8, TOP - 8, y, anchor="end")]


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    """A thin grey line between two places."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{GREY}"/>'


def words(
    left: float, top: float, told: str, *, size: int = 12, anchor: str = "start", colour: str = INK
) -> str:
    """Words at a place."""
    place = f'x="{left:.1f}" y="{top:.1f}" font-size="{size}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}">{escape(told)}</text>'
