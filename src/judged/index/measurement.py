"""Settings of a benchmark and the measurements of its points; all of it is saved as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadProtocol
from judged.index.engine import SettingValue
from judged.index.streams.runbooks import Step

TARGET = 0.95
"""The recall at which engines are compared, unless another one is asked for."""
MOST_EFFORT = 4096
"""Upper limit of the effort search."""
STEPS = 3
"""Number of times that vectors are replaced, where churn is measured."""


@dataclass(frozen=True)
class Workload:
    """Measurements to be made at every point."""

    k: int = 10
    rounds: int = 5
    """Number of fresh processes in which every setting is built and measured: what decisions are made from."""
    build_budget: float = 600.0
    """Seconds of building that may be spent on further rounds of one build setting."""
    repeats: int = 3
    """Number of passes over all queries within a round."""
    warmup: int = 100
    """Queries asked before each measurement, and left out of it."""
    retries: int = 0
    """Number of times that a failed query is repeated, within its own time."""
    clients: tuple[int, ...] = ()
    """Clients of the closed loops, each of which asks its next query when the one before is answered."""
    loads: tuple[float, ...] = ()
    """Arrival rates of the open loops, as shares of the highest throughput of the closed ones."""
    seconds: float = 2.0
    """Duration of each loop."""
    ramp: bool = False
    """Whether clients are doubled until throughput stops rising, after those that were asked for."""
    p99: float | None = None
    """The milliseconds that 99 % of the answers may take at most: the throughput within them is reported."""
    filters: tuple[str, ...] = ()
    """Shares of vectors that meet a condition, such as `0.01`, or conditions such as `price<20`."""
    churn: float = 0.0
    """The share of vectors that is replaced in each of three steps, after which recall is measured again."""
    batch: int = 0
    """Queries that are asked at once, in a measurement of its own; 0: none are."""
    updates: float = 0.0
    """Vectors that are inserted, deleted or replaced in a second while others search; 0: none."""
    runbook: tuple[Step, ...] = ()
    """Steps of insertions, deletions and searches, on an index that is empty at first."""
    threads: int = 1
    """Threads that the engine, and BLAS, may use in one search and in building."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in {
            "k": 1,
            "rounds": 1,
            "repeats": 1,
            "warmup": 0,
            "retries": 0,
            "batch": 0,
            "threads": 1,
        }.items():
            if getattr(self, name) < least:
                msg = f"`{name}` is {getattr(self, name)}, expected {least} or more"
                raise BadProtocol(msg)
        if any(not 0 < load <= 2 for load in self.loads) or any(count < 1 for count in self.clients):
            msg = f"clients are {self.clients} and loads {self.loads}, expected whole numbers and shares of capacity"
            raise BadProtocol(msg)
        if self.p99 is not None and self.p99 <= 0:
            msg = f"`p99` is {self.p99:g}, expected milliseconds above 0"
            raise BadProtocol(msg)
        if self.build_budget < 0:
            msg = f"`build_budget` is {self.build_budget:g}, expected 0 seconds or more"
            raise BadProtocol(msg)
        if self.updates < 0:
            msg = f"`updates` is {self.updates:g}, expected vectors in a second, from 0"
            raise BadProtocol(msg)
        if not 0 <= self.churn < 0.5 or self.seconds <= 0:
            msg = f"`churn` is {self.churn} and `seconds` {self.seconds}, expected a share below 0.5 and a duration"
            raise BadProtocol(msg)


@dataclass(frozen=True)
class Latencies:
    """Percentiles of times, in milliseconds."""

    p50: float
    p90: float
    p95: float
    p99: float
    p999: float
    mean: float
    max: float


def summarise(nanoseconds: NDArray[np.int64]) -> Latencies:
    """Return the percentiles of raw samples, by linear interpolation.

    >>> summarise(np.array([1_000_000, 3_000_000])).p50
    2.0
    """
    if not len(nanoseconds):
        return Latencies(nan, nan, nan, nan, nan, nan, nan)
    times = nanoseconds.astype(np.float64) / 1e6
    p50, p90, p95, p99, p999 = np.percentile(times, [50, 90, 95, 99, 99.9]).tolist()
    return Latencies(p50, p90, p95, p99, p999, float(times.mean()), float(times.max()))


@dataclass(frozen=True)
class BuildCost:
    """Cost of building an index."""

    insert_seconds: float
    index_seconds: float
    cpu_seconds: float
    """Processor time of this process, and of the server where it runs on this machine."""
    vectors: int
    memory: int | None = None
    """Bytes by which the unique set size grew, of this process and of the server; None: not known."""
    disk: int | None = None
    """Bytes on disk; None: nothing is written."""

    @property
    def seconds(self) -> float:
        """Insertion and indexing together."""
        return self.insert_seconds + self.index_seconds

    @property
    def vectors_per_second(self) -> float:
        """Insertion rate."""
        return self.vectors / self.insert_seconds if self.insert_seconds else float("inf")


@dataclass(frozen=True)
class ClosedLoop:
    """Throughput with a number of clients, each of which waits for its answer."""

    clients: int
    queries: int
    failed: int
    throughput: float
    """Answered queries in a second."""
    latency: Latencies
    client_cpu: float
    """Milliseconds of processor time for each query, in the clients."""
    server_cpu: float | None = None
    processes: bool = False
    """Whether clients were processes, and not threads of one."""
    client_share: float | None = None
    """Share of the time that a client spent on the processor: near 1, a client of a server is what limits it."""
    ceiling: float | None = None
    """Throughput of as many clients with an engine that answers at once."""


@dataclass(frozen=True)
class OpenLoop:
    """Latency when queries arrive at a rate of their own, whether or not the engine keeps up."""

    load: float
    """The rate as a share of the capacity."""
    rate: float
    queries: int
    failed: int
    throughput: float
    service: Latencies
    """From the start of a search to its end."""
    response: Latencies
    """From the arrival that was scheduled to the end: what a user waits."""
    lateness: float
    """By how many milliseconds the harness itself was late, as the 99th percentile over idle clients."""


@dataclass(frozen=True)
class Measurement:
    """One point of a sweep in one round: an engine, its settings, and everything measured but quality, which rows give."""

    key: str
    """The hash of everything that the point depends on, the same in every round."""
    group: str
    """The key of everything but the query settings: points of one group can be compared with each other."""
    engine: str
    version: str
    build: Mapping[str, SettingValue]
    query: Mapping[str, SettingValue]
    effective: Mapping[str, SettingValue]
    cost: BuildCost
    latency: Latencies
    queries: int
    failed: int
    retried: int
    client_cpu: float
    server_cpu: float | None = None
    closed: tuple[ClosedLoop, ...] = ()
    open: tuple[OpenLoop, ...] = ()
    emulated: str = ""
    exact: bool = False
    recall: float = 0.0
    """Of the k nearest, by distance, for finding the settings that reach a recall."""
    unverified: tuple[str, ...] = ()
    error: str = ""
    """The message of the first query that failed."""
    load_average: float = 0.0
    """Of the machine, when the measurement ended."""
    processors: int = 1
    skipped: tuple[str, ...] = ()
    """Measurements that the engine cannot make, with the reason."""
    details: Mapping[str, float] = field(default_factory=dict)
    """Seconds that each step of churn and of a runbook took, and the rate of updates and of queries in batches that was reached."""
    round: int = 1
    """The round, from 1."""
    at: str = ""
    """When it was measured, in UTC, to the second; empty: not known."""
    others: float | None = None
    """Processors that other work kept busy meanwhile; None: not known."""
    remote: bool = False
    """Whether a server answered, so that its processor time is seen only where it runs on this machine."""
    shared: bool = False
    """Whether it ran in the process of the benchmark, where neither threads nor memory are its own."""
    doubts: tuple[str, ...] = ()
    """Notes on the answers, taken while they were given."""
    first: float = nan
    """Milliseconds that the first query after the build took."""

    @property
    def name(self) -> str:
        """The engine with its settings."""
        return describe(self.engine, self.build, self.query)

    @property
    def qps(self) -> float:
        """Queries answered in a second, one at a time."""
        answered = 1 - self.failed / self.queries if self.queries else 0.0
        return answered * 1000 / self.latency.mean

    @property
    def cpu(self) -> float | None:
        """Milliseconds of processor time for each query, client and server; None if the server's is not seen."""
        if self.remote and self.server_cpu is None:
            return None
        total = self.client_cpu + (self.server_cpu or 0.0)
        return total if total > 0 else None

    @property
    def busy(self) -> bool:
        """Whether other work kept the machine busy while it was measured."""
        others = self.load_average - 1 if self.others is None else self.others
        return others > 0.5 * max(1, self.processors - 1)


def describe(engine: str, build: Mapping[str, SettingValue], query: Mapping[str, SettingValue]) -> str:
    """Return the name of a point.

    >>> describe("hnswlib", {"M": 16}, {"ef": 64})
    'hnswlib(M=16, ef=64)'
    """
    settings = {**build, **query}
    inside = ", ".join(f"{name}={value}" for name, value in settings.items())
    return f"{engine}({inside})" if inside else engine


def name_recall(k: int) -> str:
    """Return the recall that decides: of the k nearest in the first k answers, with ties by distance."""
    return f'R(over="cutoff", tolerance=0)@{k}'


def propose_effort(known: Mapping[int, float], target: float) -> int | None:
    """Return the next effort to try on the way to the least one that reaches a recall; None when it is found.

    >>> propose_effort({16: 0.8, 64: 0.99}, 0.95), propose_effort({16: 0.8}, 0.95), propose_effort({31: 0.94, 32: 0.95}, 0.95)
    (40, 32, None)
    """
    reaching = [effort for effort, recall in known.items() if recall >= target]
    if not reaching:
        most = max(known)
        return None if most >= MOST_EFFORT else 2 * most
    high = min(reaching)
    low = max((effort for effort in known if effort < high), default=0)
    return None if high - low <= max(1, high // 20) else (low + high) // 2


def plan_churn(count: int, workload: Workload) -> list[NDArray[np.int64]]:
    """Return the vectors that each step of the churn deletes, and inserts again."""
    rng = np.random.default_rng([workload.seed, 2])
    size = round(count * workload.churn)
    return [
        np.sort(rng.choice(count, size, replace=False)).astype(np.int64) for _ in range(STEPS if size else 0)
    ]
