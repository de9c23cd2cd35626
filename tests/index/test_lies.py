"""Indexes that lie: wrong ids fail in words, too few and repeated ones count as what they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import judged
from judged.errors import BadInput, EngineFailed, JudgedError, Unreadable
from judged.index.ann_benchmarks import import_results
from judged.index.data import make_dataset
from judged.index.load import check_answers
from support.lying_engine import LIES, SHORT

VECTORS = np.random.default_rng(1).normal(size=(200, 4)).astype(np.float32)
GOOD = [5, 3, 2, 1, 0]


@pytest.mark.parametrize("lie", LIES)
def test_an_answer_that_is_none_is_named(lie: str) -> None:
    """The engine, the query, what it said, and what was expected."""
    with pytest.raises(
        EngineFailed, match=r"`mine` answered query 1 with .*, expected ids of vectors from 0 to 99"
    ):
        check_answers("mine", [GOOD, LIES[lie](GOOD, 100)], 100)


@pytest.mark.parametrize("lie", SHORT)
def test_an_answer_that_is_short_or_repeats_is_taken(lie: str) -> None:
    """It is scored, and scores what it is worth."""
    check_answers("mine", [SHORT[lie](GOOD, 100)], 100)


def measure(monkeypatch: pytest.MonkeyPatch, lie: str) -> judged.Result:
    """Return the benchmark of the engine that lies, in a process of its own."""
    monkeypatch.setenv("LIE", lie)
    monkeypatch.setenv("PYTHONPATH", f"{Path(__file__).parents[1]}:{Path(judged.__file__).parents[1]}")
    engines = ["support.lying_engine:Lying"]
    return judged.benchmark_index(
        VECTORS, engines=engines, rounds=1, repeats=1, warmup=0, clients=(), loads=(), k=5
    )


def test_a_lie_ends_the_engine_and_not_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the process of the engine to the message."""
    with pytest.raises(JudgedError, match=r"`lying` answered query 0 with .*, expected ids of vectors"):
        measure(monkeypatch, "an id beyond the last vector")


@pytest.mark.parametrize(
    ("lie", "recall"), [("too few", 0.6), ("one id again and again", 0.2), ("too many", 1.0)]
)
def test_short_answers_have_the_recall_that_they_deserve(
    monkeypatch: pytest.MonkeyPatch, lie: str, recall: float
) -> None:
    """Three of five neighbours, one of five, and the first five of many, by construction."""
    row = next(iter(measure(monkeypatch, lie)))

    assert row['R(over="cutoff", tolerance=0)@5'] == pytest.approx(recall)


@pytest.mark.parametrize(
    ("ids", "times"),
    [
        (np.full((20, 5), 999), np.ones(20)),
        (np.full((20, 5), -9), np.ones(20)),
        (np.zeros((20, 2)), np.ones(20)),
        (np.zeros(20), np.ones(20)),
        (np.zeros((20, 5)), np.full(20, np.nan)),
        (np.zeros((20, 5)), -np.ones(20)),
        (np.zeros((20, 5)), np.ones(3)),
    ],
    ids=["beyond", "negative", "too few", "flat", "NaN times", "negative times", "few times"],
)
def test_results_of_another_tool_are_checked(tmp_path: Path, ids: np.ndarray, times: np.ndarray) -> None:
    """A file of ann-benchmarks may say anything."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "result.hdf5", "w") as file:
        file["neighbors"], file["times"] = ids, times

    with pytest.raises(BadInput, match="expected"):
        import_results(tmp_path, make_dataset(VECTORS[20:], VECTORS[:20]), k=5)


def test_a_damaged_file_of_results_is_named(tmp_path: Path) -> None:
    """It is no HDF5."""
    pytest.importorskip("h5py")
    (tmp_path / "result.hdf5").write_bytes(b"\x89HDF\r\n\x1a\n" + b"\xff" * 200)

    with pytest.raises(Unreadable, match=r"result\.hdf5 cannot be read"):
        import_results(tmp_path, make_dataset(VECTORS[20:], VECTORS[:20]), k=5)
