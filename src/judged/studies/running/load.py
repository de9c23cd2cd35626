"""Load tests of a study: each system under several queries at a time, by the clock of `judged index`.

In a closed loop, clients ask one query after the other, which shows the highest throughput; in an open one queries arrive
whether or not the earlier ones are answered, as from users, which shows the response times at a throughput.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from judged.errors import JudgedError
from judged.index.load import Samples, run_closed, run_open
from judged.studies.stages.chat import UNDER_LOAD
from judged.studies.stages.clock import Clock
from judged.studies.stages.stage import Query
from judged.studies.systems.system import System

SHARES = (0.5, 0.7, 0.8, 0.9)
"""Shares of the highest throughput at which queries arrive in open loops."""
SEED = 0


class LoadSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A load test at the end of a study."""

    clients: tuple[Annotated[int, msgspec.Meta(ge=1)], ...] = (1, 4, 16)
    """Numbers of clients that ask at a time, one test for each."""
    seconds: Annotated[float, msgspec.Meta(gt=0)] = 5.0
    """Duration of each test."""
    p99: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """The response time in milliseconds that 99 % of the queries should keep."""


@dataclass(frozen=True)
class LoadPoint:
    """One load test of one system."""

    system: str
    loop: Literal["closed", "open"]
    clients: int
    rate: float | None
    """Queries that arrive in a second, in an open loop."""
    qps: float
    """Queries answered in a second."""
    p50_ms: float
    p95_ms: float
    p99_ms: float
    queries: int
    failed: int
    """Queries that failed."""
    within: bool | None = None
    """Whether 99 % of the queries kept the response time that was asked for, and none failed."""


def load_system(system: System, texts: Sequence[str], spec: LoadSpec) -> Iterator[LoadPoint]:
    """Yield the closed loops of a system, then open ones at shares of the highest throughput."""
    # the machinery asks with anything that its searches take: here, texts of queries
    queries: Any = list(texts)

    def search(text: Any) -> Any:
        return system.answer(Query("load", text, Clock(), sample=UNDER_LOAD)).ranked.documents

    best: tuple[float, int] = (0.0, 1)
    for clients in spec.clients:
        samples, seconds = run_closed([search] * clients, queries, seconds=spec.seconds)
        point = _describe(system.name, "closed", clients, None, samples, seconds, spec)
        best = max(best, (point.qps, clients))
        yield point
    if not best[0]:
        msg = f"system `{system.name}` answered no query under load"
        raise JudgedError(msg)
    for share in SHARES:
        rate = share * best[0]
        samples, seconds = run_open([search] * best[1], queries, rate=rate, seconds=spec.seconds, seed=SEED)
        yield _describe(system.name, "open", best[1], rate, samples, seconds, spec)


def _describe(
    name: str,
    loop: Literal["closed", "open"],
    clients: int,
    rate: float | None,
    samples: Samples,
    seconds: float,
    spec: LoadSpec,
) -> LoadPoint:
    """Return what one test measured; the response time of a query in an open loop counts from its arrival."""
    taken = (samples.service if loop == "closed" else samples.response) / 1e6
    p50, p95, p99 = np.percentile(taken, (50, 95, 99)).tolist() if len(taken) else (float("nan"),) * 3
    failed = len(samples.failed)
    within = None if spec.p99 is None else bool(p99 <= spec.p99 and not failed)
    answered = (len(samples) - failed) / seconds if seconds else 0.0
    return LoadPoint(name, loop, clients, rate, answered, p50, p95, p99, len(samples), failed, within)
