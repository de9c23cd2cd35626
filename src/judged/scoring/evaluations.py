"""Evaluations: several systems scored by the same measures, as one table of systems × measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from math import isnan
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa

from judged.blocks import (
    Between,
    Block,
    Display,
    Estimate,
    Figure,
    Notes,
    Table,
    Value,
    format_p,
    mark_best,
    query_table,
    sort_places,
)
from judged.errors import BadMeasure, BadSample, JudgedError, UnknownName
from judged.measures.laws import Law
from judged.measures.measure import Measure
from judged.measures.written import describe_name, differ, list_names
from judged.problem import Note, merge_notes, split_doubts
from judged.progress import Progress
from judged.result import Provenance, Result, name_rows, tabulate
from judged.scoring.evaluation import Evaluation, Range


@dataclass(frozen=True, eq=False)
class SavedEvaluations:
    """Evaluations as they are saved."""

    systems: Mapping[str, Evaluation]
    intervals: Mapping[str, Mapping[str, tuple[float, float]]]
    extra: Mapping[str, tuple[Mapping[str, Value], ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluations(Result, Mapping[str, Evaluation]):
    """Several systems evaluated by the same measures: a mapping from the name of a system to its evaluation."""

    kind: ClassVar[str] = "evaluations"
    detail: ClassVar[str] = "scores"
    detail_by_query: ClassVar[bool] = True
    pages: ClassVar[tuple[str, ...]] = Evaluation.pages

    by_system: Mapping[str, Evaluation]
    intervals: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    """By system and measure, the confidence interval to show next to the mean."""
    bounds: bool = False
    """Whether to show how far ties and unjudged results could move each number."""
    extra: Mapping[str, tuple[Mapping[str, Value], ...]] = field(default_factory=dict)
    """Further tables to show, by title."""

    def __post_init__(self) -> None:
        if not self.by_system:
            msg = "no system was given, expected at least one"
            raise BadSample(msg)

    def __getitem__(self, system: str) -> Evaluation:
        """Return the evaluation of one system."""
        if system not in self.by_system:
            raise UnknownName("system", str(system), list(self.by_system))
        return self.by_system[system]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_system)

    def __len__(self) -> int:
        return len(self.by_system)

    @property
    def first(self) -> Evaluation:
        """The evaluation of the first system, which has the measures and the protocol of all."""
        return next(iter(self.by_system.values()))

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, the same for every system."""
        return self.first.measures

    @property
    def provenance(self) -> Provenance:  # type: ignore[override]
        """Provenance of the numbers; the inputs of all systems, each once."""
        inputs = dict.fromkeys(file for evaluation in self.values() for file in evaluation.provenance.inputs)
        return replace(self.first.provenance, inputs=tuple(inputs))

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """The notes of every system under its name; a note that holds for all systems alike is one, without a name."""
        return merge_notes({name: evaluation.notes for name, evaluation in self.items()})

    def evaluations(self) -> Sequence[Evaluation]:
        """Return the evaluation of every system."""
        return list(self.values())

    def leaderboard(self) -> Evaluations:
        """Return itself."""
        return self

    def summary(self) -> Mapping[str, Any]:
        """Return the profile, the measures, and what was counted for each system."""
        profile = {} if self.first.profile is None else {"profile": str(self.first.profile)}
        systems = {
            name: {
                "units": len(evaluation.scores.queries),
                "unit": evaluation.unit,
                **_describe_counts(evaluation),
            }
            for name, evaluation in self.items()
        }
        return {**profile, "measures": [measure.describe() for measure in self.measures], "systems": systems}

    def sort(self, column: str) -> Evaluations:
        """Return the same with the systems sorted by a measure or by `system`; `-` before it sorts in descending order.

        Systems of equal value keep their order, and those without a value come last.

        >>> from judged import evaluate_many
        >>> runs = {"old": {"q1": {"b": 2.0, "a": 1.0}}, "new": {"q1": {"a": 1.0}}}
        >>> list(evaluate_many({"q1": {"a": 1}}, runs, "RR").sort("-RR"))
        ['new', 'old']
        """
        name = column.removeprefix("-")
        keys: dict[str, Value] = {system: system for system in self}
        if name != "system":
            known = ["system", *self.first.keys()]
            measure = self._find_measure(name)
            if measure is None or measure.text:
                raise UnknownName("column to sort by", name, known)
            keys = {system: evaluation[measure] for system, evaluation in self.items()}
        order = sort_places(list(keys.values()), descending=column.startswith("-"))
        systems = list(self)
        return replace(self, by_system={systems[at]: self[systems[at]] for at in order})

    def to_frame(self) -> pa.Table:
        """Return a row for each system, and a column for each measure."""
        return tabulate([{"system": name, **evaluation.mean()} for name, evaluation in self.items()])

    def to_pandas(self, table: str | None = None) -> Any:
        """Return systems × measures as a pandas data frame, or another of the tables by name."""
        if table is not None:
            return Result.to_pandas(self, table)
        return Result.to_pandas(self, "systems").set_index("system")

    def tables(self) -> Mapping[str, pa.Table]:
        """Return systems × measures, a row for each aggregate with its ranges, and the value of every unit."""
        names = list_names(self.measures)
        shown = differ(names)
        rows: list[dict[str, Value]] = [
            {
                "system": name,
                **describe_name(measure.label, str(measure), shown=shown),
                "unit": evaluation.unit,
                **self._figures(evaluation, measure),
            }
            for name, evaluation in self.items()
            for measure in evaluation.measures
            if not measure.text
        ]
        units = [_label_system(name, evaluation.scores.to_arrow()) for name, evaluation in self.items()]
        attempts = [
            _label_system(name, evaluation.scores.to_arrow("attempts"))
            for name, evaluation in self.items()
            if evaluation.scores.repeats
        ]
        return {
            "systems": tabulate([self._to_row(name, evaluation) for name, evaluation in self.items()]),
            "means": tabulate(rows),
            "scores": pa.concat_tables(units, promote_options="default"),
            **({"attempts": pa.concat_tables(attempts)} if attempts else {}),
            **{title: name_rows(tabulate(records), names) for title, records in self.extra.items()},
        }

    def charts(self) -> list[Figure]:
        """Return the means of several systems, by the measures that lie between 0 and 1."""
        from judged.figures import Record, draw_bars

        shown = [
            measure
            for measure in self.measures
            if measure.higher_is_better is not None
            and measure.aggregate == "mean"
            and measure.bounds[1] <= 1
            and not measure.text
        ]
        bars: list[Record] = [
            {"group": measure.label, "name": name, "value": evaluation[measure]}
            for measure in shown
            for name, evaluation in self.items()
        ]
        return [draw_bars(bars, name="means", title="Means", value="mean")] if bars and len(self) > 1 else []

    def blocks(self, display: Display) -> Iterator[Block]:
        """Return the aggregates of all systems, every unit if it is asked for, bounds, and the notes."""
        doubts, others = split_doubts(self.notes)
        if display.notes and doubts:
            yield Notes(doubts)
        if display.per_query:
            yield from self._unit_tables(display)
        else:
            yield self._means_table(display)
        if self.bounds:
            yield self._bounds_table()
        for title, records in self.extra.items():
            yield _records_table(title, records, display.digits)
        if display.notes and others:
            yield Notes(others)

    def tied_systems(self, digits: int) -> list[str]:
        """Return the systems of which another order of ties would change a number at this many decimals."""
        rows = self._means_table(Display(digits=digits)).rows
        return [str(row[0]) for row in rows if any(isinstance(cell, Estimate) and cell.tied for cell in row)]

    def _find_measure(self, name: str) -> Measure | None:
        """Return the measure of a name; None if it is not one of these."""
        try:
            return self.first.find_measure(name)
        except JudgedError:
            return None

    def _unit_tables(self, display: Display) -> Iterator[Table]:
        """Yield the units by measure, or for several systems a table for each measure, units by system."""
        if len(self) == 1:
            display = self._sort_by_label(display)
            columns = {
                measure.label: _to_cells(measure, self.first.scores[measure].tolist())
                for measure in self.measures
            }
            whole = [
                None if measure.text else _to_value(measure, self.first[measure]) for measure in self.measures
            ]
            units = self.first.scores.queries.to_pylist()
            yield query_table(self.first.unit, units, columns, display, foot=whole, title=display.title)
            return
        units = list(
            dict.fromkeys(unit for system in self.values() for unit in system.scores.queries.to_pylist())
        )
        for measure in self.measures:
            columns = {}
            for name, evaluation in self.items():
                cells = _to_cells(measure, evaluation.scores[measure].tolist())
                known = dict(zip(evaluation.scores.queries.to_pylist(), cells, strict=True))
                columns[name] = [known.get(unit) for unit in units]
            whole = [
                None if measure.text else _to_value(measure, system[measure]) for system in self.values()
            ]
            yield query_table(self.first.unit, units, columns, display, foot=whole, title=measure.label)

    def _sort_by_label(self, display: Display) -> Display:
        """Return the display, sorted by the name that a column has: a measure may be named as in files."""
        measure = self._find_measure(display.sort.removeprefix("-")) if display.sort else None
        if measure is None:
            return display
        return replace(display, sort=f"{'-' * display.sort.startswith('-')}{measure.label}")

    def _means_table(self, display: Display) -> Table:
        averaged = [measure for measure in self.measures if not measure.text]
        rows = tuple(
            (name, *(self._cell(evaluation, measure, display) for measure in averaged))
            for name, evaluation in self.items()
        )
        direction = {measure.label: measure.higher_is_better for measure in averaged}
        columns = ("system", *direction)
        table = Table(columns, rows, title=display.title, corner="measure")
        return mark_best(table, direction, digits=display.digits)

    def find_bounds(self, progress: Progress) -> None:
        """Find all bounds, which are kept; `progress` is called with the queries done, all queries, and what for."""
        for name, evaluation in self.items():
            for measure in evaluation.measures:
                if not measure.text:
                    find_bounds(
                        evaluation, measure, progress=_name_work(progress, f"{name}, {measure.label}")
                    )

    def _bounds_table(self) -> Table:
        columns = ("system", "measure", "value", "judged", "over all judgments", "over all tie orders")
        rows: list[tuple[Value, ...]] = []
        for name, evaluation in self.items():
            for measure in evaluation.measures:
                if not measure.text:
                    bounds = find_bounds(evaluation, measure)
                    ranges = (
                        None if span is None else Between(*span) for span in (bounds.unjudged, bounds.ties)
                    )
                    rows.append((name, measure.label, evaluation[measure], bounds.judged, *ranges))
        return Table(columns, tuple(rows), title="Bounds", keys=2)

    def _cell(self, evaluation: Evaluation, measure: Measure, display: Display) -> Value:
        """Return the aggregate, with its interval, and a mark if the order of ties shows in it."""
        value = _to_value(measure, evaluation[measure])
        low, high = self.intervals.get(evaluation.system, {}).get(str(measure), (None, None))
        ties = find_tie_range(evaluation, measure, thorough=self.bounds) if display.marks else None
        tied = ties is not None and ties.high - ties.low > 10.0**-display.digits
        if not isinstance(value, float) or (low is None and not tied):
            return value
        return Estimate(value, low, high, tied=tied)

    def _to_row(self, name: str, evaluation: Evaluation) -> dict[str, Value]:
        """Return the aggregates of a system in one row; intervals and bounds have columns of their own."""
        row: dict[str, Value] = {"system": name}
        for measure in evaluation.measures:
            if not measure.text:
                for figure, value in self._figures(evaluation, measure).items():
                    if figure != "units":
                        row[measure.label if figure == "value" else f"{measure.label} {figure}"] = value
        return row

    def _figures(self, evaluation: Evaluation, measure: Measure) -> dict[str, Value]:
        figures: dict[str, Value] = {
            "value": _to_value(measure, evaluation[measure]),
            "units": len(evaluation.values(measure)),
        }
        low, high = self.intervals.get(evaluation.system, {}).get(str(measure), (None, None))
        if low is not None:
            figures |= {"low": low, "high": high}
        if self.bounds:
            figures |= find_bounds(evaluation, measure).to_dict()
        return figures

    def to_saved(self) -> SavedEvaluations:
        """Return what is saved; bounds need the alignments, and are not part of it."""
        return SavedEvaluations(self.by_system, self.intervals, self.extra)

    @classmethod
    def from_saved(cls, saved: SavedEvaluations) -> Evaluations:
        """Return the evaluations that were saved."""
        return cls(saved.systems, saved.intervals, extra=saved.extra)


class Bounds(NamedTuple):
    """Share of judged results, and the values that unjudged results and ties leave possible; None: unknown."""

    judged: float | None
    unjudged: Range | None
    ties: Range | None

    def to_dict(self) -> dict[str, Value]:
        """Return the ends by name."""
        unjudged, ties = self.unjudged or (None, None), self.ties or (None, None)
        return {
            "judged": self.judged,
            "unjudged_low": unjudged[0],
            "unjudged_high": unjudged[1],
            "ties_low": ties[0],
            "ties_high": ties[1],
        }


def _name_work(progress: Progress, what: str) -> Progress:
    """Return progress that says what is being done."""
    return lambda done, total=None, _detail="": progress(done, total, what)


def find_bounds(evaluation: Evaluation, measure: Measure, *, progress: Progress | None = None) -> Bounds:
    """Return the share of judged results, and the ranges over grades of unjudged results and orders of ties."""
    ties = find_tie_range(evaluation, measure, thorough=True)
    try:
        return Bounds(
            evaluation.judged_share(measure), evaluation.unjudged_range(measure, progress=progress), ties
        )
    except BadMeasure:  # for example a table of gains that falls as grades rise
        return Bounds(None, None, ties)


def find_tie_range(evaluation: Evaluation, measure: Measure, *, thorough: bool) -> Range | None:
    """Return the range over all orders of ties; None if nothing is tied or there are too many orders.

    Unless it is `thorough`, only measures are tried for which two orders are enough.
    """
    if not evaluation.has_ties or not (thorough or Law.BY_GRADE in measure.laws):
        return None
    try:
        return evaluation.tie_range(measure)
    except BadMeasure:
        return None


def _describe_counts(evaluation: Evaluation) -> dict[str, Any]:
    counts = evaluation.counts
    if not is_dataclass(counts) or isinstance(counts, type):
        return {}
    return {"counts": {name: value for name, value in asdict(counts).items() if name != "input_notes"}}


def _to_value(measure: Measure, value: float) -> Value:
    """Return an aggregate as people read it: sums as whole numbers, nothing where it is undefined."""
    if isnan(value):
        return None
    return int(value) if measure.aggregate == "sum" and value == int(value) else value


def _records_table(title: str, records: Sequence[Mapping[str, Value]], digits: int) -> Table:
    """Return a table of records; p-values are shown as such."""
    columns = tuple(records[0])
    rows = tuple(
        tuple(
            format_p(value, digits=digits) if name.startswith("p") and isinstance(value, float) else value
            for name, value in record.items()
        )
        for record in records
    )
    return Table(columns, rows, title=title)


def _to_cells(measure: Measure, values: list[Any]) -> list[Value]:
    return [
        value if isinstance(value, str) or value is None else _to_value(measure, value) for value in values
    ]


def _label_system(name: str, table: pa.Table) -> pa.Table:
    return table.add_column(0, "system", pa.array([name] * len(table), pa.string()))
