"""Results about sessions: means with bounds, every session, curves, stopping points, overlaps, comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from math import isnan
from typing import Any, ClassVar, TypeAlias

import pyarrow as pa

from judged.agents import tables
from judged.agents.analysis import Alone, Curve, Overlap, Stop, decisions, upper_bound
from judged.agents.attempts import Attempts
from judged.agents.builder import DedupDecision
from judged.agents.corrected import Corrected
from judged.agents.family import SessionAlignment, align_of, session_keys, session_totals
from judged.agents.redundancy import Redundancy
from judged.agents.stopping import StoppingRules
from judged.agents.use import Use
from judged.blocks import (
    Between,
    Block,
    Display,
    Estimate,
    Figure,
    Notes,
    Table,
    Value,
    mark_best,
    query_table,
)
from judged.comparison.result import Comparison
from judged.figures import Record, draw_lines
from judged.gates.result import GateReport, gate_blocks
from judged.measures.laws import Law
from judged.measures.measure import Measure
from judged.measures.written import describe_name, differ, list_names
from judged.problem import Note
from judged.result import Provenance, Result, tabulate
from judged.scoring.evaluation import Evaluation
from judged.scoring.evaluations import Evaluations
from judged.stats.intervals import Interval
from judged.wording import counted

LONGEST = 40
"""Longer titles and addresses are cut in tables."""
MOST = 30
"""More iterations than this are not shown to people; the data has all of them."""


Section: TypeAlias = Redundancy | StoppingRules | Attempts | Corrected | Use
"""A part of the report with its own data (`rows`) and tables."""


def _add_cost(state: Any) -> Any:
    """Return the state of version 1 as that of version 2: until then, iterations had no cost in money."""
    view = (state.get("alignment") or {}).get("view")
    if view is not None:
        view["cost"] = ["NaN"] * len(view["results"])
    return state


@dataclass(frozen=True, eq=False, repr=False)
class SessionReport(Result):
    """An evaluation of sessions, and what else was asked about it."""

    kind: ClassVar[str] = "sessions"
    version: ClassVar[int] = 2
    upgrades: ClassVar[Mapping[int, Callable[[Any], Any]]] = {1: _add_cost}
    detail: ClassVar[str] = "sessions"
    pages: ClassVar[tuple[str, ...]] = (*Evaluation.pages, "sessions", "gate")

    evaluation: Evaluation
    provenance: Provenance
    curves: tuple[Curve, ...] = ()
    stops: Mapping[str, tuple[Stop, ...]] | None = None
    """For each system, the effect of stopping at each iteration."""
    pairs: tuple[Overlap, ...] = ()
    single: tuple[Alone, ...] = ()
    comparison: Comparison | None = None
    gates: tuple[GateReport, ...] = ()
    sections: Mapping[str, Section] = field(default_factory=dict)
    """Further requested parts, by the name of their data: redundancy, use, stopping rules, attempts, corrections."""
    explained: bool = True
    """Whether to show the decisions on duplicates, if the evaluation has them."""
    good: int = 2
    """The gain from which a result is good."""

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """The notes on every system, on the inputs, and on the comparison."""
        systems = self.evaluation.systems
        several = len(systems) > 1
        notes: list[Note] = []
        for name, system in systems.items():
            own = [*system.notes, *_note_undefined(system)]
            notes += [replace(note, subject=name) for note in own] if several else own
        if several:
            notes += session_totals(self.evaluation).notes_on_inputs()
        if self.comparison is not None:
            notes.append(Note("method", "info", f"compared by {self.comparison.method}"))
            known = {note.code for note in notes}
            notes += [note for note in self.comparison.notes if note.code not in known]
        return tuple(notes)

    def tables(self) -> Mapping[str, pa.Table]:
        """Return the data, the most particular table that was asked for first."""
        systems = self.evaluation.systems
        asked: dict[str, Iterable[Mapping[str, Value]]] = {
            "decisions": _decision_rows(self.evaluation) if self.explained else (),
            **{name: section.rows() for name, section in self.sections.items()},
            "searches": [row for section in self._redundancy for row in section.searches()],
            "repeated_documents": [row for section in self._redundancy for row in section.documents()],
            "curves": _curve_rows(self.curves),
            "stopping": _stop_rows(self.stops or {}),
            "alone": [asdict(row) for row in self.single],
            "differences": [] if self.comparison is None else self.comparison.rows("differences"),
            "means": _mean_rows(systems),
            "overlaps": [{**asdict(row), "jaccard": row.jaccard} for row in self.pairs],
            "counts": [{"system": name, **_counts(system)} for name, system in systems.items()],
            "sessions": _session_rows(systems),
        }
        found = {name: tabulate(list(rows)) for name, rows in asked.items()}
        return {name: table for name, table in found.items() if table.num_rows or name == "means"}

    def leaderboard(self) -> Evaluations:
        """Return the evaluation of each system."""
        return Evaluations(dict(self.evaluation.systems))

    def summary(self) -> Mapping[str, object]:
        """Return the verdicts of the gates, if there are any."""
        return {"gates": [gate.to_dict() for gate in self.gates]} if self.gates else {}

    def charts(self) -> list[Figure]:
        """Return the curves, if they were asked for."""
        return [draw_curves(self.curves)] if self.curves else []

    def blocks(self, display: Display) -> Iterator[Block]:
        """Return the tables, the comparison and the gates that were asked for."""
        systems = self.evaluation.systems
        yield from _decision_tables(self.evaluation) if self.explained else ()
        if display.per_query:
            for name, system in systems.items():
                yield _session_table(system, display, title=name if len(systems) > 1 else None)
        else:
            title = None if self.comparison is None else "All sessions"
            yield _means_table(systems, digits=display.digits, title=title)
        yield from _bounds_tables(systems)
        yield from _curve_tables(self.curves)
        yield from self._section_tables(per_session=display.per_query)
        if self.single:
            yield from _overlap_tables(self.pairs, self.single)
        if self.comparison is not None:
            title = "On the tasks that all systems share"
            shared = replace(display, notes=False, per_query=False, paper=False, title=title)
            yield from self.comparison.blocks(shared)
        if self.gates:
            yield from gate_blocks(self.gates, display)
        if self.curves:
            yield draw_curves(self.curves)
        if display.notes and self.notes:
            yield Notes(self.notes)

    def to_saved(self) -> SavedSessionReport:
        """Return what is saved: the report, and the counts and gains that its numbers come from."""
        alignment = align_of(self.evaluation)
        said = tuple(decision.in_words() for decision in alignment.decisions)
        own = {item.name: getattr(self, item.name) for item in fields(self)}
        return SavedSessionReport(**own, alignment=replace(alignment, decisions=said))

    @staticmethod
    def from_saved(saved: SavedSessionReport) -> SessionReport:
        """Return the report that was saved."""
        alignment = saved.alignment
        own = {item.name: getattr(saved, item.name) for item in fields(SessionReport)}
        evaluation = replace(saved.evaluation, alignments={alignment.protocol: alignment})
        return SessionReport(**{**own, "evaluation": evaluation})

    @property
    def _redundancy(self) -> list[Redundancy]:
        return [section for section in self.sections.values() if isinstance(section, Redundancy)]

    def _section_tables(self, *, per_session: bool) -> Iterator[Table]:
        """Yield the tables of stopping points, and of what else was asked for."""
        for redundancy in self._redundancy if per_session else ():
            yield from redundancy.timelines()
        for name, stops in (self.stops or {}).items():
            if stops:
                yield _stopping_table(name, stops)
        for section in self.sections.values():
            yield from section.tables()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SavedSessionReport(SessionReport):
    """A report as it is saved."""

    alignment: SessionAlignment
    from_saved: ClassVar[None] = None  # type: ignore[assignment]  # saved by its fields
    to_saved: ClassVar[None] = None  # type: ignore[assignment]


def _means_table(systems: Mapping[str, Evaluation], *, digits: int, title: str | None) -> Table:
    """Return a row for each system and a column for each measure, the best of several systems marked."""
    measures = next(iter(systems.values())).measures
    rows = tuple(
        (name, len(session_keys(system)), *(_to_value(system[measure]) for measure in measures))
        for name, system in systems.items()
    )
    direction = {measure.label: measure.higher_is_better for measure in measures}
    columns = ("system", "sessions", *direction)
    return mark_best(Table(columns, rows, title=title, corner="measure"), direction, digits=digits)


def _bounds_tables(systems: Mapping[str, Evaluation]) -> Iterator[Table]:
    """Yield each number with unlabelled results at gain 0 and at gain 4, where that changes any."""
    partly = {name: system for name, system in systems.items() if session_totals(system).coverage < 1}
    rows = tuple(
        (
            name,
            f"{session_totals(system).coverage:.1%}",
            *(_between(system, measure) for measure in system.measures),
        )
        for name, system in partly.items()
    )
    if any(isinstance(cell, Between) for row in rows for cell in row):
        labels = (measure.label for measure in next(iter(systems.values())).measures)
        columns = ("system", "labelled", *labels)
        yield Table(columns, rows, title="Unlabelled results as gain 0, and as gain 4", corner="measure")


def _session_table(evaluation: Evaluation, display: Display, *, title: str | None) -> Table:
    """Return a row for each session, the means below."""
    keys = session_keys(evaluation)
    columns: dict[str, list[Value]] = {"task": [key.task for key in keys]}
    for measure in evaluation.measures:
        columns[measure.label] = [_to_value(value) for value in evaluation.scores[measure].tolist()]
    whole = [None, *(_to_value(evaluation[measure]) for measure in evaluation.measures)]
    ids = [key.conversation for key in keys]
    return query_table("session", ids, columns, display, foot=whole, title=title)


def _decision_tables(evaluation: Evaluation) -> Iterator[Table]:
    """Yield, for each session, a row for each result: whether it is new, and why."""
    by_session: dict[int, list[DedupDecision]] = {}
    for decision in decisions(evaluation):
        by_session.setdefault(decision.session, []).append(decision)
    for session, group in by_session.items():
        key = session_keys(evaluation)[session]
        rows = tuple(
            (
                row.iteration,
                row.decision.result,
                row.query,
                _name_result(row.result),
                row.gain,
                str(row.decision).partition(" is ")[2],
            )
            for row in group
        )
        title = f"{key.conversation} of {key.system}: why results are new or duplicates"
        yield Table(("iteration", "result", "query", "is", "gain", "decision"), rows, title=title)


def _name_result(result: tables.Hit) -> str:
    """Return what a person recognises a result by, cut where it is long."""
    known = (result.title, result.url, result.id, result.domain_id, result.snippet)
    text = next((name for name in known if name), "")
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _curve_tables(curves: Sequence[Curve]) -> Iterator[Table]:
    """Yield, for each system, a row for each iteration: how many sessions still run, and every measure."""
    for system in dict.fromkeys(curve.system for curve in curves):
        own = [curve for curve in curves if curve.system == system]
        rows = tuple(
            (
                points[0].iteration,
                points[0].running,
                *(_to_estimate(point.value, point.interval) for point in points),
            )
            for points in list(zip(*(curve.points for curve in own), strict=True))[:MOST]
        )
        columns = ("iteration", "sessions", *(curve.measure for curve in own))
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


def _stopping_table(system: str, stops: Sequence[Stop]) -> Table:
    """Return a row for each iteration that agents could have stopped at."""
    rows = tuple(
        (
            *(stop.iteration, stop.running, stop.gain, _format_share(stop.lost), stop.losing),
            *(_format_share(stop.searches_saved), _format_share(stop.tokens_saved)),
        )
        for stop in stops[:MOST]
    )
    columns = ("stop at", "going on", "CG", "gain lost", "losing", "searches saved", "tokens saved")
    return Table(columns, rows, title=f"{system}: had the agents stopped")


def _overlap_tables(pairs: Sequence[Overlap], single: Sequence[Alone]) -> Iterator[Table]:
    """Yield what each system found alone, and what pairs of systems found in common."""
    rows = tuple((row.system, row.found, row.alone, row.missed) for row in single)
    columns: tuple[str, ...] = ("system", "good results", "found by no other", "missed")
    yield Table(columns, rows, title="Good results by system")
    if pairs:
        shared = tuple(
            (row.first, row.second, row.tasks, row.only_first, row.both, row.only_second, row.jaccard)
            for row in pairs
        )
        columns = ("first", "second", "tasks", "only first", "both", "only second", "Jaccard")
        yield Table(columns, shared, title="Good results in common")


def _mean_rows(systems: Mapping[str, Evaluation]) -> Iterator[dict[str, Value]]:
    for name, system in systems.items():
        shown = differ(list_names(system.measures))
        for measure in system.measures:
            undefined = system.undefined(measure)
            yield {
                "system": name,
                **describe_name(measure.label, str(measure), shown=shown),
                "value": _to_value(system[measure]),
                "upper": _to_value(upper_bound(system, measure)),
                "sessions": len(session_keys(system)) - undefined,
                "undefined": undefined,
                "coverage": session_totals(system).coverage,
            }


def _session_rows(systems: Mapping[str, Evaluation]) -> Iterator[dict[str, Value]]:
    partly = any(system.scores.left_out for system in systems.values())
    for name, system in systems.items():
        shown = differ(list_names(system.measures))
        for measure in system.measures:
            scores = zip(
                session_keys(system),
                system.scores[measure].tolist(),
                system.scores.averaged(measure).tolist(),
                strict=True,
            )
            for key, value, averaged in scores:
                yield {
                    "system": name,
                    "session": key.conversation,
                    "task": key.task,
                    **describe_name(measure.label, str(measure), shown=shown),
                    "value": _to_value(value),
                    **({"left_out": int(isnan(averaged) and not isnan(value))} if partly else {}),
                }


def _decision_rows(evaluation: Evaluation) -> Iterator[dict[str, Value]]:
    keys = session_keys(evaluation)
    for row in decisions(evaluation):
        yield {
            "system": keys[row.session].system,
            "session": keys[row.session].conversation,
            "iteration": row.iteration,
            "query": row.query,
            "result": row.decision.result,
            "gain": row.gain,
            "cluster": row.decision.group,
            "new": row.decision.new,
            "why": str(row.decision),
        }


def _curve_rows(curves: Sequence[Curve]) -> Iterator[dict[str, Value]]:
    for curve in curves:
        for point in curve.points:
            yield {
                "system": curve.system,
                "measure": curve.measure,
                "iteration": point.iteration,
                "running": point.running,
                "value": _to_value(point.value),
                "low": None if point.interval is None else point.interval.low,
                "high": None if point.interval is None else point.interval.high,
            }


def _stop_rows(systems: Mapping[str, Sequence[Stop]]) -> Iterator[dict[str, Value]]:
    for name, stops in systems.items():
        for stop in stops:
            values = {field: _to_value(value) for field, value in asdict(stop).items()}
            yield {"system": name, **values}


def _counts(evaluation: Evaluation) -> dict[str, Value]:
    totals = session_totals(evaluation)
    counts = {name: value for name, value in asdict(totals).items() if name != "input_notes"}
    return {**counts, "coverage": totals.coverage}


def _note_undefined(evaluation: Evaluation) -> list[Note]:
    """Return a note for the measures whose mean leaves sessions out."""
    names: dict[int, list[str]] = {}
    for measure in evaluation.measures:
        if evaluation.undefined(measure):
            names.setdefault(evaluation.undefined(measure), []).append(measure.label)
    total = f"{len(evaluation.scores.queries):,} sessions"
    return [
        Note(
            "undefined-values",
            "info",
            f"{', '.join(measures)}: {count:,} of {total} are left out of the mean",
            f"{', '.join(measures)}: sessions that are left out of the mean",
            f"{count:,} of {total}",
        )
        for count, measures in names.items()
    ]


def _to_value(value: float) -> Value:
    return None if isnan(value) else value


def _between(evaluation: Evaluation, measure: Measure) -> Value:
    """Return the value with unlabelled results at 0 and at 4; nothing where labels could move it beyond either."""
    low, high = evaluation[measure], upper_bound(evaluation, measure)
    if low == high:
        return low
    return Between(low, high) if Law.GROWS in measure.laws and low < high else None


def _to_estimate(value: float, interval: Interval | None) -> Value:
    if isnan(value):
        return None
    return value if interval is None else Estimate(value, interval.low, interval.high)


def _format_share(value: float) -> str:
    return "unknown" if isnan(value) else f"{value:.1%}"
