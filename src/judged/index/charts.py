"""Charts of index benchmarks: recall and throughput, latencies, response times under load, and costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from judged.blocks import Figure
from judged.figures import Record, draw_bars, draw_log_lines
from judged.index.measurement import describe
from judged.index.points import Point

HUES = ("a", "b", "d", "ink", "c", "e", "f")
"""Colours of engines in the palette, in an order in which neighbours differ for every kind of sight."""


def choose_hues(points: Sequence[Point]) -> dict[str, str]:
    """Return the colour of every engine, the same in every chart and table of a benchmark."""
    engines = dict.fromkeys(point.engine for point in points)
    return {engine: HUES[number % len(HUES)] for number, engine in enumerate(engines)}


def name_short(point: Point, among: Sequence[Point]) -> str:
    """Return the settings in which a point differs from the others of its engine; empty if in none."""
    own = {**point.measured.build, **point.measured.query}
    others = [{**one.measured.build, **one.measured.query} for one in among if one.engine == point.engine]
    return ", ".join(
        f"{name} {value}" for name, value in own.items() if any(one.get(name) != value for one in others)
    )


def draw_trade_off(points: Sequence[Point], recall: str) -> Figure:
    """Draw recall against throughput, with a line for each engine through the settings worth choosing."""
    engines = dict.fromkeys(point.engine for point in points)
    of_engine = {name: [point for point in points if point.engine == name] for name in engines}
    worthy = {point.name for some in of_engine.values() for point in find_optimal(some)}
    records: list[Record] = [
        {
            "group": point.engine,
            "label": f"{point.name}: recall {point.recall:.4f}, {point.qps:,.0f} queries/s",
            "x": point.recall,
            "y": point.qps,
            "on_line": point.name in worthy,
        }
        for point in points
    ]
    return draw_log_lines(
        records,
        name="recall-qps",
        title="Recall and throughput",
        x=recall,
        y="QPS(single)",
        note="Lines join the Pareto-optimal settings of an engine: none of its others is better in both",
        colours=choose_hues(points),
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


def draw_latencies(points: Sequence[Point], among: Sequence[Point]) -> Figure:
    """Draw the time within which a share of queries is answered, for the best setting of each engine `among` all."""
    hues = choose_hues(among)
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
        colours={point.name: hues[point.engine] for point in points},
    )


def draw_responses(points: Sequence[Point], among: Sequence[Point]) -> Figure:
    """Draw response times against the load, in the colours that engines have `among` all."""
    hues = choose_hues(among)
    records: list[Record] = [
        {
            "group": f"{point.engine}, {word}",
            "label": f"{point.name} at {loop.load:.0%}, {word}: {value:.3f} ms",
            "x": 100 * loop.load,
            "y": value,
            "on_line": True,
            "dashed": word == "p99",
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
        colours={
            f"{point.engine}, {word}": hues[point.engine] for point in points for word in ("p50", "p99")
        },
    )


def draw_costs(points: Sequence[Point]) -> Iterator[Figure]:
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
