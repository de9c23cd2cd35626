"""A comparison as people read it: leaderboard, differences, the queries that changed most, slices, trade-off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from judged.blocks import Block, Display, Estimate, Figure, Notes, Sentence, Table, Value, format_p, mark_best
from judged.comparison.contrasts import Contrast, Mean, PairedScores
from judged.comparison.extra_tests import EXTRA_TESTS, Rows, rank_systems
from judged.comparison.settings import SHORT, TESTS
from judged.errors import BadSample
from judged.figures import Record, draw_bars, draw_critical_difference, draw_scatter
from judged.stats.intervals import Interval
from judged.stats.outcome import Cell, Undefined, as_cell
from judged.wording import counted, plural

if TYPE_CHECKING:
    from judged.comparison.result import Change, Comparison, Latency

__all__ = ["find_pareto_optimal", "make_blocks", "pareto_optimal", "rank_figure", "trade_off_figure"]

MOST = 60
"""More contrasts than this are not shown to people; the formats for programs have all of them."""
MOST_IN_FIGURE = 6
"""Systems that a figure shows by several measures."""
NAMED = 3
"""How many of the most helped and most hurt queries are named."""
TRADE_OFF = (
    "Trade-off (Pareto-optimal: no other system is at least as good on everything and better on something)"
)


def make_blocks(comparison: Comparison, display: Display) -> Iterator[Block]:
    """Yield what people read, the leaderboard first."""
    yield replace(_leaderboard(comparison, display), title=display.title, corner="measure")
    if display.per_query:
        yield from _query_tables(comparison)
    if len(comparison.contrasts) <= MOST:
        yield _difference_table(comparison, display.digits)
        if any(contrast.count for contrast in comparison.contrasts):
            yield _extreme_table(comparison, display.digits)
    if comparison.latencies and _axes(comparison):
        yield _trade_off_table(comparison)
        yield trade_off_figure(comparison)
    yield from _slice_tables(comparison, display)
    yield from _extra_blocks(comparison, display)
    if display.notes:
        yield Sentence(comparison.method)
        yield Notes(comparison.notes)


def _slice_tables(comparison: Comparison, display: Display) -> Iterator[Table]:
    for (attribute, value), part in comparison.slices.items():
        title = f"{attribute} = {value} ({counted(len(part.scores[0].queries), part.unit)})"
        yield replace(_leaderboard(part, display), title=title)
        if len(part.contrasts) <= MOST:
            yield replace(_difference_table(part, display.digits), title=f"Differences where {title}")
    if comparison.interactions and len(comparison.interactions) <= MOST:
        yield _interaction_table(comparison, display.digits)


def _extra_blocks(comparison: Comparison, display: Display) -> Iterator[Block]:
    for name, by_measure in comparison.extra.items():
        for measure, rows in by_measure.items():
            yield _extra_table(f"{EXTRA_TESTS[name][0]}: {measure}", rows, display.digits)
    directed = [scores for scores in comparison.scores if scores.has_direction]
    if "friedman" in comparison.extra and directed:
        yield rank_figure(comparison, directed[0])


def _leaderboard(comparison: Comparison, display: Display) -> Table:
    """Return a row for each system, the best in the first measure first: means with intervals, marks, latency.

    The marks are the letters of the systems that it is significantly better than.
    """
    columns, better = ["system", "mark"], {}
    rows: dict[str, list[Value]] = {name: [name, mark] for name, mark in comparison.letters.items()}
    for scores in comparison.scores:
        marks = {name: _letters(comparison, comparison.beaten(name, scores.measure)) for name in rows}
        beside = any(marks.values()) and not display.superscripts
        columns += [scores.measure, *(["better than"] if beside else [])]
        better[scores.measure] = scores.higher_is_better
        for name, row in rows.items():
            mean = comparison.mean(name, scores.measure)
            row += [
                _estimate(mean.mean, mean.interval, marks[name] if display.superscripts else ""),
                *([marks[name]] if beside else []),
            ]
    if comparison.latencies:
        columns += ["mean ms", "p50 ms", "p95 ms", "p99 ms"]
        known = {latency.system: latency for latency in comparison.latencies}
        for name, row in rows.items():
            row.extend(_latency_cells(known.get(name)))
    return mark_best(Table(tuple(columns), tuple(map(tuple, rows.values()))), better, digits=display.digits)


def _latency_cells(latency: Latency | None) -> list[Value]:
    if latency is None:
        return ["no timings", None, None, None]
    return [_milliseconds(time) for time in (latency.mean, latency.p50, latency.p95, latency.p99)]


def _letters(comparison: Comparison, names: Iterable[str]) -> str:
    """Return the letters of systems; with more than 26 of them, commas separate `ab` from `a` and `b`."""
    between = "," if len(comparison.systems) > 26 else ""
    return between.join(comparison.letters[name] for name in names)


def _estimate(value: float, interval: Interval | Undefined, marks: str = "") -> Estimate:
    if isinstance(interval, Undefined):
        return Estimate(value, reason=str(interval), marks=marks)
    return Estimate(value, interval.low, interval.high, marks=marks)


def _difference_table(comparison: Comparison, digits: int) -> Table:
    """Return a row for each contrast: the difference with its interval, effect, counts, p, corrected p, stars."""
    settings = comparison.settings
    corrected = () if settings.correction == "none" else (f"p ({SHORT[settings.correction]})",)
    columns = ("measure", "system", "baseline", "difference", "g", "P(better)", "won/tied/lost", "p")

    def row(contrast: Contrast) -> tuple[Value, ...]:
        count = contrast.count
        undefined = str(contrast.outcome) if isinstance(contrast.outcome, Undefined) else None
        return (
            contrast.measure,
            contrast.system,
            contrast.baseline,
            _estimate(contrast.difference, contrast.interval),
            as_cell(contrast.hedges),
            contrast.superiority,
            f"{count.wins}/{count.ties}/{count.losses}" if count else "",
            undefined or format_p(contrast.p, digits=digits),
            *((format_p(contrast.corrected, digits=digits),) if corrected else ()),
            contrast.stars,
            as_cell(contrast.detectable),
        )

    rows = tuple(row(contrast) for contrast in comparison.contrasts)
    return Table(
        (*columns, *corrected, "stars", "detectable"), rows, title=f"Differences ({TESTS[settings.test]})"
    )


def _extreme_table(comparison: Comparison, digits: int) -> Table:
    """Return the queries that gained and lost most, for each contrast."""

    def written(changes: list[Change]) -> str:
        return ", ".join(f"{query} {difference:+.{digits}f}" for query, difference in changes) or "none"

    rows: list[tuple[Value, ...]] = []
    for contrast in comparison.contrasts:
        if contrast.count is None:
            continue  # the measure has no better direction
        names = (contrast.system, contrast.baseline, contrast.measure)
        helped = comparison.most_helped(*names, count=NAMED)
        hurt = comparison.most_hurt(*names, count=NAMED)
        rows.append((contrast.measure, contrast.system, contrast.baseline, written(helped), written(hurt)))
    columns = ("measure", "system", "baseline", "most helped", "most hurt")
    return Table(columns, tuple(rows), title=f"{plural(comparison.unit).capitalize()} that changed most")


def _query_tables(comparison: Comparison) -> Iterator[Table]:
    """Yield a table for each measure: the baseline's value and the differences of each query, or every value."""
    for scores in comparison.scores:
        if len(comparison.baselines) == 1:
            base = comparison.baselines[0]
            others = [name for name in comparison.letters if name != base]
            columns = [scores.column(base), *(scores.differences(name, base) for name in others)]
            names = (base, *(f"{name} − {base}" for name in others))
        else:
            columns, names = list(scores.values.T), scores.systems
        rows = zip(scores.queries, *(column.tolist() for column in columns), strict=True)
        yield Table((comparison.unit, *names), tuple(rows), title=scores.measure)


def _interaction_table(comparison: Comparison, digits: int) -> Table:
    """Return a row for each attribute and contrast: the difference in each slice, and whether it depends on the slice."""
    names = (
        "attribute",
        "measure",
        "system",
        "baseline",
        "difference by slice",
        "p",
        "p (Holm)",
        "the difference",
    )
    rows = tuple(
        (
            interaction.attribute,
            interaction.measure,
            interaction.system,
            interaction.baseline,
            interaction.slices,
            format_p(interaction.p, digits=digits),
            format_p(interaction.corrected, digits=digits),
            interaction.verdict(comparison.settings.alpha),
        )
        for interaction in comparison.interactions
    )
    return Table(names, rows, title="Does the difference depend on the slice?")


def _extra_table(title: str, rows: Rows, digits: int) -> Table:
    columns = tuple(dict.fromkeys(name for row in rows for name in row))

    def cell(column: str, value: Cell) -> Value:
        is_p = column.startswith("p_") or column.endswith("_p") or column == "p"
        return format_p(value, digits=digits) if is_p and isinstance(value, float) else value

    cells = tuple(tuple(cell(name, row.get(name)) for name in columns) for row in rows)
    return Table(columns, cells, title=title)


def _trade_off_table(comparison: Comparison) -> Table:
    """Return a row for each system with timings, and which are Pareto-optimal."""
    axes, optimal = _axes(comparison), pareto_optimal(comparison)
    rows = tuple(
        (
            latency.system,
            *(comparison.mean(latency.system, scores.measure).mean for scores in axes),
            _milliseconds(latency.mean),
            "Pareto-optimal" if latency.system in optimal else "",
        )
        for latency in _by_rank(comparison)
    )
    names = ("system", *(scores.measure for scores in axes), "mean ms", "trade-off")
    return Table(names, rows, title=TRADE_OFF)


def trade_off_figure(comparison: Comparison) -> Figure:
    """Draw latency to the right, accuracy upwards with its interval, and diversity as the size of the point."""
    if not comparison.latencies:
        msg = "the picture shows accuracy against latency, and there are no timings"
        raise BadSample(msg, hint="give `timings=…`, or `--timings FILE`")
    if not _axes(comparison):
        msg = (
            f"the picture shows accuracy, and none of {', '.join(comparison.measures)} has a better direction"
        )
        raise BadSample(msg)
    first, *second = _axes(comparison)
    optimal = pareto_optimal(comparison)
    points = []
    for latency in _by_rank(comparison):
        mean: Mean = comparison.mean(latency.system, first.measure)
        point: dict[str, str | float | bool | None] = {
            "name": latency.system,
            "x": latency.mean,
            "y": mean.mean,
            "filled": latency.system in optimal,
        }
        if isinstance(mean.interval, Interval):
            point |= {"low": mean.interval.low, "high": mean.interval.high}
        if second:
            point["size"] = comparison.mean(latency.system, second[0].measure).mean
        points.append(point)
    size = second[0].measure if second else None
    sized = f"; larger: more {size}" if size else ""
    return draw_scatter(
        points,
        name="trade-off",
        title="Accuracy against latency",
        x="mean latency (ms)",
        y=first.measure,
        size=size,
        note=f"Filled: Pareto-optimal; lines: {100 * comparison.settings.level:g} % interval{sized}",
    )


def means_figure(comparison: Comparison) -> Figure:
    """Draw the mean of every system with its interval, by measure; of many systems, by the first measure."""
    few = len(comparison.systems) <= MOST_IN_FIGURE
    shown = comparison.measures if few else comparison.measures[:1]
    order = comparison.ranked()
    bars: list[Record] = []
    for mean in sorted(comparison.means, key=lambda mean: order.index(mean.system)):
        if mean.measure in shown:
            bar: dict[str, str | float | bool | None] = {"value": mean.mean, "low": None, "high": None}
            if isinstance(mean.interval, Interval):
                bar |= {"low": mean.interval.low, "high": mean.interval.high}
            # one measure: the systems are the rows; several: they are the colours
            place = (
                {"group": mean.measure, "name": mean.system}
                if few
                else {"group": mean.system, "name": mean.measure}
            )
            bars.append({**place, **bar})
    title = "Means" if few else f"Mean {shown[0]}"
    note = f"Lines: {100 * comparison.settings.level:g} % interval"
    return draw_bars(bars, name="means", title=title, value="mean", note=note)


def rank_figure(comparison: Comparison, scores: PairedScores) -> Figure:
    """Draw the critical-difference diagram of one measure."""
    found = rank_systems(comparison, scores)
    title = f"Average ranks by {scores.measure}"
    return draw_critical_difference(found.ranks, found.cliques, found.critical_difference, title=title)


def pareto_optimal(comparison: Comparison) -> list[str]:
    """Return the systems that are Pareto-optimal in accuracy, diversity and latency."""
    axes = _axes(comparison)
    return find_pareto_optimal(
        {
            latency.system: [
                *(float(scores.oriented.column(latency.system).mean()) for scores in axes),
                -latency.mean,
            ]
            for latency in comparison.latencies
        }
    )


def find_pareto_optimal(points: Mapping[str, Sequence[float]]) -> list[str]:
    """Return the names for which no other is at least as good in everything and better in something; more is better.

    >>> find_pareto_optimal({"fast": [0.3, -10.0], "good": [0.6, -50.0], "bad": [0.2, -60.0]})
    ['fast', 'good']
    """
    return [
        name
        for name, point in points.items()
        if not any(
            all(a >= b for a, b in zip(other, point, strict=True)) and list(other) != list(point)
            for other in points.values()
        )
    ]


def _axes(comparison: Comparison) -> list[PairedScores]:
    """Return the first measure of accuracy and the first of diversity, if there are any."""
    directed = [scores for scores in comparison.scores if scores.has_direction]
    diverse = [scores for scores in directed if scores.family == "diversity"]
    accurate = [scores for scores in directed if scores.family != "diversity"]
    return [*accurate[:1], *diverse[:1]]


def _by_rank(comparison: Comparison) -> list[Latency]:
    """Return the systems with timings, in the order of the leaderboard."""
    return sorted(comparison.latencies, key=lambda latency: list(comparison.letters).index(latency.system))


def _milliseconds(time: float) -> str:
    return f"{time:.2f}"
