"""The clock: what closed loops hide and open loops show, failures that stay, and what the harness itself costs."""

from __future__ import annotations

import os
import sys
from threading import Event, Timer
from time import sleep

import numpy as np
import pytest
from numpy.typing import NDArray

from judged.errors import EngineFailed
from judged.index.engine import Search
from judged.index.load import run_closed, run_open, run_single, to_matrix
from judged.index.measurement import summarise
from judged.index.sweeps.clients import ProcessClients

QUERIES = list(np.eye(20, dtype=np.float32))


class Stalling:
    """A server that takes a millisecond, and stops for a while on request."""

    def __init__(self) -> None:
        self.running = Event()
        self.running.set()

    def search(self, query: NDArray[np.float32]) -> list[int]:
        """Answer after a millisecond, or when the server goes on."""
        del query
        self.running.wait()
        sleep(0.001)
        return [1]

    def stop_for(self, seconds: float, *, after: float) -> None:
        """Stop once, later."""

        def stall() -> None:
            self.running.clear()
            sleep(seconds)  # at least, however busy the machine
            self.running.set()

        Timer(after, stall).start()


def test_a_server_stopped_for_a_second_shows_in_open_loop_and_not_in_closed_loop() -> None:
    """Closed-loop p99 is that of a good server; open-loop response p99 is the stall, though service p99 is not."""
    server = Stalling()
    server.stop_for(1.0, after=1.0)
    closed, _ = run_closed([server.search, server.search], QUERIES, seconds=3)
    server = Stalling()
    server.stop_for(1.0, after=1.0)
    opened, _ = run_open([server.search, server.search], QUERIES, rate=300, seconds=3, seed=1)

    assert summarise(closed.service).p99 < 100
    assert summarise(closed.service).max > 900
    assert summarise(opened.service).p99 < 100
    assert summarise(opened.response).p99 > 500


def test_arrivals_do_not_wait_for_the_engine() -> None:
    """At three times what one client can serve, all arrivals are answered, and response times grow to seconds."""
    samples, seconds = run_open([lambda _: sleep(0.01) or [1]], QUERIES, rate=300, seconds=1, seed=0)

    assert len(samples) == 300
    assert seconds > 2.5
    assert summarise(samples.response).max > 1500
    assert summarise(samples.service).p50 < 60


def test_arrivals_are_those_of_the_seed() -> None:
    """The same seed gives the same schedule; the mean gap is that of the rate."""
    first, second, other = (
        np.diff(np.sort(run_open([lambda _: [1]], QUERIES, rate=2000, seconds=0.2, seed=seed)[0].arrival))
        for seed in (3, 3, 4)
    )

    assert (first == second).all()
    assert (first != other).any()
    assert first.mean() == pytest.approx(500_000, rel=0.2)


def test_failed_queries_are_counted_and_keep_their_place() -> None:
    """A query that raises has no answer, keeps its time, and is counted; the others are as they were."""

    def search(query: NDArray[np.float32]) -> list[int]:
        number = int(query.argmax())
        if number % 4 == 0:
            raise ConnectionError("gone")
        return [number]

    samples = run_single(search, QUERIES, repeats=2)

    assert samples.failed == [*range(0, 20, 4), *range(20, 40, 4)]
    assert len(samples) == 40
    assert samples.error == "ConnectionError: gone"
    assert to_matrix(samples.answers, 2)[:5].tolist() == [[-1, -1], [1, -1], [2, -1], [3, -1], [-1, -1]]


def test_retries_belong_to_the_time_of_the_query() -> None:
    """A query that succeeds at the second attempt is no failure, and its time has both attempts."""
    attempts = iter([True, False] * 20)

    def search(_: NDArray[np.float32]) -> list[int]:
        sleep(0.002)
        if next(attempts):
            raise TimeoutError
        return [1]

    samples = run_single(search, QUERIES, retries=1)

    assert (samples.failed, samples.retried) == ([], 20)
    assert samples.service.min() >= 4_000_000


def test_closed_loops_answer_with_all_clients() -> None:
    """Four clients of a server that sleeps are nearly four times as fast as one."""
    rates = [
        len(samples) / seconds
        for samples, seconds in (
            run_closed([lambda _: sleep(0.005) or [1]] * clients, QUERIES, seconds=0.5) for clients in (1, 4)
        )
    ]

    assert rates[1] > 2.5 * rates[0]


def test_the_harness_adds_less_than_20_microseconds_to_a_query() -> None:
    """Asking a function that does nothing takes, all in all, less than 20 µs a query; the least of ten rounds counts."""
    queries = QUERIES * 100
    rounds = []
    for _ in range(10):
        samples = run_single(lambda _: None, queries, keep=False)
        rounds.append((samples.end[-1] - samples.start[0]) / len(queries))

    assert min(rounds) < 20_000


def test_percentiles_interpolate_between_samples() -> None:
    """Over 0 to 100 ms, a percentile is its own number of milliseconds."""
    found = summarise(np.arange(101) * 1_000_000)

    assert (found.p50, found.p90, found.p95, found.p99, found.mean, found.max) == (50, 90, 95, 99, 50, 100)
    assert found.p999 == pytest.approx(99.9)


@pytest.mark.skipif(sys.platform != "linux", reason="clients are threads elsewhere")
def test_clients_that_are_processes_do_not_share_an_interpreter() -> None:
    """Each has a searcher of its own; their samples come together, in one clock, and each arrival is taken once."""

    def open_search() -> Search:
        mine = os.getpid()
        return lambda _: [mine]

    clients = ProcessClients(open_search, 3)
    closed, seconds = run_closed(clients, QUERIES, seconds=0.1)
    opened, _ = run_open(clients, QUERIES, rate=300, seconds=0.3, seed=1)

    assert seconds >= 0.1
    assert len(closed) > 3
    assert closed.cpu > 0
    assert len(opened) == 90
    assert len(set(opened.arrival)) == 90
    assert (opened.response >= opened.service).all()


@pytest.mark.skipif(sys.platform != "linux", reason="clients are threads elsewhere")
def test_a_client_that_dies_is_an_error() -> None:
    """In words, whether its process ends or its searcher cannot be opened."""

    def refuse() -> Search:
        raise ConnectionError("refused")

    with pytest.raises(EngineFailed, match="a client failed: ConnectionError: refused"):
        run_closed(ProcessClients(refuse, 2), QUERIES, seconds=0.1)
    with pytest.raises(EngineFailed, match="the process of a client ended"):
        run_closed(ProcessClients(lambda: lambda _: os._exit(3), 2), QUERIES, seconds=0.1)  # type: ignore[return-value]
