"""What the commands show on terminals of 80 and 120 columns, as files to look at (`tests/support/screens.py`)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.screens import WIDTHS, capture, golden_files

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")


@pytest.fixture(scope="module")
def screens() -> dict[int, dict[str, str]]:
    """The screens as they are now, by width and name."""
    return {width: capture(width) for width in WIDTHS}


@pytest.mark.parametrize(("name", "width", "path"), golden_files())
def test_a_screen_is_as_it_was_looked_at(
    screens: dict[int, dict[str, str]], name: str, width: int, path: Path
) -> None:
    """`python tests/support/screens.py` writes the new ones, for a person to look at."""
    assert screens[width][name] == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "width", "path"), golden_files())
def test_no_line_of_a_screen_is_wider_than_the_terminal(name: str, width: int, path: Path) -> None:  # noqa: ARG001
    """Apart from the command itself, which comes first."""
    _, *lines = path.read_text(encoding="utf-8").splitlines()

    assert lines
    assert max(map(len, lines)) <= width
