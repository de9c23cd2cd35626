"""Numbers that are of this run: stale points, ties, given truth, depth, efforts, sizes, and answers that are checked."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import judged
from judged.cli.main import judged as program
from judged.errors import BadInput, BadProtocol
from judged.index.data import make_dataset, open_dataset
from judged.index.engine import OwnEngine
from judged.index.exact import find_neighbours, measure_distances
from judged.index.load import run_single
from judged.index.measurement import Workload
from judged.index.neighbours import Neighbours
from judged.index.sweeps.plan import plan_builds
from judged.index.sweeps.sweep import run_sweep
from judged.index.sweeps.usage import measure_folder
from judged.index.sweeps.worker import identify_engine
from judged.store.files import scratch_folder

QUICK = {"rounds": 1, "repeats": 1, "warmup": 0}

ENGINE = """
import numpy as np

class Edited:
    effort = "probes"

    def build(self, vectors):
        self.vectors = vectors

    def search(self, query, k, probes=50, mode="good"):
        rows = np.arange({skipped}, len(self.vectors))[: 40 * probes if mode == "good" else 1]
        return rows[np.argsort(((self.vectors[rows] - query) ** 2).sum(axis=1))[:k]]
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of an engine that can be imported."""
    path = tmp_path / "edited_engine.py"
    path.write_text(textwrap.dedent(ENGINE).replace("{skipped}", "0"))
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("edited_engine", None)
    return path


def test_an_edited_engine_is_measured_again(
    vectors: NDArray[np.float32], results: Path, module: Path
) -> None:
    """Its old points are not those of its new code; unedited, they are reused, and the result says since when."""

    def measure(**more: bool) -> judged.IndexBenchmark:
        return judged.benchmark_index(
            vectors, engines=["edited_engine:Edited"], output=results, **QUICK, **more
        )

    first, again, fresh = measure(), measure(), measure(fresh=True)
    module.write_text(module.read_text().replace("np.arange(0,", "np.arange(600,"))
    edited = measure()

    assert first.points[0].recall == 1
    (note,) = [note for note in again.notes if note.code == "reused"]
    assert note.message.startswith(f"1 point reused, measured {first.points[0].measured.at[:10]}")
    assert fresh.points[0].measured.at > first.points[0].measured.at
    assert edited.points[0].recall < 0.9
    assert "reused" not in {note.code for note in edited.notes}


def test_a_server_is_part_of_the_key() -> None:
    """Another address, and a version that the server reports; an object, whose state cannot be seen, is never the same."""
    dataset = make_dataset(np.random.default_rng(0).random((40, 4)))
    swept = run_sweep(
        dataset,
        plan_builds(["pgvector-hnsw"], urls={"pgvector-hnsw": "postgresql://nobody@127.0.0.1:9/none"}),
        Workload(),
        Path(os.environ["JUDGED_CACHE"]) / "dead",
    )
    kind = OwnEngine.wrap(Plain())

    assert not swept.points
    assert "no server answers" in swept.failures[0].message
    assert identify_engine(kind, None) != identify_engine(kind, None)


class Plain:
    """Exact search, as anybody would write it."""

    def build(self, vectors: NDArray[np.float32]) -> None:
        """Keep the vectors."""
        self.vectors = vectors

    def search(self, query: NDArray[np.float32], k: int) -> NDArray[np.int64]:
        """Return the nearest, the last of equal ones first."""
        near = ((self.vectors.astype(float) - query) ** 2).sum(axis=1)
        return np.lexsort((-np.arange(len(near)), near))[:k]


def test_ties_do_not_decide() -> None:
    """Exact search that breaks ties the other way has recall 1 by distance, and less by id, which is shown beside it."""
    bits = np.random.default_rng(0).integers(0, 3, size=(400, 6)).astype(np.float32)
    point = judged.benchmark_index(bits[:380], bits[380:], engines=[Plain()], **QUICK).points[0]

    assert point.recall == 1
    assert point.measures['R(over="cutoff")@10'] < 0.9


def test_equal_vectors_are_equally_far() -> None:
    """Wherever they stand in a matrix, by every metric, found or looked up."""
    rng = np.random.default_rng(1)
    base = rng.standard_normal((1, 37)).astype(np.float32)
    others = rng.standard_normal((90, 37)).astype(np.float32)
    rows = np.concatenate([others[:13], base, others[13:71], base, others[71:], base])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    copies = [13, 72, len(rows) - 1]
    for metric in ("l2", "cosine", "ip"):
        queries = rng.standard_normal((5, 37)).astype(np.float32)
        truth = find_neighbours(rows, queries, metric, depth=len(rows))
        unknown = Neighbours(np.full((5, 1), -1), np.full((5, 1), np.inf), len(rows))
        single = measure_distances(rows, queries, metric, np.tile(copies, (5, 1)), unknown)
        for query in range(5):
            listed = truth.distances[query][np.isin(truth.ids[query], copies)]

            assert len({*listed.tolist(), *single[query].tolist()}) == 1


def test_given_truth_is_verified() -> None:
    """Neighbours of other vectors are refused with the first query that shows it, and so are repeated ones."""
    rng = np.random.default_rng(2)
    vectors, queries = rng.random((300, 8)), rng.random((40, 8))
    near = np.argsort(((vectors[None] - queries[:, None]) ** 2).sum(axis=2), axis=1)[:, :20]
    dataset = make_dataset(vectors, queries, neighbours=near)
    wrong = near.copy()
    wrong[0, 3] = [row for row in range(300) if row not in near[0]][-1]
    twice = near.copy()
    twice[5, 1] = twice[5, 0]

    assert [note.message for note in dataset.notes] == [
        "the given neighbours of 20 queries were found again, by distance"
    ]
    with pytest.raises(BadInput, match=r"of query 0 is at distance .*, and 20 vectors are within"):
        make_dataset(vectors, queries, neighbours=wrong)
    with pytest.raises(BadInput, match="neighbours of query 5: one is listed twice"):
        make_dataset(vectors, queries, neighbours=twice)
    with pytest.raises(BadInput, match="is at distance"):
        make_dataset(
            vectors, queries, neighbours=rng.permuted(np.tile(np.arange(300), (40, 1)), axis=1)[:, :20]
        )


def test_ids_of_a_table_are_ids(tmp_path: Path) -> None:
    """Neighbours are listed by the ids of vectors and queries, in files in any order; ids are no attribute."""
    rng = np.random.default_rng(3)
    vectors, queries = rng.random((60, 4)).astype(np.float32), rng.random((7, 4)).astype(np.float32)
    ids, asked = rng.permutation(60) + 1000, rng.permutation(7)
    near = np.argsort(((vectors[None] - queries[:, None]) ** 2).sum(axis=2), axis=1)[:, :10]
    order = rng.permutation(7)
    tables = {
        "train": {"id": ids, "emb": vectors.tolist(), "price": np.arange(60)},
        "test": {"id": asked, "emb": queries.tolist()},
        "neighbors": {"id": asked[order], "neighbors_id": ids[near][order].tolist()},
    }
    for name, columns in tables.items():
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    dataset = open_dataset(
        tmp_path / "train.parquet",
        queries=tmp_path / "test.parquet",
        neighbours=tmp_path / "neighbors.parquet",
    )

    assert list(dataset.vectors.attributes) == ["price"]
    assert dataset.neighbours(10).ids.tolist() == near.tolist()


def test_measures_of_003_are_over_the_first_hundred_neighbours() -> None:
    """Whatever depth ties need: perfect answers have R@100 = 1, and R@10 = 0.1, filtered ones too."""
    vectors = np.random.default_rng(4).random((520, 8))
    point = judged.benchmark_index(
        vectors[:500], vectors[500:], engines=["exact"], k=100, filters=("0.5",), **QUICK
    ).points[0]

    assert [point.measures[name] for name in ("R@100", "P@100", "RR")] == [1, 1, 1]
    assert point.subsets[0].measures["R@100"] == 1


def test_a_recall_is_searched_for_within_the_settings_of_the_sweep(
    vectors: NDArray[np.float32], module: Path
) -> None:
    """Other settings stay as the sweep has them, a class of one's own declares its effort, and what cannot be is said."""
    del module
    sweep = {"Edited": {"query": {"probes": [2], "mode": ["good"]}}}
    benchmark = judged.benchmark_index(
        vectors, engines=["edited_engine:Edited"], sweep=sweep, at_recall=0.9, **QUICK
    )
    plain = judged.benchmark_index(vectors, engines=[Plain()], at_recall=0.9, **QUICK)

    assert {point.measured.query["mode"] for point in benchmark.points} == {"good"}
    assert max(point.recall for point in benchmark.points) >= 0.9
    assert len(benchmark.points) > 2
    assert "no-effort" in {note.code for note in plain.notes}
    with pytest.raises(BadProtocol, match=r"Wrong\.effort` is `depth`, expected an argument of `search`"):
        OwnEngine.wrap(type("Wrong", (Plain,), {"effort": "depth"}))


def test_a_folder_takes_the_blocks_that_it_has(tmp_path: Path) -> None:
    """A file of 100 MiB with nothing in it takes no more than its few blocks."""
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(100 * 2**20)
    (tmp_path / "full").write_bytes(os.urandom(10_000))

    assert 10_000 <= measure_folder(tmp_path) < 2**20


class Buffered(Plain):
    """Writes every answer into one buffer, farthest first."""

    def build(self, vectors: NDArray[np.float32]) -> None:
        """Make the buffer."""
        super().build(vectors)
        self.buffer = np.empty(10, dtype=np.int64)

    def search(self, query: NDArray[np.float32], k: int) -> NDArray[np.int64]:
        """Return the buffer."""
        self.buffer[:] = super().search(query, k)[::-1]
        return self.buffer


class Short(Plain):
    """Returns half of what is asked for."""

    def search(self, query: NDArray[np.float32], k: int) -> NDArray[np.int64]:
        """Return the first half."""
        return super().search(query, k)[: k // 2]


def test_strange_answers_are_noted() -> None:
    """One buffer for all, unsorted, all too short: scored for what they are worth, and said."""
    vectors = np.random.default_rng(5).random((200, 4)).astype(np.float32)
    found = judged.benchmark_index(vectors[:150], vectors[150:], engines=[Buffered(), Short()], **QUICK)
    buffered, short = found.points

    assert buffered.recall == 1
    assert "one buffer was used for all answers, which were copied in time" in buffered.notes
    assert any("50 answers of 50 not sorted by distance" in note for note in buffered.notes)
    assert short.recall == 0.5
    assert "every answer has fewer than 10 ids" in short.notes
    assert {"shared-process"} <= {note.code for note in found.notes}
    assert "threads" not in {note.code for note in found.notes}


def test_a_query_that_fails_counts_as_the_slowest() -> None:
    """An engine that refuses most queries at once is not fast."""

    def search(query: NDArray[np.float32]) -> list[int]:
        if query[0] > 0:
            raise ConnectionError("refused")
        end = os.times().elapsed + 0.02
        while os.times().elapsed < end:
            pass
        return [0]

    queries = [np.array([number % 3], dtype=np.float32) for number in range(9)]
    samples = run_single(search, queries)

    assert (samples.answered, len(samples.failed)) == (3, 6)
    assert samples.service.min() >= 5_000_000


def test_scratch_folders_of_killed_processes_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one that is made removes them, and none that is in use."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = (
        "import os; from judged.store.files import scratch_folder\nwith scratch_folder('data'): os._exit(9)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], check=False, env=environment)
    (left,) = tmp_path.iterdir()
    with scratch_folder("one") as first, scratch_folder("two") as second:
        assert not left.exists()
        assert first.exists()
        assert second.exists()
    assert not list(tmp_path.iterdir())


def test_the_table_is_printed_even_when_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What took long to measure is shown; then the error says which file could not be written."""
    np.save(tmp_path / "vectors.npy", np.random.default_rng(6).random((60, 4)))

    def fail(self: judged.IndexBenchmark, path: Path) -> None:
        del self
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("judged.index.result.IndexBenchmark.save", fail)
    arguments = ["index", "--dataset", str(tmp_path / "vectors.npy"), "--engine", "exact", "--rounds", "1"]
    outcome = CliRunner().invoke(program, [*arguments, "-o", str(tmp_path / "out")])

    assert "Cost of all settings" in outcome.output
    assert "benchmark.json cannot be written: No space left on device" in str(
        getattr(outcome.exception, "message", outcome.output)
    )


def test_lists_follow_the_size() -> None:
    """4 √n lists, but no more than can be trained; a value that is given stays."""
    pytest.importorskip("faiss")
    sizes = [plan_builds(["faiss-ivf"], size=size)[0].settings["lists"] for size in (1697, 1_000_000)]
    given = plan_builds([], {"faiss-ivf": {"build": {"lists": 7}}}, size=1697)[0].settings["lists"]

    assert (sizes, given) == ([43, 4000], 7)


def test_builds_that_take_long_are_not_repeated(results: Path, vectors: NDArray[np.float32]) -> None:
    """Beyond the budget there are fewer rounds, which a note says, and no interval of the build."""
    benchmark = judged.benchmark_index(
        vectors, engines=["exact"], rounds=3, build_budget=0, repeats=1, output=results
    )
    point = benchmark.points[0]
    estimate = point.estimate("build")

    assert len(point.rounds) == 1
    assert estimate is not None
    assert estimate.low is None
    assert "fewer-rounds" in {note.code for note in benchmark.notes}


def test_old_and_new_are_measured_in_the_same_rounds(
    tmp_path: Path, vectors: NDArray[np.float32], module: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--against` a folder with the older module: the new one finds less, regressed, and the command says so."""
    older = tmp_path / "older"
    older.mkdir()
    (older / module.name).write_text(module.read_text())
    module.write_text(module.read_text().replace("np.arange(0,", "np.arange(600,"))
    np.save(tmp_path / "vectors.npy", vectors)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(judged.__file__).parents[1]}")
    arguments = ["index", "--dataset", str(tmp_path / "vectors.npy"), "--engine", "edited_engine:Edited"]
    outcome = CliRunner().invoke(program, [*arguments, "--rounds", "1", "--against", str(older)])
    recall = next(line for line in outcome.output.splitlines() if "Recall@10" in line)

    assert outcome.exit_code == 1
    assert recall.rstrip().endswith("regressed")
    assert "1.0000" in recall
