"""Figures: every name, number and note is in the picture, to scale, in every format."""

from __future__ import annotations

import math
import re
import sys
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from judged.blocks import Figure
from judged.errors import MissingExtra, UnknownName
from judged.figures import (
    COLOURS,
    GROUND,
    PALE,
    Record,
    draw_bars,
    draw_critical_difference,
    draw_heat_map,
    draw_lines,
    draw_scatter,
)
from judged.report.draw import PICTURES, draw
from judged.report.text import render_critical_difference
from judged.stats import friedman_test

pytest.importorskip("vl_convert")
SVG = "{http://www.w3.org/2000/svg}"
POINTS: list[Record] = [
    {"name": "<one>", "x": 1.0, "y": 0.5, "low": 0.4, "high": 0.6, "size": 1.0, "filled": True},
    {"name": "two & more", "x": 1.0, "y": 0.5, "size": 2.0},
]
LINES: list[Record] = [
    {"name": "agent", "x": x, "y": y, "low": y - 1, "high": y + 1, "size": 1 / x, "label": f"{x} at work"}
    for x, y in ((1, 2.0), (2, 3.0), (3, math.nan))
]
COUNTS = [[3, 1, 0], [0, 0, 0], [1000, 0, 1000]]
FIGURES = [
    draw_scatter(POINTS, name="trade-off", title="t & t", x="ms", y="AP", size="DR", note="a note"),
    draw_lines(LINES, name="curve", title="t & t", x="iteration", y="CG", note="a note"),
    draw_bars(
        [{"group": "AP", "name": "a", "value": 0.5, "low": 0.4, "high": 0.6}],
        name="scores",
        title="t & t",
        value="mean",
        note="a note",
    ),
    draw_heat_map(
        COUNTS, ["0", "1", "2"], name="confusion", title="t & t", x="labels", y="human", note="a note"
    ),
    draw_critical_difference({"a": 1.0, "b": 2.0}, [["a", "b"]], 1.5, title="t & t"),
]


def root_of(figure: Figure) -> ET.Element:
    """Parse the figure as drawn in SVG."""
    return ET.fromstring(draw(figure, ".svg").decode())  # noqa: S314 - our own picture


def texts(figure: Figure) -> list[str]:
    """Return the words in the picture, in their order."""
    return [str(text.text) for text in root_of(figure).iter(f"{SVG}text") if text.text]


def shapes(figure: Figure, role: str) -> list[ET.Element]:
    """Return the marks of one kind: rules, symbols, rects."""
    groups = [
        element
        for element in root_of(figure).iter(f"{SVG}g")
        if f"mark-{role} role-mark" in element.get("class", "")
    ]
    return [mark for group in groups for mark in group if mark.tag != f"{SVG}g"]


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
@pytest.mark.parametrize("extension", PICTURES)
def test_every_figure_is_drawn_in_every_format(figure: Figure, extension: str) -> None:
    """The bytes begin as the format does."""
    begin = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF"}[extension]

    assert draw(figure, extension).startswith(begin)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_title_and_note_are_in_the_picture(figure: Figure) -> None:
    """As words, never as markup."""
    words = texts(figure)

    assert "t & t" in words
    assert figure.note in words


def test_points_show_names_intervals_sizes_and_which_are_filled() -> None:
    """One interval, two circles of different area, names beside them, and what the size means."""
    figure = FIGURES[0]
    first, second = shapes(figure, "symbol")

    assert {"<one>", "two & more", "ms", "AP", "DR"} <= set(texts(figure))
    assert len(shapes(figure, "rule")) == 1
    assert (first.get("fill"), second.get("fill")) == (COLOURS[0], GROUND)
    assert first.get("d") != second.get("d")


@pytest.mark.parametrize(
    "points",
    [
        [{"name": "one", "x": 1.0, "y": 0.5}],
        POINTS,
        [{"name": "zero", "x": 0.0, "y": 0.0}, {"name": "large", "x": 1e6, "y": 1e-9}],
    ],
)
def test_points_lie_within_the_picture(points: list[Record]) -> None:
    """Whatever the numbers, even all the same."""
    found = shapes(draw_scatter(points, name="p", title="t", x="x", y="y"), "symbol")
    places = [re.match(r"translate\(([\d.]+),([\d.]+)\)", symbol.get("transform", "")) for symbol in found]

    assert len(found) == len(points)
    assert all(place and 0 <= float(place[1]) <= 520 and 0 <= float(place[2]) <= 340 for place in places)


def test_a_line_has_its_band_and_leaves_a_gap_for_nan() -> None:
    """Two of three points are drawn, each described by its label."""
    figure = FIGURES[1]

    assert [dot.get("aria-label") for dot in shapes(figure, "symbol")] == ["1 at work", "2 at work"]
    assert len(shapes(figure, "area")) == 1
    assert {"agent", "iteration", "CG", "1", "2"} <= set(texts(figure))


def test_more_lines_than_colours_are_dashed() -> None:
    """The eighth line has the colour of the first, and dashes."""
    points: list[Record] = [{"name": f"s{line}", "x": x, "y": line} for line in range(8) for x in (1, 2)]
    lines = shapes(draw_lines(points, name="l", title="t", x="x", y="y"), "line")

    assert lines[0].get("stroke") == lines[7].get("stroke")
    assert (lines[0].get("stroke-dasharray"), lines[7].get("stroke-dasharray")) == ("1,0", "6,3")


def test_lines_without_a_value_say_so() -> None:
    """Instead of an empty frame."""
    figure = draw_lines([{"name": "a", "x": 1, "y": math.nan}], name="l", title="t", x="x", y="y")

    assert "nothing to show" in texts(figure)


def test_bars_are_as_long_as_their_values() -> None:
    """A value of 0.5 is drawn half as long as a value of 1, and both are written."""
    bars: list[Record] = [
        {"group": "AP", "name": name, "value": value} for name, value in (("a", 1.0), ("b", 0.5))
    ]
    figure = draw_bars(bars, name="scores", title="t", value="mean")
    long, short = (
        float(re.findall(r"[hH](-?[\d.]+)", bar.get("d", ""))[0]) for bar in shapes(figure, "rect")
    )

    assert long == pytest.approx(2 * short, abs=4)  # corners are rounded
    assert {"AP", "a", "b", "1.0000", "0.5000"} <= set(texts(figure))


def test_every_count_is_there_with_its_share_of_the_row() -> None:
    """Nine cells; a row without any has shares of 0."""
    data: Any = FIGURES[3].spec["data"]
    cells = [(cell["row"], cell["column"], cell["count"]) for cell in data["values"]]
    assert cells == [
        (str(row), str(at), count) for row, line in enumerate(COUNTS) for at, count in enumerate(line)
    ]

    words = texts(FIGURES[3])
    shares = [word for word in words if word.endswith("%")]

    assert shares == ["75%", "25%", "0%", "0%", "0%", "0%", "50%", "0%", "50%"]
    assert words.count("1,000") == 2


def test_a_cell_is_darker_the_more_of_its_row_it_holds() -> None:
    """Three quarters are darker than a half, and a half than nothing."""
    dark = [float(cell.get("fill-opacity", 1)) for cell in shapes(FIGURES[3], "rect")]

    assert dark[0] > dark[6] == dark[8] > dark[2] == dark[4]


@pytest.mark.parametrize("count", [2, 3, 13, 50])
def test_every_system_has_a_row_of_its_own(count: int) -> None:
    """All names and ranks are there, and as many strokes as groups."""
    values = np.random.default_rng(1).random((60, count)) + np.linspace(0, 1, count)
    found = friedman_test(values, systems=[f"system number {i} of the many" for i in range(count)])
    figure = draw_critical_difference(found.ranks, found.cliques, found.critical_difference)
    words = texts(figure)

    assert set(found.ranks) <= set(words)
    assert {f"{rank:.2f}" for rank in found.ranks.values()} <= set(words)
    strokes = [rule for rule in shapes(figure, "rule") if rule.get("stroke") == COLOURS[0]]
    assert len(strokes) == len(found.cliques)


def test_the_critical_difference_is_drawn_to_scale() -> None:
    """The bar is as long as half the axis where it is half of it, and its number stands beside it."""
    figure = draw_critical_difference({"a": 1.0, "b": 1.5, "c": 3.0, "d": 4.0}, [["b", "c"]], 1.5)
    bar = next(rule for rule in shapes(figure, "rule") if rule.get("stroke") == COLOURS[1])
    longest = max(
        abs(float(rule.get("x2", 0))) for rule in shapes(figure, "rule") if rule.get("stroke") == PALE
    )

    assert abs(float(bar.get("x2", 0))) == pytest.approx(longest / 2, abs=0.5)
    assert "critical difference 1.500" in texts(figure)


def test_a_stroke_joins_the_rows_of_its_group() -> None:
    """From the best system of the group to the worst, 20 pixels a row."""
    figure = draw_critical_difference({"a": 1.0, "b": 1.5, "c": 3.0, "d": 4.0}, [["b", "c", "d"]], 1.5)
    stroke = next(rule for rule in shapes(figure, "rule") if rule.get("stroke") == COLOURS[0])

    assert float(stroke.get("y2", 0)) == pytest.approx(40)


def test_a_terminal_shows_groups_as_strokes() -> None:
    """Best first, a column for each group."""
    ranks = {"slow": 3.5, "bm25": 1.25, "dense": 2.25}
    text = render_critical_difference(ranks, [("bm25", "dense"), ("dense", "slow")], 1.5)

    assert text.splitlines() == [
        "critical difference 1.500",
        "   1.250  bm25   │",
        "   2.250  dense  │ │",
        "   3.500  slow     │",
    ]


def test_a_long_name_is_cut_and_control_characters_are_escaped() -> None:
    """The description of its mark has the whole name."""
    figure = draw_critical_difference({"n" * 80: 1.0, "bell\a": 2.0}, [], 0.5)

    assert any(word.startswith("n" * 20) and word.endswith("…") for word in texts(figure))
    assert "n" * 80 in [symbol.get("aria-label") for symbol in shapes(figure, "symbol")]
    assert r"bell\x07" in texts(figure)


def test_another_extension_is_refused() -> None:
    """With the ones that are known."""
    with pytest.raises(UnknownName, match=r"\.svg \.png \.pdf"):
        draw(FIGURES[0], ".bmp")


def test_without_the_converter_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "vl_convert", None)

    with pytest.raises(MissingExtra, match="install the extra `report`"):
        draw(FIGURES[0], ".svg")


@pytest.mark.parametrize(
    "name", ["a\x00b", "\x1b[31mred", "\ud800", "\ufffe\uffff", "]]><!--&\"'<", "\u202e\u2028"]
)
@pytest.mark.parametrize("extension", [".svg", ".png"])
def test_a_picture_is_whole_whatever_the_names(name: str, extension: str) -> None:
    """Characters that XML forbids become U+FFFD, in titles, axes and names of systems."""
    points: list[Record] = [{"name": name, "x": 1.0, "y": 0.5}, {"name": "two", "x": 2.0, "y": 0.5}]
    lines: list[Record] = [{"name": name, "x": 1, "y": 2.0, "label": name}, {"name": name, "x": 2, "y": 3.0}]
    for figure in (
        draw_scatter(points, name="trade-off", title=name, x=name, y="AP", note=name),
        draw_lines(lines, name="curve", title=name, x=name, y="CG", note=name),
    ):
        picture = draw(figure, extension)

        assert picture.startswith(b"\x89PNG") if extension == ".png" else ET.fromstring(picture) is not None  # noqa: S314 - our own
