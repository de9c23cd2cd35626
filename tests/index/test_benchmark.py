"""Index benchmarks: recall that is right, an answer in a sentence, saved, compared, gated, exchanged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import judged
from judged.blocks import Figure
from judged.cli.main import judged as program
from judged.errors import BadProtocol, BadSample, EngineFailed
from judged.index.ann_benchmarks import export_results, import_results
from judged.index.api import RunOptions, benchmark_dataset
from judged.index.charts import find_optimal
from judged.index.data import make_dataset
from judged.index.diff import diff_benchmarks
from judged.index.engine import ENGINES
from judged.index.measurement import Workload
from judged.index.result import IndexBenchmark
from judged.index.sweeps.plan import plan_builds

RECALL = 'R(over="cutoff", tolerance=0)@10'


@pytest.fixture(scope="module")
def benchmark_(vectors: NDArray[np.float32], tmp_path_factory: pytest.TempPathFactory) -> IndexBenchmark:
    """Return a benchmark of exact search and one graph, with everything that can be measured."""
    pytest.importorskip("faiss")
    return judged.benchmark_index(
        vectors,
        engines=["exact", "faiss-hnsw"],
        sweep={"faiss-hnsw": {"build": {"M": 4, "ef_construction": 10}, "query": {"ef": [10, 80]}}},
        clients=(1, 2),
        loads=(0.3,),
        seconds=0.1,
        filters=("0.05", "0.5"),
        churn=0.2,
        rounds=2,
        repeats=2,
        output=tmp_path_factory.mktemp("benchmark"),
        measures=['R(over="cutoff", epsilon=0.001)@10'],
    )


def test_exact_search_has_recall_one_everywhere(benchmark_: IndexBenchmark) -> None:
    """With all vectors, under every filter, and after deletions, whose truth follows."""
    exact = benchmark_["exact"]

    assert exact.recall == 1
    assert len(exact.subsets) == 8
    assert all(subset.measures[RECALL] == 1 for subset in exact.subsets)
    assert [subset.share for subset in exact.subsets[:3]] == pytest.approx([0.05, 0.5, 0.8], abs=0.01)


def test_every_part_of_the_workload_is_measured(benchmark_: IndexBenchmark) -> None:
    """Closed and open loops, costs and processor time are there, and raw rows give the latencies."""
    for point in benchmark_.points:
        measured = point.measured

        assert [loop.clients for loop in measured.closed] == [1, 2]
        assert [loop.load for loop in measured.open] == [0.3]
        assert all(loop.response.mean >= loop.service.mean for loop in measured.open)
        assert measured.cost.seconds > 0
        assert measured.cost.vectors == benchmark_.vectors
        assert 0 < measured.client_cpu < 50
        assert [one.round for one in point.rounds] == [1, 2]
        assert min(one.qps for one in point.rounds) <= point.qps <= max(one.qps for one in point.rounds)


def test_the_answer_names_the_cheapest_setting_that_reaches_the_recall(benchmark_: IndexBenchmark) -> None:
    """The sentence and `best` agree; a recall that nothing reaches is said to be out of reach."""
    best = benchmark_.best(0.95)

    assert {point.recall >= 0.9 for point in best} == {True}
    assert best[0].name in benchmark_.answer()
    weakest = min(benchmark_.points, key=lambda point: point.recall)
    only = replace(benchmark_, points=(weakest,), at_recall=1.0)
    assert only.answer().startswith("No setting reaches Recall@10 ≥ 1")


def test_more_effort_finds_more(benchmark_: IndexBenchmark) -> None:
    """The intervals of the least and the most effort do not overlap, and the paired comparison says so."""
    low, high = benchmark_.points[1:]
    comparison = benchmark_.compare(low.name, high.name)
    recall = next(one for one in comparison.contrasts if one.measure == RECALL)

    assert low.interval is not None
    assert low.interval[1] < high.recall
    assert abs(recall.difference) == pytest.approx(high.recall - low.recall)


def test_pareto_optimal_points_are_not_beaten(benchmark_: IndexBenchmark) -> None:
    """Every point that is not optimal is beaten in both recall and throughput."""
    optimal = find_optimal(benchmark_.points)

    assert optimal
    for point in benchmark_.points:
        beaten = any(
            other.recall >= point.recall and other.qps > point.qps
            for other in benchmark_.points
            if other is not point
        )
        assert (point in optimal) or beaten


def test_a_benchmark_is_a_result_like_any_other(benchmark_: IndexBenchmark, tmp_path: Path) -> None:
    """Saved and loaded it reads the same; it has tables, and the figures that were asked for."""
    benchmark_.save(tmp_path / "saved.json")
    loaded = judged.load(tmp_path / "saved.json")
    figures = [
        block.name for block in benchmark_.blocks(judged.blocks.Display()) if isinstance(block, Figure)
    ]  # type: ignore[attr-defined]

    assert repr(loaded) == repr(benchmark_)
    assert {"points", "closed", "open", "subsets", "queries"} == set(benchmark_.tables())
    assert benchmark_.to_arrow().num_rows == 3
    assert figures[:4] == ["recall-qps", "latency", "response", "build"]


def test_benchmarks_of_other_data_are_not_compared(benchmark_: IndexBenchmark) -> None:
    """Another data set, or another k, is an error and not a difference."""
    other = replace(benchmark_, workload=replace(benchmark_.workload, k=5))
    with pytest.raises(BadSample, match="differ in k: 5 and 10"):
        diff_benchmarks(benchmark_, other)


def test_the_recall_asked_for_is_searched_for(vectors: NDArray[np.float32], results: Path) -> None:
    """Points between the given efforts are added until the least one that reaches it is known, and kept."""
    pytest.importorskip("faiss")
    arguments = {
        "engines": ["faiss-hnsw"],
        "sweep": {"faiss-hnsw": {"build": {"M": 4, "ef_construction": 10}, "query": {"ef": [10, 200]}}},
        "at_recall": 0.95,
        "repeats": 1,
        "rounds": 1,
        "output": results,
    }
    benchmark = judged.benchmark_index(vectors, **arguments)  # type: ignore[arg-type]
    efforts = sorted(int(point.measured.query["ef"]) for point in benchmark.points)
    reaching = [point for point in benchmark.points if point.recall >= 0.95]
    least = min(int(point.measured.query["ef"]) for point in reaching)
    lines = len((results / "points.jsonl").read_text().splitlines())
    judged.benchmark_index(vectors, **arguments)  # type: ignore[arg-type]

    assert len(efforts) > 2
    assert max((effort for effort in efforts if effort < least), default=0) >= least - max(1, least // 20)
    assert len((results / "points.jsonl").read_text().splitlines()) == lines


def test_graphs_of_equal_settings_have_equal_recall() -> None:
    """HNSW with the same M and ef finds the same to within two points, whichever library builds it."""
    engines = [name for name in ("hnswlib", "faiss-hnsw") if not ENGINES[name].missing_packages()]
    if len(engines) < 2:
        pytest.skip("needs hnswlib and faiss-cpu")
    pytest.importorskip("sklearn")
    sweep = {name: {"build": {"M": 8, "ef_construction": 40}, "query": {"ef": [12, 40]}} for name in engines}
    benchmark = judged.benchmark_index("digits", engines=engines, sweep=sweep, rounds=1, repeats=1)
    recalls = np.array([point.recall for point in benchmark.points]).reshape(2, 2)

    assert np.abs(recalls[0] - recalls[1]).max() < 0.02


class Flawed:
    """An engine of one's own that fails on some queries and returns others twice."""

    def build(self, vectors: NDArray[np.float32]) -> None:
        """Keep the vectors."""
        self.vectors = vectors

    def search(self, query: NDArray[np.float32], k: int) -> list[int]:
        """Fail where the first number is above 3; return the nearest over and over where it is below −3."""
        order: list[int] = np.argsort(((self.vectors - query) ** 2).sum(axis=1))[:k].tolist()
        if query[0] > 3:
            raise ConnectionError("refused")
        return [order[0]] * k if query[0] < -3 else order


def test_failures_and_repeated_answers_lower_recall_and_are_reported(vectors: NDArray[np.float32]) -> None:
    """Failed queries have recall 0, repeated answers one hit; nothing is dropped."""
    queries = vectors[:100]
    benchmark = judged.benchmark_index(vectors[100:], queries, engines=[Flawed()], rounds=1, repeats=1)
    point = benchmark.points[0]
    failed, repeated = int((queries[:, 0] > 3).sum()), int((queries[:, 0] < -3).sum())

    assert failed
    assert repeated
    assert point.recall == pytest.approx((100 - failed - 0.9 * repeated) / 100)
    assert point.measured.failed == failed
    assert {"failed-queries", "answers"} <= {note.code for note in benchmark.notes}


def test_an_engine_that_fails_on_every_query_is_an_error(vectors: NDArray[np.float32]) -> None:
    """There is no benchmark of nothing."""
    with pytest.raises(EngineFailed, match="answered no query: ConnectionError: refused"):
        judged.benchmark_index(vectors[100:], vectors[:10] + 100, engines=[Flawed()], rounds=1, repeats=1)


def test_wrong_settings_are_refused_before_anything_is_built(vectors: NDArray[np.float32]) -> None:
    """A metric that an engine lacks, k beyond the vectors, a filter that nothing meets, an unknown option."""
    pytest.importorskip("faiss")
    bits = vectors > 0
    for given, message in (
        ({"engines": ["faiss-hnsw"], "vectors": bits}, "has no metric hamming"),
        ({"k": 5000}, "`k` is 5000, and there are"),
        ({"filters": ("price<3",)}, "no attribute of the vectors is called `price`"),
        ({"filters": ("2",)}, "a share of 2"),
        ({"client": 2}, "unexpected keyword argument 'client'"),
        ({"at_recall": 1.5}, "`at_recall` is 1.5"),
    ):
        arguments = {"vectors": vectors, "engines": ["exact"], **given}
        with pytest.raises((BadProtocol, LookupError), match=message):
            judged.benchmark_index(**arguments)  # type: ignore[arg-type]


def test_hamming_and_attributes_are_benchmarked(vectors: NDArray[np.float32]) -> None:
    """Bits are searched by Hamming distance; a condition on an attribute of one's own is a filter."""
    price = np.arange(1100)
    benchmark = judged.benchmark_index(
        vectors[100:] > 0,
        vectors[:100] > 0,
        engines=["exact"],
        attributes={"price": price},
        filters=("price<55",),
        rounds=1,
        repeats=1,
    )
    point = benchmark.points[0]

    assert benchmark.metric == "hamming"
    assert point.recall == 1
    assert point.subsets[0].share == pytest.approx(0.05)
    assert next(iter(point.subsets[0].measures.values())) == 1


def test_results_go_to_ann_benchmarks_and_back(
    vectors: NDArray[np.float32], results: Path, tmp_path: Path
) -> None:
    """Exported points are imported with the same recall, and ann-benchmarks' own arithmetic agrees with ours."""
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("faiss")
    dataset = make_dataset(vectors)
    sweep = {"faiss-hnsw": {"build": {"M": 4, "ef_construction": 10}, "query": {"ef": 10}}}
    own = ['R(over="cutoff", epsilon=0.001)@10']
    builds = plan_builds([], sweep)
    benchmark = benchmark_dataset(
        dataset, builds, Workload(rounds=1, repeats=2), RunOptions(output=results, measures=own)
    )
    path = export_results(benchmark, dataset, results, tmp_path / "exported")[0]
    with h5py.File(path) as file:
        found, attributes = np.asarray(file["distances"]), dict(file.attrs)
    truth = dataset.neighbours(10)
    # ann-benchmarks: the first k distances within the k-th true distance + 0.001, over k
    expected = (found <= truth.distances[:, 9:10] + 1e-3).sum(axis=1).mean() / 10
    back = import_results(tmp_path / "exported", dataset, k=10)

    assert benchmark.points[0].measures[own[0]] == pytest.approx(expected)
    assert back.points[0].recall == pytest.approx(benchmark.points[0].recall)
    assert attributes["distance"] == "euclidean"
    assert attributes["build_time"] == pytest.approx(benchmark.points[0].measured.cost.seconds)


def run(*arguments: str) -> tuple[int, str]:
    """Run a command, and return its exit code and everything that it printed."""
    result = CliRunner().invoke(program, list(arguments), catch_exceptions=True)
    if isinstance(result.exception, Exception) and not isinstance(result.exception, SystemExit):
        return 2, result.output + str(getattr(result.exception, "message", result.exception))
    return result.exit_code, result.output


def test_the_command_runs_two_quick_engines_and_resumes(results: Path, tmp_path: Path) -> None:
    """`judged index --dataset digits` needs nothing else; its folder is compared and gated, and it is quick again."""
    pytest.importorskip("sklearn")
    code, text = run(
        "index",
        "--dataset",
        "digits",
        "--repeats",
        "1",
        "--rounds",
        "2",
        "-o",
        str(results),
        "-o",
        str(tmp_path / "points.csv"),
    )

    assert code == 0, text
    assert "Chosen for Recall@10 ≥ 0.95" in text
    assert (tmp_path / "points.csv").read_text().startswith("point,engine,version")
    lines = (results / "points.jsonl").read_text()
    code, text = run("index", "--dataset", "digits", "--repeats", "1", "--rounds", "2", "-o", str(results))
    assert (code, "reused, measured 20" in text) == (0, True)
    assert (results / "points.jsonl").read_text() == lines
    assert "cannot tell" in run("index", "diff", str(results), str(results))[1]
    code, text = run("gate", str(results), "--baseline", str(results))
    assert (code, "wall times of two days" in text) == (3, True)


def test_the_command_lists_engines_with_their_extras() -> None:
    """Every engine is there with its settings, and what is installed is said."""
    code, text = run("index", "engines")

    assert code == 0
    assert all(name in text for name in ENGINES)
    assert "installed" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dataset", "nothing"], "named data sets: digits"),
        (["--dataset", "digits", "--engine", "faiss-hnws"], "did you mean `faiss-hnsw`"),
        (["--dataset", "digits", "--load", "wide"], "expected `closed`, `open`, or both"),
        (
            ["--dataset", "digits", "--load", "closed", "--clients", "two"],
            "holds something else than whole numbers",
        ),
        (["--dataset", "digits", "--url", "pgvector"], "expected ENGINE=URL"),
        (["--dataset", "digits", "-o", "a", "-o", "b"], "2 folders are given"),
    ],
)
def test_wrong_arguments_are_refused_in_words(arguments: list[str], message: str) -> None:
    """What is wrong, and what is expected."""
    pytest.importorskip("sklearn")
    code, text = run("index", *arguments)

    assert code == 2
    assert message in text
