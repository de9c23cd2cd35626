"""One build of one engine, in a process of its own: build, measure every point, write each before the next.

`python -m judged.index.worker JOB` runs the job that a JSON file describes and prints a line of JSON for every step.
Threads of BLAS and OpenMP are set by the environment, before any library is loaded.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Thread
from time import perf_counter, process_time
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from judged.errors import EngineFailed, JudgedError
from judged.index.engine import (
    Engine,
    IndexSpec,
    Metric,
    Settings,
    VectorArray,
    check_effective,
    complete_settings,
    find_engine,
)
from judged.index.family import find_places
from judged.index.load import Samples, check_answers, run_closed, run_open, run_single, to_matrix
from judged.index.measurement import (
    LADDER,
    BuildCost,
    ClosedLoop,
    Measurement,
    OpenLoop,
    Workload,
    draw_ladder,
    make_filter,
    plan_churn,
    propose_effort,
    summarise,
)
from judged.index.vectors import Vectors
from judged.saved import from_builtins, to_builtins
from judged.store.files import replace_file
from judged.store.hashing import hash_value
from judged.store.log import Log
from judged.store.machine import count_processors

BATCH = 10_000
"""Vectors that are inserted at a time."""

Report = Callable[[str, Mapping[str, object]], None]


@dataclass(frozen=True)
class PlannedPoint:
    """A point that is to be measured."""

    key: str
    query: Settings


@dataclass(frozen=True)
class Job:
    """Everything that a worker needs to know."""

    engine: str
    build: Settings
    points: tuple[PlannedPoint, ...]
    workload: Workload
    metric: Metric
    data: str
    """The folder with `vectors.npy`, `queries.npy` and `attributes.npz`."""
    results: str
    subject: Mapping[str, object]
    """Everything but the query settings that a point depends on: its key is their hash."""
    url: str | None = None
    bits: int = 0
    at_recall: float | None = None
    """The recall that is searched for, by effort, after the points."""
    known: Mapping[str, float] = field(default_factory=dict)
    """The recall of efforts that were measured before."""


@dataclass
class _Run:
    """An engine that is built, and what it is asked."""

    engine: Engine
    job: Job
    vectors: Vectors
    queries: list[VectorArray]
    ladder: NDArray[np.int64]
    truth: NDArray[np.int64]
    recalls: dict[int, float] = field(default_factory=dict)
    """The recall of every effort so far."""
    rows: list[pa.Table] = field(default_factory=list)
    """Raw rows of the point that is being measured."""

    def keep(self, phase: str, samples: Samples) -> None:
        """Keep the rows of a phase; raise `EngineFailed` if an answer has anything but ids of vectors."""
        check_answers(self.engine.name, samples.answers, len(self.vectors))
        self.rows.append(to_rows(phase, samples, self.job.workload.k))


def run_job(job: Job, report: Report, *, kind: type[Engine] | None = None) -> None:
    """Build the index, measure every point, and append each to the results as soon as it is finished."""
    engine = (kind or find_engine(job.engine))()
    vectors, queries, ladder = _load(job)
    folder = Path(tempfile.mkdtemp(prefix="judged-index-"))
    try:
        engine.prepare()
        cost, asked = _build(engine, job, vectors, ladder, folder)
        report("built", {"seconds": cost.seconds})
        run = _Run(engine, job, vectors, list(queries), ladder, np.load(Path(job.data) / "truth.npy"))
        points = _plan_points(run, job)
        point = next(points, None)
        while point is not None:
            measured = _measure_point(run, point, cost, asked)
            run.recalls[_effort_of(engine, measured)] = measured.recall
            # churn changes the index, so it follows the last point, which only asking for another one shows
            upcoming = next(points, None)
            if upcoming is None and job.workload.churn:
                measured = _measure_churn(run, measured)
            _write(Path(job.results), measured, run.rows)
            run.rows = []
            report("point", {"key": point.key})
            point = upcoming
    finally:
        engine.close()
        shutil.rmtree(folder, ignore_errors=True)


def make_key(subject: Mapping[str, object], query: Settings | None = None) -> str:
    """Return the hash of what a point depends on; without a query setting, that of its group."""
    return hash_value({**subject, "query": query})[:32]


def find_effort(kind: type[Engine]) -> str | None:
    """Return the query setting that buys recall with time; None if there is none, or more than one."""
    names = [name for name, setting in kind.query_settings.items() if setting.effort]
    return names[0] if len(names) == 1 else None


def _effort_of(engine: Engine, measured: Measurement) -> int:
    return int(measured.query.get(find_effort(type(engine)) or "", 0))


def _plan_points(run: _Run, job: Job) -> Iterator[PlannedPoint]:
    """Yield the planned points, then those on the way to the least effort that reaches the recall asked for."""
    yield from job.points
    name = find_effort(type(run.engine))
    if job.at_recall is None or name is None:
        return
    run.recalls.update({int(effort): recall for effort, recall in job.known.items()})
    effort = propose_effort(run.recalls, job.at_recall)
    while effort is not None:
        query = complete_settings(run.engine.query_settings, {name: effort}, what="setting")
        yield PlannedPoint(make_key(job.subject, query), query)
        effort = propose_effort(run.recalls, job.at_recall)


def _load(job: Job) -> tuple[Vectors, VectorArray, NDArray[np.int64]]:
    data = Path(job.data)
    with np.load(data / "attributes.npz") as saved:
        attributes = {name: saved[name] for name in saved.files}
    array = np.load(data / "vectors.npy")
    vectors = Vectors(array, attributes, "vectors", job.bits)
    return vectors, np.load(data / "queries.npy"), draw_ladder(len(array), job.workload.seed)


def _build(
    engine: Engine, job: Job, vectors: Vectors, ladder: NDArray[np.int64], folder: Path
) -> tuple[BuildCost, Settings]:
    """Insert all vectors and build the index, both measured; return the cost and the settings asked for."""
    asked = complete_settings(engine.build_settings, job.build, what=f"build setting of {engine.name}")
    filtered = bool(job.workload.filters)
    attributes = {**vectors.attributes, LADDER: ladder} if filtered else {}
    spec = IndexSpec(
        vectors.dimensions,
        job.metric,
        len(vectors),
        tuple(attributes),
        job.workload.threads,
        folder,
        job.url,
    )
    before = _Usage.of(engine)
    started = perf_counter()
    engine.create(spec, asked)
    for first in range(0, len(vectors), BATCH):
        rows = np.arange(first, min(first + BATCH, len(vectors)), dtype=np.int64)
        engine.insert(
            rows,
            vectors.array[rows[0] : rows[-1] + 1],
            {name: column[rows] for name, column in attributes.items()},
        )
    inserted = perf_counter()
    engine.finish()
    finished = perf_counter()
    after = _Usage.of(engine)
    check_effective(engine, asked)
    memory = None if after.memory is None or before.memory is None else max(0, after.memory - before.memory)
    disk = engine.stats().disk
    written = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return BuildCost(
        inserted - started,
        finished - inserted,
        after.cpu - before.cpu,
        len(vectors),
        memory,
        disk if disk is not None else written or None,
    ), dict(asked)


def _measure_point(run: _Run, point: PlannedPoint, cost: BuildCost, built: Settings) -> Measurement:
    engine, workload = run.engine, run.job.workload
    what = f"query setting of {engine.name}"
    settings = complete_settings(engine.query_settings, point.query, what=what)
    search = engine.searcher(workload.k, settings)
    run_single(search, run.queries[: workload.warmup], keep=False)
    effective = check_effective(engine, {**built, **settings})
    before = _Usage.of(engine)
    samples = run_single(search, run.queries, repeats=workload.repeats, retries=workload.retries)
    after = _Usage.of(engine)
    if len(samples.failed) == len(samples):
        msg = f"`{engine.name}` answered no query: {samples.error}"
        raise EngineFailed(msg)
    run.keep("single", samples)
    closed = _measure_closed(run, settings)
    skipped = ["several clients at once"] if len(closed) < len(workload.clients) else []
    answers = to_matrix(samples.answers, workload.k)
    return Measurement(
        point.key,
        make_key(run.job.subject),
        engine.name,
        engine.version(),
        dict(built),
        settings,
        effective,
        cost,
        summarise(samples.service),
        len(samples),
        len(samples.failed),
        samples.retried,
        *_cpu_per_query(samples, before, after),
        closed,
        _measure_open(run, settings, closed),
        engine.capabilities.emulated,
        engine.capabilities.exact,
        float((find_places(run.truth[:, : workload.k], answers) >= 0).sum(axis=1).mean()) / workload.k,
        tuple(sorted(engine.capabilities.unverified & {*built, *settings})),
        samples.error,
        os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
        count_processors(),
        (*skipped, *_measure_filters(run, settings)),
    )


def _measure_closed(run: _Run, settings: Settings) -> tuple[ClosedLoop, ...]:
    engine, workload = run.engine, run.job.workload
    loops = []
    for clients in workload.clients:
        if clients > 1 and not engine.capabilities.concurrent:
            continue
        searches = [engine.searcher(workload.k, settings) for _ in range(clients)]
        for search in searches:
            run_single(search, run.queries[: workload.warmup], keep=False)
        before = _Usage.of(engine)
        samples, seconds = run_closed(
            searches, run.queries, seconds=workload.seconds, retries=workload.retries
        )
        after = _Usage.of(engine)
        run.rows.append(to_rows(f"closed:{clients}", samples, 0))
        answered = len(samples) - len(samples.failed)
        cpu = _cpu_per_query(samples, before, after)
        loops.append(
            ClosedLoop(
                clients,
                len(samples),
                len(samples.failed),
                answered / seconds,
                summarise(samples.service),
                *cpu,
            )
        )
    return tuple(loops)


def _measure_open(run: _Run, settings: Settings, closed: Sequence[ClosedLoop]) -> tuple[OpenLoop, ...]:
    """Measure arrivals at shares of the capacity, with as many clients as had the highest throughput."""
    workload = run.job.workload
    if not closed or not workload.loads:
        return ()
    best = max(closed, key=lambda loop: loop.throughput)
    searches = [run.engine.searcher(workload.k, settings) for _ in range(best.clients)]
    for search in searches:
        run_single(search, run.queries[: workload.warmup], keep=False)
    loops = []
    for number, load in enumerate(workload.loads):
        samples, seconds = run_open(
            searches,
            run.queries,
            rate=load * best.throughput,
            seconds=workload.seconds,
            seed=workload.seed + number,
            retries=workload.retries,
        )
        run.rows.append(to_rows(f"open:{load:g}", samples, 0))
        late = np.percentile(samples.lateness, 99) if samples.lateness else 0.0
        loops.append(
            OpenLoop(
                load,
                load * best.throughput,
                len(samples),
                len(samples.failed),
                (len(samples) - len(samples.failed)) / seconds,
                summarise(samples.service),
                summarise(samples.response),
                float(late) / 1e6,
            )
        )
    return tuple(loops)


def _measure_filters(run: _Run, settings: Settings) -> list[str]:
    """Search under every condition; return what the engine cannot do."""
    engine, workload = run.engine, run.job.workload
    if workload.filters and not engine.capabilities.filters:
        return ["filters"]
    for text in workload.filters:
        condition = make_filter(text, run.vectors, run.ladder)
        search = engine.searcher(workload.k, settings, condition)
        run_single(search, run.queries[: workload.warmup], keep=False)
        samples = run_single(search, run.queries, retries=workload.retries)
        run.keep(f"filter:{text}", samples)
    return []


def _measure_churn(run: _Run, measured: Measurement) -> Measurement:
    """Delete vectors and insert them again, and search after both; the truth follows when rows are scored."""
    engine, workload = run.engine, run.job.workload
    if not engine.capabilities.deletes:
        return replace(measured, skipped=(*measured.skipped, "deletions"))
    details = dict(measured.details)
    attributes = {**run.vectors.attributes, LADDER: run.ladder} if workload.filters else {}
    for number, ids in enumerate(plan_churn(len(run.vectors), workload), 1):
        for step in ("deleted", "restored"):
            started = perf_counter()
            if step == "deleted":
                engine.delete(ids)
            else:
                columns = {name: column[ids] for name, column in attributes.items()}
                engine.insert(ids, run.vectors.array[ids], columns)
            engine.finish()
            details[f"churn:{number}:{step}"] = perf_counter() - started
            search = engine.searcher(workload.k, measured.query)
            samples = run_single(search, run.queries, retries=workload.retries)
            run.keep(f"churn:{number}:{step}", samples)
    return replace(measured, details=details)


@dataclass(frozen=True)
class _Usage:
    """Processor time and memory of this process and of the server at one moment."""

    client: float
    server: float | None
    memory: int | None

    @property
    def cpu(self) -> float:
        """Seconds of both."""
        return self.client + (self.server or 0.0)

    @classmethod
    def of(cls, engine: Engine) -> _Usage:
        """Ask for the usage; memory and the server's are not known without psutil."""
        try:
            import psutil
        except ImportError:
            return cls(process_time(), None, None)
        # unique memory: processes of a server share pages, which a sum of resident sizes would count repeatedly
        memory, server = psutil.Process().memory_full_info().uss, None
        for root in _find_processes(psutil, engine):
            try:
                times = root.cpu_times()
                server = (server or 0.0) + sum(times[:4])  # its own and those of children that have ended
                for process in (root, *root.children(recursive=True)):
                    memory += process.memory_full_info().uss
                    server += sum(process.cpu_times()[:2]) if process is not root else 0.0
            except psutil.Error:
                continue  # it ended in between
        return cls(process_time(), server, memory)


def _find_processes(psutil: ModuleType, engine: Engine) -> list[Any]:
    try:
        numbers = engine.stats().processes
    except (AttributeError, NotImplementedError):  # before `create`
        return []
    return [psutil.Process(number) for number in numbers if psutil.pid_exists(number)]


def _cpu_per_query(samples: Samples, before: _Usage, after: _Usage) -> tuple[float, float | None]:
    """Return milliseconds of processor time for each query, of this process and of the server."""
    queries = max(len(samples), 1)
    if before.server is None or after.server is None:
        return samples.cpu * 1000 / queries, None
    return samples.cpu * 1000 / queries, (after.server - before.server) * 1000 / queries


def to_rows(phase: str, samples: Samples, k: int) -> pa.Table:
    """Return raw samples as rows; answers are there where they were kept."""
    failed = np.zeros(len(samples), dtype=bool)
    failed[samples.failed] = True
    answers = pa.nulls(len(samples), pa.list_(pa.int64()))
    if k and samples.answers:
        matrix = to_matrix(samples.answers, k)
        kept = pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1)), k).cast(pa.list_(pa.int64()))
        rest = pa.nulls(len(samples) - len(matrix), pa.list_(pa.int64()))
        answers = pa.concat_arrays([kept, rest])
    responses = samples.response if samples.arrival else None
    return pa.table(
        {
            "phase": pa.array([phase] * len(samples), pa.string()),
            "query": pa.array(np.array(samples.query, dtype=np.int32)),
            "start": pa.array(np.array(samples.start, dtype=np.int64)),
            "nanoseconds": pa.array(samples.service),
            "response": pa.nulls(len(samples), pa.int64()) if responses is None else pa.array(responses),
            "failed": pa.array(failed),
            "answer": answers,
        }
    )


def _write(results: Path, measured: Measurement, rows: list[pa.Table]) -> None:
    """Write the raw rows, then the line that makes the point finished."""
    folder = results / "rows"
    folder.mkdir(parents=True, exist_ok=True)
    with replace_file(folder / f"{measured.key}.parquet") as file:
        pq.write_table(pa.concat_tables(rows), file, compression="zstd")
    open_points(results).append(measured)


def open_points(results: Path) -> Log[Measurement]:
    """Return the log of the finished points of a folder."""
    return Log(
        results / "points.jsonl",
        lambda line: from_builtins(json.loads(line), Measurement),
        encode=_encode_point,
    )


def _encode_point(measured: Measurement) -> bytes:
    return json.dumps(to_builtins(measured), ensure_ascii=False, allow_nan=False).encode()


def main(path: str) -> int:
    """Run the job of a file; print steps, and an error as the last line."""
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what engines print must not get between the lines of the protocol

    def report(event: str, details: Mapping[str, object]) -> None:
        output.write(json.dumps({"event": event, **details}) + "\n")
        output.flush()

    try:
        run_job(from_builtins(json.loads(Path(path).read_text(encoding="utf-8")), Job), report)
    except JudgedError as error:
        report("failed", {"message": error.message, "hint": error.hint})
        return 2
    except Exception as error:  # noqa: BLE001 - engines raise anything; the message goes to the user
        report("failed", {"message": f"{type(error).__name__}: {error}", "hint": None})
        return 2
    return 0


def _end_with_parent() -> None:
    """End this process when the one that started it is gone: another may measure into the same folder by then."""
    os.read(0, 1)  # nothing is ever written to it
    os._exit(1)  # `sys.exit` would end this thread alone


if __name__ == "__main__":
    Thread(target=_end_with_parent, daemon=True).start()
    sys.exit(main(sys.argv[1]))
