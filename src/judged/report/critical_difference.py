"""The critical-difference diagram: average ranks on a line, bars over systems that are not told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Protocol

from judged.blocks import format_value

__all__ = ["Ranked", "critical_difference_svg", "critical_difference_text"]

SCALE, ROW, BAR, HEAD = 480, 19, 8, 96
LETTER, LONGEST = 7.2, 36
"""The width of a letter at most, and how many of a name are shown before it is cut."""
INK, FAINT, BAR_INK = "#1a1a1a", "#8a8a8a", "#0072b2"


class Ranked(Protocol):
    """What a diagram is drawn of; `judged.stats.friedman_test` returns one."""

    @property
    def ranks(self) -> Mapping[str, float]:
        """The average rank of each system; 1 is best."""

    @property
    def critical_difference(self) -> float:
        """How far apart two average ranks are told apart."""

    @property
    def cliques(self) -> Sequence[Sequence[str]]:
        """The groups of systems that are not told apart."""


def critical_difference_svg(of: Ranked, *, title: str = "Average ranks") -> str:
    """An SVG of the diagram: best systems to the left, a bar under the axis for each clique.

    The names stand in two columns, the better half on the left, each led to its place on the axis; 50 systems are
    readable. A name of more than 36 letters is cut, and is whole in its tooltip.
    """
    names = sorted(of.ranks, key=lambda name: of.ranks[name])
    margin = 24 + LETTER * (min(max(map(len, names)), LONGEST) + 6)
    left, right = names[: (len(names) + 1) // 2], names[(len(names) + 1) // 2 :][::-1]
    first_row = HEAD + BAR * (len(of.cliques) + 1) + ROW
    width, height = 2 * margin + SCALE, first_row + ROW * len(left)
    place = _Axis(margin, len(names))
    parts = [_text(16, 24, title, size=15), *_ruler(place, of.critical_difference), *_axis(place)]
    for side, column in ((-1, left), (1, right)):
        for row, name in enumerate(column):
            parts += _leader(place, name, of.ranks[name], first_row + ROW * row, side)
    parts += [_bar(place, of, clique, HEAD + BAR * (at + 1)) for at, clique in enumerate(of.cliques)]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'font-family="sans-serif" role="img" aria-label="{escape(title)}">'
    )
    ground = f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>'
    return "\n".join([head, ground, *parts, "</svg>", ""])


def critical_difference_text(of: Ranked) -> str:
    """The diagram for a terminal: a line for each system, best first, a column of strokes for each clique."""
    names = sorted(of.ranks, key=lambda name: of.ranks[name])
    widest = max(map(len, map(format_value, names)))
    lines = [f"critical difference {of.critical_difference:.3f}"]
    for name in names:
        strokes = " ".join("│" if name in clique else " " for clique in of.cliques)
        lines.append(f"{of.ranks[name]:8.3f}  {format_value(name):<{widest}}  {strokes}".rstrip())
    return "\n".join([*lines, ""])


class _Axis:
    """Where a rank stands on the page."""

    def __init__(self, left: float, last: int) -> None:
        self.left, self.last = left, last

    def __call__(self, rank: float) -> float:
        return self.left + SCALE * (rank - 1) / (self.last - 1)


def _ruler(place: _Axis, critical: float) -> list[str]:
    """The critical difference as a length over the axis; at most as long as that."""
    start, end, top = place(1), min(place(1 + critical), place(place.last)), HEAD - 40
    words = f"critical difference {critical:.3f}"
    return [
        _line(start, top, end, top, INK, 2),
        *(_line(at, top - 4, at, top + 4, INK, 2) for at in (start, end)),
        _text(end + 8, top + 4, words) if end < place.left + SCALE / 2 else _text(start, top - 8, words),
    ]


def _axis(place: _Axis) -> list[str]:
    every = 1 if place.last <= 12 else 5
    ticks = sorted({1, place.last, *range(every, place.last - every // 2, every)})
    parts = [_line(place(1), HEAD, place(place.last), HEAD, INK, 1.5)]
    for tick in ticks:
        parts.append(_line(place(tick), HEAD - 6, place(tick), HEAD, INK, 1.5))
        parts.append(_text(place(tick), HEAD - 10, str(tick), anchor="middle"))
    return parts


def _leader(place: _Axis, name: str, rank: float, row: float, side: int) -> list[str]:
    """The line from a system's place on the axis to its name, and the name with its rank."""
    across, edge = place(rank), place(1) - 10 if side < 0 else place(place.last) + 10
    shown = format_value(name)
    cut = shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"
    words = f"{cut}  {rank:.2f}" if side < 0 else f"{rank:.2f}  {cut}"
    bend = f"{across:.1f},{HEAD} {across:.1f},{row:.1f} {edge:.1f},{row:.1f}"
    return [
        f'<polyline points="{bend}" fill="none" stroke="{FAINT}" stroke-width="1"/>',
        _text(edge + 5 * side, row + 4, words, anchor="end" if side < 0 else "start", tip=shown),
    ]


def _bar(place: _Axis, of: Ranked, clique: Sequence[str], top: float) -> str:
    ranks = [of.ranks[name] for name in clique]
    return _line(place(min(ranks)) - 3, top, place(max(ranks)) + 3, top, BAR_INK, 4)


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, thickness: float) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{thickness}"/>'


def _text(
    left: float, top: float, words: str, *, size: int = 12, anchor: str = "start", tip: str | None = None
) -> str:
    place = f'x="{left:.1f}" y="{top:.1f}" font-size="{size}" text-anchor="{anchor}"'
    inside = escape(words) if tip is None else f"<title>{escape(tip)}</title>{escape(words)}"
    return f'<text {place} fill="{INK}">{inside}</text>'
