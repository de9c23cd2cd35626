"""Sweeps and studies killed with SIGKILL at random moments, and resumed: nothing finished is lost or done again."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import judged
from fuzz.outcome import SEED, Outcome
from support.studies import PARTS, count_calls, write_collection

PATIENCE = 120.0
SWEEP = """
import sys
from pathlib import Path
import numpy as np
from judged.index.data import make_dataset
from judged.index.measurement import Workload
from judged.index.sweeps.plan import plan_builds
from judged.index.sweeps.sweep import run_sweep

efforts = list(range(10, 10 + int(sys.argv[2])))
builds = plan_builds([], {"faiss-hnsw": {"build": {"M": [8, 16]}, "query": {"ef": efforts}}})
vectors = np.random.default_rng(1).normal(size=(500, 8)).astype(np.float32)
run_sweep(make_dataset(vectors), builds, Workload(rounds=1, repeats=1, warmup=0, clients=(1,), seconds=0.1), Path(sys.argv[1]))
"""
STUDY = """
import sys, time
from judged.studies.running.run import run_study
run_study("study.yaml", output="out", progress=lambda done, total, what: time.sleep(0.03))
"""


def kill_at_random(
    command: list[str],
    units: Callable[[], list[str]],
    kills: int,
    *,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    seed: int = SEED,
) -> list[list[str]]:
    """Start a command, kill it with its children after a random amount of work, and again; then let it finish.

    Return what was finished after every kill and at the end.
    """
    rng, seen = random.Random(seed), []  # noqa: S311 - no secret
    source = f"{Path(judged.__file__).parents[1]}:{Path(__file__).parents[1]}"
    variables = {**os.environ, "PYTHONPATH": source, "OPENBLAS_NUM_THREADS": "1", **(environment or {})}
    for _ in range(kills):
        process = subprocess.Popen(command, cwd=folder, env=variables, start_new_session=True)
        goal, deadline = len(units()) + rng.choice([0, 1, 1, 2]), time.monotonic() + PATIENCE
        while len(units()) < goal and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.15) if goal else rng.uniform(0, 1.5))
        with suppress(ProcessLookupError):  # it was done before the last kill
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        seen.append(units())
    subprocess.run(command, cwd=folder, env=variables, check=True, timeout=600)
    return [*seen, units()]


def judge(kind: str, seen: list[list[str]], expected: int, outcome: Outcome) -> None:
    """Count every kill as held unless something finished before it is gone, changed or there twice."""
    for number, (before, after) in enumerate(pairwise(seen)):
        held = after[: len(before)] == before
        outcome.expect(
            f"{kind} resumed", held=held, defect=f"kill {number}: {before[-2:]} became {after[-3:]}"
        )
    final = Counter(seen[-1])
    whole = len(final) == expected and set(final.values()) == {1}
    outcome.expect(
        f"{kind} whole in the end", held=whole, defect=f"{len(final)} of {expected}, {final.most_common(1)}"
    )


def kill_sweep(place: Path, kills: int, *, seed: int = SEED) -> Outcome:
    """Kill a sweep over two builds of one engine; its points are lines with their measured values."""
    outcome, results = Outcome("sweep"), place / "results"

    def finished() -> list[str]:
        path = results / "points.jsonl"
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        return [line.decode() for line in lines if _is_whole(line)]

    efforts = max(4, kills)
    command = [sys.executable, "-c", SWEEP, str(results), str(efforts)]
    seen = kill_at_random(command, finished, kills, folder=place, seed=seed)
    judge("sweep", seen, 2 * efforts, outcome)
    points = [json.loads(line) for line in seen[-1]]
    keys = Counter(f"{point['key']}-{point['round']}" for point in points)
    rows = {path.stem for path in (results / "rows").glob("*.parquet")}
    outcome.expect("sweep without repeats", held=set(keys.values()) == {1}, defect=str(keys.most_common(1)))
    outcome.expect(
        "raw rows of every point", held=rows == set(keys), defect=f"{len(rows)} files for {len(keys)} points"
    )
    return outcome


def _is_whole(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return line.endswith(b"\n")


def kill_study(place: Path, kills: int, *, seed: int = SEED) -> Outcome:
    """Kill a study of two systems; its answers are lines with documents, scores and times."""
    import yaml

    outcome = Outcome("study")
    write_collection(place)
    (place / "parts.py").write_text(PARTS)
    systems = [
        {"name": "asked", "retriever": {"type": "object", "object": "parts:retrieve"}},
        {"name": "own", "encoder": {"type": "function", "function": "parts:encode"}, "search": "exact"},
    ]
    repeats = max(4, kills)
    study = {"collection": "pets", "systems": systems, "measures": ["RR"], "repeats": repeats, "warmup": 0}
    (place / "study.yaml").write_text(yaml.safe_dump(study))

    def finished() -> list[str]:
        paths = sorted((place / "out" / "answers").glob("*.jsonl"), key=lambda path: path.stat().st_ctime_ns)
        lines = [line for path in paths for line in path.read_bytes().splitlines(keepends=True)]
        return sorted(line.decode() for line in lines if _is_whole(line))

    environment = {"CALLS": str(place / "calls"), "JUDGED_CACHE": str(place / "cache")}
    command = [sys.executable, "-c", STUDY]
    seen = kill_at_random(command, finished, kills, folder=place, environment=environment, seed=seed)
    for number, (before, after) in enumerate(pairwise(seen)):
        lost = set(before) - set(after)
        outcome.expect("study resumed", held=not lost, defect=f"kill {number}: lost {list(lost)[:2]}")
    asked = Counter((one["query"], one["sample"]) for one in map(json.loads, seen[-1]))
    whole = len(asked) == 6 * repeats and set(asked.values()) == {2}
    outcome.expect(
        "study whole in the end", held=whole, defect=f"{len(asked)} questions, {asked.most_common(1)}"
    )
    calls = count_calls(place, "retrieve")
    outcome.expect(
        "at most one question a kill asked again",
        held=6 * repeats <= calls <= 6 * repeats + kills,
        defect=f"{calls} calls for {6 * repeats} questions",
    )
    return outcome
