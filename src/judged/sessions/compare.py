"""Compare, gate and rank the systems of traces, by the statistics that runs are compared by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from judged.agreements.grades import describe_result, read_grades
from judged.agreements.system_order import RankedSystems, rank_systems
from judged.comparison.api import compare
from judged.comparison.result import Comparison
from judged.comparison.settings import Settings, choose_settings
from judged.engine.evaluation import Evaluation
from judged.engine.family import Measures
from judged.errors import BadSample, UnknownName
from judged.gates.api import gate
from judged.gates.result import Delta, GateReport
from judged.io.read import read_labels
from judged.problem import Note
from judged.sessions.analysis import average_tasks, session_keys
from judged.sessions.evaluate import evaluate_sessions
from judged.sessions.protocol import DEFAULT_MEASURES
from judged.sessions.tasks import check_shared, describe_pairing
from judged.stats.margin import OneSidedTest
from judged.tables.labels import Labels
from judged.wording import counted

__all__ = ["compare_sessions", "compare_systems", "gate_sessions", "gate_systems", "rank_sessions"]


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


def rank_sessions(
    traces: Any,
    labels: Any,
    human: Any,
    measures: Measures = ("CG@last", "SRE@last"),
    **options: Any,
) -> tuple[RankedSystems, ...]:
    """Rank the systems of traces by labels and by human grades, over the results that both graded.

    `options` are those of `judged.evaluate_sessions`. Gains in the traces count for results that neither graded.
    """
    people, machine = read_labels(human), read_labels(labels)
    shared = _keep_shared(people, machine), _keep_shared(machine, people)
    by_people, by_labels = (evaluate_sessions(traces, measures, labels=some, **options) for some in shared)
    return tuple(
        rank_systems(
            str(measure),
            {name: system[measure] for name, system in by_people.systems.items()},
            {name: system[measure] for name, system in by_labels.systems.items()},
            higher_is_better=measure.higher_is_better is not False,
        )
        for measure in by_people.measures
    )


def _keep_shared(labels: Labels, others: Labels) -> Labels:
    """Return the labels of results that the others have too."""
    there = read_grades(others)
    rows = tuple(label for label in labels if there.find(describe_result(label)) is not None)
    return Labels.from_rows(rows, name=labels.name)
