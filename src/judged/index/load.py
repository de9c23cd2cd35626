"""The clock: queries one after the other, in closed loops, and in open loops with arrivals of their own.

All times are raw samples of `perf_counter_ns`. A query that fails keeps its time and is counted.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from threading import Barrier, Thread
from time import perf_counter_ns, process_time, sleep
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judged.errors import EngineFailed
from judged.index.engine import Ids, Search, VectorArray

if TYPE_CHECKING:
    from judged.index.sweeps.clients import ProcessClients

SPIN = 200_000
"""Nanoseconds before an arrival from which the clock is watched, because sleeping overshoots."""


@dataclass
class Samples:
    """Raw samples of one measurement, in the order in which queries were asked."""

    query: list[int] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    """Start of the search, in nanoseconds."""
    end: list[int] = field(default_factory=list)
    arrival: list[int] = field(default_factory=list)
    """Arrival of the query, in open loops."""
    answers: list[Ids | None] = field(default_factory=list)
    """The answer, where it is kept; None for a query that failed."""
    failed: list[int] = field(default_factory=list)
    """Places, in the other lists, of queries that failed."""
    lateness: list[int] = field(default_factory=list)
    """By how much an idle client started after the arrival it waited for."""
    reused: bool = False
    """Whether one answer was overwritten by the next, so that only the copies that were made are right."""
    cpu: float = 0.0
    """Seconds of processor time that this process spent meanwhile."""
    retried: int = 0
    error: str = ""

    def __len__(self) -> int:
        return len(self.start)

    @property
    def service(self) -> NDArray[np.int64]:
        """Duration of each search; one that failed counts as the slowest."""
        return self._durations(self.start)

    @property
    def response(self) -> NDArray[np.int64]:
        """Response time of each query, from its arrival; one that failed counts as the slowest."""
        return self._durations(self.arrival)

    @property
    def answered(self) -> int:
        """Number of queries that did not fail."""
        return len(self) - len(self.failed)

    def _durations(self, since: list[int]) -> NDArray[np.int64]:
        # an engine that refuses most queries at once would be the fastest of all
        durations = np.array(self.end, dtype=np.int64) - np.array(since, dtype=np.int64)
        durations[self.failed] = durations.max(initial=0)
        return durations

    def extend(self, other: Samples) -> None:
        """Append the samples of another client."""
        self.failed += [len(self) + place for place in other.failed]
        for name in ("query", "start", "end", "arrival", "answers", "lateness"):
            getattr(self, name).extend(getattr(other, name))
        self.retried += other.retried
        self.error = self.error or other.error


def run_single(
    search: Search, queries: Sequence[VectorArray], *, repeats: int = 1, retries: int = 0, keep: bool = True
) -> Samples:
    """Ask all queries, one after the other, `repeats` times; the answers of the first pass are kept."""
    samples = Samples()
    starts, ends, answers = samples.start, samples.end, samples.answers
    now = perf_counter_ns
    with _without_collection(samples):
        answer: Ids | None
        for number in range(repeats):
            kept = answers if keep and number == 0 else []
            last: object = None
            for query in queries:
                start = now()
                try:
                    answer = search(query)
                except Exception as error:  # noqa: BLE001 - any error of an engine is a failed query
                    answer = _retry(search, query, retries, samples, error)
                end = now()
                # lists grow only after both looks at the clock
                starts.append(start)
                ends.append(end)
                if keep and number == 0:
                    samples.reused |= _is_same_buffer(answer, last)
                    last = answer
                    # a library may fill one buffer with all of its answers
                    answer = _copy(answer)
                kept.append(answer)
    samples.query = list(range(len(queries))) * repeats
    return samples


def _copy(answer: Ids | None) -> Ids | None:
    return answer.copy() if isinstance(answer, np.ndarray | list) else answer


def _is_same_buffer(answer: object, last: object) -> bool:
    """Return whether two answers, both alive, are one list or share the memory of an array."""
    if isinstance(answer, np.ndarray) and isinstance(last, np.ndarray):
        return len(answer) > 0 and np.may_share_memory(answer, last)
    return answer is last and isinstance(answer, list)


def run_closed(
    searches: Sequence[Search] | ProcessClients,
    queries: Sequence[VectorArray],
    *,
    seconds: float,
    retries: int = 0,
) -> tuple[Samples, float]:
    """Let every client ask one query after the other until the time is over; return samples and the time it took."""
    length, now = len(queries), perf_counter_ns

    def client(number: int, search: Search, samples: Samples, begin: int) -> None:
        # clients begin at different queries, so that they do not all ask the same one at the same time
        deadline, place = begin + int(seconds * 1e9), number * 37
        while (start := now()) < deadline:
            at = place % length
            try:
                search(queries[at])
            except Exception as error:  # noqa: BLE001
                _retry(search, queries[at], retries, samples, error)
            samples.end.append(now())
            samples.start.append(start)
            samples.query.append(at)
            place += 1

    return _run_clients(searches, client, seconds)


def run_open(
    searches: Sequence[Search] | ProcessClients,
    queries: Sequence[VectorArray],
    *,
    rate: float,
    seconds: float,
    seed: int,
    retries: int = 0,
) -> tuple[Samples, float]:
    """Let queries arrive as a Poisson process drawn before the run; idle clients take them in order.

    A query that arrives while all clients are busy waits, and its response time counts from its arrival, so that a
    stall is seen by every query that arrived during it.
    """
    total = max(1, round(rate * seconds))
    gaps = np.random.default_rng(seed).exponential(1e9 / rate, total)
    arrivals, length, now = np.cumsum(gaps).astype(np.int64).tolist(), len(queries), perf_counter_ns
    take = count().__next__ if isinstance(searches, Sequence) else searches.make_counter()

    def client(_: int, search: Search, samples: Samples, begin: int) -> None:
        while (number := take()) < total:
            arrival, at = begin + arrivals[number], number % length
            idle = wait_until(arrival)
            start = now()
            # a client that was busy is late because of the engine; one that waited, because of the harness
            if idle:
                samples.lateness.append(start - arrival)
            try:
                search(queries[at])
            except Exception as error:  # noqa: BLE001
                _retry(search, queries[at], retries, samples, error)
            samples.end.append(now())
            samples.start.append(start)
            samples.arrival.append(arrival)
            samples.query.append(at)

    # a rate beyond the capacity takes longer than its arrivals
    return _run_clients(searches, client, 10 * seconds)


def _run_clients(
    searches: Sequence[Search] | ProcessClients,
    client: Callable[[int, Search, Samples, int], None],
    seconds: float,
) -> tuple[Samples, float]:
    """Run every client as a process, or a thread for each search, all from one moment on; return all samples and the seconds until the last ended."""
    if not isinstance(searches, Sequence):
        return searches.run(client, seconds=seconds)
    parts = [Samples() for _ in searches]
    barrier = Barrier(len(searches) + 1)
    begin = [0]

    def run(number: int) -> None:
        barrier.wait()
        client(number, searches[number], parts[number], begin[0])

    threads = [Thread(target=run, args=(number,), daemon=True) for number in range(len(searches))]
    whole = Samples()
    with _without_collection(whole):
        for thread in threads:
            thread.start()
        # a millisecond ahead, so that every thread is awake when the first query arrives
        begin[0] = perf_counter_ns() + 1_000_000
        barrier.wait()
        for thread in threads:
            thread.join()
    for part in parts:
        whole.extend(part)
    return whole, (max(whole.end, default=begin[0]) - begin[0]) / 1e9


def wait_until(moment: int) -> bool:
    """Wait for a moment; return whether it was still to come."""
    idle = False
    while (left := moment - perf_counter_ns()) > 0:
        idle = True
        # `sleep(0)` hands the interpreter to another client; a bare loop would keep it from searching
        sleep((left - SPIN) / 1e9 if left > SPIN else 0)
    return idle


def _retry(
    search: Search, query: VectorArray, retries: int, samples: Samples, error: Exception
) -> Ids | None:
    """Ask a failed query again, as often as is allowed; None if it fails every time."""
    samples.error = samples.error or f"{type(error).__name__}: {error}"
    for _ in range(retries):
        samples.retried += 1
        try:
            return search(query)
        except Exception:  # noqa: BLE001, S112 - counted below
            continue
    # the place that this query is about to get: its times are appended after it returns
    samples.failed.append(len(samples.start))
    return None


@contextmanager
def _without_collection(samples: Samples) -> Iterator[None]:
    """Keep Python's garbage collector from running in between, and record the processor time."""
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    started = process_time()
    try:
        yield
    finally:
        samples.cpu = process_time() - started
        if enabled:
            gc.enable()


def check_answers(engine: str, answers: Sequence[object], size: int) -> None:
    """Raise `EngineFailed` unless every answer is a row of ids of `size` vectors, numbered from 0; −1 fills a row.

    >>> check_answers("mine", [[4, 2, -1], None, []], 5)
    """
    for query, answer in enumerate(answers):
        if answer is None:
            continue
        try:
            ids = np.asarray(answer)
        except (ValueError, TypeError, OverflowError):
            ids = np.empty(1, dtype=object)
        whole = ids.ndim == 1 and (ids.dtype.kind in "iu" or not len(ids))
        if not whole or (len(ids) and not -1 <= int(ids.min()) <= int(ids.max()) < size):
            shown = f"{answer!r:.80}"
            msg = f"`{engine}` answered query {query:,} with {shown}, expected ids of vectors from 0 to {size - 1:,}"
            raise EngineFailed(msg)


def to_matrix(answers: Sequence[Ids | None], k: int) -> NDArray[np.int64]:
    """Return answers as rows of `k` ids, filled with −1.

    >>> to_matrix([[4, 2, 7], None, [1]], 2).tolist()
    [[4, 2], [-1, -1], [1, -1]]
    """
    matrix = np.full((len(answers), k), -1, dtype=np.int64)
    for row, answer in enumerate(answers):
        if answer is not None:
            ids = np.asarray(answer, dtype=np.int64)[:k]
            matrix[row, : len(ids)] = ids
    return matrix
