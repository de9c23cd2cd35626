"""`compare_sessions`: systems on the same tasks, by the statistics that runs are compared by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from judged.comparison.api import compare
from judged.comparison.result import Comparison
from judged.comparison.settings import Settings, choose_settings
from judged.problem import Note
from judged.sessions.defaults import DEFAULT_MEASURES
from judged.sessions.evaluate import evaluate_sessions
from judged.sessions.evaluation import SessionEvaluation
from judged.wording import counted

__all__ = ["compare_sessions", "compare_systems"]


def compare_sessions(
    source: Any,
    measures: Any = DEFAULT_MEASURES,
    *,
    baseline: str | Sequence[str] | None = None,
    test: str = "randomisation",
    correction: str | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    **how: Any,
) -> Comparison:
    """Compare the systems of traces on the tasks that they all did.

    `source`, `measures` and what else is given are as in `judged.evaluate_sessions`; `baseline`, `test`, `correction`,
    `level`, `resamples` and `seed` as in `judged.compare`. A system that did a task several times has the mean.
    """
    settings = choose_settings(test=test, correction=correction, level=level, resamples=resamples, seed=seed)
    return compare_systems(evaluate_sessions(source, measures, **how), baseline=baseline, settings=settings)


def compare_systems(
    evaluation: SessionEvaluation,
    *,
    baseline: str | Sequence[str] | None = None,
    settings: Settings | None = None,
) -> Comparison:
    """Compare the systems of an evaluation on the tasks that they share."""
    by_task = [each.per_task() for each in evaluation.systems.values()]
    compared = compare(by_task, baseline=baseline, **(settings or Settings()).to_dict())
    return replace(compared, notes=(*compared.notes, *_repeated(evaluation)))


def _repeated(evaluation: SessionEvaluation) -> list[Note]:
    """Return a note for each system that did tasks more than once."""
    notes = []
    for name, each in evaluation.systems.items():
        tasks = len({named.task for named in each.named})
        if tasks < len(each.named):
            counts = f"{counted(len(each.named), 'session')} on {counted(tasks, 'task')}"
            message = f"{name}: {counts}; each task has their mean"
            notes.append(Note("repeated-tasks", "info", message))
    return notes
