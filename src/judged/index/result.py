"""The result of an index benchmark: which engine and setting is cheapest at a recall, and every number behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pyarrow as pa

from judged.blocks import Block, Display, Estimate, Figure, Notes, Sentence, Table, Value, mark_best
from judged.comparison.api import compare
from judged.comparison.result import Comparison
from judged.errors import BadSample, UnknownName, WrongKind
from judged.figures import Record, draw_bars, draw_log_lines
from judged.index.measurement import Latencies, Workload
from judged.index.points import Point, name_recall
from judged.index.sweep import Failure, describe
from judged.problem import Note
from judged.result import LazyTables, Provenance, Result, tabulate
from judged.scoring.evaluation import Evaluation
from judged.stats.bootstrap import bootstrap_interval, ratio
from judged.stats.intervals import Interval

TARGET = 0.95
"""The recall at which engines are compared, unless another one is asked for."""


@dataclass(frozen=True, eq=False, repr=False)
class IndexBenchmark(Result):
    """Engines and settings, measured on the same vectors and queries.

    `benchmark.best()` has the cheapest setting of each engine that reaches the recall, cheapest first;
    `benchmark["hnswlib(M=16, ef_construction=200, ef=64)"]` is one point.
    """

    kind: ClassVar[str] = "index"
    pages: ClassVar[tuple[str, ...]] = ("index",)
    detail: ClassVar[str] = "queries"

    dataset: str
    metric: str
    vectors: int
    dimensions: int
    queries: int
    workload: Workload
    points: tuple[Point, ...]
    at_recall: float = TARGET
    failures: tuple[Failure, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    notes: tuple[Note, ...] = ()

    @property
    def recall(self) -> str:
        """The name of the recall by which settings are chosen."""
        return name_recall(self.workload.k)

    def __getitem__(self, name: str) -> Point:
        """Return the point of that name."""
        for point in self.points:
            if point.name == name:
                return point
        raise UnknownName("point of this benchmark", name, [point.name for point in self.points])

    def best(self, at_recall: float | None = None) -> list[Point]:
        """Return for each engine the fastest setting whose recall reaches the target, fastest engine first."""
        target = self.at_recall if at_recall is None else at_recall
        best: dict[str, Point] = {}
        for point in self.points:
            if point.recall >= target and (point.engine not in best or point.qps > best[point.engine].qps):
                best[point.engine] = point
        return sorted(best.values(), key=lambda point: -point.qps)

    def evaluations(self) -> Sequence[Evaluation]:
        """Return recall and latency of every query, an evaluation for each point."""
        return [point.evaluate() for point in self.points]

    def compare(self, *names: str, baseline: str | None = None) -> Comparison:
        """Compare points on the same queries, by default the best of each engine: recall and latency, paired."""
        points = [self[name] for name in names] if names else self.best()
        if len(points) < 2:
            msg = f"{len(points)} points to compare, expected two or more"
            raise BadSample(msg, hint=f"no two engines reach a recall of {self.at_recall:g}")
        return compare([point.evaluate() for point in points], baseline=baseline)

    def summary(self) -> Mapping[str, object]:
        """Return data set, target, and the cheapest setting."""
        best = self.best()
        return {
            "dataset": self.dataset,
            "metric": self.metric,
            "vectors": self.vectors,
            "dimensions": self.dimensions,
            "queries": self.queries,
            "k": self.workload.k,
            "at_recall": self.at_recall,
            "cheapest": best[0].name if best else None,
        }

    def gate(self, baseline: Result, *, alpha: float) -> Sequence[Result]:
        """Return a gate for each setting that both benchmarks have: recall and latency."""
        from judged.index.diff import gate_benchmarks

        if not isinstance(baseline, IndexBenchmark):
            msg = f"the baseline is a result of the kind `{baseline.kind}`, expected a benchmark of `judged index`"
            raise WrongKind(msg)
        return gate_benchmarks(self, baseline, alpha=alpha)

    def tables(self) -> Mapping[str, pa.Table]:
        """Return a row for each point, the loops, the filters and the churn, and every query."""
        return LazyTables(
            {
                "points": lambda: tabulate([_to_record(point) for point in self.points]),
                "closed": lambda: tabulate(list(_closed_records(self.points))),
                "open": lambda: tabulate(list(_open_records(self.points))),
                "subsets": lambda: tabulate(list(_subset_records(self.points))),
                "queries": lambda: _tabulate_queries(self.points),
            }
        )

    def answer(self) -> str:
        """Return which engine and setting is cheapest at the recall asked for, in a sentence or two."""
        best = self.best()
        if not best:
            highest = max(self.points, key=lambda point: point.recall)
            return (
                f"No setting reaches {self.recall} ≥ {self.at_recall:g}: the highest is {highest.recall:.4f}, "
                f"of {highest.name}."
            )
        first = best[0]
        answer = (
            f"At {self.recall} ≥ {self.at_recall:g}, {first.name} is cheapest: {first.qps:,.0f} queries/s on one "
            f"thread, p99 {_round(first.measured.latency.p99)} ms, recall {first.recall:.4f}"
        )
        if len(best) > 1:
            answer += f"; {_compare_speed(first, best[1])}"
        missing = sorted({point.engine for point in self.points} - {point.engine for point in best})
        return answer + "." + (f" {', '.join(missing)} did not reach it." if missing else "")

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return the answer, the engines at the recall, every point, what else was measured, and figures."""
        if self.points:
            yield Sentence(self.answer())
        yield Sentence(
            f"{self.dataset}: {self.vectors:,} vectors of {self.dimensions} dimensions, {self.queries:,} queries, "
            f"{self.metric}, k = {self.workload.k}, {self.workload.threads} thread"
            f"{'s' if self.workload.threads > 1 else ''}"
        )
        if self.points:
            yield from self._tabulate(self.points if display.per_query else self.best() or self.points)
            yield from self._draw()
        for failure in self.failures:
            yield Sentence(f"{failure.name} failed: {failure.message}")
        if display.notes:
            yield Notes(self.notes)

    def _tabulate(self, detailed: Sequence[Point]) -> Iterator[Table]:
        """Return the settings at the recall, all settings, and the loops and filters of the detailed ones."""
        best = self.best()
        if best:
            yield mark_best(
                Table(
                    _COLUMNS,
                    tuple(map(_to_row, best)),
                    title=f"Cheapest setting of each engine at {self.recall} ≥ {self.at_recall:g}",
                ),
                {"QPS(single)": True, "build s": False, "memory MiB": False},
            )
        yield Table(_COLUMNS, tuple(map(_to_row, self.points)), title="All settings")
        if any(point.measured.closed for point in detailed):
            yield _tabulate_records(list(_closed_records(detailed)), "Closed loop", _CLOSED)
        if any(point.measured.open for point in detailed):
            yield _tabulate_records(list(_open_records(detailed)), "Open loop", _OPEN)
        if any(point.subsets for point in detailed):
            yield _tabulate_records(list(_subset_records(detailed)), "Filters and churn", _SUBSETS)

    def _draw(self) -> Iterator[Figure]:
        yield self._draw_trade_off()
        shown = self.best() or [max(self.points, key=lambda point: point.recall)]
        yield _draw_latencies(shown)
        if any(point.measured.open for point in shown):
            yield _draw_responses(shown)
        yield from _draw_costs(self.points)

    def _draw_trade_off(self) -> Figure:
        """Draw recall against throughput, with a line for each engine through the settings worth choosing."""
        engines = dict.fromkeys(point.engine for point in self.points)
        of_engine = {name: [point for point in self.points if point.engine == name] for name in engines}
        worthy = {point.name for points in of_engine.values() for point in find_optimal(points)}
        points: list[Record] = [
            {
                "group": point.engine,
                "label": f"{point.name}: recall {point.recall:.4f}, {point.qps:,.0f} queries/s",
                "x": point.recall,
                "y": point.qps,
                "on_line": point.name in worthy,
            }
            for point in self.points
        ]
        return draw_log_lines(
            points,
            name="recall-qps",
            title="Recall and throughput",
            x=self.recall,
            y="QPS(single)",
            note="Lines join the Pareto-optimal settings of an engine: none of its others is better in both",
        )


def find_optimal(points: Sequence[Point]) -> list[Point]:
    """Return the points that no other one beats in both recall and throughput."""
    return [
        point
        for point in points
        if not any(
            other.recall >= point.recall
            and other.qps >= point.qps
            and (other.recall, other.qps) != (point.recall, point.qps)
            for other in points
        )
    ]


def _compare_speed(first: Point, second: Point) -> str:
    """Return by how much the first point is faster, with the interval of the ratio over queries."""
    times = second.qps and first.qps / second.qps
    ends = bootstrap_interval(second.seconds, ratio(first.seconds), method="percentile", resamples=2000)
    interval = f" [{ends.low:.2f}, {ends.high:.2f}]" if isinstance(ends, Interval) else ""
    return f"{times:.2f}{interval} times as fast as {second.name}"


_COLUMNS = (
    *("setting", "recall", "tie-aware", "p10", "QPS(single)", "p50 ms", "p99 ms", "CPU ms"),
    *("build s", "memory MiB", "failed"),
)


def _to_row(point: Point) -> tuple[Value, ...]:
    measured, values = point.measured, list(point.measures.values())
    low, high = point.interval or (None, None)
    return (
        point.name + (" (emulated)" if measured.emulated else ""),
        Estimate(point.recall, low, high),
        values[1],
        values[5],
        f"{point.qps:.0f}",
        measured.latency.p50,
        measured.latency.p99,
        measured.client_cpu + (measured.server_cpu or 0.0),
        measured.cost.seconds,
        None if measured.cost.memory is None else measured.cost.memory / 2**20,
        measured.failed,
    )


def _to_record(point: Point) -> dict[str, Value]:
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
        "QPS(single)": point.qps,
        **_name_latencies(measured.latency, ""),
        "client_cpu_ms": measured.client_cpu,
        "server_cpu_ms": measured.server_cpu,
        "insert_s": cost.insert_seconds,
        "index_s": cost.index_seconds,
        "build_s": cost.seconds,
        "build_cpu_s": cost.cpu_seconds,
        "vectors_per_s": cost.vectors_per_second,
        "memory_bytes": cost.memory,
        "disk_bytes": cost.disk,
        "asked": measured.queries,
        "failed": measured.failed,
        "retried": measured.retried,
        "emulated": measured.emulated,
        "key": measured.key,
    }


def _name_latencies(latency: Latencies, prefix: str) -> dict[str, Value]:
    names = ("p50", "p90", "p95", "p99", "p999", "mean", "max")
    return {f"{prefix}{name}_ms": float(getattr(latency, name)) for name in names}


def _closed_records(points: Sequence[Point]) -> Iterator[dict[str, Value]]:
    for point in points:
        for loop in point.measured.closed:
            yield {
                "point": point.name,
                "clients": loop.clients,
                "throughput": loop.throughput,
                "queries": loop.queries,
                "failed": loop.failed,
                **_name_latencies(loop.latency, ""),
                "client_cpu_ms": loop.client_cpu,
                "server_cpu_ms": loop.server_cpu,
            }


def _open_records(points: Sequence[Point]) -> Iterator[dict[str, Value]]:
    for point in points:
        for loop in point.measured.open:
            yield {
                "point": point.name,
                "load": loop.load,
                "rate": loop.rate,
                "throughput": loop.throughput,
                "queries": loop.queries,
                "failed": loop.failed,
                **_name_latencies(loop.service, "service_"),
                **_name_latencies(loop.response, "response_"),
                "lateness_p99_ms": loop.lateness,
            }


def _subset_records(points: Sequence[Point]) -> Iterator[dict[str, Value]]:
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
                "tie_aware": values[1],
                "short": values[7],
                "fewest": subset.fewest,
                "failed": subset.failed,
                **_name_latencies(subset.latency, ""),
            }


_CLOSED = ("point", "clients", "throughput", "p50_ms", "p99_ms", "max_ms", "client_cpu_ms", "failed")
_OPEN = (
    *("point", "load", "rate", "throughput", "service_p50_ms", "service_p99_ms"),
    *("response_p50_ms", "response_p99_ms", "failed"),
)
_SUBSETS = ("point", "phase", "share", "recall", "tie_aware", "short", "fewest", "p50_ms", "p99_ms", "failed")


def _tabulate_records(records: Sequence[Mapping[str, Value]], title: str, columns: Sequence[str]) -> Table:
    rows = tuple(tuple(record[name] for name in columns) for record in records)
    return Table(tuple(name.replace("_", " ") for name in columns), rows, title=title)


def _tabulate_queries(points: Sequence[Point]) -> pa.Table:
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


def _draw_latencies(points: Sequence[Point]) -> Figure:
    """Draw the time within which a share of queries is answered, for the best setting of each engine."""
    shares = [1, 5, 10, 25, 50, 75, 90, 95, 99, 100]
    records: list[Record] = [
        {
            "group": point.name,
            "label": f"{point.name}: {share} % within {time:.3f} ms",
            "x": share,
            "y": float(time),
            "on_line": True,
        }
        for point in points
        for share, time in zip(shares, np.percentile(point.seconds * 1000, shares), strict=True)
    ]
    return draw_log_lines(
        records,
        name="latency",
        title="Latency, one query at a time",
        x="% of queries",
        y="answered within, ms",
        note="Mean time of each query over the passes; the cheapest setting of each engine",
    )


def _draw_responses(points: Sequence[Point]) -> Figure:
    """Draw response times against the load."""
    records: list[Record] = [
        {
            "group": f"{point.engine}, {word}",
            "label": f"{point.name} at {loop.load:.0%}, {word}: {value:.3f} ms",
            "x": 100 * loop.load,
            "y": value,
            "on_line": True,
        }
        for point in points
        for loop in point.measured.open
        for word, value in (("p50", loop.response.p50), ("p99", loop.response.p99))
    ]
    return draw_log_lines(
        records,
        name="response",
        title="Response time under load",
        x="arrivals, % of capacity",
        y="response time, ms",
        note="From the arrival of a query to its answer, with arrivals that do not wait for the engine",
    )


def _draw_costs(points: Sequence[Point]) -> Iterator[Figure]:
    """Draw the build time, and where it is known the memory, of every build."""
    builds = {describe(point.engine, point.measured.build, {}): point.measured.cost for point in points}
    times: list[Record] = [
        {"group": name, "name": word, "value": value}
        for name, cost in builds.items()
        for word, value in (("insertion", cost.insert_seconds), ("indexing", cost.index_seconds))
    ]
    yield draw_bars(times, name="build", title="Build time", value="seconds")
    sizes: list[Record] = [
        {"group": name, "name": word, "value": size / 2**20}
        for name, cost in builds.items()
        for word, size in (("memory", cost.memory), ("disk", cost.disk))
        if size is not None
    ]
    if sizes:
        yield draw_bars(sizes, name="size", title="Size of the index", value="MiB")


def _round(value: float) -> str:
    return f"{value:.3g}"
