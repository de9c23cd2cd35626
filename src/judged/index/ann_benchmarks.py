"""ann-benchmarks: its result files read as a benchmark, and ours written as its result files.

One file holds one point: the arrays `neighbors`, `distances` and `times` (seconds), a row for each query, and attributes
such as `algo`, `name`, `build_time`, `index_size` (KiB), `distance`, `count` and `best_search_time`.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from judged._optional import need
from judged.errors import BadInput, Unreadable
from judged.index.api import make_benchmark
from judged.index.data import Dataset
from judged.index.exact import measure_distances
from judged.index.files.vectors import check_hdf5
from judged.index.load import Samples
from judged.index.measurement import BuildCost, Measurement, Workload, summarise
from judged.index.points import Point, Scorer, name_measures
from judged.index.result import IndexBenchmark
from judged.index.sweeps.rows import find_rows, read_answers, to_rows
from judged.problem import Problem
from judged.store.hashing import hash_file

METRICS = {"l2": "euclidean", "cosine": "angular", "hamming": "hamming", "ip": "dot"}
"""Names of the metrics in ann-benchmarks."""


def import_results(folder: Path, dataset: Dataset, *, k: int) -> IndexBenchmark:
    """Return all result files of a folder as one benchmark; answers are scored again, against exact neighbours."""
    paths = sorted(folder.rglob("*.hdf5")) if folder.is_dir() else [folder]
    if not paths:
        msg = f"{folder} holds no .hdf5 files"
        raise Unreadable(msg)
    library = need("h5py", extra="index", needed_by="reading results of ann-benchmarks")
    workload = Workload(k=k, rounds=1, repeats=1, warmup=0)
    scorer = Scorer(dataset, workload, name_measures(k))
    return make_benchmark(dataset, workload, [_read_point(library, path, scorer) for path in paths])


def _read_point(library: ModuleType, path: Path, scorer: Scorer) -> Point:
    k, data = scorer.workload.k, scorer.dataset
    check_hdf5(path)
    with library.File(path, "r") as file:
        if "neighbors" not in file or "times" not in file:
            got = f"the data sets {', '.join(file)}, expected `neighbors` and `times`"
            raise BadInput(str(path), [Problem.error("missing-column", "data sets", got)])
        ids, times = (
            np.asarray(file["neighbors"], dtype=np.int64),
            np.asarray(file["times"], dtype=np.float64),
        )
        attributes = dict(file.attrs)
    if ids.ndim != 2 or ids.shape[0] != len(data.queries) or ids.shape[1] < k:
        got = f"answers of shape {ids.shape}, expected {len(data.queries):,} queries and at least {k} answers"
        raise BadInput(str(path), [Problem.error("bad-matrix", "neighbors", got)])
    if times.shape != (len(ids),) or not np.isfinite(times).all() or (times < 0).any():
        got = f"times of shape {times.shape}, expected {len(ids):,} numbers of seconds"
        raise BadInput(str(path), [Problem.error("bad-matrix", "times", got)])
    if ids.max(initial=0) >= len(data.vectors) or ids.min(initial=0) < -1:
        got = f"ids from {ids.min()} to {ids.max()}, expected row numbers below {len(data.vectors):,}"
        raise BadInput(str(path), [Problem.error("bad-matrix", "neighbors", got)])
    nanoseconds = (times * 1e9).astype(np.int64)
    samples = Samples(list(range(len(ids))), [0] * len(ids), nanoseconds.tolist(), answers=list(ids[:, :k]))
    size = float(attributes.get("index_size", -1))
    cost = BuildCost(
        0.0,
        float(attributes.get("build_time", 0.0)),
        0.0,
        len(data.vectors),
        int(size * 1024) if size >= 0 else None,
    )
    key = hash_file(path)[:32]
    measured = Measurement(
        key,
        key,
        _to_text(attributes.get("algo", path.parent.name)),
        "?",
        {},
        {"arguments": _to_text(attributes.get("name", path.stem))},
        {},
        cost,
        summarise(nanoseconds),
        len(ids),
        0,
        0,
        float("nan"),
    )
    return scorer.score([(measured, to_rows("single", samples, k))])


def export_results(benchmark: IndexBenchmark, dataset: Dataset, results: Path, folder: Path) -> list[Path]:
    """Write every point of a folder of results as a file that ann-benchmarks reads; return the files."""
    library = need("h5py", extra="index", needed_by="writing results of ann-benchmarks")
    k, written = benchmark.workload.k, []
    for point in benchmark.points:
        rows = pq.read_table(find_rows(results, point.measured))
        single = rows.filter(pc.equal(rows["phase"], "single"))
        ids = read_answers(single, k)
        times = single["nanoseconds"].to_numpy().reshape(-1, len(ids)) / 1e9
        best = times[np.argmin(times.mean(axis=1))]
        distances = measure_distances(
            dataset.vectors.array, dataset.queries.array, dataset.metric, ids, dataset.neighbours(k)
        )
        place = folder / re.sub(r"\W+", "_", Path(dataset.name).stem) / str(k) / point.engine
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"{point.measured.key}.hdf5"
        with library.File(path, "w") as file:
            file["neighbors"], file["distances"], file["times"] = ids, distances, best
            cost = point.measured.cost  # of the first round, as the times are
            file.attrs.update(
                {
                    "algo": point.engine,
                    "name": point.name,
                    "dataset": dataset.name,
                    "distance": METRICS[dataset.metric],
                    "count": k,
                    "batch_mode": False,
                    "build_time": cost.seconds,
                    "index_size": -1 if cost.memory is None else cost.memory / 1024,
                    "best_search_time": float(best.mean()),
                    "candidates": float((ids >= 0).sum(axis=1).mean()),
                    "run_count": len(times),
                }
            )
        written.append(path)
    return written


def _to_text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
