"""Time the fusion of two runs in judged and ranx, on one core.

Each run has 1,000 documents for each query, 3,000 different ones in all, from a fixed seed. Both tools start from runs that
are in memory in their own form, and end with a run of their own. Every call is warmed up on two queries, which for ranx
includes compilation; the number is CPU time on one thread, the lowest of three.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"  # before NumPy is loaded, which reads them once

import argparse  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from importlib.metadata import version  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from machine import description  # noqa: E402
from reporting import write_report  # noqa: E402

SEED, DEPTH, POOL = 20_240_607, 1_000, 3_000
WEIGHTS = [0.3, 0.7]
METHODS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "rrf": ({"method": "rrf"}, {"norm": None, "method": "rrf"}),
    "combsum": ({"method": "combsum"}, {"norm": "min-max", "method": "sum"}),
    "combmnz": ({"method": "combmnz"}, {"norm": "min-max", "method": "mnz"}),
    "combmed": ({"method": "combmed"}, {"norm": "min-max", "method": "med"}),
    "wsum": (
        {"method": "wsum", "weights": WEIGHTS},
        {"norm": "min-max", "method": "wsum", "params": {"weights": WEIGHTS}},
    ),
    "borda": ({"method": "borda"}, {"norm": None, "method": "bordafuse"}),
    "condorcet": ({"method": "condorcet"}, {"norm": None, "method": "condorcet"}),
}
"""What both tools are asked for, by judged's name."""
SLOW = {"borda": 20, "condorcet": 5}
"""The queries that ranx is timed on where all would take very long; its time is scaled up."""

Lists = dict[str, dict[str, float]]


def main() -> None:
    """Draw, time, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--write", type=Path, help="also write the report to this file")
    options = parser.parse_args()
    write_report(_report(options.queries), options.write)


def _report(queries: int) -> Iterator[str]:
    runs = [_draw(seed, queries) for seed in (SEED, SEED + 1)]
    yield "# Fusion"
    yield ""
    yield f"Two runs of {queries:,} queries × {DEPTH:,} documents, in memory. CPU seconds on one thread, the lowest of three calls."
    yield (
        "ranx is timed on fewer queries for "
        + ", ".join(f"`{name}` ({many})" for name, many in SLOW.items())
        + ", and scaled up."
    )
    yield "Written by `benchmarks/fusion.py`."
    yield ""
    yield from (f"- {line}" for line in description()[:4])
    yield f"- Packages: numpy {np.__version__}, ranx {version('ranx')}, numba {version('numba')}"
    yield ""
    yield "| method | judged | ranx | ratio |"
    yield "|---|---:|---:|---:|"
    for name, (ours, theirs) in METHODS.items():
        mine = _judged(runs, ours)
        few = min(SLOW.get(name, queries), queries)
        other = _ranx([dict(list(run.items())[:few]) for run in runs], theirs) * queries / few
        yield f"| `{name}` | {mine:.3f} | {other:.3f} | {other / mine:.1f} |"


def _draw(seed: int, queries: int) -> Lists:
    """Draw a run: random documents of each query's pool, with descending scores."""
    rng = np.random.default_rng(seed)
    run = {}
    for query in range(queries):
        documents = rng.choice(POOL, DEPTH, replace=False) + query * POOL
        scores = np.sort(rng.gamma(2.0, 5.0, DEPTH))[::-1]
        run[f"q{query}"] = {f"d{one}": score for one, score in zip(documents, scores.tolist(), strict=True)}
    return run


def _cost(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _judged(runs: list[Lists], options: dict[str, Any]) -> float:
    import judged

    read = [judged.read_run(run, name=f"run{number}").as_columns() for number, run in enumerate(runs)]
    judged.fuse([{"q": {"a": 1.0}}, {"q": {"a": 1.0}}], **options)
    return min(_cost(lambda: judged.fuse(read, **options)) for _ in range(3))


def _ranx(runs: list[Lists], options: dict[str, Any]) -> float:
    import ranx

    first = [ranx.Run({query: run[query] for query in list(run)[:2]}) for run in runs]
    ranx.fuse(first, **options)
    read = [ranx.Run(run) for run in runs]
    return min(_cost(lambda: ranx.fuse(read, **options)) for _ in range(3))


if __name__ == "__main__":
    main()
