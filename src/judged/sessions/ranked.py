"""Whether labels and human grades put systems in the same order, by measures of their sessions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from judged.agreements.grades import describe_result, read_grades
from judged.agreements.system_order import RankedSystems, rank_systems
from judged.io.read import read_labels
from judged.measures.measure import Measure
from judged.sessions.evaluate import evaluate_sessions
from judged.tables.labels import Labels

__all__ = ["rank_sessions"]


def rank_sessions(
    traces: Any,
    labels: Any,
    human: Any,
    measures: Iterable[Measure | str] | Measure | str = ("CG@last", "SRE@last"),
    **options: Any,
) -> tuple[RankedSystems, ...]:
    """The systems of the traces scored under both by each measure, by the results that both graded.

    `options` are those of `judged.evaluate_sessions`. Gains in the traces themselves count for what neither graded.
    """
    under = [evaluate_sessions(traces, measures, labels=each, **options) for each in _shared(human, labels)]
    return tuple(
        rank_systems(
            str(measure),
            *({name: each[measure] for name, each in found.systems.items()} for found in under),
            higher_is_better=measure.higher_is_better is not False,
        )
        for measure in under[0].measures
    )


def _shared(human: Any, labels: Any) -> tuple[Labels, Labels]:
    """The labels of either side whose results the other side has too."""
    people, machine = read_labels(human), read_labels(labels)
    return _known(people, machine), _known(machine, people)


def _known(labels: Labels, others: Labels) -> Labels:
    there = read_grades(others)
    rows = tuple(label for label in labels if there.find(describe_result(label)) is not None)
    return Labels.from_rows(rows, name=labels.name)
