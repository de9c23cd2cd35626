"""Sweeps: checked before anything is built, and resumed without repeating or losing a point."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from judged.errors import BadProtocol, JudgedError, MissingExtra, UnknownName, Unreadable
from judged.index.data import Dataset, make_dataset
from judged.index.engine import ENGINES, Engine
from judged.index.measurement import Workload, propose_effort
from judged.index.sweeps.plan import plan_builds, read_sweep
from judged.index.sweeps.rows import read_points
from judged.index.sweeps.sweep import run_sweep
from judged.store.lock import LOCK, lock_file

QUICK = Workload(rounds=1, repeats=1, warmup=5)


@pytest.fixture
def dataset(vectors: NDArray[np.float32]) -> Dataset:
    """Return the vectors as a data set."""
    return make_dataset(vectors)


def test_a_grid_is_every_build_with_every_query_setting() -> None:
    """Two build settings of two values and one query setting of three: four builds with three points each."""
    pytest.importorskip("faiss")
    builds = plan_builds(
        [],
        {
            "faiss-hnsw": {
                "build": {"M": [8, 16], "ef_construction": [50, 100]},
                "query": {"ef": [10, 20, 40]},
            }
        },
    )

    assert len(builds) == 4
    assert [query["ef"] for query in builds[0].queries] == [10, 20, 40]
    assert builds[3].settings == {"M": 16, "ef_construction": 100}


BAD = [
    ("faiss-hnsw: {build: {m: 16}}", UnknownName, "no setting of sweep.yaml: faiss-hnsw.build is called `m`"),
    (
        "faiss-hnsw: {query: {ef: many}}",
        BadProtocol,
        "sweep.yaml: faiss-hnsw.query.ef is 'many', expected a whole number",
    ),
    ("faiss-hnsw: {query: {ef: 0}}", BadProtocol, "faiss-hnsw.query.ef is 0, expected 1 or more"),
    ("faiss-hnsw: {query: {ef: []}}", BadProtocol, "faiss-hnsw.query has an empty list"),
    ("faiss-hnsw: {search: {ef: 1}}", UnknownName, "no part of sweep.yaml: faiss-hnsw is called `search`"),
    ("faiss-hnsw: 3", BadProtocol, "faiss-hnsw is 3, expected `build` and `query`"),
    ("faiss-hnsw: {query: 5}", BadProtocol, "faiss-hnsw.query is 5, expected settings"),
    ("hnswlb: {}", UnknownName, "no engine is called `hnswlb`"),
    ("- faiss-hnsw", BadProtocol, "holds list, expected engines"),
    ("a: [", BadProtocol, "sweep.yaml, line 1: expected the node content"),
]


@pytest.mark.parametrize(("text", "error", "message"), BAD, ids=[text for text, *_ in BAD])
def test_a_wrong_sweep_is_refused_with_its_place(
    text: str, error: type[Exception], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors name file, engine, part and setting."""
    monkeypatch.chdir(tmp_path)
    Path("sweep.yaml").write_text(text)
    with pytest.raises(error, match=message.replace("[", r"\[")):
        plan_builds([], "sweep.yaml")


def test_missing_files_and_packages_are_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep that is not there cannot be read; an engine that is not installed names its extra."""
    with pytest.raises(Unreadable, match="cannot be read"):
        read_sweep("nowhere.yaml")
    monkeypatch.setattr(ENGINES["faiss-hnsw"], "missing_packages", classmethod(lambda _: ("faiss-cpu",)))
    with pytest.raises(MissingExtra, match=r"the extra `faiss`"):
        plan_builds(["faiss-hnsw"], None)


def test_finished_points_are_not_measured_again(dataset: Dataset, results: Path) -> None:
    """A second run returns the very same measurements; another workload, seed or setting is another point."""
    builds = plan_builds(["exact"], None)
    first = run_sweep(dataset, builds, QUICK, results)
    again = run_sweep(dataset, builds, QUICK, results)
    run_sweep(dataset, builds, Workload(rounds=1, repeats=2, warmup=5), results)

    assert first.points == again.points
    assert len((results / "points.jsonl").read_text().splitlines()) == 2


def test_a_torn_line_is_passed_over_and_its_point_measured_again(dataset: Dataset, results: Path) -> None:
    """The end of a file that was cut in the middle of a line costs that point, and no other."""
    builds = plan_builds(["exact"], None)
    run_sweep(dataset, builds, QUICK, results)
    path = results / "points.jsonl"
    whole = path.read_text()
    path.write_text(whole + whole[: len(whole) // 2])

    assert len(read_points(results)) == 1
    path.write_text(whole[: len(whole) // 2])
    assert not read_points(results)
    swept = run_sweep(dataset, builds, QUICK, results)
    assert (len(swept.points), swept.failures) == (1, ())
    assert len(read_points(results)) == 1


SCRIPT = """
import sys
from pathlib import Path
import numpy as np
from judged.index.data import make_dataset
from judged.index.measurement import Workload
from judged.index.sweeps.plan import plan_builds
from judged.index.sweeps.sweep import run_sweep

builds = plan_builds([], {"faiss-hnsw": {"build": {"M": [8, 16]}, "query": {"ef": [10, 80]}}})
dataset = make_dataset(np.load(sys.argv[1]))
run_sweep(dataset, builds, Workload(rounds=2, repeats=1, warmup=5, clients=(1,), seconds=0.3), Path(sys.argv[2]))
"""


def test_a_killed_run_resumes_without_repeating_or_losing_a_point(
    vectors: NDArray[np.float32], results: Path, tmp_path: Path
) -> None:
    """Killed after its first points, with its worker, the same command measures only the others: eight in all, each once."""
    pytest.importorskip("faiss")
    np.save(tmp_path / "vectors.npy", vectors)
    arguments = [sys.executable, "-c", SCRIPT, str(tmp_path / "vectors.npy"), str(results)]
    killed = subprocess.Popen(arguments, start_new_session=True)
    deadline = time.monotonic() + 60
    while len(read_points(results)) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    before = (results / "points.jsonl").read_text()
    subprocess.run(arguments, check=True, timeout=120)
    lines = [json.loads(line) for line in (results / "points.jsonl").read_text().splitlines()]

    assert 2 <= len(before.splitlines()) < 8
    assert (results / "points.jsonl").read_text().startswith(before)
    assert len(lines) == len({(line["key"], line["round"]) for line in lines}) == 8


def test_a_second_sweep_into_a_folder_is_refused_until_the_first_is_killed(
    dataset: Dataset, vectors: NDArray[np.float32], results: Path, tmp_path: Path
) -> None:
    """The error names the process that measures; nothing is measured; a killed one blocks nobody."""
    pytest.importorskip("faiss")
    np.save(tmp_path / "vectors.npy", vectors)
    first = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "vectors.npy"), str(results)], start_new_session=True
    )
    try:
        deadline = time.monotonic() + 60
        while not read_points(results) and time.monotonic() < deadline:
            time.sleep(0.02)
        with pytest.raises(JudgedError, match=f"is being written by process {first.pid} on "):
            run_sweep(dataset, plan_builds(["exact"], None), QUICK, results)
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
    swept = run_sweep(dataset, plan_builds(["exact"], None), QUICK, results)

    assert ([build.name for build, _ in swept.points], swept.failures) == (["exact"], ())
    assert {path.name for path in results.iterdir()} == {"points.jsonl", "rows"}


HOLDING = """
import os, time
from pathlib import Path
from judged.index.engine import Engine
from judged.store.lock import lock_folder

class Holding(Engine):
    name = "holding"
    title = "locks a folder for a minute"

    def create(self, spec, settings):
        with lock_folder(Path(os.environ["HELD"])):
            time.sleep(60)
"""
HOLD = """
import sys
from pathlib import Path
import numpy as np
from judged.index.data import make_dataset
from judged.index.measurement import Workload
from judged.index.sweeps.plan import plan_builds
from judged.index.sweeps.sweep import run_sweep

run_sweep(make_dataset(np.load(sys.argv[1])), plan_builds(["holding:Holding"], None), Workload(), Path(sys.argv[2]))
"""


def test_a_worker_ends_with_the_process_that_started_it(
    vectors: NDArray[np.float32], results: Path, tmp_path: Path
) -> None:
    """Killed alone, in the middle of a build: nobody writes to the folder any more, and nothing is held."""
    np.save(tmp_path / "vectors.npy", vectors)
    (tmp_path / "holding.py").write_text(HOLDING)
    held = tmp_path / "held"
    first = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "vectors.npy"), str(results)],
        cwd=tmp_path,
        env={**os.environ, "HELD": str(held)},
    )
    deadline = time.monotonic() + 60
    while not (held / LOCK).exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    first.kill()
    first.wait()
    started = time.monotonic()

    with lock_file(held / LOCK, what="it", hint="", on_wait=lambda _: None):
        assert time.monotonic() - started < 20


class Crashing(Engine):
    """An engine whose process dies."""

    name = "crashing"
    title = "dies"

    def create(self, spec: object, settings: object) -> None:
        """Die as a segmentation fault would."""
        del spec, settings
        os.kill(os.getpid(), signal.SIGKILL)


class Slow(Crashing):
    """An engine that never finishes."""

    name = "slow"

    def create(self, spec: object, settings: object) -> None:
        """Sleep."""
        del spec, settings
        time.sleep(60)


@pytest.fixture
def _importable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers import the engines of this file."""
    (tmp_path / "broken_engines.py").write_text(Path(__file__).read_text())
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("_importable")
def test_an_engine_that_dies_does_not_stop_the_others(dataset: Dataset, results: Path) -> None:
    """The failure is reported with the signal that ended its process, and the other engine is measured."""
    swept = run_sweep(dataset, plan_builds(["broken_engines:Crashing", "exact"], None), QUICK, results)

    assert [build.name for build, _ in swept.points] == ["exact"]
    assert "ended with code -9" in swept.failures[0].message


@pytest.mark.usefixtures("_importable")
def test_an_engine_that_hangs_is_given_up(dataset: Dataset, results: Path) -> None:
    """After the time that was set its process is killed, and the failure says so."""
    plan = plan_builds(["broken_engines:Slow"], None)
    failures = run_sweep(dataset, plan, QUICK, results, timeout=2).failures

    assert failures[0].message == "it did not finish within 2 seconds"


@pytest.mark.parametrize("target", [0.3, 0.9, 0.95, 0.999])
def test_the_least_effort_is_found_in_few_steps(target: float) -> None:
    """Over a recall that grows with effort, the search ends at an effort within 5 % of the least that reaches it."""
    recalls = {effort: 1 - 1 / (1 + effort / 20) for effort in (16, 64)}
    steps = 0
    while (effort := propose_effort(recalls, target)) is not None:
        recalls[effort] = 1 - 1 / (1 + effort / 20)
        steps += 1
    reached = [effort for effort, recall in recalls.items() if recall >= target]
    least = next((effort for effort in range(1, 5000) if 1 - 1 / (1 + effort / 20) >= target), None)

    assert steps < 20
    if least is not None and least < 4096:
        assert min(reached) == pytest.approx(least, rel=0.06, abs=1)
