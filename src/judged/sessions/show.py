"""Sessions as people read them: means with bounds, every session, curves, stopping points, overlaps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from judged.blocks import Between, Estimate, Figure, Table, Value, mark_best
from judged.engine.evaluation import Evaluation
from judged.figures import Record, draw_lines
from judged.measures.laws import Law
from judged.measures.measure import Measure
from judged.problem import Note
from judged.sessions.analysis import (
    Alone,
    Curve,
    Overlap,
    Stop,
    decisions,
    session_keys,
    session_totals,
    upper_bound,
)
from judged.sessions.builder import DedupDecision
from judged.tables.sessions import Result
from judged.wording import counted

__all__ = [
    "bounds",
    "curve_tables",
    "decision_tables",
    "draw_curves",
    "means",
    "note_undefined",
    "overlap_tables",
    "per_session",
    "records",
    "session_records",
    "stopping_table",
]

LONGEST = 40
"""Longer titles and addresses are cut in tables."""
MOST = 30
"""More iterations than this are not shown to people; the formats for programs have all of them."""


def means(systems: Mapping[str, Evaluation], *, digits: int = 4, title: str | None = None) -> Table:
    """A row for each system, a column for each measure, the best of several systems marked."""
    first = next(iter(systems.values()))
    columns = ("system", "sessions", *map(str, first.measures))
    rows = tuple(
        (name, len(session_keys(each)), *(_value(each[measure]) for measure in each.measures))
        for name, each in systems.items()
    )
    better = {str(measure): measure.higher_is_better for measure in first.measures}
    return mark_best(Table(columns, rows, title=title), better, digits=digits)


def bounds(systems: Mapping[str, Evaluation]) -> Table | None:
    """Each number with unlabelled results at their least and at their most; None where that moves none of them."""
    partly = {name: each for name, each in systems.items() if session_totals(each).coverage < 1}
    if not partly:
        return None
    first = next(iter(systems.values()))
    rows = tuple(
        (
            name,
            f"{session_totals(each).coverage:.1%}",
            *(_between(each, measure) for measure in each.measures),
        )
        for name, each in partly.items()
    )
    if not any(isinstance(cell, Between) for row in rows for cell in row):
        return None
    title = "Unlabelled results as gain 0, and as gain 4"
    return Table(("system", "labelled", *map(str, first.measures)), rows, title=title)


def per_session(evaluation: Evaluation, *, title: str | None = None) -> Table:
    """A row for each session, what all of them have below."""
    values = [evaluation.scores[measure].tolist() for measure in evaluation.measures]
    rows = [
        (named.conversation, named.task, *map(_value, row))
        for named, *row in zip(session_keys(evaluation), *values, strict=True)
    ]
    whole = ("all", None, *(_value(evaluation[measure]) for measure in evaluation.measures))
    columns = ("session", "task", *map(str, evaluation.measures))
    return Table(columns, (*rows, whole), title=title, foot=1)


def decision_tables(evaluation: Evaluation) -> Iterator[Table]:
    """For each session a row for each result: where it went, and why."""
    by_session: dict[int, list[DedupDecision]] = {}
    for each in decisions(evaluation):
        by_session.setdefault(each.session, []).append(each)
    for session, placed in by_session.items():
        named = session_keys(evaluation)[session]
        rows = tuple(
            (
                each.iteration,
                each.decision.result,
                _called(each.result),
                each.result.gain,
                _why(str(each.decision)),
            )
            for each in placed
        )
        title = f"{named.conversation} of {named.system}: why results are new or duplicates"
        yield Table(("iteration", "result", "is", "gain", "decision"), rows, title=title)


def _called(result: Result) -> str:
    """What a person knows a result by, cut where it is long."""
    known = (result.title, result.url, result.id, result.domain_id, result.snippet)
    text = next((each for each in known if each), "")
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _why(decision: str) -> str:
    """The decision without the number of the result, which has a column of its own."""
    return decision.partition(" is ")[2]


def curve_tables(curves: Sequence[Curve]) -> Iterator[Table]:
    """For each system a row for each iteration: how many sessions still run, and every measure."""
    for system in dict.fromkeys(each.system for each in curves):
        own = [each for each in curves if each.system == system]
        rows = tuple(
            (
                points[0].iteration,
                points[0].running,
                *(_estimate(point.value, point.interval) for point in points),
            )
            for points in list(zip(*(each.points for each in own), strict=True))[:MOST]
        )
        columns = ("iteration", "sessions", *(each.measure for each in own))
        yield Table(columns, rows, title=f"{system}: by iteration")


def draw_curves(curves: Sequence[Curve]) -> Figure:
    """Draw the first measure, a line for each system; a point's label says how many sessions still run."""
    measure = curves[0].measure
    points = [point for curve in curves if curve.measure == measure for point in _points(curve)]
    note = "Mean with its interval; ended sessions keep their value, and points shrink as fewer still run"
    return draw_lines(
        points, name="curve", title=f"{measure} by iteration", x="iteration", y=measure, note=note
    )


def _points(curve: Curve) -> Iterator[Record]:
    for point in curve.points:
        running = f"{counted(point.running, 'session')} at work"
        yield {
            "name": curve.system,
            "x": point.iteration,
            "y": point.value,
            "low": None if point.interval is None else point.interval.low,
            "high": None if point.interval is None else point.interval.high,
            "size": point.running / curve.points[0].running,
            "label": f"{curve.system}, iteration {point.iteration}: {point.value:.4g}; {running}",
        }


def stopping_table(system: str, stops: Sequence[Stop]) -> Table:
    """A row for each iteration that agents could have stopped at."""
    rows = tuple(
        (
            *(each.iteration, each.running, each.gain, _share(each.lost), each.losing),
            *(_share(each.searches_saved), _share(each.tokens_saved)),
        )
        for each in stops[:MOST]
    )
    columns = ("stop at", "going on", "CG", "gain lost", "losing", "searches saved", "tokens saved")
    return Table(columns, rows, title=f"{system}: had the agents stopped")


def overlap_tables(pairs: Sequence[Overlap], single: Sequence[Alone]) -> Iterator[Table]:
    """What systems found in common, and what each alone."""
    rows = tuple((each.system, each.found, each.alone, each.missed) for each in single)
    yield Table(
        ("system", "good results", "found by no other", "missed"), rows, title="Good results by system"
    )
    if pairs:
        lines_ = tuple(
            (each.first, each.second, each.tasks, each.only_first, each.both, each.only_second, each.jaccard)
            for each in pairs
        )
        columns = ("first", "second", "tasks", "only first", "both", "only second", "Jaccard")
        yield Table(columns, lines_, title="Good results in common")


def records(systems: Mapping[str, Evaluation]) -> Table:
    """A row for each system and measure, for programs."""
    rows = tuple(
        (
            *(name, str(measure), _value(each[measure]), _value(upper_bound(each, measure))),
            *(len(session_keys(each)) - each.undefined(measure), each.undefined(measure)),
            session_totals(each).coverage,
        )
        for name, each in systems.items()
        for measure in each.measures
    )
    return Table(("system", "measure", "value", "upper", "sessions", "undefined", "coverage"), rows)


def session_records(systems: Mapping[str, Evaluation]) -> Table:
    """A row for each session and measure, for programs."""
    rows = tuple(
        (name, named.conversation, named.task, str(measure), _value(value))
        for name, each in systems.items()
        for measure in each.measures
        for named, value in zip(session_keys(each), each.scores[measure].tolist(), strict=True)
    )
    return Table(("system", "session", "task", "measure", "value"), rows)


def note_undefined(evaluation: Evaluation) -> list[Note]:
    """Return a note for each measure that some sessions have no value of."""
    told: dict[int, list[str]] = {}
    for measure in evaluation.measures:
        if evaluation.undefined(measure):
            told.setdefault(evaluation.undefined(measure), []).append(str(measure))
    return [
        Note(
            "undefined-values",
            "info",
            f"{', '.join(names)}: {count:,} of {len(evaluation.scores.queries):,} sessions have no value and are left out",
        )
        for count, names in told.items()
    ]


def _value(value: float) -> Value:
    return None if math.isnan(value) else value


def _between(evaluation: Evaluation, measure: Measure) -> Value:
    """The value with unlabelled results at 0 and at 4; nothing where labels could move it beyond either."""
    low, high = evaluation[measure], upper_bound(evaluation, measure)
    if low == high:
        return low
    return Between(low, high) if Law.GROWS in measure.laws and low < high else None


def _estimate(value: float, interval: object) -> Value:
    if math.isnan(value):
        return None
    if interval is None:
        return value
    return Estimate(value, getattr(interval, "low", None), getattr(interval, "high", None))


def _share(value: float) -> str:
    return "unknown" if math.isnan(value) else f"{value:.1%}"
