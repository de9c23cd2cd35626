"""One point in one round: latency, loops, filters and churn of a setting of an engine that is built."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import nan
from time import perf_counter, perf_counter_ns

import numpy as np
import pyarrow as pa

from judged.errors import EngineFailed
from judged.index.engine import (
    Engine,
    Metric,
    Search,
    Settings,
    VectorArray,
    check_effective,
    complete_settings,
)
from judged.index.exact import measure_distances
from judged.index.family import NEIGHBOUR
from judged.index.filters import find_columns, make_filter
from judged.index.load import Samples, check_answers, run_closed, run_open, run_single, to_matrix
from judged.index.measurement import (
    BuildCost,
    ClosedLoop,
    Measurement,
    OpenLoop,
    Workload,
    name_recall,
    plan_churn,
    summarise,
)
from judged.index.neighbours import IndexResults, Neighbours
from judged.index.sweeps.clients import ProcessClients, can_fork
from judged.index.sweeps.rows import to_rows
from judged.index.sweeps.usage import Usage, cpu_per_query, find_others
from judged.index.vectors import Vectors
from judged.scoring.evaluate import evaluate_with
from judged.store.machine import count_processors

MOST_CLIENTS = 8 * count_processors()
"""Clients beyond which none are added."""
RISE = 0.05
"""The share by which more clients must raise the throughput, for still more to be tried."""


@dataclass
class Session:
    """An engine that is built, and what it is asked."""

    engine: Engine
    workload: Workload
    metric: Metric
    vectors: Vectors
    queries: VectorArray
    truth: Neighbours
    cost: BuildCost
    built: Settings
    """The build settings that were asked for."""
    group: str = ""
    round: int = 1
    shared: bool = False
    """Whether it runs in the process of the benchmark."""
    cold: bool = True
    """Whether no query was asked yet."""
    rows: list[pa.Table] = field(default_factory=list)
    """Raw rows of the point that is being measured."""

    def __post_init__(self) -> None:
        self.columns = find_columns(self.workload.filters, self.vectors, self.workload.seed)
        self.asked = list(self.queries)

    def keep(self, phase: str, samples: Samples) -> None:
        """Keep the rows of a phase; raise `EngineFailed` if an answer has anything but ids of vectors."""
        check_answers(self.engine.name, samples.answers, len(self.vectors))
        self.rows.append(to_rows(phase, samples, self.workload.k))

    def find_recall(self, samples: Samples) -> float:
        """Return the mean recall of the answers by distance, as points are scored."""
        ids = to_matrix(samples.answers, self.workload.k)
        distances = measure_distances(self.vectors.array, self.queries, self.metric, ids, self.truth)
        measure = name_recall(self.workload.k)
        return evaluate_with(NEIGHBOUR, self.truth, IndexResults(ids, distances), [measure]).mean()[measure]


def measure_point(session: Session, key: str, query: Settings) -> Measurement:
    """Measure one setting; its rows are in the session until it is written."""
    engine, workload = session.engine, session.workload
    settings = complete_settings(engine.query_settings, query, what=f"query setting of {engine.name}")
    before = Usage.of(engine)
    search = engine.searcher(workload.k, settings)
    first = nan
    if session.cold:
        first = float(run_single(search, session.asked[:1], keep=False).service[0]) / 1e6
        session.cold = False
    run_single(search, session.asked[: workload.warmup], keep=False)
    effective = check_effective(engine, {**session.built, **settings})
    started = Usage.of(engine)
    samples = run_single(search, session.asked, repeats=workload.repeats, retries=workload.retries)
    after = Usage.of(engine)
    if not samples.answered:
        msg = f"`{engine.name}` answered no query: {samples.error}"
        raise EngineFailed(msg)
    session.keep("single", samples)
    closed = _measure_closed(session, settings)
    skipped = ["several clients at once"] if len(closed) < len(workload.clients) else []
    skipped += _measure_filters(session, settings)
    batched = _measure_batches(session, settings)
    if workload.batch and not batched:
        skipped.append("batches of queries")
    return Measurement(
        key,
        session.group,
        engine.name,
        engine.version(),
        dict(session.built),
        settings,
        effective,
        session.cost,
        summarise(samples.service),
        len(samples),
        len(samples.failed),
        samples.retried,
        *cpu_per_query(samples, started, after),
        closed,
        _measure_open(session, settings, closed),
        engine.capabilities.emulated,
        engine.capabilities.exact,
        session.find_recall(samples),
        tuple(sorted(engine.capabilities.unverified & {*session.built, *settings})),
        samples.error,
        os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
        count_processors(),
        tuple(skipped),
        batched,
        round=session.round,
        at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f"),
        others=find_others(before, after),
        remote=engine.capabilities.remote,
        shared=session.shared,
        doubts=("one buffer was used for all answers, which were copied in time",) if samples.reused else (),
        first=first,
    )


def _open_clients(session: Session, settings: Settings, count: int) -> list[Search] | ProcessClients:
    """Return clients with searchers of their own, warmed up: processes where the engine allows it, else threads."""
    engine, workload = session.engine, session.workload

    def open_search() -> Search:
        search = engine.searcher(workload.k, settings)
        run_single(search, session.asked[: workload.warmup], keep=False)
        return search

    if can_fork(engine, workload.threads) and not session.shared:
        return ProcessClients(open_search, count)
    return [open_search() for _ in range(count)]


def _measure_closed(session: Session, settings: Settings) -> tuple[ClosedLoop, ...]:
    """Measure closed loops with the clients asked for, and with more of them while that raises the throughput."""
    workload, loops = session.workload, list[ClosedLoop]()
    able = session.engine.capabilities.concurrent or (
        can_fork(session.engine, workload.threads) and not session.shared
    )
    for clients in workload.clients:
        if clients == 1 or able:
            loops.append(_measure_clients(session, settings, clients))
    while workload.ramp and able and _rises(loops) and loops[-1].clients < MOST_CLIENTS:
        loops.append(_measure_clients(session, settings, 2 * loops[-1].clients))
    return tuple(loops)


def _rises(loops: Sequence[ClosedLoop]) -> bool:
    """Return whether the last clients that were added raised the throughput."""
    best = max((loop.throughput for loop in loops[:-1]), default=0.0)
    return bool(loops) and loops[-1].throughput > (1 + RISE) * best


def _measure_clients(session: Session, settings: Settings, count: int) -> ClosedLoop:
    workload = session.workload
    clients = _open_clients(session, settings, count)
    before = Usage.of(session.engine)
    samples, seconds = run_closed(clients, session.asked, seconds=workload.seconds, retries=workload.retries)
    after = Usage.of(session.engine)
    session.rows.append(to_rows(f"closed:{count}", samples, 0))
    processes = isinstance(clients, ProcessClients)
    # an engine that answers at once: what the clients themselves cost
    idle = ProcessClients(lambda: _answer_nothing, count) if processes else [_answer_nothing] * count
    nothing, spent = run_closed(idle, session.asked, seconds=min(0.1, workload.seconds))
    return ClosedLoop(
        count,
        len(samples),
        len(samples.failed),
        samples.answered / seconds,
        summarise(samples.service),
        *cpu_per_query(samples, before, after),
        processes,
        samples.cpu / seconds / count,
        len(nothing) / spent if spent else None,
    )


def _answer_nothing(_: VectorArray) -> list[int]:
    return []


def _measure_open(session: Session, settings: Settings, closed: Sequence[ClosedLoop]) -> tuple[OpenLoop, ...]:
    """Measure arrivals at shares of the capacity, with as many clients as had the highest throughput."""
    workload = session.workload
    if not closed or not workload.loads:
        return ()
    best = max(closed, key=lambda loop: loop.throughput)
    loops = []
    for number, load in enumerate(workload.loads):
        samples, seconds = run_open(
            _open_clients(session, settings, best.clients),
            session.asked,
            rate=load * best.throughput,
            seconds=workload.seconds,
            seed=workload.seed + number,
            retries=workload.retries,
        )
        session.rows.append(to_rows(f"open:{load:g}", samples, 0))
        late = np.percentile(samples.lateness, 99) if samples.lateness else 0.0
        loops.append(
            OpenLoop(
                load,
                load * best.throughput,
                len(samples),
                len(samples.failed),
                samples.answered / seconds,
                summarise(samples.service),
                summarise(samples.response),
                float(late) / 1e6,
            )
        )
    return tuple(loops)


def _measure_filters(session: Session, settings: Settings) -> list[str]:
    """Search under every condition; return what the engine cannot do."""
    engine, workload = session.engine, session.workload
    if workload.filters and not engine.capabilities.filters:
        return ["filters"]
    for text in workload.filters:
        condition = make_filter(text, session.vectors, workload.seed)
        search = engine.searcher(workload.k, settings, condition)
        run_single(search, session.asked[: workload.warmup], keep=False)
        samples = run_single(search, session.asked, retries=workload.retries)
        session.keep(f"filter:{text}", samples)
    return []


def _measure_batches(session: Session, settings: Settings) -> dict[str, float]:
    """Ask queries many at a time; return the throughput, empty where the engine takes one at a time."""
    workload = session.workload
    if not workload.batch:
        return {}
    search = session.engine.batch_searcher(workload.k, settings)
    if search is None:
        return {}
    parts = [
        np.arange(first, min(first + workload.batch, len(session.asked)))
        for first in range(0, len(session.asked), workload.batch)
    ]
    search(session.queries[parts[0]])
    samples = Samples()
    for rows in parts:
        asked = np.ascontiguousarray(session.queries[rows])
        start = perf_counter_ns()
        answers = search(asked)
        end = perf_counter_ns()
        samples.query += rows.tolist()
        samples.start += [start] * len(rows)
        samples.end += [end] * len(rows)
        samples.answers += [np.array(answer) for answer in answers]
    phase = f"batch:{workload.batch}"
    session.keep(phase, samples)
    spent = sum({start: end - start for start, end in zip(samples.start, samples.end, strict=True)}.values())
    return {f"qps {phase}": len(samples) * 1e9 / spent}


def measure_churn(session: Session, measured: Measurement) -> Measurement:
    """Delete vectors and insert them again, and search after both; the truth follows when rows are scored."""
    engine, workload = session.engine, session.workload
    details = dict(measured.details)
    for number, ids in enumerate(plan_churn(len(session.vectors), workload), 1):
        for step in ("deleted", "restored"):
            started = perf_counter()
            if step == "deleted":
                engine.delete(ids)
            else:
                columns = {name: column[ids] for name, column in session.columns.items()}
                engine.insert(ids, session.vectors.array[ids], columns)
            engine.finish()
            details[f"churn:{number}:{step}"] = perf_counter() - started
            search = engine.searcher(workload.k, measured.query)
            samples = run_single(search, session.asked, retries=workload.retries)
            session.keep(f"churn:{number}:{step}", samples)
    return replace(measured, details=details)
