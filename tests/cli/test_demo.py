"""`judged demo`, from end to end on a few queries."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import judged as library
from judged.cli.main import judged
from judged.studies.collections import pydoc

pytest.importorskip("bm25s")
pytest.importorskip("wordllama")
pytest.importorskip("vl_convert")
MODULES = ("asyncio", "email.message", "logging", "pathlib", "textwrap", "unittest.mock")
"""Enough documents to retrieve from; the collection of all modules has a test of its own."""
SYSTEMS = ["bm25", "static", "hybrid", "diverse"]
FILES = {
    *("README.md", "answers", "charts", "collection", "comparison.md", "comparison.tex", "judgments.csv"),
    "differences.csv",
    *("manifest.json", "queries.csv", "report.html", "runs", "study.json", "study.yaml", "systems.csv"),
    "timings.parquet",
}


@pytest.fixture(autouse=True, scope="module")
def _small_collection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Read the docstrings of a few modules, and keep vectors apart."""
    found = pydoc.find_entries(MODULES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pydoc, "find_entries", lambda: found)
        patch.setenv("JUDGED_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def run(*arguments: object) -> Result:
    """Run `judged` with these arguments."""
    return CliRunner().invoke(judged, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def finished(_small_collection: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """Run a demonstration of sixty queries; return where it was written, and what was printed."""
    place = tmp_path_factory.mktemp("demo") / "out"
    return place, run("demo", "--output", place, "--limit", 60)


def test_it_writes_a_folder_and_its_page_names_every_file(finished: tuple[Path, Result]) -> None:
    """A reader of the folder learns what each file holds."""
    place, result = finished
    page = (place / "README.md").read_text(encoding="utf-8")

    assert result.exit_code == 0, result.stderr
    assert {path.name for path in place.iterdir()} == FILES
    assert all(f"`{name}" in page for name in FILES - {"README.md"})


def test_it_begins_with_the_answer_and_shows_every_system(finished: tuple[Path, Result]) -> None:
    """Standard output begins with the best system; what is being done goes to standard error."""
    _, result = finished
    first = result.stdout.partition(".")[0]

    assert "nDCG@10" in first
    assert any(name in first for name in SYSTEMS)
    assert all(name in result.stdout for name in SYSTEMS)
    assert "Reading the docstrings" in result.stderr
    assert "Reading the docstrings" not in result.stdout


def test_the_written_runs_have_the_written_scores(finished: tuple[Path, Result]) -> None:
    """`judged score` of the files gives the means in systems.csv."""
    place, _ = finished
    with (place / "systems.csv").open(encoding="utf-8") as file:
        rows = {row["system"]: row for row in csv.DictReader(file)}

    assert list(rows) == SYSTEMS
    for name, row in rows.items():
        again = library.evaluate(
            place / "judgments.csv", place / "runs" / f"{name}.run", ["nDCG@10", "DR@20"]
        )

        assert {key: float(row[key]) for key in ("nDCG@10", "DR@20")} == pytest.approx(
            again.mean(), abs=1e-12
        )


def test_the_manifest_has_the_hash_of_every_file(finished: tuple[Path, Result]) -> None:
    """Every file beside the answers and the manifest itself, and the versions of what retrieved."""
    place, _ = finished
    manifest = json.loads((place / "manifest.json").read_text())
    files = {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}

    assert set(manifest["files"]) == {path for path in files if not path.startswith("answers")} - {
        "manifest.json"
    }
    assert "bm25s" in manifest["versions"]


def test_the_study_can_be_run_again_on_the_written_collection(finished: tuple[Path, Result]) -> None:
    """With the collection of the folder in place of the built-in one, the study has the same scores."""
    place, _ = finished
    text = (place / "study.yaml").read_text().replace("collection: demo ", "collection: collection ")
    (place.parent / "again.yaml").write_text(
        text.replace("collection: collection", "collection: out/collection")
    )
    result = run("run", place.parent / "again.yaml", "-o", place.parent / "again", "-q")
    first, second = (library.load(folder / "study.json") for folder in (place, place.parent / "again"))

    assert result.exit_code == 0, result.stderr
    assert all(first[name].mean()["nDCG@10"] == second[name].mean()["nDCG@10"] for name in SYSTEMS)  # type: ignore[index]


def test_it_writes_over_its_own_folder_and_over_no_other(tmp_path: Path) -> None:
    """A folder with other files is refused and left as it is."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("precious")
    refused = run("demo", "--output", other, "--limit", 5)
    own = tmp_path / "own"
    first, second = (run("demo", "--output", own, "--limit", 5) for _ in range(2))

    assert refused.exit_code == 2
    assert "is not the folder of a study" in refused.stderr
    assert [path.name for path in other.iterdir()] == ["thesis.tex"]
    assert (first.exit_code, second.exit_code) == (0, 0)


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    """The output must be a folder."""
    (tmp_path / "taken").write_text("")
    result = run("demo", "--output", tmp_path / "taken")

    assert result.exit_code == 2
    assert "is a file" in result.stderr


def test_without_bm25s_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The missing extra is named before any work is done, and nothing is written."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "bm25s" else name)
    result = run("demo", "--output", tmp_path / "out")

    assert result.exit_code == 2
    assert "install the extra `demo`" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is that of Linux")
def test_a_place_that_cannot_be_written_is_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is collected or retrieved first."""
    monkeypatch.setattr(pydoc, "find_entries", lambda: pytest.fail("the work began"))
    result = run("demo", "--output", "/proc/judged-demo")

    assert result.exit_code == 2
    assert "`/proc/judged-demo` cannot be written to" in result.output


def test_it_ends_by_naming_the_report(finished: tuple[Path, Result]) -> None:
    """The last line says what to open, and the file is a page with texts and ranked lists."""
    place, result = finished
    page = (place / "report.html").read_text(encoding="utf-8")

    assert result.stderr.rstrip().splitlines()[-1].startswith(f"Open {place / 'report.html'} in a browser")
    assert 'data-block="1/query/lists:0"' in page
