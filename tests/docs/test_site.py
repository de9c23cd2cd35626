"""The site is staged whole: every page has a title and a place, every link leads somewhere, every public name has a page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
STAGE = ROOT / "docs" / "site" / "stage.py"


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The staged site, without executing notebooks; what is missing ends the program."""
    build = tmp_path_factory.mktemp("site")
    ended = subprocess.run(
        [sys.executable, str(STAGE), str(build), "--texts"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return build


def test_every_page_is_staged(staged: Path) -> None:
    """Pages of every part: texts, tasks, measures, commands, Python, notebooks and examples."""
    folders = {path.parent.name for path in (staged / "docs").rglob("*.md")}

    assert folders >= {"guides", "tasks", "measures", "commands", "api", "notebooks", "examples", "decisions"}
    assert (staged / "docs" / "measures" / "ndcg.md").is_file()
    assert "### `--min-delta" in (staged / "docs" / "commands" / "judged-gate.md").read_text(encoding="utf-8")


def test_links_lead_to_places_in_the_site(staged: Path) -> None:
    """The README's links are those of the first page; a card has become a page of its own."""
    first = (staged / "docs" / "index.md").read_text(encoding="utf-8")
    protocol = (staged / "docs" / "guides" / "diversity.md").read_text(encoding="utf-8")

    assert "](guides/gate.md)" in first
    assert "](docs/" not in first
    assert "](../measures/index.md#diversity)" in protocol


def test_the_generator_is_told_the_navigation(staged: Path) -> None:
    """By the reader's tasks first."""
    settings = (staged / "mkdocs.yml").read_text(encoding="utf-8")
    start = yaml.safe_load(settings[settings.index("\nnav:") :])["nav"][0]["Start"]

    assert [next(iter(entry)) for entry in start][:4] == [
        "judged",
        "Getting started",
        "TREC runs",
        "A RAG app",
    ]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"docs/lost.md": "# Lost\n"}, "pages that the navigation does not have: ['lost.md']"),
        ({"docs/guides/gate.md": "no heading\n"}, "guides/gate.md has no title"),
        ({"docs/guides/gate.md": "# Gate\n\n[gone](gone.md)\n"}, "the link to gone.md leads nowhere"),
    ],
)
def test_what_is_missing_stops_the_build(change: dict[str, str], expected: str, tmp_path: Path) -> None:
    """In words, with the place."""
    for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name in ("src", "conformance", "benchmarks", "examples", "changelog.d", "LICENSE", "CITATION.cff"):
        (tmp_path / name).symlink_to(ROOT / name)
    for path in (ROOT / "docs").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            copy = tmp_path / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    for name, text in change.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    ended = subprocess.run(
        [sys.executable, str(tmp_path / "docs" / "site" / "stage.py"), str(tmp_path / "build"), "--texts"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ended.returncode, expected in ended.stderr) == (1, True), ended.stderr
