"""Spark: the scores of one machine, to the last bit, from clusters of several processes that lose one of them."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import judged
from judged.errors import BadInput, BadProtocol, Unreadable

pyspark = pytest.importorskip("pyspark", reason="pip install 'judged[spark]'")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

HOME = Path(pyspark.__file__).parent
MEASURES = ["nDCG@10", "AP", "RR", "Bpref", "R@5", "infAP", "num_ret"]
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.files.maxPartitionBytes": "30000",
    "spark.sql.files.openCostInBytes": "0",
    "spark.executor.memory": "512m",
    "spark.log.level": "OFF",
    "spark.ui.showConsoleProgress": "false",
}
Row = tuple[str, str, float]


def make_rows(seed: int = 0) -> list[Row]:
    """Return a run of 78 queries with many ties; one has half of all rows."""
    rng = random.Random(seed)  # noqa: S311 - a fixed seed
    depths = dict.fromkeys(range(2, 80), 60) | {7: 4000}
    return [
        (f"q{query}", f"d{document}", float(rng.randint(0, 20)))
        for query, depth in depths.items()
        for document in rng.sample(range(max(150, depth)), depth)
    ]


def make_qrels() -> dict[str, dict[str, int]]:
    """Return judgments; two queries are missing from the run, ten of the run are unjudged."""
    rng = random.Random(1)  # noqa: S311 - a fixed seed
    return {
        f"q{query}": {f"d{document}": rng.randint(-1, 3) for document in rng.sample(range(150), 15)}
        for query in range(70)
    }


def write(rows: list[Row], path: Path) -> Path:
    """Write a run as Parquet in row groups that cut queries."""
    columns = dict(zip(("query", "document", "score"), map(list, zip(*rows, strict=True)), strict=True))
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, row_group_size=333)
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return folders with the same run: grouped in files that cut queries, and mixed."""
    folder, rows = tmp_path_factory.mktemp("runs"), make_rows()
    for number, cut in enumerate(range(0, len(rows), 1999)):
        write(rows[cut : cut + 1999], folder / "grouped" / f"{number}.parquet")
    mixed = random.Random(2).sample(rows, len(rows))  # noqa: S311 - a fixed seed
    write(mixed, folder / "mixed" / "0.parquet")
    return {kind: folder / kind for kind in ("grouped", "mixed")}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> judged.Evaluation:
    """Return what one machine says of the run."""
    path = write(make_rows(), tmp_path_factory.mktemp("local") / "run.parquet")
    return judged.evaluate(make_qrels(), path, MEASURES, backend="local")


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_standalone(folder: Path) -> tuple[str, list[subprocess.Popen[bytes]]]:
    """Start a master and two workers; return the master's URL."""
    port, ui = free_port(), free_port()
    java = [str(HOME / "bin" / "spark-class")]
    package = "org.apache.spark.deploy"
    where = ["--host", "127.0.0.1", "--webui-port", str(ui)]
    commands = [[*java, f"{package}.master.Master", *where, "--port", str(port)]]
    url = f"spark://127.0.0.1:{port}"
    worker = ["--host", "127.0.0.1", "--webui-port", "0", "-c", "1", "-m", "1g"]
    commands += [
        [*java, f"{package}.worker.Worker", *worker, "-d", str(folder / str(n)), url] for n in range(2)
    ]
    environment = os.environ | {"SPARK_NO_DAEMONIZE": "1", "SPARK_LOCAL_IP": "127.0.0.1"}
    processes = []
    for command in commands:
        with (folder / f"{len(processes)}.log").open("wb") as log:
            processes.append(
                subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
            )
        wait_for(port) if len(processes) == 1 else None
    return url, processes


def wait_for(port: int) -> None:
    """Wait until something listens on a port."""
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    pytest.fail(f"nothing listens on port {port} after a minute")


@pytest.fixture(scope="module", params=["local[2]", "local-cluster[2,1,1024]", "standalone"])
def spark(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Yield a session on each kind of cluster."""
    from pyspark.sql import SparkSession

    os.environ |= {"SPARK_HOME": str(HOME), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    master, processes = request.param, []
    if master == "standalone":
        master, processes = start_standalone(tmp_path_factory.mktemp("standalone"))
    builder = SparkSession.builder.master(master).appName("judged-test")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
    for process in reversed(processes):
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)


def assert_same(found: judged.Evaluation, expected: judged.Evaluation) -> None:
    """Assert that all values are equal to the last bit, and that what was counted and noted is the same."""
    assert found.scores.queries.to_pylist() == expected.scores.queries.to_pylist()
    for name, values in expected.scores.values.items():
        assert (found.scores[name] == values).all(), name
    assert found.mean() == expected.mean()
    assert set(found.counts.unjudged_queries) == set(expected.counts.unjudged_queries)
    assert (found.counts.rows, found.counts.tied_documents) == (
        expected.counts.rows,
        expected.counts.tied_documents,
    )
    assert found.tie_range("AP") == expected.tie_range("AP")


@pytest.mark.parametrize("reader", ["files", "Spark"])
@pytest.mark.parametrize("kind", ["grouped", "mixed"])
def test_spark_scores_as_one_machine_does(
    spark: Any, kind: str, reader: str, files: dict[str, Path], expected: judged.Evaluation
) -> None:
    """Queries split over files and partitions, one of them with half of all rows; or all rows mixed.

    The executors open the files themselves; where a data frame is more than its files, Spark hands over the rows.
    """
    from judged.scoring.spark import _find_pieces

    frame = spark.read.parquet(str(files[kind]))
    if reader == "Spark":
        frame = frame.where("score > -1")

    assert frame.rdd.getNumPartitions() > 1
    assert (_find_pieces(frame) is None) == (reader == "Spark")
    assert_same(judged.evaluate(make_qrels(), frame, MEASURES), expected)


@pytest.mark.parametrize(
    "conventions",
    [{"ties": "pessimistic", "no_relevant": "one"}, {"ties": "optimistic", "depth": 3}],
    ids=str,
)
def test_conventions_that_look_at_grades_are_those_of_one_machine(spark: Any, conventions: Any) -> None:
    """Ties by grade, a depth that cuts a group of them, and queries with nothing to find."""
    protocol = judged.Protocol(**conventions)
    qrels = {"1": {"a": 1, "c": 2, "d": 0}, "2": {"x": 0}, "3": {"w": 0}}
    rows = [("1", name, 5.0) for name in "abcd"] + [("1", "z", 9.0), ("2", "x", 1.0)]
    frame = spark.createDataFrame(rows, "query string, document string, score double").repartition(3)
    run: dict[str, dict[str, float]] = {}
    for query, document, score in rows:
        run.setdefault(query, {})[document] = score

    assert_same(
        judged.evaluate(qrels, frame, MEASURES, protocol=protocol),
        judged.evaluate(qrels, run, MEASURES, protocol=protocol),
    )


def test_files_that_executors_cannot_open_are_read_by_spark(
    spark: Any, files: dict[str, Path], expected: judged.Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark may have credentials that the machine has not; a task that fails to open a file says so."""
    from judged.scoring import spark as engine
    from judged.scoring.spark_tasks import Piece

    monkeypatch.setattr(engine, "_find_pieces", lambda _: [[Piece("file:///nowhere/0.parquet", 0, 1)]])
    for path in files.values():
        assert_same(judged.evaluate(make_qrels(), spark.read.parquet(str(path)), MEASURES), expected)


def test_a_damaged_file_is_named(spark: Any, files: dict[str, Path], tmp_path: Path) -> None:
    """Neither the executors nor Spark can read it."""
    for path in files["grouped"].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    damaged = tmp_path / "2.parquet"
    content = damaged.read_bytes()
    damaged.write_bytes(content[:200] + bytes(4000) + content[4200:])

    with pytest.raises(Unreadable, match=r"2\.parquet cannot be read"):
        judged.evaluate(make_qrels(), spark.read.parquet(str(tmp_path)), "AP")


@pytest.mark.parametrize("count", [1, 2, 7, 200])
def test_every_target_is_a_partition_of_its_own(spark: Any, count: int) -> None:
    """Spark's own partitioning says where the numbers go."""
    from pyspark.sql.functions import spark_partition_id

    from judged.scoring.spark import _find_targets

    frame = spark.createDataFrame([(number,) for number in _find_targets(count)], "target int")
    placed = frame.repartition(count, "target").withColumn("partition", spark_partition_id()).collect()

    assert {row["target"]: row["partition"] for row in placed} == {
        target: place for place, target in enumerate(_find_targets(count))
    }


def test_a_lost_executor_changes_nothing(
    spark: Any, files: dict[str, Path], expected: judged.Evaluation
) -> None:
    """One is killed while its task runs; Spark runs the task again elsewhere."""
    if spark.sparkContext.master.startswith("local["):
        pytest.skip("a local session has no executors of their own")

    def delay(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            time.sleep(0.5)
            yield batch

    frame = spark.read.parquet(str(files["grouped"]))
    slow = frame.repartitionByRange(8, "query", "document").mapInArrow(delay, frame.schema)
    killed: list[int] = []
    thread = threading.Thread(target=kill_one_executor, args=(spark, killed))
    thread.start()
    found = judged.evaluate(make_qrels(), slow, MEASURES)
    thread.join(timeout=60)

    assert killed
    assert_same(found, expected)


def kill_one_executor(spark: Any, killed: list[int]) -> None:
    """Kill the process of an executor once tasks run."""
    tracker = spark.sparkContext.statusTracker()
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        if any(stage is not None and stage.numActiveTasks > 0 for stage in stages):
            executors = find_executors(spark.sparkContext.applicationId)
            if executors:
                os.kill(executors[0], signal.SIGKILL)
                killed.append(executors[0])
                return
        time.sleep(0.05)


def find_executors(application: str) -> list[int]:
    """Return the processes that run tasks of an application."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_text()
        except OSError:
            continue
        if "CoarseGrainedExecutorBackend" in command and application in command:
            found.append(int(folder.name))
    return found


def test_partitioned_input_is_not_shuffled_again(
    spark: Any, files: dict[str, Path], expected: judged.Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark knows how it partitioned the rows; rows in order need no partitions at all."""
    from judged.scoring import spark as engine

    plans: list[str] = []
    run_task = engine.run_task

    def watch(rows: Any, task: Any) -> list[bytes]:
        plans.append(rows._jdf.queryExecution().toString().partition("== Physical Plan ==")[2])
        return run_task(rows, task)

    monkeypatch.setattr(engine, "run_task", watch)
    grouped, mixed = (spark.read.parquet(str(files[kind])) for kind in ("grouped", "mixed"))
    moved = {}
    for name, frame in {
        "grouped": grouped,
        "mixed": mixed,
        "partitioned": mixed.repartition("query"),
        "by range": mixed.repartitionByRange("query"),
        "by another column": mixed.repartition("document"),
    }.items():
        plans.clear()
        assert_same(judged.evaluate(make_qrels(), frame, MEASURES), expected)
        moved[name] = plans[0].count("Exchange")

    assert moved == {"grouped": 0, "mixed": 1, "partitioned": 1, "by range": 1, "by another column": 2}


def test_many_systems_are_scored_in_one_pass_and_compared(spark: Any, files: dict[str, Path]) -> None:
    """A column `system`; the scores that come back are what `compare` and `gate` take, saved and loaded too."""
    from pyspark.sql.functions import lit

    frames = [spark.read.parquet(str(files[kind])).withColumn("system", lit(kind)) for kind in files]
    both = frames[0].unionByName(frames[1])
    found = judged.evaluate_many(make_qrels(), both, ["AP", "RR"])

    assert list(found) == ["grouped", "mixed"]
    assert found["grouped"].mean() == found["mixed"].mean()
    assert judged.compare(list(found.values()), baseline="grouped").systems == ("grouped", "mixed")
    assert judged.gate(found["mixed"], measures="AP", baseline=found["grouped"]).verdict == "pass"
    with pytest.raises(BadInput, match="holds 2 systems"):
        judged.evaluate(make_qrels(), both, MEASURES)


def test_a_malformed_row_is_named_by_file_and_row(spark: Any, tmp_path: Path) -> None:
    """Tasks do not fail: they report, and the driver looks up where the rows are."""
    rows: list[Any] = make_rows()
    rows[900] = (*rows[900][:2], None)
    path = write([*rows, rows[3]], tmp_path / "run.parquet")
    with pytest.raises(BadInput) as caught:
        judged.evaluate(make_qrels(), spark.read.parquet(str(path)), "AP")

    assert f"{path}, row 901: score is null, expected a number" in str(caught.value)
    rows[900] = (*rows[900][:2], 1.0)
    write([*rows, rows[3]], path)
    with pytest.raises(BadInput) as caught:
        judged.evaluate(make_qrels(), spark.read.parquet(str(path)), "AP")
    assert f"{path}, row {len(rows) + 1:,}: document `{rows[3][1]}` of query `q2`" in str(caught.value)
    assert f"first at {path}, row 4" in str(caught.value)


def test_columns_that_hold_no_run_are_refused_before_anything_is_read(spark: Any) -> None:
    """By the names and types of the columns, in the words of any other table."""
    with pytest.raises(BadInput, match="no score among them"):
        judged.evaluate(
            make_qrels(), spark.createDataFrame([("q1", "d1")], "query string, document string"), "AP"
        )
    texts = spark.createDataFrame([("q1", "d1", "x")], "query string, document string, score string")
    with pytest.raises(BadInput, match="the score column: holds text, expected numbers"):
        judged.evaluate(make_qrels(), texts, "AP")


def test_an_order_that_spark_does_not_keep_is_refused(spark: Any, files: dict[str, Path]) -> None:
    """Ties in the order of the input, where rows of a query are in several partitions."""
    for path in files.values():
        frame = spark.read.parquet(str(path))
        with pytest.raises(BadProtocol, match="in the order of the input"):
            judged.evaluate(make_qrels(), frame, "AP", protocol=judged.Protocol(ties="input-order"))


def test_systems_in_folders_are_scored_in_one_pass(
    spark: Any, tmp_path: Path, expected: judged.Evaluation
) -> None:
    """Folders called `system=…` are a column that only Spark sees."""
    for system in ("a", "b"):
        write(make_rows(), tmp_path / f"system={system}" / "0.parquet")
    found = judged.evaluate_many(make_qrels(), spark.read.parquet(str(tmp_path)), MEASURES)

    assert list(found) == ["a", "b"]
    for evaluation in found.values():
        assert_same(evaluation, expected)


def test_scores_become_a_data_frame_of_spark(spark: Any, files: dict[str, Path]) -> None:
    """A row for each query and measure, with the values of the evaluation."""
    found = judged.evaluate(make_qrels(), spark.read.parquet(str(files["grouped"])), "AP RR")
    frame = spark.createDataFrame(found.to_pandas("scores"))
    means = {row["measure"]: row["avg(value)"] for row in frame.groupBy("measure").avg("value").collect()}

    assert means == pytest.approx(found.mean(), abs=1e-12)


def test_answers_of_an_index_are_scored_as_a_run(spark: Any) -> None:
    """As a table they are a run, and the exact neighbours are judgments; the numbers are those of the matrices."""
    rng = np.random.default_rng(0)
    exact = np.stack([rng.choice(500, 20, replace=False) for _ in range(60)])
    answers = np.where(rng.random(exact.shape) < 0.7, exact, rng.integers(500, 1000, exact.shape))
    answers = np.stack([row[rng.permutation(20)] for row in answers])
    answers[(np.sort(answers, 1)[:, 1:] == np.sort(answers, 1)[:, :-1]).any(axis=1)] = exact[0]
    truth = judged.Neighbours(exact, np.sort(rng.random(exact.shape), axis=1), population=1000)
    expected = judged.evaluate(truth, judged.IndexResults(answers), ["R@20", "P@10", "RR"])
    rows = [
        (str(query), str(document), -float(rank))
        for query, found in enumerate(answers.tolist())
        for rank, document in enumerate(found)
    ]
    frame = spark.createDataFrame(rows, "query string, document string, score double").repartition(5)
    found = judged.evaluate(truth.to_judgments(), frame, ["R@20", "P@10", "RR"])

    place = np.argsort([int(query) for query in found.scores.queries.to_pylist()])

    assert len(place) == 60
    for name in ("R@20", "P@10", "RR"):
        assert (found.scores[name][place] == expected.scores[name]).all(), name


def make_sessions(systems: tuple[str, ...] = ("a", "b"), count: int = 30) -> judged.Sessions:
    """Return sessions with repeated results, some of them labelled in the trace."""
    rng = random.Random(5)  # noqa: S311 - a fixed seed
    traces = [
        {
            "conversation": f"{system}{number}",
            "system": system,
            "task": f"t{number}",
            "turns": [
                {
                    "iterations": [
                        {"searches": [{"query": "x", "results": make_results(rng)} for _ in range(2)]}
                        for _ in range(rng.randint(0, 4))
                    ]
                }
            ],
        }
        for system in systems
        for number in range(count)
    ]
    return judged.read_sessions(traces)


def make_results(rng: random.Random) -> list[dict[str, Any]]:
    """Return results, a third of them with gains."""
    return [
        {"url": f"https://example.org/{document}"} | ({"gain": document % 5} if document % 3 == 0 else {})
        for document in rng.sample(range(40), 5)
    ]


LABELS = [
    {"task": f"t{task}", "url": f"https://example.org/{document}", "gain": (task + document) % 5}
    for task in range(40)
    for document in range(0, 40, 7)
]


@pytest.mark.parametrize("reference", [None, "union"])
def test_sessions_are_scored_as_on_one_machine(spark: Any, tmp_path: Path, reference: str | None) -> None:
    """A row for each session, in several partitions; labels and the pool of all systems included."""
    sessions = make_sessions()
    pq.write_table(sessions.table, tmp_path / "sessions.parquet", row_group_size=7)
    measures = ["CG@last", "DCG@last", "SRE@last", "SRR@last", "Dup@last", "N"]
    expected = judged.evaluate_sessions(sessions, measures, labels=LABELS, reference=reference)
    frame = spark.read.parquet(str(tmp_path / "sessions.parquet")).repartition(4, "task")
    found = judged.evaluate_sessions(frame, measures, labels=LABELS, reference=reference)
    order = {unit: number for number, unit in enumerate(found.scores.queries.to_pylist())}
    place = [order[unit] for unit in expected.scores.queries.to_pylist()]

    assert len(place) == len(order) == 60
    for name, values in expected.scores.values.items():
        np.testing.assert_array_equal(found.scores[name][place], values, err_msg=name)  # NaN too
        np.testing.assert_array_equal(found.scores.averaged(name)[place], expected.scores.averaged(name))
    assert found.undefined("SRR") > 0
    assert {note.message for note in found.notes} == {note.message for note in expected.notes}
    assert any("labels match no result" in note.message for note in found.notes)


def test_a_session_in_two_partitions_is_refused(spark: Any, tmp_path: Path) -> None:
    """It would count twice; so would one that is twice in a partition."""
    pq.write_table(make_sessions(count=3).table, tmp_path / "sessions.parquet")
    frame = spark.read.parquet(str(tmp_path / "sessions.parquet"))
    for twice in (frame.union(frame), frame.union(frame).coalesce(1)):
        with pytest.raises(BadInput, match="session `a0`: appears twice"):
            judged.evaluate_sessions(twice, "N")
    with pytest.raises(BadInput, match="expected those of a table of sessions"):
        judged.evaluate_sessions(frame.drop("iterations"), "N")


def test_the_command_scores_patterns_with_spark(files: dict[str, Path], tmp_path: Path) -> None:
    """`judged score --backend spark --master`, in a process of its own, prints what one machine prints."""
    lines = (f"{q} 0 {d} {g}\n" for q, docs in make_qrels().items() for d, g in docs.items())
    (tmp_path / "qrels.txt").write_text("".join(lines))
    command = [sys.executable, "-W", "ignore", "-m", "judged", "score", str(tmp_path / "qrels.txt")]
    options = ["-m", "AP nDCG@10", "--per-query", "--format", "csv", "--quiet"]
    pattern = f"run={files['grouped']}/*.parquet"
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
    printed = [
        subprocess.run(
            [*command, pattern, *options, *backend],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for backend in ([], ["--backend", "spark", "--master", "local[2]"])
    ]

    assert printed[0] == printed[1]
    assert len(printed[0].splitlines()) > 100


CONNECT = """
import sys, judged
from pyspark.sql import SparkSession
from test_spark import make_qrels, MEASURES
spark = SparkSession.builder.remote("local[2]").getOrCreate()
assert type(spark).__module__.startswith("pyspark.sql.connect")
for folder in sys.argv[1:]:
    frame = spark.read.parquet(folder)
    print(judged.evaluate(make_qrels(), frame, MEASURES).mean())
"""


def test_connect_scores_the_same(files: dict[str, Path], expected: judged.Evaluation) -> None:
    """A thin client, in a process of its own: it cannot share one with a classic session."""
    pytest.importorskip("grpc", reason="pip install 'pyspark[connect]'")
    if int(pyspark.__version__.partition(".")[0]) < 4:
        pytest.skip("the server of Spark Connect 3.5 is not part of the package")
    environment = os.environ | {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
    }
    environment.pop("SPARK_HOME", None)
    command = [sys.executable, "-W", "ignore", "-c", CONNECT, *map(str, files.values())]
    ended = subprocess.run(command, env=environment, check=False, capture_output=True, text=True, timeout=300)

    assert ended.returncode == 0, ended.stderr[-2000:]
    assert ended.stdout.splitlines()[-2:] == [str(expected.mean())] * 2


LOCAL = """
import sys
import judged
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
frame = spark.read.parquet(sys.argv[1])
print(judged.evaluate({"q1": {"a": 1}}, frame, "RR").mean())
print(spark.sparkContext.pythonExec)
"""


def test_a_local_session_is_run_by_the_python_of_the_script(tmp_path: Path) -> None:
    """Although another `python3` is first on the path; what others run in the session keeps its own."""
    other = tmp_path / "python3"
    other.write_text("#!/bin/sh\nexit 3\n")
    other.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK")}
    environment = {**kept, "PATH": f"{tmp_path}:{os.environ['PATH']}", "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            LOCAL,
            str(write([("q1", "b", 2.0), ("q1", "a", 1.0)], tmp_path / "run.parquet")),
        ],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert done.stdout.splitlines() == ["{'RR': 0.5}", "python3"], done.stderr
