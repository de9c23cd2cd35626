"""The page of clicks: what it says, hostile text, and accessibility."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

import judged
from judged.clicks.result import ClickReport

if TYPE_CHECKING:
    from playwright.sync_api import Page

Open = Callable[..., "Page"]
HOSTILE = "<img src=x onerror=alert(1)>\"'`${7*7}</script><b>bold</b>\u202e"


@pytest.fixture(scope="module")
def report() -> ClickReport:
    """Two systems with a difference; hostile text in the name of one."""
    return judged.evaluate_clicks(
        [
            {
                "impression": at,
                "user": f"u{at % 80}",
                "query": "q",
                "document": f"d{rank}",
                "rank": rank,
                "system": "old" if at % 2 else f"new {HOSTILE}",
                "click": int((at * 7 + rank) % (3 + 3 * (at % 2)) == 0),
            }
            for at in range(480)
            for rank in (1, 2, 3)
        ],
        "CTR ClickRR",
    )


@pytest.mark.parametrize(("dark", "width"), [(False, 1280), (True, 390)])
def test_the_page_is_accessible_and_fits(
    report: ClickReport,
    open_report: Open,
    check_accessibility: Callable[[Page], None],
    dark: bool,
    width: int,
) -> None:
    """Axe finds nothing, on light and dark, on a wide and on a narrow screen; nothing is wider than the screen."""
    page = open_report(report, at="#/clicks", dark=dark, width=width)
    page.get_by_role("heading", name="Checks").wait_for()

    check_accessibility(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_what_the_page_says(report: ClickReport, open_report: Open) -> None:
    """Means, differences and checks; hostile text is text."""
    page = open_report(report, at="#/clicks")
    page.get_by_role("heading", name="Checks").wait_for()

    headings = set(page.locator("h2").all_inner_texts())
    assert {"Systems", "Differences by user", "Checks"} <= headings
    assert page.locator("main img, main b b, main script").count() == 0
    assert "Sample ratio: as planned" in page.locator("main").inner_text()
