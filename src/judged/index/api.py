"""`benchmark_index`: vectors and engines in, recall, latency and cost of every setting out."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from judged.errors import BadProtocol, EngineFailed
from judged.index.data import Dataset, make_dataset, open_dataset
from judged.index.family import NeighbourProtocol
from judged.index.measurement import Workload, draw_ladder, make_filter
from judged.index.points import Point, name_measures, name_recall, score_points
from judged.index.result import TARGET, IndexBenchmark
from judged.index.sweep import Build, Failure, plan_builds, run_sweep
from judged.measures.parse import parse_measures
from judged.problem import Note, Severity
from judged.progress import Progress
from judged.result import ProtocolRecord, Provenance
from judged.store.machine import describe_machine
from judged.wording import counted

LATE = 0.2
"""The share of the median response by which the harness may be late before a note says so."""


def benchmark_index(
    vectors: ArrayLike | os.PathLike[str],
    queries: ArrayLike | os.PathLike[str] | None = None,
    *,
    engines: str | Sequence[object] = (),
    sweep: Mapping[str, object] | str | os.PathLike[str] | None = None,
    metric: str | None = None,
    neighbours: object = None,
    attributes: Mapping[str, object] | None = None,
    at_recall: float | None = None,
    output: str | os.PathLike[str] | None = None,
    urls: Mapping[str, str] | None = None,
    measures: str | Sequence[str] = (),
    timeout: float | None = None,
    progress: Progress | None = None,
    **workload: Any,
) -> IndexBenchmark:
    """Measure recall, latency, throughput and cost of vector indexes on the same vectors and queries.

    `vectors` is a matrix with a row for each vector, a file, or the name of a data set such as `digits`; without
    `queries`, a tenth of the vectors is held out. `engines` has names (`judged index engines` lists them), classes
    with `build` and `search`, or "module:Class". `sweep` gives each engine `build` and `query` settings to combine, as a
    dict or a YAML file. `metric` is `l2`, `ip`, `cosine` or `hamming`.

    `at_recall` searches for the least effort that reaches a recall. `output` is a folder: what is finished there is not
    measured again. Further arguments are those of `judged.index.measurement.Workload`: `k`, `repeats`, `clients`,
    `loads`, `seconds`, `filters`, `churn`, `threads`, `retries`, `warmup` and `seed`.

    >>> import numpy as np
    >>> points = np.random.default_rng(0).standard_normal((300, 8))
    >>> benchmark_index(points, engines=["exact"], k=5, repeats=1).points[0].recall
    1.0
    """
    if isinstance(vectors, str | os.PathLike):
        dataset = open_dataset(vectors, queries=queries, neighbours=neighbours, metric=metric)  # type: ignore[arg-type]
    else:
        dataset = make_dataset(vectors, queries, metric=metric, neighbours=neighbours, attributes=attributes)
    try:
        asked = Workload(**workload)
    except TypeError as error:
        msg = f"the workload cannot be read: {error}"
        raise BadProtocol(msg, hint=f"it has {', '.join(Workload.__dataclass_fields__)}") from None
    return benchmark_dataset(
        dataset,
        plan_builds([engines] if isinstance(engines, str) else list(engines), sweep, urls=urls),
        asked,
        at_recall=at_recall,
        output=output,
        measures=[measures] if isinstance(measures, str) else list(measures),
        timeout=timeout,
        progress=progress,
    )


def benchmark_dataset(
    dataset: Dataset,
    builds: Sequence[Build],
    workload: Workload,
    *,
    at_recall: float | None = None,
    output: str | os.PathLike[str] | None = None,
    measures: Sequence[str] = (),
    timeout: float | None = None,
    progress: Progress | None = None,
) -> IndexBenchmark:
    """Measure the builds on a data set; everything is checked before anything is built."""
    if at_recall is not None and not 0 < at_recall <= 1:
        msg = f"`at_recall` is {at_recall:g}, expected a share above 0 and at most 1"
        raise BadProtocol(msg)
    for build in builds:
        if dataset.metric not in build.engine.capabilities.metrics:
            known = ", ".join(sorted(build.engine.capabilities.metrics))
            msg = f"`{build.engine.name}` has no metric {dataset.metric}, only {known}"
            raise BadProtocol(msg)
    ladder = draw_ladder(len(dataset.vectors), workload.seed)
    for text in workload.filters:
        make_filter(text, dataset.vectors, ladder)
    parse_measures(name_measures(workload.k, measures), family="neighbour")
    _check_k(dataset, workload)
    dataset.neighbours(workload.k)
    with tempfile.TemporaryDirectory(prefix="judged-results-") as temporary:
        results = Path(output or temporary)
        measured, failures = run_sweep(
            dataset,
            builds,
            workload,
            results,
            progress=progress,
            timeout=timeout,
            at_recall=at_recall,
        )
        if not measured:
            msg = "; ".join(f"{failure.name}: {failure.message}" for failure in failures)
            raise EngineFailed(msg)
        points = score_points(measured, dataset, workload, results, measures=measures)
    return make_benchmark(dataset, workload, points, failures, at_recall)


def make_benchmark(
    dataset: Dataset,
    workload: Workload,
    points: Sequence[Point],
    failures: Sequence[Failure] = (),
    at_recall: float | None = None,
) -> IndexBenchmark:
    """Return the result of points, with notes on what a reader should know."""
    protocol = NeighbourProtocol()
    record = ProtocolRecord(
        f"{name_recall(workload.k)} against exact neighbours; repeated ids count once; one clock, {workload.warmup} "
        f"queries of warm-up left out, {counted(workload.repeats, 'pass')} over the queries",
        protocol.fingerprint,
    )
    settings = {name: getattr(workload, name) for name in Workload.__dataclass_fields__}
    machine = describe_machine()
    provenance = Provenance(
        protocols=(record,),
        inputs=dataset.inputs,
        settings={**settings, "data": dataset.digest, "metric": dataset.metric},
        machine=", ".join(f"{name} {value}" for name, value in machine.items()),
    )
    return IndexBenchmark(
        dataset.name,
        dataset.metric,
        len(dataset.vectors),
        dataset.vectors.dimensions,
        len(dataset.queries),
        workload,
        tuple(points),
        TARGET if at_recall is None else at_recall,
        tuple(failures),
        provenance,
        (*dataset.notes, *_find_notes(dataset, workload, points)),
    )


def _check_k(dataset: Dataset, workload: Workload) -> None:
    if workload.k > len(dataset.vectors):
        msg = f"`k` is {workload.k}, and there are {len(dataset.vectors):,} vectors"
        raise BadProtocol(msg)


def _find_notes(dataset: Dataset, workload: Workload, points: Sequence[Point]) -> Iterator[Note]:
    """Return what puts numbers in doubt, and how they were made."""
    threads = counted(workload.threads, "thread")
    message = (
        f"every engine ran in a process of its own; BLAS, OpenMP and the engine were limited to {threads}"
    )
    yield Note("threads", "info", message)
    if dataset.metric == "cosine":
        yield Note(
            "normalised", "info", "vectors and queries were scaled to length 1 before any engine saw them"
        )
    for code, severity, words in _NOTES:
        for point in points:
            if text := words(point):
                yield Note(code, severity, text, subject=point.name)
    for point in points:
        for text in point.notes:
            yield Note("answers", "warning", text, subject=point.name)


def _say_failed(point: Point) -> str:
    data = point.measured
    if not data.failed:
        return ""
    return f"{data.failed:,} of {data.queries:,} queries failed and count as recall 0 ({data.error})"


def _say_busy(point: Point) -> str:
    words = "other work kept the machine busy meanwhile: trust CPU ms more than times"
    return words if point.busy else ""


def _say_late(point: Point) -> str:
    late = any(loop.lateness > LATE * loop.response.p50 for loop in point.measured.open)
    words = "response times include lateness of the harness itself, because searches are so short"
    return words if late else ""


def _say_emulated(point: Point) -> str:
    return point.measured.emulated and f"emulated: {point.measured.emulated}"


def _say_unverified(point: Point) -> str:
    names = ", ".join(point.measured.unverified)
    return names and f"{names} cannot be read back"


def _say_skipped(point: Point) -> str:
    names = " or ".join(point.measured.skipped)
    return names and f"the engine has no {names}"


_NOTES: tuple[tuple[str, Severity, Callable[[Point], str]], ...] = (
    ("failed-queries", "warning", _say_failed),
    ("busy-machine", "warning", _say_busy),
    ("late-harness", "warning", _say_late),
    ("emulated", "warning", _say_emulated),
    ("unverified", "info", _say_unverified),
    ("skipped", "info", _say_skipped),
)
"""Notes on points: code, severity, and the message, empty if there is nothing to say."""
