"""Vector index: which engine is cheapest at the recall asked for and how sure that is, what each trades, every setting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from judged.blocks import Display, Estimate, Figure, Table
from judged.index.charts import choose_hues, find_optimal, name_short
from judged.index.decision import Choice, Standing, judge_recall, rank_engines
from judged.report.packing import Json, to_plain
from judged.report.pages import Page, PageData
from judged.report.pages.result import to_json
from judged.stats.intervals import Interval
from judged.wording import counted

if TYPE_CHECKING:
    from judged.index.points import Point
    from judged.index.result import IndexBenchmark
    from judged.report.entry import Entry

DRAWN = "recall-qps"
"""The figure that the page draws itself."""
DIRECTIONS: Mapping[str, bool] = {"qps": True, "p99": False, "cpu": False, "build": False, "memory": False}
"""Quantities in the tables of the page, and whether more is better."""


def make_data(entry: Entry) -> PageData:
    """Return the answer in words, every point with its intervals, and the other tables and figures as blocks."""
    benchmark = cast("IndexBenchmark", entry.result)
    short = {
        point.name: f"{point.engine} {setting}"
        if (setting := name_short(point, benchmark.points))
        else point.engine
        for point in benchmark.points
    }
    blocks = [
        _shorten(to_json(block), short)
        for block in benchmark.blocks(Display(notes=False))
        if (isinstance(block, Figure) and block.name != DRAWN)
        or (
            isinstance(block, Table)
            and not (block.title or "").startswith(("Cheapest", "Quality of", "Cost of"))
        )
    ]
    if not benchmark.points:
        return PageData({"points": [], "title": "Nothing was measured.", "facts": []}, {"blocks": blocks})
    choices, points = benchmark.choose(), benchmark.points
    standing = rank_engines(choices, points) if choices else None
    chosen = [choice.point.name for choice in choices]
    optimal = {
        point.name
        for engine in dict.fromkeys(point.engine for point in points)
        for point in find_optimal([one for one in points if one.engine == engine])
    }
    head: dict[str, Json] = {
        "title": _say_title(benchmark, choices, standing),
        "lead": _say_lead(benchmark, choices, standing),
        "facts": [
            f"{benchmark.dataset}: {benchmark.vectors:,} vectors, {benchmark.dimensions:,} dimensions, {benchmark.metric}",
            f"{benchmark.queries:,} queries, {benchmark.workload.k} neighbours",
            counted(benchmark.workload.threads, "thread"),
            counted(max(len(point.rounds) for point in points), "round"),
        ],
        "target": benchmark.at_recall,
        "recall": benchmark.recall,
        "by": "processor time" if benchmark.criterion == "cpu" else "wall time",
        "engines": [_pack_engine(name, hue, points) for name, hue in choose_hues(points).items()],
        "points": [
            _pack_point(point, benchmark, front=point.name in optimal, chosen=chosen) for point in points
        ],
        "ratios": _pack_ratios(standing),
        "best": {
            name: _find_best([choice.point.estimate(name) for choice in choices], more=more)
            for name, more in DIRECTIONS.items()
        },
    }
    return PageData(head, {"blocks": blocks})


def _shorten(part: Json, names: Mapping[str, str]) -> Json:
    """Return a block with the short names of points, wherever one stands alone."""
    if isinstance(part, str):
        return names.get(part, part)
    if isinstance(part, Mapping):
        return {key: _shorten(value, names) for key, value in part.items()}
    return [_shorten(value, names) for value in part] if isinstance(part, Sequence) else part


def _pack_engine(name: str, hue: str, points: Sequence[Point]) -> Json:
    own = [point for point in points if point.engine == name]
    settings = [{**point.measured.build, **point.measured.query} for point in own]
    same = [
        f"{key} {value}"
        for key, value in settings[0].items()
        if all(one.get(key) == value for one in settings)
    ]
    return {"name": name, "hue": hue, "version": own[0].measured.version, "always": ", ".join(same)}


def _pack_point(point: Point, benchmark: IndexBenchmark, *, front: bool, chosen: Sequence[str]) -> Json:
    low, high = point.interval or (None, None)
    reach = judge_recall(point, benchmark.at_recall, np.ones(benchmark.queries, dtype=bool))
    return {
        "engine": point.engine,
        "name": point.name,
        "setting": name_short(point, benchmark.points),
        "recall": to_plain(point.recall),
        "low": to_plain(low),
        "high": to_plain(high),
        "evidence": reach.evidence,
        "front": front,
        "chosen": chosen.index(point.name) if point.name in chosen else -1,
        "failed": point.failed,
        **{
            name: _pack_estimate(point.estimate(name))
            for name in ("qps", "p50", "p99", "cpu", "build", "memory", "disk")
        },
        "measures": {name: to_plain(value) for name, value in point.measures.items()},
    }


def _pack_estimate(value: Estimate | None) -> Json:
    return None if value is None else to_plain([value.value, value.low, value.high])


def _pack_ratios(standing: Standing | None) -> Json:
    ratios = () if standing is None else standing.ratios
    return [
        to_plain([ratio.mean, ratio.low, ratio.high]) if isinstance(ratio, Interval) else None
        for ratio in ratios
    ]


def _find_best(values: Sequence[Estimate | None], *, more: bool) -> int:
    """Return the place of the value whose interval is apart from all others; −1 if there is none."""
    ends = [
        (value.low, value.high)
        if value is not None and value.low is not None and value.high is not None
        else None
        for value in values
    ]
    apart: Callable[[tuple[float, float], tuple[float, float]], bool] = (
        (lambda one, other: one[0] > other[1]) if more else (lambda one, other: one[1] < other[0])
    )
    for place, own in enumerate(ends):
        others = [other for number, other in enumerate(ends) if number != place]
        if own is not None and others and all(other is not None and apart(own, other) for other in others):
            return place
    return -1


def _say_title(benchmark: IndexBenchmark, choices: Sequence[Choice], standing: Standing | None) -> str:
    target = f"{benchmark.at_recall:g}"
    if standing is None:
        highest = max(benchmark.points, key=lambda point: point.recall)
        return f"No engine reaches recall {target}: the highest is {highest.recall:.3f}, of {highest.engine}."
    first = choices[0].point
    pace = f"{_say_number(first.qps)} queries a second"
    if len(choices) == 1:
        return f"{first.engine} reaches recall {target} with {pace}."
    if standing.is_shown:
        times = cast("Interval", standing.ratios[0]).mean
        return f"{first.engine} is the cheapest way to recall {target}: {pace}, at 1/{times:.2g} of the {_name_cost(standing)} of {choices[1].point.engine}."
    level = [
        choice.point.engine
        for place, choice in enumerate(choices)
        if not place or not standing.is_apart(place)
    ]
    names = f"{', '.join(level[:-1])} and {level[-1]}"
    return f"{names} cannot be separated at recall {target}: about {pace}."


def _name_cost(standing: Standing) -> str:
    """Return what engines are compared by, in words."""
    return "processor time" if standing.criterion == "cpu" else "time"


def _say_lead(benchmark: IndexBenchmark, choices: Sequence[Choice], standing: Standing | None) -> str:
    if standing is None:
        return "Raise the effort of the settings, or search for it with --at-recall."
    choice = choices[0]
    point, reach = choice.point, choice.reach
    setting = name_short(point, benchmark.points)
    setting = f" with {setting}" if setting else ""
    interval = f"{reach.recall:.3f} [{reach.low:.3f}, {reach.high:.3f}]"
    chosen = "queries that it was not chosen by"
    parts = [f"{point.engine}{setting} has recall {interval} on {reach.queries:,} {chosen}"]
    if reach.evidence != "shown":
        more = f": about {reach.needed:,} queries would show it" if reach.needed else ""
        parts.append(f"that it reaches {benchmark.at_recall:g} is {reach.evidence}{more}")
    p99 = point.estimate("p99")
    if p99 is not None:
        parts.append(f"99 of 100 queries take at most {_say_time(p99.value)}")
    if standing.ratios and isinstance(standing.ratios[0], Interval):
        ratio = standing.ratios[0]
        parts.append(
            f"{choices[1].point.engine} takes {ratio.mean:.2f} [{ratio.low:.2f}, {ratio.high:.2f}] times its "
            f"{_name_cost(standing)}"
        )
    missing = sorted({one.engine for one in benchmark.points} - {one.point.engine for one in choices})
    if missing:
        parts.append(f"{', '.join(missing)} did not reach {benchmark.at_recall:g}")
    return "; ".join(parts) + "."


def _say_number(value: float) -> str:
    """Return a number with three significant digits.

    >>> _say_number(111847), _say_number(26.31)
    ('112,000', '26.3')
    """
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 100 else f"{value:.3g}"


def _say_time(milliseconds: float) -> str:
    """Return a time in a unit that makes it 1 to 1,000.

    >>> _say_time(0.0263), _say_time(4.2), _say_time(1500)
    ('26.3 µs', '4.2 ms', '1.5 s')
    """
    if milliseconds < 1:
        return f"{milliseconds * 1000:.3g} µs"
    return f"{milliseconds:.3g} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.3g} s"


PAGE = Page("index", "Vector index", make_data, script="judged.index:page.js")
