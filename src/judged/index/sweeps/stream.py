"""Searching while vectors come and go: the steps of a runbook, and updates at a rate of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from threading import Thread
from time import perf_counter, perf_counter_ns

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from judged.arrays import Ints
from judged.errors import EngineFailed
from judged.index.engine import Engine, Ids, Search
from judged.index.load import Samples, check_answers, run_single, wait_until
from judged.index.measurement import Measurement
from judged.index.streams.presence import WINDOWS, draw_reserve
from judged.index.streams.runbooks import Step, follow_steps, name_runbook
from judged.index.sweeps.measure import Session
from judged.index.sweeps.rows import find_rows
from judged.store.files import replace_file

AHEAD, PATIENCE = 10_000_000, 60
"""Nanoseconds until updates begin, and seconds that the last of them may take."""
OPERATIONS = 50
"""Batches of updates in a second; their size follows from the rate."""


def measure_runbook(
    session: Session, measured: Measurement, make: Callable[[], Engine], results: Path
) -> Measurement:
    """Follow a runbook on an index that is empty at first; steps whose answers are kept are not searched again."""
    workload, vectors = session.workload, session.vectors
    engine, details = make(), dict(measured.details)
    spent = 0.0
    try:
        for step, row_of in follow_steps(workload.runbook, len(vectors)):
            if step.operation != "search":
                started = perf_counter()
                _apply(engine, session, step)
                spent += perf_counter() - started
                continue
            phase = name_runbook(step)
            path = find_rows(results, measured).with_suffix(f".{step.number}.parquet")
            started = perf_counter()
            engine.finish()
            spent += perf_counter() - started
            if not path.exists():
                search = engine.searcher(workload.k, measured.query)
                run_single(search, session.asked[: workload.warmup], keep=False)
                samples = run_single(search, session.asked, retries=workload.retries)
                check_answers(engine.name, samples.answers, len(vectors))
                samples.answers = [
                    None if ids is None else _to_vectors(np.asarray(ids, dtype=np.int64), row_of)
                    for ids in samples.answers
                ]
                session.keep(phase, samples)
                table = session.rows[-1].replace_schema_metadata({"seconds": str(spent)})
                path.parent.mkdir(parents=True, exist_ok=True)
                with replace_file(path) as file:
                    pq.write_table(table, file, compression="zstd")
            else:
                session.rows.append(pq.read_table(path))
            kept = pq.read_schema(path).metadata or {}
            session.rows[-1] = session.rows[-1].replace_schema_metadata()
            details[phase], spent = float(kept.get(b"seconds", spent)), 0.0
    finally:
        engine.close()
    return replace(measured, details=details)


def remove_steps(results: Path, measured: Measurement) -> None:
    """Remove the answers of steps that are part of the point now."""
    rows = find_rows(results, measured)
    for path in rows.parent.glob(f"{rows.stem}.*.parquet"):
        path.unlink(missing_ok=True)


def _apply(engine: Engine, session: Session, step: Step) -> None:
    ids = np.arange(step.start, step.end, dtype=np.int64)
    if step.operation in {"delete", "replace"}:
        engine.delete(ids)
    if step.operation != "delete":
        _insert(engine, session, ids, ids if step.rows < 0 else ids - step.start + step.rows)


def _insert(engine: Engine, session: Session, ids: Ints, rows: Ints) -> None:
    engine.insert(
        ids,
        np.ascontiguousarray(session.vectors.array[rows]),
        {name: column[rows] for name, column in session.columns.items()},
    )


def _to_vectors(ids: Ints, row_of: Ints) -> Ints:
    """Return the vector of each id; −1 for an id without one, which counts as missing."""
    known = (ids >= 0) & (ids < len(row_of))
    rows: Ints = np.where(known, row_of[np.where(known, ids, 0)], -1)
    return rows


@dataclass
class _Writer:
    """Inserts, deletes and replaces vectors in turn, in batches at a rate, and keeps when each was written."""

    session: Session
    waiting: list[int]
    present: list[int]
    rng: np.random.Generator
    batch: int
    writes: list[tuple[str, int, int, int]] = field(default_factory=list)
    """Kind, id, start, end."""
    turns: Iterator[int] = field(default_factory=count)
    vectors: int = 0
    """Number of vectors that were inserted, deleted or replaced."""

    def write(self) -> None:
        """Make the next update: an insertion, a deletion, or a deletion with the insertion of the same vectors."""
        turn = next(self.turns) % 3
        size = min(self.batch, len(self.waiting) if turn == 0 else len(self.present) - 1)
        if size <= 0:
            return
        pool = self.waiting if turn == 0 else self.present
        chosen = [pool.pop(int(self.rng.integers(len(pool)))) for _ in range(size)]
        if turn != 0:
            self._do("delete", chosen)
        if turn != 1:
            self._do("insert", chosen)
        (self.waiting if turn == 1 else self.present).extend(chosen)
        self.vectors += size

    def _do(self, kind: str, chosen: list[int]) -> None:
        ids, engine, started = (
            np.sort(np.array(chosen, dtype=np.int64)),
            self.session.engine,
            perf_counter_ns(),
        )
        if kind == "delete":
            engine.delete(ids)
        else:
            _insert(engine, self.session, ids, ids)
        ended = perf_counter_ns()
        self.writes += [(kind, number, started, ended) for number in ids.tolist()]

    def to_rows(self, schema: pa.Schema) -> pa.Table:
        """Return the writes as rows."""
        kinds, ids, starts, ends = zip(*self.writes, strict=True)
        starts, ends = np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64)  # type: ignore[assignment]
        empty = {name: pa.nulls(len(ids), schema.field(name).type) for name in ("response", "answer")}
        columns = {
            "phase": pa.array([f"write:{kind}" for kind in kinds]),
            "query": pa.array(ids, pa.int32()),
            "start": pa.array(starts),
            "nanoseconds": pa.array(ends - starts),  # type: ignore[operator]
            "failed": pa.array([False] * len(ids)),
            **empty,
        }
        return pa.table({name: columns[name] for name in schema.names}, schema=schema)


def measure_updates(session: Session, measured: Measurement) -> Measurement:
    """Search while vectors are inserted, deleted and replaced at a rate; recall and latency are those of windows of time.

    A server is written to over a connection of its own, at the same time; an index in this process takes turns.
    """
    engine, workload = session.engine, session.workload
    reserve = draw_reserve(len(session.vectors), workload.seed)
    engine.delete(reserve)
    engine.finish()
    writer = _Writer(
        session,
        reserve.tolist(),
        np.setdiff1d(np.arange(len(session.vectors)), reserve).tolist(),
        np.random.default_rng([workload.seed, 7]),
        max(1, round(workload.updates / OPERATIONS)),
    )
    run_single(engine.searcher(workload.k, measured.query), session.asked[: workload.warmup], keep=False)
    seconds = WINDOWS * workload.seconds
    begin = perf_counter_ns() + AHEAD
    schedule = range(begin, begin + int(seconds * 1e9), int(1e9 * writer.batch / workload.updates))
    if engine.capabilities.remote:
        windows = _search_beside(session, measured, writer, schedule)
    else:
        windows = _search_in_turn(session, measured, writer, schedule)
    for number, samples in enumerate(windows, 1):
        if len(samples):
            session.keep(f"updates:{number}", samples)
    if writer.writes:
        session.rows.append(writer.to_rows(session.rows[-1].schema))
    return replace(measured, details={**measured.details, "updates:rate": writer.vectors / seconds})


def _search_beside(
    session: Session, measured: Measurement, writer: _Writer, schedule: range
) -> list[Samples]:
    """Search while another thread writes, each over connections of its own."""
    errors: list[Exception] = []

    def write() -> None:
        try:
            for due in schedule:
                wait_until(due)
                if perf_counter_ns() > schedule.stop:
                    return
                writer.write()
        except Exception as error:  # noqa: BLE001 - raised again where it is waited for
            errors.append(error)

    search = session.engine.searcher(session.workload.k, measured.query)
    thread = Thread(target=write, daemon=True)
    thread.start()
    windows, place = [Samples() for _ in range(WINDOWS)], count()
    wait_until(schedule.start)
    while (now := perf_counter_ns()) < schedule.stop:
        _find_window(windows, schedule, now).extend(_ask(search, session, next(place)))
    thread.join(PATIENCE)
    if errors:
        msg = f"`{session.engine.name}` failed to update vectors: {errors[0]}"
        raise EngineFailed(msg)
    return windows


def _search_in_turn(
    session: Session, measured: Measurement, writer: _Writer, schedule: range
) -> list[Samples]:
    """Search, and write between two searches whenever a batch is due."""
    search = session.engine.searcher(session.workload.k, measured.query)
    windows, place, waiting = [Samples() for _ in range(WINDOWS)], count(), iter(schedule)
    due = next(waiting)
    wait_until(schedule.start)
    while (now := perf_counter_ns()) < schedule.stop:
        if now >= due:
            writer.write()
            # a searcher may hold what was there when it was opened
            search = session.engine.searcher(session.workload.k, measured.query)
            due = next(waiting, schedule.stop)
        _find_window(windows, schedule, now).extend(_ask(search, session, next(place)))
    return windows


def _find_window(windows: list[Samples], schedule: range, now: int) -> Samples:
    return windows[min(WINDOWS - 1, (now - schedule.start) * WINDOWS // (schedule.stop - schedule.start))]


def _ask(search: Search, session: Session, number: int) -> Samples:
    """Ask one query and keep its answer."""
    at = number % len(session.asked)
    samples, query = Samples(), session.asked[at]
    answer: Ids | None
    start = perf_counter_ns()
    try:
        answer = search(query)
    except Exception as error:  # noqa: BLE001 - any error of an engine is a failed query
        samples.error = f"{type(error).__name__}: {error}"
        samples.failed.append(0)
        answer = None
    end = perf_counter_ns()
    samples.query.append(at)
    samples.start.append(start)
    samples.end.append(end)
    samples.answers.append(answer.copy() if isinstance(answer, np.ndarray) else answer)
    return samples
