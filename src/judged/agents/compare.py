"""Compare, gate and rank the systems of traces, by the statistics that runs are compared by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from judged.agents.analysis import average_tasks, session_keys
from judged.agents.evaluate import evaluate_sessions
from judged.agents.protocol import DEFAULT_MEASURES
from judged.agents.tasks import check_shared, describe_pairing
from judged.comparison.api import compare
from judged.comparison.result import Comparison
from judged.comparison.settings import Settings, choose_settings
from judged.errors import BadSample, UnknownName
from judged.gates.api import gate
from judged.gates.result import Delta, GateReport
from judged.problem import Note
from judged.scoring.evaluation import Evaluation
from judged.scoring.family import Measures
from judged.stats.margin import OneSidedTest
from judged.wording import counted


def compare_sessions(
    source: Any,
    measures: Measures = DEFAULT_MEASURES,
    *,
    baseline: str | Sequence[str] | None = None,
    test: str = "randomisation",
    correction: str | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    **options: Any,
) -> Comparison:
    """Compare the systems of traces on the tasks that they all did.

    `source`, `measures` and `options` are those of `judged.evaluate_sessions`; the others those of `judged.compare`.
    A system that did a task several times has the mean.
    """
    settings = choose_settings(test=test, correction=correction, level=level, resamples=resamples, seed=seed)
    evaluation = evaluate_sessions(source, measures, **options)
    return compare_systems(evaluation, baseline=baseline, settings=settings)


def compare_systems(
    evaluation: Evaluation,
    *,
    baseline: str | Sequence[str] | None = None,
    settings: Settings | None = None,
) -> Comparison:
    """Compare the systems of an evaluation on the tasks that they share."""
    keys = {name: session_keys(system) for name, system in evaluation.systems.items()}
    check_shared(keys)
    by_task = [average_tasks(system) for system in evaluation.systems.values()]
    comparison = compare(by_task, baseline=baseline, **(settings or Settings()).to_dict())
    return replace(
        comparison, notes=(*comparison.notes, *describe_pairing(keys), *_note_repeated(evaluation))
    )


def _note_repeated(evaluation: Evaluation) -> list[Note]:
    """Return a note for each system that did tasks more than once."""
    notes = []
    for name, system in evaluation.systems.items():
        keys = session_keys(system)
        tasks = len({key.task for key in keys})
        if tasks < len(keys):
            value = f"{counted(len(keys), 'session')} on {counted(tasks, 'task')}"
            fact = "several sessions on a task, which has their mean"
            notes.append(
                Note("repeated-tasks", "info", f"{value}; each task has their mean", fact, value, name)
            )
    return notes


def gate_sessions(
    source: Any,
    measures: Measures = DEFAULT_MEASURES,
    *,
    baseline: str,
    min_delta: float | str | Delta = -0.01,
    alpha: float = 0.05,
    test: OneSidedTest = "t",
    seed: int = 0,
    **options: Any,
) -> tuple[GateReport, ...]:
    """Check that no other system of traces is worse than `baseline` by more than `min_delta`.

    `source`, `measures` and `options` are those of `judged.evaluate_sessions`; the others those of `judged.gate`.
    Systems are compared on the tasks that both did.
    """
    evaluation = evaluate_sessions(source, measures, **options)
    settings: dict[str, Any] = {"min_delta": min_delta, "alpha": alpha, "test": test, "seed": seed}
    return gate_systems(evaluation, baseline=baseline, **settings)


def gate_systems(evaluation: Evaluation, *, baseline: str, **settings: Any) -> tuple[GateReport, ...]:
    """Gate the systems of an evaluation; `settings` are those of `gate_sessions`."""
    systems = evaluation.systems
    if baseline not in systems:
        kind = "system"
        raise UnknownName(kind, baseline, systems)
    if len(systems) < 2:
        msg = f"`{baseline}` is the only system of the traces, expected another to compare it with"
        raise BadSample(msg)
    before = average_tasks(systems[baseline])
    return tuple(
        gate(average_tasks(system), baseline=before, **settings)
        for name, system in systems.items()
        if name != baseline
    )
