"""The browser of the tests finds what it is there to find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

STRICT = "default-src 'none'; style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A page</title>
<meta http-equiv="Content-Security-Policy" content="{policy}">{head}</head><body><main><h1>A page</h1>{body}</main></body></html>"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<script>throw new Error('thrown')</script>", "thrown"),
        ("<script>console.error('logged')</script>", "logged"),
        ("<img alt='' src='http://192.0.2.1/a.png'>", "asked for http://192.0.2.1/a.png"),
        ("<img alt='' src='https://example.org/a.png'>", "asked for https://example.org/a.png"),
    ],
    ids=["exception", "console", "address", "name"],
)
def test_errors_and_requests_of_a_page_are_found(
    open_report: Callable[..., Any],
    page_errors: list[str],
    wait_until: Callable[..., Any],
    body: str,
    expected: str,
) -> None:
    """An exception, a logged error and a request to another machine would each fail a test."""
    open_report(PAGE.format(policy="", head="", body=body))
    wait_until(lambda: page_errors)

    assert expected in page_errors[0]
    page_errors.clear()


def test_a_breach_of_the_policy_is_found(
    open_report: Callable[..., Any], page_errors: list[str], wait_until: Callable[..., Any]
) -> None:
    """A script that the policy refuses does not run and would fail a test."""
    page = open_report(PAGE.format(policy=STRICT, head="", body="<script>document.title = 'ran'</script>"))
    wait_until(lambda: page_errors)

    assert page.title() == "A page"
    assert "Content Security Policy" in page_errors[0]
    page_errors.clear()


def test_axe_runs_under_a_policy_that_allows_no_script(
    open_report: Callable[..., Any], check_accessibility: Callable[[Any], None]
) -> None:
    """A sound page passes, and a picture without a description does not."""
    sound = open_report(PAGE.format(policy=STRICT, head="", body="<p>Text</p>"))
    check_accessibility(sound)
    faulty = open_report(
        PAGE.format(policy="", head="", body="<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>")
    )

    with pytest.raises(AssertionError, match="image-alt"):
        check_accessibility(faulty)
