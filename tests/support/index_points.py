"""Points of vector indexes with times and recalls that a test chooses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judged.index.api import make_benchmark
from judged.index.data import make_dataset
from judged.index.measurement import BuildCost, Latencies, Measurement, Workload
from judged.index.points import Point, name_measures
from judged.index.result import IndexBenchmark

K = 10


def make_point(
    times: Sequence[float],
    *,
    engine: str = "mine",
    recalls: Sequence[float] | np.ndarray = (1.0,) * 40,
    ef: int = 10,
    cpu: Sequence[float] | None = None,
    others: float = 0.0,
    exact: bool = False,
    failed: int = 0,
) -> Point:
    """Return a point whose queries take those milliseconds, one number for each round."""
    rounds = tuple(
        Measurement(
            f"{engine}-{ef}",
            engine,
            engine,
            "1",
            {},
            {"ef": ef},
            {},
            BuildCost(0.1, 0.2, 0.3, 100, 2**20),
            Latencies(time, time, time, time, time, time, time),
            100,
            failed,
            0,
            (time if cpu is None else cpu[at]),
            round=at + 1,
            others=others,
            processors=4,
            exact=exact,
        )
        for at, time in enumerate(times)
    )
    found = np.asarray(recalls, dtype=float)
    values = dict.fromkeys(name_measures(K), float(found.mean()))
    return Point(
        rounds, values, found, np.full(len(times), found.mean()), np.full(len(found), times[0] / 1000)
    )


def make_benchmark_of(
    points: Sequence[Point], *, at_recall: float = 0.95, confident: bool = False
) -> IndexBenchmark:
    """Return a benchmark of points."""
    queries = len(points[0].recalls)
    vectors = np.random.default_rng(0).random((60 + queries, 4), dtype=np.float32)
    dataset = make_dataset(vectors[queries:], vectors[:queries])
    workload = Workload(k=K, rounds=len(points[0].rounds), repeats=1)
    return make_benchmark(dataset, workload, points, at_recall=at_recall, confident=confident)
