"""One build of one engine in one round, in a process of its own: build, measure every setting, write each before the next.

`python -m judged.index.sweeps.worker JOB` runs the job that a JSON file describes and prints a line of JSON for every step.
Threads of BLAS and OpenMP are set by the environment, before any library is loaded.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from time import perf_counter
from uuid import uuid4

import numpy as np
import pyarrow.parquet as pq

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
from judged.index.filters import find_columns
from judged.index.measurement import BuildCost, Measurement, Workload, propose_effort
from judged.index.neighbours import Neighbours
from judged.index.sweeps.measure import Session, measure_churn, measure_point
from judged.index.sweeps.rows import find_rows, write_point
from judged.index.sweeps.stream import measure_runbook, measure_updates, remove_steps
from judged.index.sweeps.usage import Usage, measure_folder
from judged.index.vectors import Vectors, load_attributes
from judged.saved import from_builtins
from judged.store.files import scratch_folder
from judged.store.hashing import hash_value
from judged.store.source import hash_source

BATCH = 10_000
"""Vectors that are inserted at a time."""

Report = Callable[[str, Mapping[str, object]], None]


@dataclass(frozen=True)
class PlannedPoint:
    """A point that is to be measured."""

    key: str
    query: Settings
    searched: bool = False
    """Whether it was proposed on the way to a recall: one that the engine refuses ends the search, not the build."""


@dataclass(frozen=True)
class Job:
    """Everything that a worker needs to know."""

    engine: str
    build: Settings
    points: tuple[PlannedPoint, ...]
    workload: Workload
    metric: Metric
    data: str
    """The folder with the vectors, the queries, the attributes and the exact neighbours."""
    results: str
    subject: Mapping[str, object]
    """Everything but the query settings that a point depends on: its key is their hash."""
    url: str | None = None
    bits: int = 0
    round: int = 1
    at_recall: float | None = None
    """The recall that is searched for, by effort, after the points."""
    known: tuple[Measurement, ...] = ()
    """The points of this build and round that are finished."""
    changes_at: float | None = None
    """The recall at which the cheapest setting is the one whose vectors come and go; None: none do."""


def run_job(job: Job, report: Report, *, kind: type[Engine] | None = None) -> None:
    """Build the index, measure every point, and append each to the results as soon as it is finished."""
    engine = (kind or find_engine(job.engine))()
    vectors, queries, truth = _load(job)
    with scratch_folder("index") as folder:
        try:
            engine.prepare()
            cost, asked = _build(engine, job, vectors, folder)
            report("built", {"seconds": cost.seconds})
            group, shared = make_key(job.subject), kind is not None
            session = Session(
                engine,
                job.workload,
                job.metric,
                vectors,
                queries,
                truth,
                cost,
                asked,
                group,
                job.round,
                shared,
            )
            measured = list(job.known)
            for point in _plan_points(job, type(engine), measured):
                try:
                    found = measure_point(session, point.key, point.query)
                except EngineFailed:
                    if not point.searched:
                        raise
                    break
                _write(job, session, found)
                measured.append(found)
                report("point", {"key": point.key})
            if job.changes_at is not None and measured:
                # they change the index, so they follow the last point
                _measure_changes(job, session, choose_shown(measured, job.changes_at), type(engine), folder)
        finally:
            engine.close()


def _measure_changes(
    job: Job, session: Session, shown: Measurement, kind: type[Engine], folder: Path
) -> None:
    """Measure one setting while vectors come and go: churn, updates during searches, and a runbook."""
    workload, results, engine = job.workload, Path(job.results), session.engine
    session.rows.append(pq.read_table(find_rows(results, shown)))
    if not engine.capabilities.deletes:
        _write(job, session, replace(shown, skipped=(*shown.skipped, "deletions")))
        return
    measured = measure_churn(session, shown)
    if workload.updates:
        measured = measure_updates(session, measured)
    if workload.runbook:
        home = folder / "runbook"
        home.mkdir()

        def make() -> Engine:
            empty = kind()
            empty.prepare()
            empty.create(_specify(job, session.vectors, tuple(session.columns), home), session.built)
            return empty

        measured = measure_runbook(session, measured, make, results)
    _write(job, session, measured)
    remove_steps(results, measured)


def _specify(job: Job, vectors: Vectors, fields: tuple[str, ...], home: Path) -> IndexSpec:
    return IndexSpec(
        vectors.dimensions, job.metric, len(vectors), fields, job.workload.threads, home, job.url
    )


def choose_shown(points: Sequence[Measurement], target: float) -> Measurement:
    """Return the fastest point whose recall reaches the target, or the one with the highest recall."""
    reaching = [point for point in points if point.recall >= target]
    if reaching:
        return max(reaching, key=lambda point: point.qps)
    return max(points, key=lambda point: (point.recall, point.qps))


def make_key(subject: Mapping[str, object], query: Settings | None = None) -> str:
    """Return the hash of what a point depends on; without a query setting, that of its group."""
    return hash_value({**subject, "query": query})[:32]


def find_effort(kind: type[Engine]) -> str | None:
    """Return the query setting that buys recall with time; None if there is none, or more than one."""
    names = [name for name, setting in kind.query_settings.items() if setting.effort]
    return names[0] if len(names) == 1 else None


def search_effort(name: str, points: Sequence[Measurement], target: float) -> tuple[Settings, int] | None:
    """Return the other query settings of the next point to measure, and its effort; None if there is none.

    Every combination of the other settings has a search of its own.
    """
    known: dict[str, dict[int, float]] = {}
    others: dict[str, Settings] = {}
    for point in points:
        rest = {setting: value for setting, value in point.query.items() if setting != name}
        text = json.dumps(rest, sort_keys=True)
        others[text] = rest
        known.setdefault(text, {})[int(point.query[name])] = point.recall
    for text, recalls in known.items():
        effort = propose_effort(recalls, target)
        if effort is not None:
            return others[text], effort
    return None


def _plan_points(job: Job, kind: type[Engine], measured: Sequence[Measurement]) -> Iterator[PlannedPoint]:
    """Yield the planned points, then those on the way to the least effort that reaches the recall asked for."""
    yield from job.points
    name = find_effort(kind)
    if job.at_recall is None or name is None:
        return
    while (step := search_effort(name, measured, job.at_recall)) is not None:
        rest, effort = step
        query = {setting: effort if setting == name else rest[setting] for setting in kind.query_settings}
        yield PlannedPoint(make_key(job.subject, query), query, searched=True)


def _load(job: Job) -> tuple[Vectors, VectorArray, Neighbours]:
    data = Path(job.data)
    array = np.load(data / "vectors.npy")
    vectors = load_attributes(Vectors(array, name="vectors", bits=job.bits), data)
    with np.load(data / "truth.npz") as saved:
        truth = Neighbours(saved["ids"], saved["distances"], len(array))
    return vectors, np.load(data / "queries.npy"), truth


def _build(engine: Engine, job: Job, vectors: Vectors, folder: Path) -> tuple[BuildCost, Settings]:
    """Insert all vectors and build the index, both measured; return the cost and the settings asked for."""
    asked = complete_settings(engine.build_settings, job.build, what=f"build setting of {engine.name}")
    # only what filters ask for: an engine has to store it
    attributes = find_columns(job.workload.filters, vectors, job.workload.seed)
    home = folder / "index"
    home.mkdir()
    spec = _specify(job, vectors, tuple(attributes), home)
    before = Usage.of(engine)
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
    after = Usage.of(engine)
    check_effective(engine, asked)
    memory = None if after.memory is None or before.memory is None else max(0, after.memory - before.memory)
    disk = engine.stats().disk
    return BuildCost(
        inserted - started,
        finished - inserted,
        after.cpu - before.cpu,
        len(vectors),
        memory,
        disk if disk is not None else measure_folder(home) or None,
    ), dict(asked)


def _write(job: Job, session: Session, measured: Measurement) -> None:
    rows, session.rows = session.rows, []
    try:
        write_point(Path(job.results), measured, rows)
    except OSError as error:
        msg = f"the point {measured.name} cannot be written to `{job.results}`: {error.strerror}"
        raise EngineFailed(msg, hint="what was finished before is kept") from error


def identify_engine(kind: type[Engine], url: str | None) -> dict[str, str]:
    """Return what the points of an engine depend on besides settings: its version, and the source of its class."""
    factory = kind.__dict__.get("factory")
    target = kind if factory is None else factory.__func__
    # what an object holds, and what a function gave to a class in it, cannot be seen: it is never the same again
    seen = isinstance(target, type) and "<locals>" not in target.__qualname__
    source = hash_source(target) if seen else ""
    return {"version": kind.identify(url), "source": source or uuid4().hex}


def main(path: str) -> int:
    """Run the job of a file, or only identify its engine; print steps, and an error as the last line."""
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what engines print must not get between the lines of the protocol

    def report(event: str, details: Mapping[str, object]) -> None:
        output.write(json.dumps({"event": event, **details}) + "\n")
        output.flush()

    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        if "identify" in data:
            report("identified", identify_engine(find_engine(data["identify"]), data["url"]))
        else:
            run_job(from_builtins(data, Job), report)
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
