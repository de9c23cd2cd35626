"""`gate_sessions`: a system against a baseline on the same tasks, with a margin."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from judged.errors import BadSample, UnknownName
from judged.gates.api import gate
from judged.gates.result import Delta, GateReport
from judged.measures.measure import Measure
from judged.problem import Note
from judged.sessions.evaluate import evaluate_sessions
from judged.sessions.evaluation import SessionEvaluation
from judged.stats.margin import OneSidedTest

__all__ = ["gate_sessions", "gate_systems"]


def gate_sessions(
    source: Any,
    measures: Iterable[Measure | str] | Measure | str,
    *,
    baseline: str,
    min_delta: float | str | Delta = -0.01,
    alpha: float = 0.05,
    test: OneSidedTest = "t",
    seed: int = 0,
    **how: Any,
) -> tuple[GateReport, ...]:
    """Whether each other system of traces is shown to be no worse than `baseline`, by more than `min_delta` at most.

    `source`, `measures` and what else is given are as in `judged.evaluate_sessions`; `min_delta`, `alpha`, `test` and
    `seed` as in `judged.gate`. Systems are compared on the tasks that both did.
    """
    evaluation = evaluate_sessions(source, measures, **how)
    settings: dict[str, Any] = {"min_delta": min_delta, "alpha": alpha, "test": test, "seed": seed}
    return gate_systems(evaluation, baseline=baseline, **settings)


def gate_systems(evaluation: SessionEvaluation, *, baseline: str, **settings: Any) -> tuple[GateReport, ...]:
    """The same of systems that have been evaluated together."""
    systems = evaluation.systems
    if baseline not in systems:
        kind = "system"
        raise UnknownName(kind, baseline, systems)
    if len(systems) < 2:
        msg = f"`{baseline}` is the only system of the traces, expected another to compare it with"
        raise BadSample(msg)
    before = systems[baseline].per_task()
    return tuple(
        replace(gate(each.per_task(), baseline=before, **settings), notes=_notes(each))
        for name, each in systems.items()
        if name != baseline
    )


def _notes(evaluation: SessionEvaluation) -> tuple[Note, ...]:
    told = evaluation.observations.sentences(conflict=evaluation.protocol.conflict)
    return tuple(Note("observation", "info", f"{evaluation.run}: {sentence}") for sentence in told)
