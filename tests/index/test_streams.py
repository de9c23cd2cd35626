"""Vectors that come and go: runbooks, and updates while others search, against what could be found at every moment."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

import judged
from judged.errors import BadProtocol, UnknownName
from judged.index.result import IndexBenchmark
from judged.index.streams.presence import Presence
from judged.index.streams.runbooks import Step, follow_steps, read_runbook
from support.engines import Place

RUNBOOK = {
    "max_pts": 800,
    1: {"operation": "insert", "start": 0, "end": 600},
    2: {"operation": "search"},
    3: {"operation": "delete", "start": 100, "end": 300},
    4: {"operation": "search"},
    5: {"operation": "replace", "tags_start": 0, "tags_end": 50, "ids_start": 700, "ids_end": 750},
    6: {"operation": "insert", "start": 100, "end": 300},
    7: {"operation": "search"},
}
"""The layout of big-ann-benchmarks, neurips23/streaming/*.yaml."""


def write_runbook(folder: Path, steps: object = None) -> str:
    """Write a runbook and return its path."""
    path = folder / "runbook.yaml"
    path.write_text(yaml.safe_dump({"small": steps or RUNBOOK}))
    return str(path)


def measure(vectors: NDArray[np.float32], engine: object, **given: object) -> IndexBenchmark:
    """Return a benchmark of one round."""
    return judged.benchmark_index(
        vectors[:800], vectors[800:900], engines=[engine], rounds=1, repeats=1, warmup=0, **given
    )  # type: ignore[arg-type]


def test_a_runbook_is_read_and_followed(tmp_path: Path) -> None:
    """Steps in the order of their numbers, with the vector that every id has after each."""
    steps = read_runbook(write_runbook(tmp_path))
    after = {step.number: row_of for step, row_of in follow_steps(steps, 800)}

    assert steps[4] == Step(5, "replace", 0, 50, 700)
    assert (after[2] >= 0).sum() == 600
    assert (after[4][100:300] == -1).all()
    assert after[7][:50].tolist() == list(range(700, 750))
    assert after[7][100:300].tolist() == list(range(100, 300))


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (
            {1: {"operation": "upsert"}},
            "step 1 has the operation `upsert`, expected insert, delete, replace, search",
        ),
        ({1: {"operation": "insert", "start": 0}}, r"\[0, None\], expected whole numbers for start, end"),
        ({1: {"operation": "insert", "start": 9, "end": 3}}, "is from 9 to 3, expected a range"),
        ({1: {"operation": "search"}}, "step 1 searches an empty index"),
        ({1: {"operation": "insert", "start": 0, "end": 900}}, r"and there are 800 vectors"),
        ({1: {"operation": "delete", "start": 0, "end": 9}}, "0 is not in the index"),
        (
            {
                1: {"operation": "insert", "start": 0, "end": 9},
                2: {"operation": "insert", "start": 8, "end": 12},
            },
            "8 is in the index already",
        ),
        ({"max_pts": 3}, "`small` has no steps"),
    ],
)
def test_a_runbook_that_cannot_be_is_refused(steps: object, message: str, tmp_path: Path) -> None:
    """With the number of the step."""
    with pytest.raises(BadProtocol, match=message):
        list(follow_steps(read_runbook(write_runbook(tmp_path, steps)), 800))
    with pytest.raises(UnknownName, match="is called `big`"):
        read_runbook(f"{write_runbook(tmp_path, steps)}:big")


def test_presence_is_known_but_for_the_time_of_a_write() -> None:
    """Before, after, and while a vector is deleted and inserted again."""
    presence = Presence({3: [(100, 110, False), (200, 210, True)]}, frozenset({5}))

    assert [presence.find(3, start, start + 5) for start in (50, 96, 104, 150, 205, 300)] == [
        *(True, None, None, False, None, True)
    ]
    assert presence.find(5, 0, 1) is False
    assert presence.find(4, 0, 1) is True


@pytest.mark.parametrize("engine", ["exact", "hnswlib", "usearch"])
def test_what_is_there_is_found_through_all_changes(
    engine: str, vectors: NDArray[np.float32], tmp_path: Path
) -> None:
    """Exact search has recall 1 in every window and step, which only the right truth gives it; graphs nearly."""
    if engine != "exact":
        pytest.importorskip(engine)
    steps = read_runbook(write_runbook(tmp_path))
    sweep = {engine: {"query": {} if engine == "exact" else {"ef": 64}}}
    benchmark = measure(vectors, engine, sweep=sweep, updates=300.0, seconds=0.3, runbook=steps)
    point = benchmark.points[0]
    recalls = {subset.phase: next(iter(subset.measures.values())) for subset in point.subsets}

    assert list(recalls) == [f"updates:{number}" for number in range(1, 6)] + [
        "runbook:2",
        "runbook:4",
        "runbook:7",
    ]
    assert all(recall == 1 if engine == "exact" else recall > 0.97 for recall in recalls.values())
    assert [subset.share for subset in point.subsets[-3:]] == [0.75, 0.5, 0.75]
    assert point.measured.details["updates:rate"] == pytest.approx(300, rel=0.2)
    assert "vectors a second were inserted, deleted or replaced in turn" in str(
        [note.message for note in benchmark.notes]
    )


def test_an_engine_that_does_not_delete_is_caught(vectors: NDArray[np.float32], tmp_path: Path) -> None:
    """What should be gone takes the place of neighbours, in a runbook and during updates, and a note counts it."""
    engine = "support.streaming_engines:Hoarding"
    steps = read_runbook(write_runbook(tmp_path))
    benchmark = measure(vectors, engine, updates=300.0, seconds=0.2, runbook=steps)
    recalls = {subset.phase: next(iter(subset.measures.values())) for subset in benchmark.points[0].subsets}

    assert recalls["runbook:2"] == 1
    assert recalls["runbook:4"] < 0.8
    assert max(recalls[f"updates:{number}"] for number in range(1, 6)) < 1
    assert "had been deleted before the query was asked" in str([note.message for note in benchmark.notes])


def test_a_runbook_that_was_killed_goes_on_where_it_was(
    vectors: NDArray[np.float32], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step that was finished is not searched again: its queries are noted once, those of the others as well."""
    monkeypatch.setenv("FRAGILE", str(tmp_path))
    steps, results = read_runbook(write_runbook(tmp_path)), tmp_path / "results"
    engine = "support.streaming_engines:Fragile"
    killed = measure(vectors, engine, runbook=steps, output=results)
    benchmark = measure(vectors, engine, runbook=steps, output=results)

    assert "code -9" in killed.failures[0].message
    assert killed.points[0].subsets == ()
    assert len((tmp_path / "600").read_text()) == 200  # steps 2 and 7, a hundred queries each
    assert len((tmp_path / "400").read_text()) == 100
    assert [next(iter(subset.measures.values())) for subset in benchmark.points[0].subsets] == [1, 1, 1]
    assert not list((results / "rows").glob("*.[0-9].parquet"))


@pytest.mark.parametrize("name", ["pgvector-hnsw"])
def test_a_server_is_written_to_at_the_same_time(
    name: str, vectors: NDArray[np.float32], place: Place, tmp_path: Path
) -> None:
    """PostgreSQL finds nearly everything that is there, in every window and step."""
    steps = read_runbook(write_runbook(tmp_path))
    sweep = {name: {"query": {"ef": 100}}}
    benchmark = measure(
        vectors, name, sweep=sweep, urls={name: place.url}, updates=200.0, seconds=0.5, runbook=steps
    )
    recalls = [next(iter(subset.measures.values())) for subset in benchmark.points[0].subsets]

    assert len(recalls) == 8
    assert min(recalls) > 0.95
    assert "vectors a second were inserted, deleted or replaced at the same time" in str(
        [note.message for note in benchmark.notes]
    )


@pytest.mark.parametrize("engine", ["faiss-hnsw", "hnswlib", "usearch", "exact"])
def test_queries_are_asked_in_batches_where_the_engine_can(engine: str, vectors: NDArray[np.float32]) -> None:
    """With the recall of single queries; an engine that takes one at a time says so."""
    pytest.importorskip(engine.partition("-")[0] if engine != "exact" else "numpy")
    sweep = {engine: {"query": {} if engine == "exact" else {"ef": 64}}}
    point = measure(vectors, engine, sweep=sweep, batch=30).points[0]

    if engine == "exact":
        assert "batches of queries" in point.measured.skipped
        return
    (batches,) = point.subsets
    assert batches.phase == "batch:30"
    assert next(iter(batches.measures.values())) == pytest.approx(point.recall)
    assert point.measured.details["qps batch:30"] > 0
