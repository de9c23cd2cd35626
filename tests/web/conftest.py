"""A folder of saved results, and a viewer of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.viewer import Running, compare, run_viewer, score


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder with three saved results, the comparison the newest, and other files."""
    return make_results(tmp_path)


@pytest.fixture
def viewer(results: Path) -> Iterator[Running]:
    """A viewer of that folder."""
    with run_viewer(results) as running:
        yield running


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A viewer of such a folder that has much beside results, for tests that only ask."""
    results = make_results(tmp_path_factory.mktemp("guarded"))
    (results / "link.json").symlink_to(results.parent / "secret.json")
    (results / "folder").symlink_to(results.parent)
    (results / "inner.json").symlink_to(results / "folder" / "secret.json")
    (results / "folder.json").mkdir()
    (results / ".hidden.json").write_bytes((results / "monday.json").read_bytes())
    os.mkfifo(results / "pipe.json")
    (results / "latest.json").symlink_to("monday.json")
    with run_viewer(results) as running:
        yield running


def make_results(place: Path) -> Path:
    """Write the folder, and a result beside it that is not to be served."""
    folder = place / "results"
    folder.mkdir()
    score("bm25").save(folder / "monday.json")
    score("dense").save(folder / "tuesday.json.gz")
    compare().save(folder / "comparison.json")
    for age, name in enumerate(["comparison.json", "tuesday.json.gz", "monday.json"]):
        os.utime(folder / name, (1_700_000_000 - age,) * 2)
    (folder / "notes.json").write_text('{"schema": "somebody.else/1"}')
    (folder / "readme.txt").write_text("not a result")
    (place / "secret.json").write_bytes((folder / "monday.json").read_bytes())
    return folder
