"""The viewer in a browser: the list, a result, a comparison, and pages that reload when files change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.viewer import Running, compare, run_viewer, score, wait_for

if TYPE_CHECKING:
    from playwright.sync_api import Page

HOSTILE = "<img src=x onerror=alert(1)>\"' \u202e.json"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder with two evaluations and a comparison, one of them under a hostile name."""
    score("bm25").save(tmp_path / "monday.json")
    score("dense").save(tmp_path / HOSTILE)
    compare().save(tmp_path / "comparison.json")
    return tmp_path


@pytest.fixture
def viewer(results: Path) -> Iterator[Running]:
    """A viewer of that folder."""
    with run_viewer(results) as running:
        yield running


def test_two_results_are_chosen_by_keyboard_and_compared(
    viewer: Running, open_page: Callable[..., Page], wait_until: Callable[..., Any]
) -> None:
    """The form needs no script; the page of the comparison leads back to the list, and the back button too."""
    page = open_page(viewer.url)
    page.get_by_label("first: monday.json").focus()
    page.keyboard.press("Space")
    page.get_by_label("second: <img").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare?**")

    wait_until(lambda: all(name in page.inner_text("main") for name in ("bm25", "dense")))
    page.get_by_role("link", name="All results").click()
    page.wait_for_url(viewer.url + "/")
    page.go_back()
    assert "first=monday.json" in page.url
    assert "second=%3Cimg" in page.url


def test_a_result_is_opened_from_the_list(
    viewer: Running, open_page: Callable[..., Page], wait_until: Callable[..., Any]
) -> None:
    """A file of a hostile name is a link like another."""
    page = open_page(viewer.url)
    page.get_by_role("link", name="<img").click()
    page.wait_for_url("**/result?**")

    wait_until(lambda: "dense" in page.inner_text("main"))


def test_the_list_reloads_when_a_result_is_saved(
    viewer: Running, results: Path, open_page: Callable[..., Page]
) -> None:
    """Nobody has to press a key."""
    page = open_page(viewer.url)
    score("bm25").save(results / "wednesday.json")

    page.get_by_role("link", name="wednesday.json").wait_for()


def test_a_page_reloads_when_its_file_changes_and_warns_when_it_is_damaged(
    viewer: Running, results: Path, open_page: Callable[..., Page], wait_until: Callable[..., Any]
) -> None:
    """The last good page stays under the warning, which goes when the file is whole again; the place stays too."""
    page = open_page(f"{viewer.url}/result?name=monday.json#/leaderboard")

    def shows(text: str) -> None:
        wait_until(lambda: text in page.inner_text("main"))

    shows("bm25")
    score("dense").save(results / "monday.json")
    shows("dense")
    (results / "monday.json").write_bytes(b"{")
    page.get_by_role("alert").wait_for()

    assert "older than its files" in page.inner_text("[role=alert]")
    shows("dense")
    score("bm25").save(results / "monday.json")
    page.get_by_role("alert").wait_for(state="detached")
    shows("bm25")
    assert page.url.partition("#")[2].startswith("/leaderboard")


def test_a_page_that_nothing_changes_stays(
    viewer: Running, open_page: Callable[..., Page], wait_until: Callable[..., Any]
) -> None:
    """No reload without a change, and one stream a page."""
    page = open_page(f"{viewer.url}/result?name=monday.json")
    page.evaluate("window.same = true")
    wait_for(lambda: len(viewer.server.viewer._streams) == 1)
    page.wait_for_timeout(1500)

    assert page.evaluate("window.same")
    page.close()
    wait_until(lambda: not viewer.server.viewer._streams)


@pytest.mark.parametrize("width", [400, 1440])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_viewers_own_pages_are_accessible(
    viewer: Running,
    open_page: Callable[..., Page],
    check_accessibility: Callable[[Page], None],
    page_errors: list[str],
    dark: bool,
    width: int,
) -> None:
    """The list, and an error; neither is wider than the window."""
    page = open_page(viewer.url, dark=dark, width=width)
    check_accessibility(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.goto(f"{viewer.url}/result?name=nothing")
    check_accessibility(page)
    page_errors.clear()  # the browser logs that the address was not found


def test_another_site_cannot_read_or_frame_the_viewer(
    viewer: Running, open_page: Callable[..., Page], page_errors: list[str], tmp_path: Path
) -> None:
    """A page of another origin gets nothing by fetch, script or frame."""
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "page.html"
    other.write_text("<!doctype html><title>other</title>")
    page = open_page(other.as_uri())
    attempts = """async (url) => {
      const read = await fetch(url + "/index.json").then(() => "read", () => "refused");
      const frame = document.createElement("iframe");
      frame.src = url;
      document.body.append(frame);
      await new Promise((done) => { frame.onload = done; });
      let seen = "refused";
      try { seen = frame.contentWindow.document.body.innerText; } catch {}
      return [read, seen];
    }"""

    assert page.evaluate(attempts, viewer.url) == ["refused", "refused"]
    page_errors.clear()  # the browser logs what it refused
