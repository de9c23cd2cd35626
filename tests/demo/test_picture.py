"""The picture of the demonstration."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from judged.demo.picture import bars

SVG = "{http://www.w3.org/2000/svg}"


def test_every_value_has_a_bar_of_its_length() -> None:
    """A value of 0.5 is drawn half as long as a value of 1."""
    root = ET.fromstring(bars({"a": {"AP": 1.0}, "b": {"AP": 0.5}}, title="<two> & more"))  # noqa: S314
    lengths = [float(bar.attrib["width"]) for bar in root.iter(f"{SVG}rect") if bar.attrib.get("x") == "150"]

    assert lengths[-2:] == [420.0, 210.0]


def test_the_picture_says_what_it_shows() -> None:
    """Title, systems, measures and values stand in it as text, whatever signs they hold."""
    root = ET.fromstring(bars({"bm<25": {"P&R": 0.25}}, title="A title"))  # noqa: S314
    words = [text.text for text in root.iter(f"{SVG}text")]

    assert words == ["A title", "bm<25", "P&R", "0.2500"]
