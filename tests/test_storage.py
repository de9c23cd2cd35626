"""Storage: results and tables at a URI, opened by Arrow or by fsspec."""

from __future__ import annotations

import sys
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import judged
from judged.errors import MissingExtra, Unreadable
from judged.store.remote import list_files

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
RUN = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 1.0}}


@pytest.fixture(params=["file", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return a URI: one that Arrow opens, and one that only fsspec does."""
    if request.param == "memory":
        pytest.importorskip("fsspec")
        return f"memory://{uuid4().hex}"
    return tmp_path.as_uri()


@pytest.mark.parametrize("name", ["bm25.json", "bm25.json.gz"])
def test_a_result_is_saved_and_loaded_at_a_uri(place: str, name: str) -> None:
    """The scores that come back are those that were saved."""
    evaluation = judged.evaluate(QRELS, RUN, "AP RR")
    evaluation.save(f"{place}/{name}")
    loaded = judged.load(f"{place}/{name}")

    assert isinstance(loaded, judged.Evaluation)
    assert loaded.mean() == evaluation.mean() == {"AP": 0.75, "RR": 0.75}


def test_tables_are_read_at_a_uri(place: str) -> None:
    """Judgments at once, runs as streams, from a file, a folder or a pattern."""
    from judged.store.remote import write_bytes

    sink = pa.BufferOutputStream()
    pq.write_table(
        pa.table({"query": ["q1", "q1", "q2"], "document": list("bac"), "score": [2.0, 1.0, 1.0]}), sink
    )
    write_bytes(f"{place}/qrels.txt", b"q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n")
    if place.startswith("file"):
        Path(place.removeprefix("file://"), "run").mkdir()
    write_bytes(f"{place}/run/part-0.parquet", bytes(sink.getvalue()))
    for run in ("run/part-0.parquet", "run", "run/*.parquet"):
        found = judged.evaluate(f"{place}/qrels.txt", f"{place}/{run}", "AP RR")

        assert found.mean() == {"AP": 0.75, "RR": 0.75}


def test_what_is_not_there_is_named(place: str) -> None:
    """A saved result, and a run."""
    with pytest.raises(Unreadable, match=r"none\.json does not exist"):
        judged.load(f"{place}/none.json")
    with pytest.raises(Unreadable, match="none does not exist"):
        judged.evaluate(QRELS, f"{place}/none", "AP")


def test_a_scheme_that_nothing_opens_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With fsspec by name; without it by the extra that brings it."""
    pytest.importorskip("fsspec")
    with pytest.raises(Unreadable, match=r"nowhere://x\.json cannot be opened: Protocol not known"):
        judged.load("nowhere://x.json")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtra, match="the storage `nowhere` needs the package `fsspec`"):
        judged.load("nowhere://x.json")


PARTS = {
    "a.run": "q1 Q0 b 1 2.0 x\nq1 Q0 a 2 1.0 x\n",
    "b.run": "q2 Q0 c 1 1.0 x\n",
    "old/a.run": "q1 Q0 b 1 2.0 x\n",
    "parts/1/c.run": "q2 Q0 c 1 1.0 x\n",
    "parts/1/part.run": "q1 Q0 a 1 1.0 x\n",
}


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("*.run", ["a.run", "b.run"]),
        ("./*.run", ["a.run", "b.run"]),
        (".//[ab].run", ["a.run", "b.run"]),
        ("?.run", ["a.run", "b.run"]),
        ("o*/a.run", ["old/a.run"]),
        ("*/1", ["parts/1/c.run", "parts/1/part.run"]),
        ("parts/*/c*", ["parts/1/c.run"]),
        ("../{here}/b*", ["../{here}/b.run"]),
        ("{root}/*.run", ["{root}/a.run", "{root}/b.run"]),
    ],
)
def test_a_pattern_matches_as_it_does_in_a_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, files: list[str]
) -> None:
    """From the current folder, from one above it, and absolutely; a folder that matches stands for its files."""
    for name, content in PARTS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    names = {"here": tmp_path.name, "root": str(tmp_path)}
    found = list_files(pattern.format(**names))

    assert [file.label for file in found] == [file.format(**names) for file in files]


def test_a_pattern_in_the_current_folder_is_evaluated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Joined, the run is called after that folder, not after a name of two dots."""
    for name in ("a.run", "b.run"):
        (tmp_path / name).write_text(PARTS[name])
    below = tmp_path / "below"
    below.mkdir()
    monkeypatch.chdir(tmp_path)

    assert judged.evaluate(QRELS, "*.run", "AP RR", join=True).mean() == {"AP": 0.75, "RR": 0.75}
    monkeypatch.chdir(below)
    assert judged.evaluate(QRELS, "../*.run", "AP", join=True).system == tmp_path.name
