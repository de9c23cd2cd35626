"""The critical-difference diagram: well-formed, complete, drawn to scale, readable."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from judged.report.critical_difference import critical_difference_svg, critical_difference_text
from judged.stats import friedman_test

SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Ranks:
    """The least that a diagram is drawn of."""

    ranks: dict[str, float]
    critical_difference: float
    cliques: tuple[tuple[str, ...], ...] = ()


def many(count: int) -> Ranks:
    """That many systems with ranks all over the scale."""
    values = np.random.default_rng(1).random((60, count)) + np.linspace(0, 1, count)
    found = friedman_test(values, systems=[f"system number {i} of the many" for i in range(count)])
    return Ranks(found.ranks, found.critical_difference, found.cliques)


def labels(svg: str) -> dict[str, tuple[float, float]]:
    """Where the names of the systems stand."""
    texts = [text for text in ET.fromstring(svg).iter(f"{SVG}text") if text.find(f"{SVG}title") is not None]  # noqa: S314 - our own text
    return {
        str(text.find(f"{SVG}title").text): (float(text.get("x")), float(text.get("y"))) for text in texts
    }  # type: ignore[union-attr, arg-type]


@pytest.mark.parametrize("count", [2, 3, 13, 50])
def test_every_system_has_a_label_of_its_own(count: int) -> None:
    """All names are there, none over another: those of one side are at least 15 units apart."""
    of = many(count)
    found = labels(critical_difference_svg(of))

    assert set(found) == set(of.ranks)
    for side in {x for x, _ in found.values()}:
        rows = sorted(y for x, y in found.values() if x == side)
        assert all(below - above >= 15 for above, below in pairwise(rows))


def test_everything_lies_on_the_page() -> None:
    """No line or label leaves the picture, long names included."""
    of = Ranks({"n" * 80: 1.0, "m": 1.5, "x": 3.5, "y": 4.0}, 2.2, (("m", "x"),))
    root = ET.fromstring(critical_difference_svg(of))  # noqa: S314 - our own text
    width, height = map(float, str(root.get("viewBox")).split()[2:])
    across = [float(each.get(name, 0)) for each in root.iter() for name in ("x", "x1", "x2")]
    down = [float(each.get(name, 0)) for each in root.iter() for name in ("y", "y1", "y2")]

    assert 0 <= min(across) <= max(across) <= width
    assert 0 <= min(down) <= max(down) <= height
    assert "n" * 35 + "…" in critical_difference_svg(of)


def test_bars_and_ruler_are_to_scale() -> None:
    """Ranks 1 to 4 share 480 units: a difference of 1.5 is 240, a clique from 1.5 to 3 the same and 3 more each side."""
    of = Ranks({"a": 1.0, "b": 1.5, "c": 3.0, "d": 4.0}, 1.5, (("b", "c"),))
    lines = re.findall(
        r'<line x1="([\d.]+)" y1="[\d.]+" x2="([\d.]+)".* stroke-width="(\d+)"', critical_difference_svg(of)
    )
    lengths = {thick: float(end) - float(start) for start, end, thick in lines if start != end}

    assert lengths["2"] == pytest.approx(240, abs=0.2)
    assert lengths["4"] == pytest.approx(246, abs=0.2)


def test_names_are_words_and_never_markup() -> None:
    """What looks like a tag is shown as it is written."""
    of = Ranks({"<script>": 1.0, "a & b": 2.0}, 0.5)

    assert set(labels(critical_difference_svg(of, title='"quoted" <title>'))) == {"<script>", "a & b"}


def test_a_terminal_shows_cliques_as_strokes() -> None:
    """Best first, a column for each clique."""
    of = Ranks({"slow": 3.5, "bm25": 1.25, "dense": 2.25}, 1.5, (("bm25", "dense"), ("dense", "slow")))

    assert critical_difference_text(of).splitlines() == [
        "critical difference 1.500",
        "   1.250  bm25   │",
        "   2.250  dense  │ │",
        "   3.500  slow     │",
    ]
