"""`judged demo`, from end to end on a few queries."""

from __future__ import annotations

import csv
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from judged.cli.main import judged
from judged.demo import demonstrate
from judged.demo.collection import find_entries
from judged.demo.demonstrate import MEASURES

pytest.importorskip("bm25s")
pytest.importorskip("vl_convert")
MODULES = ("asyncio", "email.message", "logging", "pathlib", "textwrap", "unittest.mock")
"""Enough documents to retrieve from; the collection of all modules has a test of its own."""


@pytest.fixture(autouse=True, scope="module")
def _small_collection() -> Iterator[None]:
    """Read the docstrings of a few modules."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demonstrate, "find_entries", lambda: find_entries(MODULES))
        yield


def run(*arguments: object) -> Result:
    """Run `judged` with these arguments."""
    return CliRunner().invoke(judged, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def finished(_small_collection: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """Run a demonstration of sixty queries; return where it was written, and what was printed."""
    place = tmp_path_factory.mktemp("demo") / "out"
    return place, run("demo", "--output", place, "--limit", 60)


def test_it_writes_the_collection_the_runs_and_the_scores(finished: tuple[Path, Result]) -> None:
    """All files that its page names are there, and it says where."""
    place, result = finished
    names = {path.name for path in place.iterdir()}

    assert result.exit_code == 0, result.stderr
    assert names == {
        ".judged-demo",
        "README.md",
        "bm25.run",
        "documents.jsonl",
        "fusion.run",
        "judgments.csv",
        "lsa.run",
        "per-query.csv",
        "qrels.txt",
        "queries.jsonl",
        "report.html",
        "scores.csv",
        "scores.json",
        "scores.svg",
    }
    assert str(place) in result.stderr


def test_its_page_names_every_file(finished: tuple[Path, Result]) -> None:
    """A reader of the directory learns what each file holds."""
    place, _ = finished
    page = (place / "README.md").read_text(encoding="utf-8")

    assert {path.name for path in place.iterdir() if path.name not in page} == {".judged-demo", "README.md"}


def test_it_shows_a_table_with_every_system_and_measure(finished: tuple[Path, Result]) -> None:
    """Standard output holds the table alone; steps are announced on standard error."""
    _, result = finished

    assert all(word in result.stdout for word in ("bm25", "lsa", "fusion", *MEASURES))
    assert "reading the docstrings" in result.stderr
    assert "reading the docstrings" not in result.stdout


def test_the_printed_command_gives_the_same_numbers(finished: tuple[Path, Result]) -> None:
    """Files and memory are scored alike: the command that it ends with repeats its table."""
    place, result = finished
    again = next(line for line in result.stderr.splitlines() if line.strip().startswith("judged score"))
    repeated = run(*shlex.split(again)[1:], "--format", "csv")
    with (place / "scores.csv").open(encoding="utf-8") as file:
        written = {row["run"]: row for row in csv.DictReader(file)}
    rows = {row["system"]: row for row in csv.DictReader(repeated.stdout.splitlines())}

    assert repeated.exit_code == 0, repeated.stderr
    assert rows.keys() == written.keys() == {"bm25", "lsa", "fusion"}
    assert all(
        float(rows[name][measure]) == pytest.approx(float(written[name][measure]), abs=1e-12)
        for name in rows
        for measure in MEASURES
    )


def test_the_scores_carry_their_protocol(finished: tuple[Path, Result]) -> None:
    """The file of scores says under which conventions they were made."""
    place, _ = finished
    scores = json.loads((place / "scores.json").read_text(encoding="utf-8"))

    assert scores["protocol"]["ties"] == "document-descending"
    assert set(scores["means"]) == {"bm25", "lsa", "fusion"}


def test_it_writes_over_its_own_directory_and_over_no_other(tmp_path: Path) -> None:
    """A directory with other files is refused and left as it is."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("precious")
    refused = run("demo", "--output", other, "--limit", 5)
    own = tmp_path / "own"
    first, second = (run("demo", "--output", own, "--limit", 5) for _ in range(2))

    assert refused.exit_code == 2
    assert "did not write" in refused.stderr
    assert [path.name for path in other.iterdir()] == ["thesis.tex"]
    assert (first.exit_code, second.exit_code) == (0, 0)


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    """The output must be a directory."""
    (tmp_path / "taken").write_text("")
    result = run("demo", "--output", tmp_path / "taken")

    assert result.exit_code == 2
    assert "is a file" in result.stderr


def test_without_bm25s_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The missing extra is named before any work is done, and nothing is written."""
    monkeypatch.setitem(sys.modules, "bm25s", None)
    result = run("demo", "--output", tmp_path / "out")

    assert result.exit_code == 2
    assert "install the extra `demo`" in result.stderr
    assert not (tmp_path / "out").exists()


def test_the_picture_shows_every_mean(finished: tuple[Path, Result]) -> None:
    """Title, systems, measures and values are in it as text."""
    place, _ = finished
    picture = ET.fromstring((place / "scores.svg").read_text(encoding="utf-8"))  # noqa: S314 - our own file
    words = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    means = json.loads((place / "scores.json").read_text(encoding="utf-8"))["means"]

    assert "Known-item search in Python's documentation: 60 queries" in words
    assert {"bm25", "lsa", "fusion", *MEASURES} <= set(words)
    assert {f"{value:.4f}" for row in means.values() for value in row.values()} <= set(words)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is that of Linux")
def test_a_place_that_cannot_be_written_is_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is collected or retrieved first."""
    monkeypatch.setattr(demonstrate, "find_entries", lambda: pytest.fail("the work began"))
    result = run("demo", "--output", "/proc/judged-demo")

    assert result.exit_code == 2
    assert "`/proc/judged-demo` cannot be written to" in result.output


def test_it_ends_by_naming_the_report(finished: tuple[Path, Result]) -> None:
    """The last line says what to open, and the file is a page with texts and ranked lists."""
    place, result = finished
    page = (place / "report.html").read_text(encoding="utf-8")

    assert result.stderr.rstrip().splitlines()[-1].startswith(f"Open {place / 'report.html'} in a browser")
    assert 'data-block="1/query/lists:0"' in page
