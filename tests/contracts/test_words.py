"""The project's own words: plain technical English, one term for one concept (docs/glossary.md)."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(ROOT.glob("src/**/*.py"))
TESTS = sorted(path for path in ROOT.glob("tests/**/*.py") if path != Path(__file__))
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *ROOT.glob("docs/**/*.md")]
)

PHRASES = (
    "told",
    "noticed",
    "sought",
    "whoever",
    "barren",
    "so many",
    "such as are",
    "to be had",
    "as it came",
    "as they came",
    "what there is",
    "nobody judged",
    "each with each",
    "what is told",
)
"""Phrases that a native engineer would not write, in code and in pages."""
IDENTIFIERS = (
    "told",
    "tell",
    "met",
    "hear",
    "hearing",
    "sought",
    "stance",
    "book",
    "crowd",
    "meeting",
    "demanded",
    "barren",
)
"""Names of the private dialect that the code once had."""


def find_phrases(path: Path) -> list[str]:
    """Return every banned phrase of a file, with its line."""
    pattern = re.compile(rf"\b({'|'.join(PHRASES)})\b", re.IGNORECASE)
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        f"{path.relative_to(ROOT)}:{number}: {found[0]}"
        for number, line in enumerate(lines, 1)
        for found in pattern.finditer(line)
    ]


def find_identifiers(path: Path) -> list[str]:
    """Return every banned name that a file defines or assigns."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name.lower().strip("_"))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
    return [f"{path.relative_to(ROOT)}: {name}" for name in sorted(names & set(IDENTIFIERS))]


@pytest.mark.parametrize("paths", [SOURCES, TESTS, PAGES], ids=["source", "tests", "pages"])
def test_no_page_or_file_has_a_banned_phrase(paths: list[Path]) -> None:
    """Docstrings, messages, help and pages are written in plain English."""
    assert [found for path in paths for found in find_phrases(path)] == []


def test_no_name_is_of_the_private_dialect() -> None:
    """Functions, classes, variables and arguments have the names of the field."""
    assert [found for path in (*SOURCES, *TESTS) for found in find_identifiers(path)] == []


def test_every_term_of_the_glossary_is_explained_once() -> None:
    """No concept has two entries."""
    terms = re.findall(
        r"^\| \*\*(.+?)\*\*", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE
    )

    assert len(terms) > 40
    assert len(terms) == len(set(terms))
