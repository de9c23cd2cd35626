"""The digests of input files: of the bytes that were scored, or none."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import judged
from judged.result import InputFile, Result, observe_files
from judged.scoring.evaluations import Evaluations
from judged.store.hashing import FileStamp, hash_stamped

QRELS, RUN = "q1 0 a 1\nq1 0 b 0\nq2 0 a 1\n", "q1 Q0 a 1 2.0 x\nq1 Q0 b 2 1.0 x\nq2 Q0 b 1 1.0 x\n"
CHANGES: dict[str, Callable[[Path], object]] = {
    "longer": lambda path: path.write_text(path.read_text() + "q9 0 a 1\n"),
    "as long": lambda path: path.write_text(path.read_text().replace("q1", "q3")),
    "replaced": lambda path: _replace(path, path.read_text().replace("q1", "q3")),
    "touched back": lambda path: _replace(path, path.read_text().replace("q1", "q3"), keep_time=True),
}


def _replace(path: Path, content: str, *, keep_time: bool = False) -> None:
    """Put another file in place, as editors and `mv` do; `keep_time` gives it the time of the old one."""
    status, other = path.stat(), path.with_suffix(".new")
    other.write_text(content)
    if keep_time:
        os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Judgments and a run, written a while ago."""
    monkeypatch.chdir(tmp_path)
    paths = tmp_path / "qrels.txt", tmp_path / "bm25.run"
    for path, content in zip(paths, (QRELS, RUN), strict=True):
        path.write_text(content)
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return paths


MAKE: dict[str, Callable[[str, str], Result]] = {
    "evaluate": lambda qrels, run: judged.evaluate(qrels, run, "AP"),
    "evaluate_many": lambda qrels, run: judged.evaluate_many(qrels, {"x": run}, "AP"),
    "compare": lambda qrels, run: judged.compare(
        list(judged.evaluate_many(qrels, {"x": run, "y": {"q1": {"a": 1.0}}}, "AP").values())
    ),
    "gate": lambda qrels, run: judged.gate(qrels, run, baseline={"q1": {"a": 1.0}}, measures="AP"),
    "explain": lambda qrels, run: judged.explain(qrels, run, "AP", query="q1"),
    "lint": judged.lint,
    "agreement": lambda qrels, _run: judged.agreement(qrels, {"q1": {"a": 1, "b": 1}}),
}


def _digests(result: Result) -> dict[str, str | None]:
    return {file["path"]: file["sha256"] for file in result.to_dict()["provenance"]["inputs"]}


@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
def test_the_digest_is_of_the_file(files: tuple[Path, Path], make: Callable[[str, str], Result]) -> None:
    """As `sha256sum` prints it, for every kind of result; and nothing is noted."""
    result = make(*map(str, files))
    found = _digests(result)

    assert found
    assert found == {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in map(Path, found)}
    assert result.provenance.changes == ()


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
def test_a_file_that_changed_has_no_digest_and_is_noted(
    files: tuple[Path, Path], make: Callable[[str, str], Result], change: Callable[[Path], object]
) -> None:
    """The number of the old bytes never gets the digest of the new ones, in JSON and in what is loaded from it."""
    result = make(*map(str, files))
    change(files[0])
    result.save("saved.json")
    loaded = judged.load("saved.json")
    message = f"`{files[0]}` changed after it was read: the numbers are of its earlier content"

    for reader in (result, loaded):
        assert _digests(reader)[str(files[0])] is None
        assert [note["message"] for note in reader.to_dict()["notes"]].count(message) == 1
        if str(files[1]) in _digests(reader):
            assert _digests(reader)[str(files[1])] == hashlib.sha256(RUN.encode()).hexdigest()


def test_judgments_that_change_between_two_runs_are_those_that_were_read(files: tuple[Path, Path]) -> None:
    """They are read once, before the first run, and have no digest if they change before the last."""

    class Late(dict[str, object]):
        """Two runs: the judgments change when the second is asked for."""

        def items(self) -> object:  # type: ignore[override]
            yield "first", str(files[1])
            files[0].write_text(QRELS.replace("q2", "q3"))
            yield "second", str(files[1])

    found = judged.evaluate_many(str(files[0]), Late(), "AP")

    assert isinstance(found, Evaluations)
    assert {system: evaluation.mean() for system, evaluation in found.items()} == {
        "first": {"AP": 0.5},
        "second": {"AP": 0.5},
    }
    for evaluation in found.values():
        assert _digests(evaluation)[str(files[0])] is None


def test_each_file_is_hashed_once(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """However many runs are scored against the same judgments, and however often the result is written."""
    hash_stamped.cache_clear()
    hashed = []
    digest = hashlib.file_digest

    def count(file: object, name: str) -> object:
        hashed.append(file.name)  # type: ignore[attr-defined]
        return digest(file, name)  # type: ignore[arg-type]

    monkeypatch.setattr("hashlib.file_digest", count)
    runs = {f"run {number}": str(files[1]) for number in range(5)}
    found = judged.evaluate_many(str(files[0]), runs, "AP")
    for _ in range(3):
        found.to_json()

    assert sorted(hashed) == sorted(map(str, files))


def test_a_saved_result_never_hashes_a_file_again(files: tuple[Path, Path]) -> None:
    """Without a recorded digest there is none: the file may be another by now."""
    assert InputFile("run", str(files[1])).sha256 is None


def test_what_is_not_a_file_has_no_digest(tmp_path: Path) -> None:
    """A folder, a pattern, a URI, standard input, a name of nothing, and a name that no file can have."""
    paths = (str(tmp_path), f"{tmp_path}/*.run", "s3://bucket/run", "-", "irds:msmarco", "a\0b")

    assert [file.sha256 for file in observe_files(("run", path) for path in paths)] == [None] * len(paths)
    assert observe_files([("run", {"q1": {"a": 1.0}}), ("run", b"q1 Q0 a 1 1 x")]) == ()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of Unix")
def test_a_pipe_has_no_digest_and_is_not_read_again(files: tuple[Path, Path]) -> None:
    """Reading it for its digest would wait for ever."""
    os.mkfifo("pipe")
    with subprocess.Popen([sys.executable, "-c", f"open('pipe', 'w').write({RUN!r})"]):
        found = judged.evaluate(str(files[0]), "pipe", "AP")

    assert found.mean() == {"AP": 0.5}
    assert _digests(found)["pipe"] is None


def test_a_file_that_changes_while_it_is_hashed_has_no_digest(files: tuple[Path, Path]) -> None:
    """The stamp of the hashed bytes is compared after the last of them too."""
    stamp = FileStamp.take(files[1])
    assert stamp is not None
    hash_stamped.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        digest = hashlib.file_digest

        def change(file: object, name: str) -> object:
            files[1].write_text("other")
            return digest(file, name)  # type: ignore[arg-type]

        patch.setattr("hashlib.file_digest", change)
        assert InputFile("run", str(files[1]), stamp=stamp).sha256 is None
