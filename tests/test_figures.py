"""Charts: what is drawn, where, and in which shade."""

from __future__ import annotations

from typing import Any

import pytest

from judged.blocks import Figure
from judged.figures import draw_heat_map
from judged.report.draw import draw

COUNTS = [[3, 1, 0], [0, 0, 0], [1000, 0, 1000]]


def heat_map(title: str = "labels against human") -> Figure:
    """Draw the counts."""
    return draw_heat_map(
        COUNTS, ["0", "1", "2"], name="confusion", title=title, x="labels", y="human", note="a note"
    )


def cells(figure: Figure) -> list[dict[str, Any]]:
    """Return the data of a figure."""
    data: Any = figure.spec["data"]
    values: list[dict[str, Any]] = data["values"]
    return values


def test_every_count_is_there_with_its_share_of_the_row() -> None:
    """Nine cells; a row without any has shares of 0."""
    drawn = cells(heat_map())

    assert [cell["count"] for cell in drawn] == [3, 1, 0, 0, 0, 0, 1000, 0, 1000]
    assert [cell["share"] for cell in drawn] == [0.75, 0.25, 0, 0, 0, 0, 0.5, 0, 0.5]
    assert [(cell["row"], cell["column"]) for cell in drawn[1:4]] == [("0", "1"), ("0", "2"), ("1", "0")]


def test_a_cell_is_darker_the_more_of_its_row_it_holds() -> None:
    """None of it is white; the whole row is #005a8e."""
    layers: Any = heat_map().spec["layer"]

    assert layers[0]["encoding"]["color"]["field"] == "share"
    assert layers[0]["encoding"]["color"]["scale"] == {"domain": [0, 1], "range": ["#ffffff", "#005a8e"]}


def test_a_picture_shows_counts_and_shares_and_escapes_names() -> None:
    """What users call their files is text and never markup."""
    pytest.importorskip("vl_convert", reason="the extra `report` is not installed")
    picture = draw(heat_map("<b>a & b</b>"), ".svg").decode()

    assert "&lt;b&gt;a &amp; b&lt;/b&gt;" in picture
    assert picture.count(">1,000</text>") == 2
    assert ">75%</text>" in picture
