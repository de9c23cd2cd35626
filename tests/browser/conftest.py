"""A real browser for the tests: Chromium by Playwright, cut off from the network, with axe-core.

A test fails if a page logs an error, throws one, breaks its Content-Security-Policy or asks for anything that is not
on this machine. Pages forbid `eval`, which Playwright's `wait_for_function` needs: use `expect` and `wait_until`.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from judged.report.page import render_report
from judged.result import Result

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE [::1], EXCLUDE localhost",
)
LOOPBACK = {"127.0.0.1", "::1", "localhost"}
PATIENCE = 15.0
"""Seconds that a page may take to do what a test waits for, on a busy machine."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, or a reason to skip the test.

    It lives as long as a module: Playwright keeps an event loop running in this thread, which would refuse another.
    """
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("Chromium is not installed (Debian: `apt-get install chromium`)")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield chromium
        chromium.close()


@pytest.fixture
def page_errors() -> Iterator[list[str]]:
    """What went wrong in the pages of a test; it must be empty at the end, so a test clears what it provoked."""
    errors: list[str] = []
    yield errors

    assert errors == []


@pytest.fixture
def open_page(browser: Browser, page_errors: list[str]) -> Iterator[Callable[..., Page]]:
    """Opens an address in a new window: `open_page(url, dark=True, width=400)`."""
    contexts = []

    def open_page(
        url: str, *, dark: bool = False, width: int = 1280, height: int = 900, **options: Any
    ) -> Page:
        context = browser.new_context(
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            viewport={"width": width, "height": height},
            **options,
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE * 1000)
        context.route("**/*", _keep_to_loopback(page_errors))
        page = context.new_page()
        page.on("pageerror", lambda error: page_errors.append(f"error: {error}"))
        page.on(
            "console",
            lambda message: (
                page_errors.append(message.text) if message.type in {"error", "warning"} else None
            ),
        )
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def open_report(open_page: Callable[..., Page], tmp_path: Path) -> Callable[..., Page]:
    """Writes a result, several, or HTML to a file and opens it; options as of `open_page`, and `at="#/page"`."""
    count = 0

    def open_report(source: Result | list[Result] | str | Path, *, at: str = "", **options: Any) -> Page:
        nonlocal count
        count += 1
        path = source if isinstance(source, Path) else tmp_path / f"report-{count}.html"
        if not isinstance(source, Path):
            path.write_text(source if isinstance(source, str) else _render(source), encoding="utf-8")
        return open_page(path.resolve().as_uri() + at, **options)

    return open_report


@pytest.fixture(scope="session")
def check_accessibility() -> Callable[[Page], None]:
    """Fails the test if axe-core finds a violation in what the page shows."""
    package = find_spec("axe_playwright_python")
    if package is None or package.origin is None:
        pytest.skip("axe-core is not installed (`pip install axe-playwright-python`)")
    source = Path(package.origin).with_name("axe.min.js").read_text(encoding="utf-8")

    def check_accessibility(page: Page) -> None:
        page.evaluate(f"() => {{ {source} }}")
        found = page.evaluate("async () => (await axe.run({resultTypes: ['violations']})).violations")
        violations = [
            f"{violation['id']}: {node['html'][:200]} ({violation['help']})"
            for violation in found
            for node in violation["nodes"]
        ]

        assert violations == []

    return check_accessibility


@pytest.fixture(scope="session")
def wait_until() -> Callable[..., Any]:
    """Waits until an expression is true in a page, or a function without arguments returns something true."""

    def wait_until(condition: Callable[[], Any] | tuple[Page, str], *, seconds: float = PATIENCE) -> Any:
        end = time.monotonic() + seconds
        while True:
            value = condition() if callable(condition) else condition[0].evaluate(condition[1])
            if value:
                return value
            if time.monotonic() > end:
                pytest.fail(f"not true within {seconds:g} s: {condition}")
            time.sleep(0.05)

    return wait_until


def _keep_to_loopback(errors: list[str]) -> Callable[[Route], None]:
    def decide(route: Route) -> None:
        url = urlsplit(route.request.url)
        if url.scheme in {"http", "https"} and url.hostname not in LOOPBACK:
            errors.append(f"asked for {route.request.url}")
            route.abort()
        else:
            route.continue_()

    return decide


def _render(source: Result | list[Result]) -> str:
    results = source if isinstance(source, list) else [source]
    return render_report(results)
