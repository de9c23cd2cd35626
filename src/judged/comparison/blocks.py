"""A comparison as people read it: the answer, leaderboard, differences, queries, slices, trade-off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judged.blocks import (
    Block,
    Display,
    Estimate,
    Figure,
    Notes,
    Sentence,
    Table,
    Value,
    format_p,
    mark_best,
    query_table,
)
from judged.comparison.contrasts import Contrast, Mean, PairedScores
from judged.comparison.extra_tests import EXTRA_TESTS, Rows, rank_systems
from judged.comparison.missing import missing_table
from judged.comparison.repeats import repeats_blocks
from judged.comparison.settings import SHORT
from judged.errors import BadSample, UnknownName
from judged.figures import Record, draw_bars, draw_critical_difference, draw_scatter
from judged.problem import Note, split_doubts
from judged.stats.intervals import Interval
from judged.stats.outcome import Cell, Undefined, as_cell
from judged.wording import counted, plural

if TYPE_CHECKING:
    from judged.comparison.result import Change, Comparison, Latency

MOST = 60
"""More contrasts of a measure than this are not listed; the formats for programs have all of them."""
MATRIX = 26
"""More systems than this are not set against each other in a matrix."""
BETTER, WORSE = "▲", "▼"
"""The marks of a significant difference in a matrix, and against a single baseline."""
WITH_NUMBERS = 6
"""Up to this many systems, the cells of a matrix have the difference next to its mark."""
MOST_IN_FIGURE = 6
"""Systems that a figure shows by several measures."""
NAMED = 3
"""Maximum number of most helped and most hurt queries that are named."""
TRADE_OFF = (
    "Trade-off (Pareto-optimal: no other system is at least as good on everything and better on something)"
)


def make_blocks(comparison: Comparison, display: Display) -> Iterator[Block]:
    """Yield what people read: the answer, the leaderboard, the differences; for a paper, one table."""
    check_columns(display.columns)
    leaderboard = replace(_leaderboard(comparison, display), title=display.title, corner="measure")
    leaderboard = replace(leaderboard, caption=describe_means(comparison, marks=display.marks))
    if display.paper:
        yield from query_tables(comparison, display) if display.per_query else [leaderboard]
        return
    doubts, others = split_doubts(comparison.shown_notes(display))
    if display.notes and doubts:
        yield Notes(doubts)
    yield Sentence(comparison.describe_answer(digits=display.digits))
    yield leaderboard
    if display.marks and (legend := _describe_marks(comparison)):
        yield Sentence(legend)
    if display.per_query:
        yield from query_tables(comparison, display)
    else:
        yield from difference_tables(comparison, display)
    yield from error_blocks(comparison)
    if display.full and len(comparison.contrasts) <= MOST and any(c.count for c in comparison.contrasts):
        yield _extreme_table(comparison, display.digits)
    if comparison.latencies and find_axes(comparison):
        yield _trade_off_table(comparison)
        yield trade_off_figure(comparison)
    yield from _slice_tables(comparison, display)
    yield from _extra_blocks(comparison, display)
    if display.notes:
        yield Notes((*others, Note("method", "info", f"compared by {comparison.method}")))


def error_blocks(comparison: Comparison) -> Iterator[Block]:
    """Yield the bounds over missing values, and what the intervals of repeated values consist of."""
    if 0 < len(comparison.missing_bounds) <= MOST:
        yield missing_table(comparison.missing_bounds, plural(comparison.unit))
    if 0 < len(comparison.repeated_errors) <= MOST + len(comparison.means):
        yield from repeats_blocks(comparison.repeated_errors)


def describe_means(comparison: Comparison, *, marks: bool) -> str:
    """Return what a reader of the table needs: queries, marks, test, correction, level and protocol."""
    count = max(len(scores.queries) for scores in comparison.scores)
    protocols = ", ".join(record.describe() for record in comparison.provenance.protocols if record.text)
    sentences = [
        f"Means over {counted(count, comparison.unit)}.",
        _describe_marks(comparison) if marks else "",
        f"Compared by {comparison.method}.",
        f"Protocol: {protocols}." if protocols else "",
    ]
    return " ".join(filter(None, sentences))


def _describe_marks(comparison: Comparison) -> str:
    """Return how to read the marks of the leaderboard; empty if there is nothing to mark."""
    criterion = _describe_criterion(comparison)
    if not any(contrast.significant for contrast in comparison.contrasts):
        return f"No difference is significant (at {criterion})."
    many_baselines = len(comparison.baselines) > 1 and not comparison.letters
    if not comparison.answers or many_baselines:
        return ""
    untested = len(comparison.systems) > len(comparison.baselines) + 1
    if len(comparison.baselines) == 1:
        baseline = comparison.baselines[0]
        only = f"; pairs without {baseline} were not tested" if untested else ""
        return (
            f"{BETTER} significantly better, {WORSE} significantly worse than {baseline} ({criterion}){only}."
        )
    if not comparison.letters:
        return f"{WORSE} significantly worse than the best system of the column ({criterion})."
    if comparison.baselines:
        only = "; other pairs were not tested" if untested else ""
        return f"Letters: significantly better than these baselines ({criterion}){only}."
    return f"Letters: significantly better than these systems ({criterion})."


def _describe_criterion(comparison: Comparison) -> str:
    return comparison.settings.describe_marks(comparison.comparisons, every_pair=not comparison.baselines)


def _mark(comparison: Comparison, system: str, measure: str) -> str:
    """Return the marks of a mean: letters of the systems it beats, or an arrow."""
    if comparison.letters:
        beaten = comparison.beaten(system, measure)
        return _join_letters([letter for name, letter in comparison.letters.items() if name in beaten])
    answer = comparison.answer(measure) if comparison.answers else None
    # more baselines than letters; or the baseline, which marks are against
    if answer is None or len(comparison.baselines) > 1 or system in comparison.baselines:
        return ""
    if comparison.baselines and comparison.beaten(system, measure):
        return BETTER
    others = comparison.baselines or answer.best
    return WORSE if all(system in comparison.beaten(name, measure) for name in others) else ""


def direct_stars(contrast: Contrast, *, higher_is_better: bool | None) -> str:
    """Return the stars of a contrast behind the mark of a better or a worse system; `ns` and none have no direction."""
    if not contrast.significant or higher_is_better is None:
        return contrast.stars
    return f"{BETTER if (contrast.difference > 0) == higher_is_better else WORSE}{contrast.stars}"


def is_shown(comparison: Comparison) -> bool:
    """Return whether people see the differences: as a list, or as a matrix of all pairs."""
    several = len(comparison.contrasts) // len(comparison.scores)
    return several <= MOST or (not comparison.baselines and len(comparison.systems) <= MATRIX)


def _slice_tables(comparison: Comparison, display: Display) -> Iterator[Table]:
    for (attribute, value), part in comparison.slices.items():
        title = f"{attribute} = {value} ({counted(len(part.scores[0].queries), part.unit)})"
        yield replace(_leaderboard(part, display), title=title)
        for table in difference_tables(part, display):
            yield replace(table, title=f"{title}: {table.title}")
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
    """Return a row for each system, the best in the first measure first: its letter, marked means, latency."""
    letters = comparison.letters if display.marks else {}
    columns, better = ["system", *(["mark"] if letters else [])], {}
    rows: dict[str, list[Value]] = {
        name: [name, *([letters.get(name)] if letters else [])] for name in comparison.ranked()
    }
    for scores in comparison.scores:
        columns.append(scores.measure)
        better[scores.measure] = scores.higher_is_better
        for name, row in rows.items():
            mean = comparison.mean(name, scores.measure)
            marks = _mark(comparison, name, scores.measure) if display.marks else ""
            row.append(make_estimate(mean.mean, mean.interval, marks, bounds=display.intervals))
    if comparison.latencies:
        columns += ["mean ms", "p50 ms", "p95 ms", "p99 ms"]
        known = {latency.system: latency for latency in comparison.latencies}
        for name, row in rows.items():
            row.extend(_latency_cells(known.get(name)))
    table = Table(tuple(columns), tuple(map(tuple, rows.values())), keys=2 if letters else 1)
    return mark_best(table, better, digits=display.digits)


def _latency_cells(latency: Latency | None) -> list[Value]:
    if latency is None:
        return ["no timings", None, None, None]
    return [_milliseconds(time) for time in (latency.mean, latency.p50, latency.p95, latency.p99)]


def _join_letters(letters: Sequence[str]) -> str:
    """Return the letters of systems, of three and more in a row the first and the last.

    >>> _join_letters(["a", "b", "c", "e", "f"])
    'a–cef'
    """
    runs: list[str] = []
    for letter in letters:
        if runs and ord(runs[-1][-1]) + 1 == ord(letter):
            runs[-1] += letter
        else:
            runs.append(letter)
    return "".join(f"{run[0]}–{run[-1]}" if len(run) > 2 else run for run in runs)


def make_estimate(
    value: float, interval: Interval | Undefined, marks: str = "", *, bounds: bool = True
) -> Estimate:
    """Return a value as a cell, with its interval unless `bounds` is false."""
    if not bounds:
        return Estimate(value, marks=marks)
    if isinstance(interval, Undefined):
        return Estimate(value, reason=str(interval), marks=marks)
    return Estimate(value, interval.low, interval.high, marks=marks)


COLUMNS: dict[str, str] = {
    "difference": "difference",
    "change": "change",
    "p": "p",
    "corrected": "p (corrected)",
    "stars": "sig.",
    "won": "won/tied/lost",
    "effect": "g",
    "superiority": "P(better)",
    "detectable": "detectable",
}
"""The columns of a table of differences: what users call them, and their headings."""
USUAL = ("difference", "change", "corrected", "stars", "won")


def check_columns(names: Sequence[str]) -> None:
    """Raise `UnknownName` for a column that tables of differences do not have."""
    for name in names:
        if name not in COLUMNS:
            raise UnknownName("column of differences", name, list(COLUMNS))


def difference_tables(comparison: Comparison, display: Display) -> Iterator[Table]:
    """Yield a table for each measure: systems against the baseline, or every pair; of many, a matrix.

    Two systems are one table, with a row for each measure.
    """
    if not is_shown(comparison):
        return
    names = display.columns or (tuple(COLUMNS) if display.full else USUAL)
    listed = len(comparison.contrasts) <= MOST * len(comparison.scores)
    if not comparison.baselines and len(comparison.systems) > 3 and not (listed and names != USUAL):
        yield from (_matrix(comparison, scores, display.digits) for scores in comparison.scores)
    elif len(comparison.systems) == 2:
        only = comparison.contrasts[0]
        title = f"Difference of {only.system} from {only.baseline}"
        rows = [((contrast.measure,), contrast) for contrast in comparison.contrasts]
        yield _difference_table(comparison, ("measure",), rows, names, title, display.digits)
    else:
        for scores in comparison.scores:
            yield _measure_differences(comparison, scores, names, display.digits)


def _measure_differences(
    comparison: Comparison, scores: PairedScores, names: Sequence[str], digits: int
) -> Table:
    """Return a row for each contrast of a measure, in the order of the leaderboard."""
    order = comparison.ranked()
    contrasts = [contrast for contrast in comparison.contrasts if contrast.measure == scores.measure]
    contrasts.sort(key=lambda contrast: (order.index(contrast.system), order.index(contrast.baseline)))
    single = len({contrast.baseline for contrast in contrasts}) == 1
    subject: tuple[str, ...] = ("system",) if single else ("system", "baseline")
    rows = [((contrast.system, contrast.baseline)[: len(subject)], contrast) for contrast in contrasts]
    against = f"from {contrasts[0].baseline}" if single else "of the system from the baseline"
    title = f"{scores.measure}: difference {against}"
    return _difference_table(comparison, subject, rows, names, title, digits)


def _difference_table(
    comparison: Comparison,
    subject: tuple[str, ...],
    rows: Sequence[tuple[tuple[str, ...], Contrast]],
    names: Sequence[str],
    title: str,
    digits: int,
) -> Table:
    """Return a table of contrasts with the columns asked for; its title says what the intervals are."""
    settings = comparison.settings
    if "difference" in names:
        title += f", with {settings.describe_intervals(comparison.comparisons)}"
    if settings.correction == "none":
        names = tuple(dict.fromkeys("p" if name == "corrected" else name for name in names))
    headings = {**COLUMNS, "corrected": f"p ({SHORT[settings.correction]})"}
    cells = [(first, _contrast_cells(contrast, digits)) for first, contrast in rows]
    return Table(
        (*subject, *(headings[name] for name in names)),
        tuple((*first, *(values[name] for name in names)) for first, values in cells),
        title=title,
        keys=len(subject),
    )


def _contrast_cells(contrast: Contrast, digits: int) -> dict[str, Value]:
    """Return every column of a contrast by its name."""
    count = contrast.count
    undefined = str(contrast.outcome) if isinstance(contrast.outcome, Undefined) else None
    return {
        "difference": make_estimate(contrast.difference, contrast.interval),
        "change": None if contrast.relative is None else f"{100 * contrast.relative:+.1f} %",
        "p": undefined or format_p(contrast.p, digits=digits),
        "corrected": undefined or format_p(contrast.corrected, digits=digits),
        "stars": contrast.stars,
        "won": f"{count.wins}/{count.ties}/{count.losses}" if count else None,
        "effect": as_cell(contrast.hedges),
        "superiority": contrast.superiority,
        "detectable": as_cell(contrast.detectable),
    }


def _matrix(comparison: Comparison, scores: PairedScores, digits: int) -> Table:
    """Return every system against every other: the mark of the difference, and the difference if there is room."""
    cells: dict[tuple[str, str], str] = {}
    numbers = len(comparison.systems) <= WITH_NUMBERS
    contrasts = (contrast for contrast in comparison.contrasts if contrast.measure == scores.measure)
    for contrast in contrasts:
        for sign, pair in (
            (1, (contrast.system, contrast.baseline)),
            (-1, (contrast.baseline, contrast.system)),
        ):
            mark = "="
            if contrast.significant:
                up = sign * contrast.difference > 0
                mark = BETTER if up == (scores.higher_is_better is not False) else WORSE
            cells[pair] = f"{sign * contrast.difference:+.{digits}f} {mark}" if numbers else mark
    letters = comparison.letters
    rows = tuple(
        (name, letters[name], *("·" if name == other else cells[name, other] for other in letters))
        for name in letters
    )
    better, worse = ("better", "worse") if scores.has_direction else ("higher", "lower")
    title = (
        f"{scores.measure}: row against column ({BETTER} significantly {better}, {WORSE} {worse}, = not separated; "
        f"{_describe_criterion(comparison)})"
    )
    return Table(("system", "mark", *letters.values()), rows, title=title, keys=2)


def _extreme_table(comparison: Comparison, digits: int) -> Table:
    """Return the queries that gained and lost most, for each contrast."""

    def written(changes: list[Change]) -> str:
        return ", ".join(f"{query} {difference:+.{digits}f}" for query, difference in changes) or "none"

    rows: list[tuple[Value, ...]] = []
    order = comparison.ranked()
    ranked = sorted(
        comparison.contrasts,
        key=lambda contrast: (comparison.measures.index(contrast.measure), order.index(contrast.system)),
    )
    for contrast in ranked:
        if contrast.count is None:
            continue  # the measure has no better direction
        names = (contrast.system, contrast.baseline, contrast.measure)
        helped = comparison.most_helped(*names, count=NAMED)
        hurt = comparison.most_hurt(*names, count=NAMED)
        rows.append((contrast.measure, contrast.system, contrast.baseline, written(helped), written(hurt)))
    columns = ("measure", "system", "baseline", "most helped", "most hurt")
    return Table(
        columns, tuple(rows), title=f"{plural(comparison.unit).capitalize()} that changed most", keys=3
    )


def query_tables(comparison: Comparison, display: Display) -> Iterator[Table]:
    """Yield a table for each measure: the value of every system on each query, of two systems the difference too."""
    for scores in comparison.scores:
        order = [
            *comparison.baselines,
            *(name for name in comparison.ranked() if name not in comparison.baselines),
        ]
        columns: dict[str, list[Value]] = {name: scores.column(name).tolist() for name in order}
        against = comparison.baselines[0] if comparison.baselines else order[-1]
        others = [name for name in order if name != against]
        differences = np.stack([scores.differences(name, against) for name in others], axis=1)
        widest = differences[np.arange(len(differences)), np.abs(differences).argmax(axis=1)].tolist()
        means: list[Value] = [comparison.mean(name, scores.measure).mean for name in order]
        if len(order) == 2:
            heading = "difference" if "difference" not in order else f"{others[0]} − {against}"
            columns = {against: columns[against], others[0]: columns[others[0]], heading: widest}
            pair = [comparison.mean(name, scores.measure).mean for name in (against, others[0])]
            means = [*pair, pair[1] - pair[0]]
        yield query_table(
            comparison.unit,
            scores.queries,
            columns,
            display,
            foot=means,
            difference=widest,
            title=scores.measure,
        )


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
    return Table(names, rows, title="Does the difference depend on the slice?", keys=4)


def _extra_table(title: str, rows: Rows, digits: int) -> Table:
    columns = tuple(dict.fromkeys(name for row in rows for name in row))

    def cell(column: str, value: Cell) -> Value:
        is_p = column.startswith("p_") or column.endswith("_p") or column == "p"
        return format_p(value, digits=digits) if is_p and isinstance(value, float) else value

    cells = tuple(tuple(cell(name, row.get(name)) for name in columns) for row in rows)
    return Table(columns, cells, title=title)


def _trade_off_table(comparison: Comparison) -> Table:
    """Return a row for each system with timings, and which are Pareto-optimal."""
    axes, optimal = find_axes(comparison), pareto_optimal(comparison)
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
    if not find_axes(comparison):
        msg = (
            f"the picture shows accuracy, and none of {', '.join(comparison.measures)} has a better direction"
        )
        raise BadSample(msg)
    first, *second = find_axes(comparison)
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
    test = rank_systems(comparison, scores)
    title = f"Average ranks by {scores.measure}"
    return draw_critical_difference(test.ranks, test.cliques, test.critical_difference, title=title)


def pareto_optimal(comparison: Comparison) -> list[str]:
    """Return the systems that are Pareto-optimal in accuracy, diversity and latency."""
    axes = find_axes(comparison)
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


def find_axes(comparison: Comparison) -> list[PairedScores]:
    """Return the first measure of accuracy and the first of diversity, if there are any."""
    directed = [scores for scores in comparison.scores if scores.has_direction]
    diverse = [scores for scores in directed if scores.group == "diversity"]
    accurate = [scores for scores in directed if scores.group != "diversity"]
    return [*accurate[:1], *diverse[:1]]


def _by_rank(comparison: Comparison) -> list[Latency]:
    """Return the systems with timings, in the order of the leaderboard."""
    order = comparison.ranked()
    return sorted(comparison.latencies, key=lambda latency: order.index(latency.system))


def _milliseconds(time: float) -> str:
    return f"{time:.2f}"
