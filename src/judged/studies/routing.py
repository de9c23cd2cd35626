"""Routers, skip policies and rerankers, scored by their decisions: measures with intervals, confusion matrix, shares."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from judged.blocks import Block, Display, Estimate, Notes, Sentence, Table, Value, format_value
from judged.errors import WrongKind
from judged.figures import draw_heat_map
from judged.measures.measure import Measure
from judged.problem import Note
from judged.result import Provenance, Result, observe_files, tabulate
from judged.scoring.evaluate import evaluate
from judged.scoring.evaluation import Evaluation
from judged.scoring.evaluations import Evaluations
from judged.scoring.family import Measures
from judged.stats.intervals import (
    Interval,
    defined_student_interval,
    is_binary,
    ratio_interval,
    wilson_interval,
)
from judged.stats.outcome import Undefined
from judged.studies.measures import RerankingView
from judged.studies.tables import Choices, Decisions, SkipDecisions, read_decisions
from judged.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from judged.studies.tables import DecisionsLike

RETRIEVE, SKIP = "retrieve", "skip"
"""Alternatives of a skip policy."""


def evaluate_routing(
    source: DecisionsLike,
    measures: Measures | None = None,
    *,
    quality: Evaluations | None = None,
    level: float = 0.95,
    name: str | None = None,
) -> RoutingReport:
    """Score the decisions of a router, a skip policy or a reranker; the columns say which it is.

    A router has `query`, `chosen` and `optimal`, or a quality of each expert (`quality:NAME`); a skip policy `query`,
    `retrieved` and `needed`; a reranker `query`, `before` and `after`. A column `system` tells several apart. `quality`
    has the scores of every expert's run (`evaluate_many` by one measure): the best on a query is then the optimal one.

    >>> rows = [{"query": "q1", "chosen": "dense", "optimal": "dense"}, {"query": "q2", "chosen": "dense", "optimal": "bm25"}]
    >>> evaluate_routing(rows, "Accuracy", name="router")["router"]["Accuracy"]
    0.5
    """
    inputs = observe_files([("decisions", source)])
    decisions = read_decisions(source, name=name)
    if quality is not None:
        decisions = _add_quality(decisions, quality)
    whole = evaluate(None, decisions, measures)
    by_system = dict(whole.systems)
    intervals = {system: _find_intervals(evaluation, level) for system, evaluation in by_system.items()}
    ends = {
        system: {name: (both.low, both.high) for name, both in own.items() if isinstance(both, Interval)}
        for system, own in intervals.items()
    }
    return RoutingReport(
        subject=decisions.family,
        scored=Evaluations(by_system, ends),
        confusions=tuple(_find_confusions(decisions)),
        level=level,
        notes=Evaluations(by_system).notes,
        provenance=Provenance(inputs=inputs, settings={"level": level}),
    )


@dataclass(frozen=True)
class Confusion:
    """Number of times that each expert was chosen where each was optimal, for one system."""

    system: str
    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    """A row for each optimal expert, a column for each chosen one."""

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of the queries that went to each expert."""
        table = np.array(self.counts)
        return tuple((table.sum(axis=0) / table.sum()).tolist())


@dataclass(frozen=True, eq=False, repr=False)
class RoutingReport(Result):
    """The measures of a router, a skip policy or a reranker, with intervals, and where its decisions went."""

    kind: ClassVar[str] = "routing"
    detail: ClassVar[str] = "scores"

    subject: str
    """`routing`, `skipping` or `reranking`."""
    scored: Evaluations
    """The evaluation of each system, with intervals."""
    confusions: tuple[Confusion, ...] = ()
    level: float = 0.95
    notes: tuple[Note, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)

    def __getitem__(self, system: str) -> Evaluation:
        """Return the evaluation of one system."""
        return self.scored[system]

    def evaluations(self) -> Sequence[Evaluation]:
        """Return the evaluation of each system."""
        return tuple(self.scored.values())

    def tables(self) -> Mapping[str, pa.Table]:
        """Return systems × measures, confusion matrix, shares of the experts, and the value of every query."""
        tables = dict(self.scored.tables())
        scores = tables.pop("scores")
        confusion: list[dict[str, Value]] = [
            {"system": matrix.system, "optimal": row, "chosen": column, "queries": count}
            for matrix in self.confusions
            for row, line in zip(matrix.labels, matrix.counts, strict=True)
            for column, count in zip(matrix.labels, line, strict=True)
        ]
        shares: list[dict[str, Value]] = [
            {"system": matrix.system, "expert": label, "share": share}
            for matrix in self.confusions
            for label, share in zip(matrix.labels, matrix.shares, strict=True)
        ]
        records = {"confusion": confusion, "shares": shares} if self.confusions else {}
        return {**tables, **{name: tabulate(rows) for name, rows in records.items()}, "scores": scores}

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return the answer, the measures with their intervals, confusion matrix, shares, and the notes."""
        yield Sentence(self._answer(display.digits))
        yield from self.scored.blocks(replace(display, notes=False))
        for matrix in self.confusions:
            yield from self._confusion_blocks(matrix)
        if display.notes and self.notes:
            yield Notes(self.notes)

    def _confusion_blocks(self, matrix: Confusion) -> Iterator[Block]:
        title = f"{matrix.system}: queries by optimal (rows) and chosen (columns)"
        rows: tuple[tuple[Value, ...], ...] = tuple(
            (label, *line) for label, line in zip(matrix.labels, matrix.counts, strict=True)
        )
        shares = ("share chosen", *(f"{100 * share:.1f} %" for share in matrix.shares))
        yield Table(("optimal", *matrix.labels), (*rows, shares), title=title, foot=1)
        yield draw_heat_map(
            matrix.counts,
            matrix.labels,
            name=f"confusion-{matrix.system}",
            title=f"Choices of {matrix.system}",
            x="chosen",
            y="optimal",
            note="Cells are darker the more of their row they hold",
        )

    def _answer(self, digits: int) -> str:
        """Return the first measure of every system in words."""
        measure = self.scored.measures[0]
        facts = []
        for system, evaluation in self.scored.items():
            value = evaluation[measure]
            low, high = self.scored.intervals.get(system, {}).get(str(measure), (None, None))
            known = format_value(Estimate(value, low, high), digits=digits) + _unit(measure)
            facts.append(f"{system} {'undefined' if np.isnan(value) else known}")
        many = counted(len(self.scored.first.scores.queries), "query")
        return f"{measure.label} on {many}: {', '.join(facts)}"

    def summary(self) -> Mapping[str, object]:
        """Return the subject, and what was counted for each system."""
        return {"subject": self.subject, "level": self.level, **self.scored.summary()}


def _unit(measure: Measure) -> str:
    return f" {measure.unit}" if measure.unit else ""


def _add_quality(decisions: Decisions, quality: Evaluations) -> Decisions:
    """Return choices with the scores of every expert, by the first measure they were evaluated by."""
    if not isinstance(decisions, Choices):
        msg = f"{decisions.name} holds {type(decisions).__name__}, expected choices of a router to add qualities to"
        raise WrongKind(msg)
    measure = quality.measures[0]
    return decisions.with_quality(
        {expert: evaluation.scores.by_query(measure) for expert, evaluation in quality.items()}
    )


def _find_intervals(evaluation: Evaluation, level: float) -> dict[str, Interval | Undefined]:
    """Return the interval of every measure that has one; measures that only describe have none."""
    intervals: dict[str, Interval | Undefined] = {}
    for measure in evaluation.measures:
        values = evaluation.values(measure)
        if measure.higher_is_better is None or not len(values):
            continue
        if isinstance(evaluation.view, RerankingView):
            before, after = evaluation.view.before, evaluation.view.after
            intervals[str(measure)] = ratio_interval(100.0 * (after - before), before, level=level)
        elif math.isfinite(top := measure.bounds[1]) and is_binary(values / top):
            share = wilson_interval(values / top, level=level)
            intervals[str(measure)] = replace(share, low=top * share.low, high=top * share.high)
        else:
            intervals[str(measure)] = defined_student_interval(values, level=level)
    return intervals


def _find_confusions(decisions: Decisions) -> Iterator[Confusion]:
    """Yield the confusion matrix of each system; rerankers have none."""
    if isinstance(decisions, Choices):
        labels, truth, chosen = decisions.experts, decisions.find_optimal(), decisions.chosen
    elif isinstance(decisions, SkipDecisions):
        labels = (RETRIEVE, SKIP)
        truth = tuple(RETRIEVE if flag else SKIP for flag in decisions.needed.tolist())
        chosen = tuple(RETRIEVE if flag else SKIP for flag in decisions.retrieved.tolist())
    else:
        return
    many = Counter(zip(decisions.owners, truth, chosen, strict=True))
    for system in decisions.systems:
        counts = tuple(tuple(many[system, row, column] for column in labels) for row in labels)
        yield Confusion(system, labels, counts)
