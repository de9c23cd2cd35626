"""The page of a weather report."""

from __future__ import annotations

from judged.report.entry import Entry
from judged.report.pages import Page, PageData


def make_data(entry: Entry) -> PageData:
    """Return the error of each source."""
    return PageData({"rows": entry.result.rows()})


PAGE = Page("weather", "Weather", make_data, script="weather:page.js")
