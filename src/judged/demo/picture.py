"""The scores as a picture: bars in an SVG, written as text."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

__all__ = ["bars"]

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""The palette of Okabe and Ito, told apart by colour-blind readers too."""
WIDTH, LEFT, BAR, GAP, HEAD = 640, 150, 16, 18, 54


def bars(scores: Mapping[str, Mapping[str, float]], *, title: str) -> str:
    """An SVG with a group of bars for each measure, a bar for each system; all values lie in [0, 1]."""
    systems = list(scores)
    measures = list(next(iter(scores.values())))
    group = BAR * len(systems) + GAP
    height = HEAD + group * len(measures)
    parts = [_text(16, 22, title, size=15), *_legend(systems)]
    for place, measure in enumerate(measures):
        top = HEAD + place * group
        parts.append(_text(LEFT - 10, top + group / 2, measure, anchor="end"))
        for number, system in enumerate(systems):
            parts += _bar(top + number * BAR, scores[system][measure], COLOURS[number % len(COLOURS)])
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" role="img" aria-label="{escape(title)}">'
    )
    ground = f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    return "\n".join([head, ground, *parts, "</svg>", ""])


def _legend(systems: list[str]) -> list[str]:
    parts = []
    for number, system in enumerate(systems):
        left = LEFT + number * 110
        parts.append(
            f'<rect x="{left}" y="32" width="11" height="11" fill="{COLOURS[number % len(COLOURS)]}"/>'
        )
        parts.append(_text(left + 16, 42, system))
    return parts


def _bar(top: float, value: float, colour: str) -> list[str]:
    length = (WIDTH - LEFT - 70) * value
    shape = f'<rect x="{LEFT}" y="{top:.1f}" width="{length:.1f}" height="{BAR - 3}" fill="{colour}"/>'
    return [shape, _text(LEFT + length + 6, top + BAR - 5, f"{value:.4f}")]


def _text(left: float, top: float, words: str, *, size: int = 12, anchor: str = "start") -> str:
    place = f'x="{left:.1f}" y="{top:.1f}" font-size="{size}" text-anchor="{anchor}"'
    return f'<text {place} fill="#1a1a1a">{escape(words)}</text>'
