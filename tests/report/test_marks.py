"""Estimates with marks and without bounds, in every format for people; HTML too."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from judged.blocks import Estimate, Table
from judged.report.html import to_html
from judged.report.latex import to_latex
from judged.report.markdown import to_markdown
from judged.report.text import to_text

TABLE = Table(
    ("system", "AP"),
    (("a_1", Estimate(0.5, 0.25, 0.75, marks="b,aa")), ("b", Estimate(0.25, reason="undefined: one query"))),
    best=frozenset({(0, 1)}),
    title="A & B",
)


def test_latex_sets_marks_above_the_value() -> None:
    """After the bold of the best, before the bounds."""
    assert r"a\_1 & \textbf{0.5000}$^{\mathrm{b,aa}}$ [0.2500, 0.7500] \\" in to_latex(TABLE)


def test_html_sets_marks_above_the_value_and_escapes() -> None:
    """Titles too."""
    page = to_html(TABLE)

    assert "<b>0.5000<sup>b,aa</sup> [0.2500, 0.7500]</b>" in page
    assert "<caption>A &amp; B</caption>" in page
    ET.fromstring(page)  # noqa: S314 - it is our own


@pytest.mark.parametrize("lay_out", [to_text, to_latex, to_html])
def test_the_reason_takes_the_place_of_the_bounds(lay_out: object) -> None:
    """In brackets, as bounds do."""
    assert "0.2500 [undefined: one query]" in lay_out(TABLE)  # type: ignore[operator]


def test_markdown_escapes_the_brackets_of_the_reason() -> None:
    """So that it is no link."""
    assert r"0.2500 \[undefined: one query\]" in to_markdown(TABLE)
