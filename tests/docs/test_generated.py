"""The pages of the reference are what `make docs` would write."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = runpy.run_path(str(DOCS / "generate.py"))["PAGES"]


@pytest.mark.parametrize("name", PAGES)
def test_generated_pages_are_current(name: str) -> None:
    """`python docs/generate.py` would change nothing; in its own process, because click keeps help options."""
    command = [sys.executable, str(DOCS / "generate.py"), name]
    page = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout

    assert page == (DOCS / "reference" / name).read_text(encoding="utf-8")


def test_every_page_of_the_reference_is_generated() -> None:
    """The folder holds generated pages only."""
    assert {path.name for path in (DOCS / "reference").iterdir()} == set(PAGES)
