"""Every number of an index benchmark by name: rows of its tables, with intervals over rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
import pyarrow as pa

from judged.blocks import Estimate, Value
from judged.index.measurement import ClosedLoop, Latencies, OpenLoop
from judged.index.points import Point, estimate_rounds, mean_latencies

Loop = TypeVar("Loop", ClosedLoop, OpenLoop)


def to_record(point: Point) -> dict[str, Value]:
    """Return every number of a point by name."""
    measured, cost = point.measured, point.measured.cost
    low, high = point.interval or (None, None)
    return {
        "point": point.name,
        "engine": point.engine,
        "version": measured.version,
        **{f"build.{name}": str(value) for name, value in measured.build.items()},
        **{f"query.{name}": str(value) for name, value in measured.query.items()},
        **dict(point.measures),
        "recall_low": low,
        "recall_high": high,
        "rounds": len(point.rounds),
        **_name_estimate("QPS(single)", point.estimate("qps")),
        **_name_latencies(mean_latencies([one.latency for one in point.rounds]), ""),
        **{
            key: value
            for name in ("mean", "p50", "p90", "p95", "p99")
            for key, value in _name_ends(f"{name}_ms", point.estimate(name)).items()
        },
        **_name_estimate("cpu_ms", point.estimate("cpu")),
        "client_cpu_ms": measured.client_cpu,
        "server_cpu_ms": measured.server_cpu,
        "first_ms": _find_first(point),
        "insert_s": cost.insert_seconds,
        "index_s": cost.index_seconds,
        **_name_estimate("build_s", point.estimate("build")),
        "build_cpu_s": cost.cpu_seconds,
        "vectors_per_s": cost.vectors_per_second,
        **_name_estimate("memory_bytes", point.estimate("memory")),
        **_name_estimate("disk_bytes", point.estimate("disk")),
        "asked": sum(one.queries for one in point.rounds),
        "failed": point.failed,
        "retried": sum(one.retried for one in point.rounds),
        "emulated": measured.emulated,
        "measured_at": measured.at,
        "key": measured.key,
    }


def _name_estimate(name: str, value: Estimate | None) -> dict[str, Value]:
    return {name: None if value is None else value.value, **_name_ends(name, value)}


def _name_ends(name: str, value: Estimate | None) -> dict[str, Value]:
    ends = (None, None) if value is None else (value.low, value.high)
    low, high = (end if end is not None and np.isfinite(end) else None for end in ends)
    return {f"{name}_low": low, f"{name}_high": high}


def _find_first(point: Point) -> float | None:
    """Return the milliseconds of the first query after a build: the median of the builds that began with this point."""
    known = [one.first for one in point.rounds if np.isfinite(one.first)]
    return float(np.median(known)) if known else None


def _name_latencies(latency: Latencies, prefix: str) -> dict[str, Value]:
    names = ("p50", "p90", "p95", "p99", "p999", "mean", "max")
    return {f"{prefix}{name}_ms": float(getattr(latency, name)) for name in names}


def closed_records(points: Sequence[Point]) -> Iterator[dict[str, Value]]:
    """Yield a row for each number of clients of each point."""
    for point in points:
        for loops in _match_loops([one.closed for one in point.rounds]):
            yield {
                "point": point.name,
                "clients": loops[0].clients,
                **_name_estimate("throughput", estimate_rounds([loop.throughput for loop in loops])),
                "queries": sum(loop.queries for loop in loops),
                "failed": sum(loop.failed for loop in loops),
                **_name_latencies(mean_latencies([loop.latency for loop in loops]), ""),
                **_name_ends("p99_ms", estimate_rounds([loop.latency.p99 for loop in loops])),
                "client_cpu_ms": float(np.mean([loop.client_cpu for loop in loops])),
                "server_cpu_ms": _mean_known([loop.server_cpu for loop in loops]),
                "client_share": _mean_known([loop.client_share for loop in loops]),
                "no_op_throughput": _mean_known([loop.ceiling for loop in loops]),
                "clients_are": "processes" if loops[0].processes else "threads",
            }


def open_records(points: Sequence[Point]) -> Iterator[dict[str, Value]]:
    """Yield a row for each rate of arrivals of each point."""
    for point in points:
        for loops in _match_loops([one.open for one in point.rounds]):
            yield {
                "point": point.name,
                "load": loops[0].load,
                **_name_estimate("rate", estimate_rounds([loop.rate for loop in loops])),
                "throughput": float(np.mean([loop.throughput for loop in loops])),
                "queries": sum(loop.queries for loop in loops),
                "failed": sum(loop.failed for loop in loops),
                **_name_latencies(mean_latencies([loop.service for loop in loops]), "service_"),
                **_name_latencies(mean_latencies([loop.response for loop in loops]), "response_"),
                **_name_ends("response_p99_ms", estimate_rounds([loop.response.p99 for loop in loops])),
                "lateness_p99_ms": max(loop.lateness for loop in loops),
            }


def _match_loops(rounds: Sequence[tuple[Loop, ...]]) -> list[tuple[Loop, ...]]:
    """Return the same loop of every round together: those that every round has."""
    keyed = [{_key_loop(loop): loop for loop in loops} for loops in rounds]
    return [tuple(one[key] for one in keyed) for key in keyed[0] if all(key in one for one in keyed)]


def _key_loop(loop: ClosedLoop | OpenLoop) -> float:
    return loop.clients if isinstance(loop, ClosedLoop) else loop.load


def _mean_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def subset_records(points: Sequence[Point]) -> Iterator[dict[str, Value]]:
    """Yield a row for each filter and each step of the churn of each point."""
    for point in points:
        for subset in point.subsets:
            values = list(subset.measures.values())
            low, high = subset.interval or (None, None)
            yield {
                "point": point.name,
                "phase": subset.phase,
                "share": subset.share,
                "recall": values[0],
                "recall_low": low,
                "recall_high": high,
                "by_id": values[1],
                "pct5": values[2],
                "none": values[3],
                "short": next(
                    (value for name, value in subset.measures.items() if name.startswith("Short@")), None
                ),
                "fewest": subset.fewest,
                "queries_s": _mean_known([one.details.get(f"qps {subset.phase}") for one in point.rounds]),
                "update_s": point.measured.details.get(subset.phase),
                "failed": subset.failed,
                **_name_latencies(subset.latency, ""),
            }


def tabulate_queries(points: Sequence[Point]) -> pa.Table:
    """Return a row for each point and query."""
    counts = [len(point.recalls) for point in points]
    return pa.table(
        {
            "point": pa.array(
                [point.name for point, count in zip(points, counts, strict=True) for _ in range(count)]
            ),
            "query": pa.array([str(number) for count in counts for number in range(count)]),
            "recall": pa.array(np.concatenate([point.recalls for point in points]) if points else []),
            "seconds": pa.array(np.concatenate([point.seconds for point in points]) if points else []),
        }
    )
