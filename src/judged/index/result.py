"""The result of an index benchmark: which engine and setting is cheapest at a recall, and every number behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from judged.blocks import Block, Display, Estimate, Figure, Notes, Sentence, Table, Value
from judged.comparison.api import compare
from judged.comparison.result import Comparison
from judged.errors import BadSample, UnknownName, WrongKind
from judged.index.charts import draw_costs, draw_latencies, draw_responses, draw_trade_off
from judged.index.decision import (
    Choice,
    Criterion,
    Standing,
    choose_settings,
    find_criterion,
    find_supply,
    judge_recall,
    rank_engines,
)
from judged.index.measurement import TARGET, Workload, name_recall
from judged.index.points import Point, name_missed, name_percentile, name_strict
from judged.index.prices import Prices, price_point
from judged.index.records import (
    closed_records,
    open_records,
    subset_records,
    tabulate_queries,
    to_record,
)
from judged.index.sweeps.sweep import Failure
from judged.problem import Note
from judged.result import LazyTables, Provenance, Result, tabulate
from judged.scoring.evaluation import Evaluation
from judged.stats.intervals import Interval
from judged.stats.outcome import Undefined
from judged.wording import counted


@dataclass(frozen=True, eq=False, repr=False)
class IndexBenchmark(Result):
    """Engines and settings, measured on the same vectors and queries, in rounds of fresh processes.

    `benchmark.best()` has the cheapest setting of each engine that reaches the recall, cheapest first;
    `benchmark["hnswlib(M=16, ef_construction=200, ef=64)"]` is one point.
    """

    kind: ClassVar[str] = "index"
    version: ClassVar[int] = 2
    upgrades: ClassVar[Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]]] = {
        1: lambda state: {**state, "points": [_upgrade_point(point) for point in state["points"]]}
    }
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
    confident: bool = False
    """Whether a setting is chosen only if the lower end of its recall's interval reaches the target."""
    prices: Prices | None = None
    """Prices of processors and memory; None: money is not reported."""

    @property
    def recall(self) -> str:
        """Name of the recall that decides: the share of the k nearest among k answers, ties by distance."""
        return f"Recall@{self.workload.k}"

    @property
    def recall_measure(self) -> str:
        """The measure of that recall."""
        return name_recall(self.workload.k)

    def __getitem__(self, name: str) -> Point:
        """Return the point of that name."""
        for point in self.points:
            if point.name == name:
                return point
        raise UnknownName("point of this benchmark", name, [point.name for point in self.points])

    @property
    def criterion(self) -> Criterion:
        """Clock that ranks settings: `wall` time of a query, or `cpu` time where the machine was busy."""
        return find_criterion(self.points)

    def choose(self, at_recall: float | None = None) -> list[Choice]:
        """Return the cheapest setting of each engine at the target with the evidence for its recall, cheapest first."""
        target = self.at_recall if at_recall is None else at_recall
        return choose_settings(self.points, target, seed=self.workload.seed, confident=self.confident)

    def best(self, at_recall: float | None = None) -> list[Point]:
        """Return the cheapest setting of each engine whose recall reaches the target, cheapest engine first."""
        return [choice.point for choice in self.choose(at_recall)]

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

    def gate(self, baseline: Result, *, alpha: float, wall: bool = False) -> Sequence[Result]:
        """Return a gate for each setting that both benchmarks have: recall, processor time and, if asked, latency."""
        from judged.index.diff import gate_benchmarks

        if not isinstance(baseline, IndexBenchmark):
            msg = f"the baseline is a result of the kind `{baseline.kind}`, expected a benchmark of `judged index`"
            raise WrongKind(msg)
        return gate_benchmarks(self, baseline, alpha=alpha, wall=wall)

    def tables(self) -> Mapping[str, pa.Table]:
        """Return a row for each point, the loops, the filters and the churn, and every query."""
        return LazyTables(
            {
                "points": lambda: tabulate([to_record(point) for point in self.points]),
                "closed": lambda: tabulate(list(closed_records(self.points))),
                "open": lambda: tabulate(list(open_records(self.points))),
                "subsets": lambda: tabulate(list(subset_records(self.points))),
                "queries": lambda: tabulate_queries(self.points),
            }
        )

    def answer(self) -> str:
        """Return which engine and setting is cheapest at the recall asked for, as far as the rounds show it."""
        choices = self.choose()
        if not choices:
            highest = max(self.points, key=lambda point: point.recall)
            low, high = highest.interval or (highest.recall, highest.recall)
            return (
                f"No setting reaches {self.recall} ≥ {self.at_recall:g}: the highest is {highest.recall:.4f} "
                f"[{low:.4f}, {high:.4f}], of {highest.name}."
            )
        standing = rank_engines(choices, self.points)
        missing = sorted(
            {point.engine for point in self.points} - {choice.point.engine for choice in choices}
        )
        parts = [
            f"Chosen for {self.recall} ≥ {self.at_recall:g}: {_say_standing(choices, standing)}.",
            _describe_first(choices[0]),
            f"{', '.join(missing)} did not reach it." if missing else "",
        ]
        return " ".join(part for part in parts if part)

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return the answer, the engines at the recall, every point, what else was measured, and figures."""
        if self.points:
            yield Sentence(self.answer())
        yield Sentence(
            f"{self.dataset}: {self.vectors:,} vectors of {self.dimensions} dimensions, {self.queries:,} queries, "
            f"{self.metric}, k = {self.workload.k}, {counted(self.workload.threads, 'thread')}, "
            f"{_count_rounds(self.points, self.workload)}"
        )
        if self.points:
            choices = self.choose()
            if choices:
                yield self._tabulate_choices(choices)
            if self.workload.p99 is not None:
                yield from self._tabulate_supply(self.workload.p99)
            yield self._tabulate_quality()
            yield self._tabulate_costs()
            chosen = [choice.point for choice in choices]
            if self.prices is not None:
                yield self._tabulate_money(self.prices)
            yield from _tabulate_parts(self.points if display.per_query else chosen or self.points)
            yield from self._draw(chosen)
        for failure in self.failures:
            yield Sentence(f"{failure.name} failed: {failure.message}")
        if display.notes:
            yield Notes(self.notes)

    def _tabulate_choices(self, choices: Sequence[Choice]) -> Table:
        """Return the chosen setting of each engine, how it compares with the first, and the evidence for its recall."""
        k, standing = self.workload.k, rank_engines(choices, self.points)
        rows = tuple(
            (
                _label(choice.point),
                Estimate(choice.reach.recall, choice.reach.low, choice.reach.high),
                choice.reach.evidence,
                choice.point.measures.get(name_percentile(k)),
                choice.point.measures.get(name_missed(k)),
                *(_show(choice.point.estimate(name)) for name in ("qps", "p99", "cpu")),
                _show_ratio(standing.ratios[place - 1]) if place else "",
            )
            for place, choice in enumerate(choices)
        )
        by = "processor time" if standing.criterion == "cpu" else "wall time"
        return Table(
            ("setting", self.recall, "reached", "5th pct", "none", "QPS", "p99 ms", "CPU ms", "costs"),
            rows,
            title=f"Cheapest setting of each engine at {self.recall} ≥ {self.at_recall:g}, by {by}",
        )

    def _tabulate_supply(self, p99: float) -> Iterator[Block]:
        """Return the queries per second that each engine answers in time, at the recall."""
        supplies = find_supply(self.points, self.at_recall, p99, seed=self.workload.seed)
        title = f"Queries a second at p99 ≤ {p99:g} ms and {self.recall} ≥ {self.at_recall:g}"
        if not supplies:
            yield Sentence(f"{title}: no loop of any setting is within both.")
            return
        rows = tuple(
            (
                _label(supply.point),
                _show(supply.throughput),
                "response, open loop" if supply.is_open else "service, closed loop",
                supply.point.recall,
            )
            for supply in supplies
        )
        yield Table(("setting", "queries/s", "p99 of", self.recall), rows, title=title)

    def _tabulate_quality(self) -> Table:
        k, everything = self.workload.k, np.ones(self.queries, dtype=bool)
        names = (name_strict(k), name_percentile(k), name_missed(k), f"R@{k}", f"P@{k}", "RR")
        rows = tuple(
            (
                _label(point),
                Estimate(point.recall, *(point.interval or (None, None))),
                judge_recall(point, self.at_recall, everything).evidence,
                *(point.measures.get(name) for name in names),
                point.failed,
            )
            for point in self.points
        )
        columns = (self.recall, f"≥ {self.at_recall:g}", "by id", "5th pct", "none", f"R@{k}", f"P@{k}", "RR")
        return Table(("setting", *columns, "failed"), rows, title="Quality of all settings")

    def _tabulate_costs(self) -> Table:
        names = ("qps", "p50", "p90", "p95", "p99", "first", "cpu", "build", "memory", "disk")
        columns = (
            "QPS",
            "p50 ms",
            "p90 ms",
            "p95 ms",
            "p99 ms",
            "first ms",
            "CPU ms",
            "build s",
            "memory MiB",
            "disk MiB",
        )
        rows = tuple(
            (_label(point), *(_show(_scale(name, point.estimate(name))) for name in names))
            for point in self.points
        )
        return Table(("setting", *columns), rows, title="Cost of all settings")

    def _tabulate_money(self, prices: Prices) -> Table:
        """Return what a million queries and a month cost, next to recall and latency; sizes are per vector."""
        rows: list[tuple[Value, ...]] = []
        for point in self.points:
            money = price_point(point, prices)
            sizes = (point.estimate(name) for name in ("memory", "disk"))
            rows.append(
                (
                    _label(point),
                    point.recall,
                    _show(point.estimate("p99")),
                    _show(money.million),
                    _show(money.month),
                    *([money.instance or "–"] if prices.instances else []),
                    *(_show(size and Estimate(size.value / self.vectors)) for size in sizes),
                )
            )
        unit = prices.currency
        machine = ["machine"] if prices.instances else []
        columns = (f"{unit} / million queries", f"{unit} / month", *machine, "RAM B/vector", "disk B/vector")
        return Table(("setting", self.recall, "p99 ms", *columns), tuple(rows), title="Money")

    def _draw(self, chosen: Sequence[Point]) -> Iterator[Figure]:
        yield draw_trade_off(self.points, self.recall)
        shown = chosen or [max(self.points, key=lambda point: point.recall)]
        yield draw_latencies(shown, self.points)
        if any(point.measured.open for point in shown):
            yield draw_responses(shown, self.points)
        yield from draw_costs(self.points)


def _say_standing(choices: Sequence[Choice], standing: Standing) -> str:
    """Return who is cheapest, in words no stronger than the intervals."""
    first, others = choices[0].point, choices[1:]
    by = "processor time" if standing.criterion == "cpu" else "time"
    if not others:
        return f"{first.name} is the cheapest setting of the only engine that reaches it"
    second, ratio = others[0].point, standing.ratios[0]
    if isinstance(ratio, Undefined):
        return f"{first.name} was fastest in a single round, which cannot tell engines apart"
    shown = f"{ratio.mean:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"
    if standing.is_shown:
        return f"{first.name} is cheapest: {second.name} takes {shown} times its {by} for a query"
    level = [choice.point.name for place, choice in enumerate(others, 1) if not standing.is_apart(place)]
    why = ", since other work kept the machine busy" if standing.doubtful else ""
    return (
        f"one cannot tell {first.name} and {' and '.join(level)} apart: {second.name} takes {shown} times the {by} "
        f"of {first.name}{why}"
    )


def _describe_first(choice: Choice) -> str:
    point, reach = choice.point, choice.reach
    more = f"; about {reach.needed:,} queries would show it" if reach.needed else ""
    return (
        f"{point.name}: {_show(point.estimate('qps'))} queries/s, p99 {_show(point.estimate('p99'))} ms; recall "
        f"{reach.recall:.4f} [{reach.low:.4f}, {reach.high:.4f}], {reach.evidence} by {reach.queries:,} queries{more}."
    )


def _count_rounds(points: Sequence[Point], workload: Workload) -> str:
    counts = sorted({len(point.rounds) for point in points}) or [workload.rounds]
    return counted(counts[0], "round") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} rounds"


def _show_ratio(ratio: Interval | Undefined) -> str:
    if isinstance(ratio, Undefined):
        return str(ratio.reason)
    return f"{ratio.mean:.2f} [{ratio.low:.2f}, {ratio.high:.2f}] ×"


def _label(point: Point) -> str:
    return point.name + (" (emulated)" if point.measured.emulated else "")


def _scale(quantity: str, value: Estimate | None) -> Estimate | None:
    """Return a size in MiB; others as they are."""
    if value is None or quantity not in {"memory", "disk"}:
        return value
    low, high = (end and end / 2**20 for end in (value.low, value.high))
    return Estimate(value.value / 2**20, low, high)


def _show(value: Estimate | None) -> str:
    """Return an estimate with three significant digits, and a dash for an end that there are too few samples for.

    >>> _show(Estimate(12345.6, 11900.2, 12800.7)), _show(Estimate(0.0123, 0.01, float("inf"))), _show(None)
    ('12,346 [11,900, 12,801]', '0.0123 [0.01, –]', '–')
    """
    if value is None:
        return "–"
    if value.low is None or value.high is None:
        return _round(value.value)
    return f"{_round(value.value)} [{_round(value.low)}, {_round(value.high)}]"


def _round(value: float) -> str:
    return "–" if not np.isfinite(value) else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _upgrade_point(point: dict[str, Any]) -> dict[str, Any]:
    """Return a point of the first version, which was measured in one process."""
    kept: dict[str, Any] = {
        name: point[name] for name in ("measures", "recalls", "seconds", "subsets", "notes") if name in point
    }
    recalls = point["recalls"]
    return {**kept, "rounds": [point["measured"]], "round_recalls": [sum(recalls) / len(recalls)]}


_CLOSED = (
    *(
        "point",
        "clients",
        "clients_are",
        "throughput",
        "no_op_throughput",
        "p50_ms",
        "p99_ms",
        "client_share",
    ),
    "failed",
)
_OPEN = (
    *("point", "load", "rate", "throughput", "service_p50_ms", "service_p99_ms"),
    *("response_p50_ms", "response_p99_ms", "failed"),
)
_SUBSETS = (
    *("point", "phase", "share", "recall", "by_id", "pct5", "none", "short", "fewest"),
    *("p50_ms", "p99_ms", "queries_s", "update_s", "failed"),
)


def _tabulate_parts(points: Sequence[Point]) -> Iterator[Table]:
    """Return the loops, the filters and the churn of points."""
    if any(point.measured.closed for point in points):
        yield _tabulate_records(list(closed_records(points)), "Closed loop", _CLOSED)
    if any(point.measured.open for point in points):
        yield _tabulate_records(list(open_records(points)), "Open loop", _OPEN)
    if any(point.subsets for point in points):
        yield _tabulate_records(list(subset_records(points)), "Batches, filters and updates", _SUBSETS)


def _tabulate_records(records: Sequence[Mapping[str, Value]], title: str, columns: Sequence[str]) -> Table:
    rows = tuple(tuple(_to_cell(record, name) for name in columns) for record in records)
    return Table(tuple(name.replace("_", " ") for name in columns), rows, title=title)


def _to_cell(record: Mapping[str, Value], name: str) -> Value:
    """Return a value with its interval, where it has one."""
    value, low, high = (record.get(key) for key in (name, f"{name}_low", f"{name}_high"))
    if not isinstance(value, float) or not name.endswith(("_ms", "throughput", "rate", "queries_s")):
        return value
    ends = (low, high) if isinstance(low, float) and isinstance(high, float) else (None, None)
    return _show(Estimate(value, *ends))
