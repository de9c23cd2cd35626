"""Scored runs as plain tables, for the report to lay out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from math import isnan
from typing import Any

from judged import __version__
from judged.blocks import Between, Estimate, Table, Value, format_p, mark_best
from judged.cli.inputs import Input, digest
from judged.comparison.contrasts import BaselineTest
from judged.engine.evaluation import Evaluation, Range
from judged.errors import BadMeasure
from judged.measures.laws import Law
from judged.measures.measure import Measure
from judged.stats.intervals import student_interval
from judged.stats.outcome import stars

__all__ = ["Scored"]


@dataclass(frozen=True)
class Scored:
    """Every run with its scores, and what is to be said of them."""

    judgments: str
    runs: Sequence[Input]
    evaluations: Sequence[Evaluation]
    level: float | None = None
    """The confidence of the intervals; None: no intervals."""
    compared: Sequence[BaselineTest] = ()
    bounded: bool = False
    """Whether it was asked how far ties and unjudged results could move each number."""

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, the same for every run."""
        return self.evaluations[0].measures

    @property
    def averaged(self) -> list[Measure]:
        """The measures that have one value for a whole run."""
        return [measure for measure in self.measures if not measure.text]

    def means(self, *, digits: int = 4) -> Table:
        """A row for each run, a column for each measure, the best of several runs marked."""
        columns = ("run", *map(str, self.averaged))
        rows = tuple(
            (evaluation.system, *(self._shown(evaluation, measure, digits) for measure in self.averaged))
            for evaluation in self.evaluations
        )
        better = {str(measure): measure.higher_is_better for measure in self.averaged}
        return mark_best(Table(columns, rows), better, digits=digits)

    def mean_records(self) -> Table:
        """A row for each run and measure, with its interval and comparison where there are any."""
        records = [
            {"run": evaluation.system, "measure": str(measure), **self._figures(evaluation, measure)}
            for evaluation in self.evaluations
            for measure in self.averaged
        ]
        names = tuple(dict.fromkeys(name for record in records for name in record))
        return Table(names, tuple(tuple(record.get(name) for name in names) for record in records))

    def mean_columns(self) -> Table:
        """A row for each run; each measure has a column, and one for each figure beside it."""
        rows: list[dict[str, Value]] = []
        for evaluation in self.evaluations:
            row: dict[str, Value] = {"run": evaluation.system}
            for measure in self.averaged:
                for name, figure in self._figures(evaluation, measure).items():
                    row[str(measure) if name == "value" else f"{measure} {name}"] = figure
            rows.append(row)
        names = tuple(dict.fromkeys(name for row in reversed(rows) for name in row))
        return Table(names, tuple(tuple(row.get(name) for name in names) for row in rows))

    def queries(self) -> Iterator[Table]:
        """A table for each run: a row for each query, a column for each measure, the whole run below."""
        for evaluation in self.evaluations:
            scores = evaluation.per_query()
            columns = [_plain(measure, _defined(scores[measure].tolist())) for measure in self.measures]
            rows = list(zip(scores.queries.to_pylist(), *columns, strict=True))
            whole = tuple(
                None if each.text else _plain(each, [evaluation[each]])[0] for each in self.measures
            )
            title = evaluation.system if len(self.evaluations) > 1 else None
            yield Table(("query", *map(str, self.measures)), (*rows, ("all", *whole)), title=title, foot=1)

    def query_records(self) -> Table:
        """A row for each run, query and measure; strings have a column of their own."""
        text = any(measure.text for measure in self.measures)
        rows: list[tuple[Value, ...]] = []
        for evaluation in self.evaluations:
            scores = evaluation.per_query()
            ids = scores.queries.to_pylist()
            for measure in self.measures:
                head = [(evaluation.system, query, str(measure)) for query in ids]
                values = _defined(scores[measure].tolist())
                tail = zip_longest([], values) if measure.text else zip_longest(values, [])
                rows += [(*names, *pair[: 1 + text]) for names, pair in zip(head, tail, strict=True)]
        return Table(("run", "query", "measure", "value", *(["text"] if text else [])), tuple(rows))

    def comparisons(self, *, digits: int = 4) -> Table | None:
        """A row for each run and measure compared with the first run, or None if nothing was compared."""
        if not self.compared:
            return None
        columns = ("run", "measure", "difference", "t", "p", "p (Holm)", "effect size", "")
        rows = tuple(
            (
                each.system,
                each.measure,
                each.test.difference,
                each.test.statistic,
                format_p(each.test.p, digits=digits),
                format_p(each.corrected, digits=digits),
                each.test.effect,
                stars(each.test.p),
            )
            for each in self.compared
        )
        return Table(columns, rows, title=f"Paired t-tests against {self.compared[0].baseline}")

    def about(self) -> dict[str, str]:
        """How the scores were made, for a file's own metadata; `judged gate` compares it with how it makes its own."""
        first = self.evaluations[0]
        told = {"judged": __version__, "judged.protocol": str(first.protocol)}
        if len(first.parts) > 1:
            made = {str(each): part.protocol.fingerprint for part in first.parts for each in part.measures}
            told["judged.protocols"] = json.dumps(made)
        judgments = digest(self.judgments)
        return told if judgments is None else {**told, "judged.judgments": judgments}

    def document(self, *, per_query: bool) -> dict[str, Any]:
        """Everything as one object, for JSON."""
        protocol = self.evaluations[0].protocol
        paths = [("judgments", self.judgments), *(("run", run.path) for run in self.runs)]
        document: dict[str, Any] = {
            "judged": __version__,
            "protocol": {
                "profile": getattr(protocol, "profile", None),
                "fingerprint": protocol.fingerprint,
                **protocol.to_dict(),
            },
            **self._profile(),
            "inputs": [{"role": role, "path": path, "sha256": digest(path)} for role, path in paths],
            "measures": [_described(measure) for measure in self.measures],
            "runs": [self._run(evaluation, per_query=per_query) for evaluation in self.evaluations],
        }
        if self.compared:
            document["comparisons"] = [each.to_dict() for each in self.compared]
        return document

    def _profile(self) -> dict[str, Any]:
        """The profile that was asked for, and the protocol of each measure where it has several."""
        first = self.evaluations[0]
        told: dict[str, Any] = {} if first.profile is None else {"profile": str(first.profile)}
        if len(first.parts) > 1:
            told["protocols"] = [
                {
                    "measures": [str(measure) for measure in part.measures],
                    "fingerprint": part.protocol.fingerprint,
                    **part.protocol.to_dict(),
                }
                for part in first.parts
            ]
        return told

    def _run(self, evaluation: Evaluation, *, per_query: bool) -> dict[str, Any]:
        seen = evaluation.counts
        sentences = list(
            dict.fromkeys(told for part in evaluation.parts for told in (note.message for note in part.notes))
        )
        run: dict[str, Any] = {
            "name": evaluation.system,
            "queries": seen.queries,
            "means": evaluation.mean(),
            "counts": {name: value for name, value in asdict(seen).items() if name != "input_notes"},
            "notes": sentences,
        }
        ranges = {
            str(measure): tie_range(evaluation, measure, asked=self.bounded) for measure in self.averaged
        }
        run["tie_ranges"] = {name: list(each) for name, each in ranges.items() if each is not None}
        if self.bounded:
            run["bounds"] = {str(measure): _moved(evaluation, measure) for measure in self.averaged}
        if self.level is not None:
            figures = {str(measure): self._figures(evaluation, measure) for measure in self.averaged}
            run["intervals"] = {
                name: {"level": self.level, "low": each["low"], "high": each["high"]}
                for name, each in figures.items()
                if "low" in each
            }
        if per_query:
            scores = evaluation.per_query()
            columns = [_defined(scores[measure].tolist()) for measure in self.measures]
            names = [str(measure) for measure in self.measures]
            run["per_query"] = {
                query: dict(zip(names, values, strict=True))
                for query, *values in zip(scores.queries.to_pylist(), *columns, strict=True)
            }
        return run

    def shows_ties(self, *, digits: int) -> bool:
        """Whether some number could have another last digit if tied results were ordered otherwise."""
        return any(
            isinstance(cell, Estimate) and cell.ties is not None
            for row in self.means(digits=digits).rows
            for cell in row
        )

    def bounds(self) -> Table | None:
        """A row for each run and measure: how far ties and unjudged results could move it; None: not asked for."""
        if not self.bounded:
            return None
        columns = ("run", "measure", "value", "judged", "over all judgments", "over all tie orders")
        rows = tuple(
            (evaluation.system, str(measure), evaluation[measure], *_spread(_moved(evaluation, measure)))
            for evaluation in self.evaluations
            for measure in self.averaged
        )
        return Table(columns, rows, title="Bounds")

    def _shown(self, evaluation: Evaluation, measure: Measure, digits: int) -> Value:
        """The value of a run, with its interval where one is wanted, and what ties leave open if that is seen."""
        figures: dict[str, Any] = self._figures(evaluation, measure)
        value: Value = figures["value"]
        ties = tie_range(evaluation, measure, asked=self.bounded)
        seen = Between(*ties) if ties is not None and ties.high - ties.low > 10.0**-digits else None
        if not isinstance(value, float) or ("low" not in figures and seen is None):
            return value
        return Estimate(value, figures.get("low"), figures.get("high"), ties=seen)

    def _figures(self, evaluation: Evaluation, measure: Measure) -> dict[str, Value]:
        """The value of a run, and the figures that belong beside it, by name."""
        figures: dict[str, Value] = {"value": _plain(measure, [evaluation[measure]])[0]}
        values = evaluation.values(measure)
        if self.level is not None and measure.aggregate == "mean" and len(values):
            interval = student_interval(values, level=self.level)
            figures |= {"low": interval.low, "high": interval.high}
        if self.bounded:
            figures |= _moved(evaluation, measure)
        for each in self.compared:
            if (each.system, each.measure) == (evaluation.system, str(measure)):
                figures |= {"difference": each.test.difference, "t": each.test.statistic, "p": each.test.p}
                figures |= {"p_holm": each.corrected, "effect_size": each.test.effect}
        return figures


def tie_range(evaluation: Evaluation, measure: Measure, *, asked: bool) -> Range | None:
    """The least and greatest value over all orders of ties; None: nothing is tied, or there are too many orders.

    Unless it was asked for, it is looked at only where two orders tell it.
    """
    if not evaluation.has_ties or not (asked or Law.BY_GRADE in measure.laws):
        return None
    try:
        return evaluation.tie_range(measure)
    except BadMeasure:
        return None


def _moved(evaluation: Evaluation, measure: Measure) -> dict[str, Value]:
    """How much was judged, and between which values unjudged results and ties could move the number."""
    try:
        unjudged: tuple[Value, Value] = evaluation.unjudged_range(measure)
        share: Value = evaluation.judged_share(measure)
    except BadMeasure:  # as for a table of gains that falls where grades rise
        unjudged, share = (None, None), None
    ties = tie_range(evaluation, measure, asked=True) or (None, None)
    return {
        "judged": share,
        "unjudged_low": unjudged[0],
        "unjudged_high": unjudged[1],
        "ties_low": ties[0],
        "ties_high": ties[1],
    }


def _spread(moved: Mapping[str, Any]) -> tuple[Value, ...]:
    """The share that was judged, and the two ranges in a cell each."""
    ends = [(moved[f"{name}_low"], moved[f"{name}_high"]) for name in ("unjudged", "ties")]
    return (moved["judged"], *(None if low is None else Between(low, high) for low, high in ends))


def _defined(values: list[Any]) -> list[Any]:
    """The values, with None where a profile's tool leaves a query out."""
    return [None if isinstance(value, float) and isnan(value) else value for value in values]


def _plain(measure: Measure, values: list[Any]) -> list[Value]:
    """Counts as whole numbers, everything else as it is."""
    if measure.aggregate != "sum" or measure.text:
        return values
    return [value if value is None or value != int(value) else int(value) for value in values]


def _described(measure: Measure) -> dict[str, Any]:
    low, high = measure.bounds
    return {
        "name": str(measure),
        "family": measure.family,
        "aggregate": None if measure.text else measure.aggregate,
        "higher_is_better": measure.higher_is_better,
        "bounds": [low if abs(low) < float("inf") else None, high if abs(high) < float("inf") else None],
    }
