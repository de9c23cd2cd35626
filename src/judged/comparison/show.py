"""A comparison as people read it: leaderboard, differences, the queries that changed most, trade-off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from judged.blocks import Estimate, Table, Value, format_p, mark_best
from judged.comparison.comparison import Change, Comparison
from judged.comparison.contrasts import Contrast, Mean
from judged.comparison.settings import SHORT, WORDS
from judged.comparison.trade_off import milliseconds, trade_off
from judged.report.html import to_html
from judged.report.text import to_text
from judged.stats.intervals import Interval
from judged.stats.outcome import Outcome, Undefined
from judged.wording import counted, plural

__all__ = ["leaderboard", "query_tables", "sentences", "shown", "shown_as_html", "shown_as_text"]

MOST = 60
"""More contrasts than this are not shown to people; the formats for programs have all of them."""
NAMED = 3
"""How many of the most helped and most hurt queries are named."""


def shown(comparison: Comparison, *, superscript: bool = False, digits: int = 4) -> Iterator[Table]:
    """The tables that people read, the leaderboard first."""
    yield leaderboard(comparison, superscript=superscript, digits=digits)
    if len(comparison.contrasts) <= MOST:
        yield _differences(comparison, digits)
        yield _extremes(comparison, digits)
    if comparison.latencies:
        yield trade_off(comparison)
    for (attribute, value), each in comparison.slices.items():
        count = len(each.scores[0].queries)
        title = f"{attribute} = {value} ({counted(count, each.unit)})"
        yield replace(leaderboard(each, superscript=superscript, digits=digits), title=title)
        if len(each.contrasts) <= MOST:
            yield replace(_differences(each, digits), title=f"Differences where {title}")
    if comparison.interactions and len(comparison.interactions) <= MOST:
        yield _interactions(comparison, digits)


def _interactions(comparison: Comparison, digits: int) -> Table:
    """A row for each attribute and contrast: the difference in each slice, and whether it depends on the slice."""
    rows = tuple(
        (
            *(each.attribute, each.measure, each.system, each.baseline, each.written),
            *(_probability(each.p, digits), _probability(each.corrected, digits)),
            each.verdict(comparison.settings.alpha),
        )
        for each in comparison.interactions
    )
    columns = (
        "attribute",
        "measure",
        "system",
        "baseline",
        "difference by slice",
        "p",
        "p (Holm)",
        "the difference",
    )
    return Table(columns, rows, title="Does the difference depend on the slice?")


def leaderboard(comparison: Comparison, *, superscript: bool = False, digits: int = 4) -> Table:
    """A row for each system, the best in the first measure first: means with intervals, marks, latency.

    The marks are the letters of the systems that it is significantly better than.
    """
    columns, better = ["system", "mark"], {}
    rows: dict[str, list[Value]] = {name: [name, mark] for name, mark in comparison.letters.items()}
    for shared in comparison.scores:
        measure = str(shared.measure)
        marks = {name: _letters(comparison, comparison.beaten(name, measure)) for name in rows}
        beside = any(marks.values()) and not superscript
        columns += [measure, *(["better than"] if beside else [])]
        better[measure] = shared.measure.higher_is_better
        for name, row in rows.items():
            estimate = _estimate(comparison.mean(name, measure), marks[name] if superscript else "")
            row += [estimate, *([marks[name]] if beside else [])]
    columns += _with_latency(comparison, rows)
    return mark_best(Table(tuple(columns), tuple(map(tuple, rows.values()))), better, digits=digits)


def _with_latency(comparison: Comparison, rows: dict[str, list[Value]]) -> list[str]:
    """The columns of latency, added to the rows; a system without timings says so."""
    if not comparison.latencies:
        return []
    for name, row in rows.items():
        row.extend(["no timings", None, None, None])
        for each in comparison.latencies:
            if each.system == name:
                row[-4:] = [milliseconds(value) for value in (each.mean, each.p50, each.p95, each.p99)]
    return ["mean ms", "p50 ms", "p95 ms", "p99 ms"]


def _letters(comparison: Comparison, names: Iterable[str]) -> str:
    """The letters of systems; with more than 26 of them, commas keep `ab` and `a`, `b` apart."""
    between = "," if len(comparison.systems) > 26 else ""
    return between.join(comparison.letters[name] for name in names)


def _estimate(mean: Mean, marks: str) -> Estimate:
    if isinstance(mean.interval, Undefined):
        return Estimate(mean.mean, reason=str(mean.interval), marks=marks)
    return Estimate(mean.mean, mean.interval.low, mean.interval.high, marks=marks)


def _differences(comparison: Comparison, digits: int) -> Table:
    """A row for each contrast: the difference with its interval, effect, counts, p, corrected p, stars."""
    how = comparison.settings
    corrected = [] if how.correction == "none" else [f"p ({SHORT[how.correction]})"]
    columns = (
        "measure",
        "system",
        "baseline",
        "difference",
        "g",
        "P(better)",
        "won/tied/lost",
        "p",
        *corrected,
        "stars",
        "detectable",
    )
    rows = [_contrast_row(each, digits, correct=bool(corrected)) for each in comparison.contrasts]
    return Table(columns, tuple(rows), title=f"Differences ({WORDS[how.test]})")


def _contrast_row(each: Contrast, digits: int, *, correct: bool) -> tuple[Value, ...]:
    interval = each.interval
    estimate = (
        Estimate(each.difference, interval.low, interval.high)
        if isinstance(interval, Interval)
        else Estimate(each.difference, reason=str(interval))
    )
    p = _probability(each.outcome.p, digits) if isinstance(each.outcome, Outcome) else str(each.outcome)
    corrected = [_probability(each.corrected, digits)] if correct else []
    count = f"{each.count.wins}/{each.count.ties}/{each.count.losses}"
    return (
        *(each.measure, each.system, each.baseline, estimate, _said(each.hedges), each.superiority, count),
        *(p, *corrected, each.stars, _said(each.detectable)),
    )


def _said(value: float | Undefined) -> Value:
    return str(value) if isinstance(value, Undefined) else value


def _probability(p: float | None, digits: int) -> Value:
    """A p-value as people read it; None where there is none."""
    if p is None:
        return None
    return format_p(p, digits=digits)


def _extremes(comparison: Comparison, digits: int) -> Table:
    """For each contrast, the queries that gained and lost most."""
    rows: list[tuple[Value, ...]] = []
    for each in comparison.contrasts:
        of = (each.system, each.baseline, each.measure)
        helped, hurt = comparison.most_helped(*of, count=NAMED), comparison.most_hurt(*of, count=NAMED)
        rows.append(
            (each.measure, each.system, each.baseline, _changes(helped, digits), _changes(hurt, digits))
        )
    columns = ("measure", "system", "baseline", "most helped", "most hurt")
    return Table(columns, tuple(rows), title=f"{plural(comparison.unit).capitalize()} that changed most")


def _changes(changes: list[Change], digits: int) -> str:
    return ", ".join(f"{query} {difference:+.{digits}f}" for query, difference in changes) or "none"


def query_tables(comparison: Comparison) -> Iterator[Table]:
    """For each measure a row for each query: the baseline's value and the differences, or every value."""
    for shared in comparison.scores:
        measure = str(shared.measure)
        if len(comparison.baselines) != 1:
            rows = [(q, *values) for q, values in zip(shared.queries, shared.values.tolist(), strict=True)]
            yield Table((comparison.unit, *shared.systems), tuple(rows), title=measure)
            continue
        base = comparison.baselines[0]
        others = [name for name in comparison.letters if name != base]
        deltas = {name: comparison.differences(name, base, measure) for name in others}
        own = dict(zip(shared.queries, shared.values[:, shared.systems.index(base)].tolist(), strict=True))
        lines = [(query, own[query], *(deltas[name][query] for name in others)) for query in shared.queries]
        yield Table(
            (comparison.unit, base, *(f"{name} − {base}" for name in others)), tuple(lines), title=measure
        )


def sentences(comparison: Comparison) -> list[str]:
    """What is to be said beside the tables."""
    told = [
        f"{name} has values of 0 and 1 only: Wilson's interval"
        for name in dict.fromkeys(
            each.measure
            for each in comparison.means
            if isinstance(each.interval, Interval) and each.interval.method == "wilson"
        )
    ]
    if len(comparison.contrasts) > MOST:
        told.append(
            f"{len(comparison.contrasts):,} differences are not shown; `--format csv` or `to_arrow()` has them"
        )
    return [*told, *comparison.notes]


def shown_as_text(comparison: Comparison, *, digits: int = 4) -> str:
    """The comparison for a terminal."""
    tables = [to_text(table, digits=digits) for table in shown(comparison, digits=digits)]
    return "\n".join([*tables, "".join(f"{each}\n" for each in [comparison.method, *sentences(comparison)])])


def shown_as_html(comparison: Comparison, *, digits: int = 4) -> str:
    """The comparison for a notebook."""
    from html import escape

    tables = [to_html(table, digits=digits) for table in shown(comparison, superscript=True, digits=digits)]
    told = [comparison.method, *sentences(comparison)]
    return "".join([*tables, *(f"<p>{escape(each)}</p>\n" for each in told)])
