"""Time the harness of index benchmarks itself: overhead on a query, scoring, and exact neighbours against faiss.

60,000 vectors of 784 dimensions with the sparsity of images, 10,000 queries, 100 neighbours; a million answers. The exact search of both
tools has the same two threads, and each is timed as the lowest of several rounds, in turn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np

from machine import description
from reporting import write_report

SEED = 20_240_607
VECTORS, QUERIES, DIMENSIONS, DEPTH, THREADS = 60_000, 10_000, 784, 100, 2


def main() -> None:
    """Draw, time, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=QUERIES, help="number of queries")
    parser.add_argument("--rounds", type=int, default=2, help="how many times each tool searches")
    parser.add_argument("--write", type=Path, help="also write the report to this file")
    options = parser.parse_args()
    write_report(_report(options.queries, options.rounds), options.write)


def _report(queries: int, rounds: int) -> Iterator[str]:
    yield "# The harness of index benchmarks"
    yield ""
    yield "What measuring adds to what is measured. Written by `benchmarks/index.py`."
    yield ""
    yield from (f"- {line}" for line in description()[:4])
    yield f"- Packages: numpy {np.__version__}, faiss-cpu {version('faiss-cpu')}"
    yield ""
    yield "| | measured | aim |"
    yield "|---|---:|---:|"
    yield f"| overhead on a query, µs | {_overhead():.2f} | below 20 |"
    yield f"| scoring a million answers by nine measures, s | {_scoring():.2f} | below 1 |"
    vectors, wanted = _draw(VECTORS), _draw(queries, SEED + 1)
    costs: dict[str, list[tuple[float, float]]] = {"judged, float64": [], "faiss Flat, float32": []}
    for _ in range(rounds):
        for name, search in (("judged, float64", _judged), ("faiss Flat, float32", _faiss)):
            costs[name].append(_cost(lambda call=search: call(vectors, wanted)))
    yield ""
    yield f"Exact neighbours of {queries:,} queries among {VECTORS:,} × {DIMENSIONS}, {DEPTH} deep, {THREADS} threads:"
    yield ""
    yield "| tool | wall s | CPU s |"
    yield "|---|---:|---:|"
    for name, found in costs.items():
        yield f"| {name} | {min(wall for wall, _ in found):.1f} | {min(cpu for _, cpu in found):.1f} |"


def _draw(count: int, seed: int = SEED) -> np.ndarray:
    rng = np.random.default_rng(seed)
    ink = rng.gamma(0.5, 120, (count, DIMENSIONS)) * (rng.random((count, DIMENSIONS)) < 0.5)
    return ink.clip(0, 255).astype(np.float32)


def _overhead() -> float:
    """Return the microseconds of a query that takes no time: the lowest of ten rounds."""
    from judged.index.load import run_single

    queries = list(np.eye(100, dtype=np.float32)) * 50
    rounds = [run_single(lambda _: None, queries, keep=False) for _ in range(10)]
    return min((samples.end[-1] - samples.start[0]) / len(samples) for samples in rounds) / 1000


def _scoring() -> float:
    """Return the seconds in which 10,000 queries with 100 answers each are scored: the lowest of three rounds."""
    from judged.index.family import NEIGHBOUR
    from judged.index.neighbours import IndexResults, Neighbours
    from judged.index.points import name_measures
    from judged.scoring.evaluate import evaluate_with

    rng = np.random.default_rng(SEED)
    ids = np.argsort(rng.random((10_000, 400)), axis=1)[:, :100]
    distances = np.sort(rng.random((10_000, 100)), axis=1)
    found = np.where(rng.random(ids.shape) < 0.1, rng.integers(400, VECTORS, ids.shape), ids)
    truth, answers = Neighbours(ids, distances, VECTORS), IndexResults(found, distances)
    measures = name_measures(100)
    return min(_cost(lambda: evaluate_with(NEIGHBOUR, truth, answers, measures))[0] for _ in range(3))


def _judged(vectors: np.ndarray, queries: np.ndarray) -> None:
    from judged.index.exact import find_neighbours

    find_neighbours(vectors, queries, "l2", depth=DEPTH, threads=THREADS)


def _faiss(vectors: np.ndarray, queries: np.ndarray) -> None:
    import faiss

    faiss.omp_set_num_threads(THREADS)
    index = faiss.IndexFlatL2(DIMENSIONS)
    index.add(vectors)
    index.search(queries, DEPTH)


def _cost(call: Callable[[], object]) -> tuple[float, float]:
    """Return the wall and the processor time of a call."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu


if __name__ == "__main__":
    main()
