"""Counts as a heat map: what is drawn, where, and in which shade."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from judged.report.heat_map import heat_map

SVG = "{http://www.w3.org/2000/svg}"
COUNTS = [[3, 1, 0], [0, 0, 0], [1000, 0, 1000]]


def drawn(title: str = "labels against human") -> ET.Element:
    """The picture of the counts."""
    return ET.fromstring(heat_map(COUNTS, ["0", "1", "2"], title=title, x="labels", y="human", note="a note"))  # noqa: S314 - our own


def test_every_count_is_there_with_its_share_of_the_row() -> None:
    """Nine cells; a row without any has shares of 0."""
    words = [text.text for text in drawn().iter(f"{SVG}text")]

    assert [word for word in words if word.endswith("%")] == ["75%", "25%", "0%"] + ["0%"] * 3 + [
        "50%",
        "0%",
        "50%",
    ]
    assert words.count("1,000") == 2


def test_a_cell_is_darker_the_more_of_its_row_it_holds() -> None:
    """None of it is white; three quarters is three quarters of the way to the darkest, #005a8e."""
    _, *cells = drawn().iter(f"{SVG}rect")

    assert [cells[at].get("fill") for at in (0, 2)] == ["#4083aa", "#ffffff"]
    assert cells[6].get("fill") == cells[8].get("fill") == "#80acc6"


def test_everything_lies_on_the_page() -> None:
    """No cell and no word begins outside."""
    root = drawn()
    _, _, width, height = map(float, root.get("viewBox").split())
    places = [(float(each.get("x", 0)), float(each.get("y", 0))) for each in root]

    assert all(0 <= x <= width and 0 <= y <= height for x, y in places)


def test_names_are_words_and_never_markup() -> None:
    """What users call their files is escaped."""
    assert drawn("<b>a & b</b>").get("aria-label") == "<b>a & b</b>"
