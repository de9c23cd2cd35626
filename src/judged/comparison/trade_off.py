"""Accuracy, diversity and latency side by side, as a table and as a picture."""

from __future__ import annotations

from judged.blocks import Table
from judged.comparison.comparison import Comparison
from judged.comparison.latency import Latency, pareto
from judged.comparison.shared import Shared
from judged.errors import BadSample
from judged.report.scatter import Point, scatter
from judged.stats.intervals import Interval

__all__ = ["milliseconds", "trade_off", "trade_off_picture"]

TITLE = "Trade-off: unbeaten is what no other system matches in all and exceeds in one"


def trade_off(comparison: Comparison) -> Table:
    """A row for each system with timings; marked is what no other system beats in all of them."""
    chosen, unbeaten = _axes(comparison), _unbeaten(comparison)
    rows = tuple(
        (
            each.system,
            *(comparison.mean(each.system, str(s.measure)).mean for s in chosen),
            milliseconds(each.mean),
            "unbeaten" if each.system in unbeaten else "",
        )
        for each in _ordered(comparison)
    )
    return Table(("system", *(str(s.measure) for s in chosen), "mean ms", "trade-off"), rows, title=TITLE)


def trade_off_picture(comparison: Comparison) -> str:
    """An SVG: latency to the right, accuracy upwards with its interval, diversity as the size of the point."""
    if not comparison.latencies:
        msg = "the picture shows accuracy against latency, and there are no timings"
        raise BadSample(msg, hint="give `timings=…`, or `--timings FILE`")
    first, *second = _axes(comparison)
    unbeaten, points = _unbeaten(comparison), []
    for each in _ordered(comparison):
        mean = comparison.mean(each.system, str(first.measure))
        low, high = (
            (mean.interval.low, mean.interval.high) if isinstance(mean.interval, Interval) else (None, None)
        )
        size = comparison.mean(each.system, str(second[0].measure)).mean if second else None
        points.append(Point(each.system, each.mean, mean.mean, low, high, size, each.system in unbeaten))
    sized = f"; larger: more {second[0].measure}" if second else ""
    note = f"Filled: unbeaten in all of these; lines: {100 * comparison.settings.level:g} % interval{sized}"
    return scatter(
        points, title="Accuracy against latency", x="mean latency (ms)", y=str(first.measure), note=note
    )


def milliseconds(value: float) -> str:
    """A time as people read it."""
    return f"{value:.2f}"


def _ordered(comparison: Comparison) -> list[Latency]:
    """The systems with timings, in the order of the leaderboard."""
    return sorted(comparison.latencies, key=lambda each: list(comparison.letters).index(each.system))


def _unbeaten(comparison: Comparison) -> list[str]:
    chosen = _axes(comparison)
    return pareto(
        {
            each.system: [s.sign * comparison.mean(each.system, str(s.measure)).mean for s in chosen]
            + [-each.mean]
            for each in comparison.latencies
        }
    )


def _axes(comparison: Comparison) -> list[Shared]:
    """The first measure of accuracy and the first of diversity, as far as they were asked for."""
    diverse = [each for each in comparison.scores if each.measure.family == "diversity"]
    accurate = [each for each in comparison.scores if each.measure.family != "diversity"]
    return [*accurate[:1], *diverse[:1]]
