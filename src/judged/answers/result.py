"""What `judged.evaluate_answers` returns: means of systems, their bounds, comparisons, and the answers themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isnan
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from judged.answers.corrected import HumanSample
from judged.answers.losses import LossReport
from judged.blocks import Between, Block, Display, Notes, Table, Value
from judged.comparison.result import Comparison
from judged.gates.result import GateReport, gate_blocks
from judged.problem import Note
from judged.result import Provenance, Result, tabulate
from judged.scoring.evaluation import Evaluation
from judged.scoring.evaluations import Evaluations

if TYPE_CHECKING:
    from judged.answers.evaluate import LabelledInputs
    from judged.answers.family import LabelledAnswers, Unit

MOST_QUERIES = 200
"""Queries beyond which a report keeps no answers, only their values."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A document that a sentence cites, and the label of both."""

    document: str
    label: str | None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer with what it cites."""

    text: str
    citations: tuple[Citation, ...]

    @property
    def support(self) -> str:
        """The best label of its citations, `unlabelled`, or `uncited`."""
        labels = {citation.label for citation in self.citations}
        best = next((label for label in ("full", "partial", "none") if label in labels), None)
        if best in {None, "none"} and None in labels:
            return "unlabelled"
        return best or "uncited"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a system to a query."""

    system: str
    query: str
    attempt: str | None
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class NuggetLabels:
    """A nugget, and the label of each system that answered; None: unlabelled."""

    query: str
    nugget: str
    importance: str
    labels: Mapping[str, str | None]


@dataclass(frozen=True, eq=False)
class Details:
    """The answers that the page shows sentence by sentence, and the labels of nuggets."""

    answers: tuple[Answer, ...] = ()
    nuggets: tuple[NuggetLabels, ...] = ()
    passages: Mapping[str, str] = field(default_factory=dict)
    """Texts of the documents cited, if they are known."""
    queries: int = 0
    """Number of all queries; the answers of the first `MOST_QUERIES` are kept."""


@dataclass(frozen=True, eq=False, repr=False)
class AnswerReport(Result):
    """Answers of systems, scored: `report["bot"]` is the evaluation of one."""

    kind: ClassVar[str] = "answers"
    detail: ClassVar[str] = "scores"
    detail_by_query: ClassVar[bool] = True
    pages: ClassVar[tuple[str, ...]] = ("answers", *Evaluation.pages, "gate")

    systems: Evaluations
    upper: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By system and measure, the mean with every unlabelled pair as full support, of systems with such pairs."""
    details: Details = field(default_factory=Details)
    comparison: Comparison | None = None
    gates: tuple[GateReport, ...] = ()
    losses: LossReport | None = None
    human: HumanSample | None = None
    """Agreement with people's labels, and means corrected by them."""

    def __getitem__(self, system: str) -> Evaluation:
        """Return the evaluation of one system."""
        return self.systems[system]

    @property
    def provenance(self) -> Provenance:  # type: ignore[override]
        """Provenance of the numbers."""
        return self.systems.provenance if self.comparison is None else self.comparison.provenance

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """The notes on every system, on the comparison and on losses."""
        notes = list(self.systems.notes)
        if self.comparison is not None:
            notes.append(Note("method", "info", f"compared by {self.comparison.method}"))
            known = {note.code for note in notes}
            notes += [note for note in self.comparison.notes if note.code not in known]
        for part in (self.losses, self.human):
            notes += () if part is None else part.notes
        return tuple(notes)

    def evaluations(self) -> list[Evaluation]:
        """Return the evaluation of every system."""
        return list(self.systems.values())

    def leaderboard(self) -> Evaluations:
        """Return the evaluation of every system by name."""
        return self.systems

    def summary(self) -> Mapping[str, object]:
        """Return the summary of the systems, and the verdicts of the gates, if there are any."""
        gates = {"gates": [gate.to_dict() for gate in self.gates]} if self.gates else {}
        return {**self.systems.summary(), **gates}

    def tables(self) -> Mapping[str, pa.Table]:
        """Return the means, the bounds, the comparison, the losses, and the value of every query."""
        main, *others = self.systems.tables().items()
        differences = [] if self.comparison is None else self.comparison.rows("differences")
        corrected = [] if self.human is None else list(self.human.rows())
        more = {
            "bounds": tabulate(self._bound_rows()),
            "corrected": tabulate(corrected),
            "differences": tabulate(differences),
        }
        losses = {} if self.losses is None else self.losses.tables()
        return dict([main, *((name, table) for name, table in more.items() if table.num_rows)]) | {
            **losses,
            **dict(others),
        }

    def blocks(self, display: Display) -> Iterator[Block]:
        """Return the means, the bounds, the comparison, the losses and the notes."""
        silent = replace(display, notes=False)
        if self.comparison is None:
            yield from self.systems.blocks(silent)
        else:
            yield from self.comparison.blocks(silent)
        yield from self._bounds_table()
        if self.losses is not None:
            yield from self.losses.blocks(silent)
        if self.human is not None:
            yield from self.human.tables()
        if self.gates:
            yield from gate_blocks(self.gates, silent)
        if display.notes and self.notes:
            yield Notes(self.notes)

    def _bound_rows(self) -> list[dict[str, Value]]:
        return [
            {"system": name, "measure": str(measure), "low": min(ends), "high": max(ends)}
            for name, upper in self.upper.items()
            for measure in self.systems[name].measures
            if (ends := (self.systems[name][measure], upper[str(measure)]))[0] != ends[1]
            and not any(map(isnan, ends))
        ]

    def _bounds_table(self) -> Iterator[Table]:
        """Yield each number with unlabelled pairs as no support, and as full support, where that changes any."""
        rows = self._bound_rows()
        by_key = {(row["system"], row["measure"]): row for row in rows}
        moved = {row["measure"] for row in rows}
        measures = [measure for measure in self.systems.measures if str(measure) in moved]
        if measures:
            yield Table(
                ("system", *(measure.label for measure in measures)),
                tuple(
                    (name, *(_between(by_key.get((name, str(m)))) for m in measures)) for name in self.upper
                ),
                title="Unlabelled as no support, and as full support",
                corner="measure",
            )


def _between(row: Mapping[str, Value] | None) -> Value | Between:
    return None if row is None else Between(float(row["low"]), float(row["high"]))  # type: ignore[arg-type]


def make_details(answers: LabelledInputs) -> Details:
    """Return the answers of the first queries with their labels."""
    kept = frozenset(answers.truth.queries[:MOST_QUERIES])
    return Details(
        tuple(
            _make_answer(system, unit)
            for system in answers.systems
            for unit in system.answers
            if unit[0] in kept
        ),
        tuple(
            NuggetLabels(
                query, nugget.text or nugget.nugget, nugget.importance, _list_labels(answers, query, key)
            )
            for query in answers.truth.queries[:MOST_QUERIES]
            for key, nugget in answers.truth.nuggets.get(query, {}).items()
        ),
        answers.texts,
        len(answers.truth.queries),
    )


def _list_labels(answers: LabelledInputs, query: str, nugget: str) -> dict[str, str | None]:
    """Return the label of a nugget by system: that of its first attempt."""
    units = {
        system.name: next((unit for unit in system.answers if unit[0] == query), None)
        for system in answers.systems
    }
    return {
        system.name: next(iter(system.nuggets.get(unit, {}).get(nugget, ())), None)
        for system in answers.systems
        if (unit := units[system.name]) is not None
    }


def _make_answer(system: LabelledAnswers, unit: Unit) -> Answer:
    known = system.support.get(unit, {})
    sentences = tuple(
        Sentence(
            part.text,
            tuple(
                Citation(document, next(iter(known.get((part.part, (document,)), ())), None))
                for document in part.citations
            ),
        )
        for part in system.answers[unit]
    )
    return Answer(system.name, *unit, sentences)
