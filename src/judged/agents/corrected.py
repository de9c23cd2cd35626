"""CG and SRE of each system by labels, corrected by the human grades of a random sample of the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judged.agents.builder import NewResult, SessionKey, SessionViewBuilder
from judged.agents.dedup.label_index import LabelIndex
from judged.agents.kernels import UNLABELLED, SessionView, count_until, gain_values
from judged.agents.reference import make_pools
from judged.arrays import Floats, Ints
from judged.blocks import Estimate, Table, Value
from judged.errors import BadSample
from judged.io.read import read_labels
from judged.stats.outcome import Undefined, as_row
from judged.stats.prediction_powered import bound_mean, combine_parts, describe_small_sample
from judged.tables.inputs import LabelsLike


@dataclass(frozen=True, slots=True)
class Correction:
    """One measure of one system, by labels alone and corrected."""

    system: str
    measure: str
    labels: float
    corrected: float
    low: float | Undefined
    high: float | Undefined
    graded: int
    """Results of the system that people graded."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """CG and SRE of every system."""

    corrections: tuple[Correction, ...]
    graded: int
    """Distinct results that people graded."""
    pool: int
    """Distinct results of all systems, over all tasks."""
    tasks: int
    """Tasks with graded results: the independent draws of the correction."""
    warning: str = ""
    """Why intervals may cover less than their level; empty if there is no reason."""

    def rows(self) -> Iterator[dict[str, Value]]:
        """Yield a row for each system and measure."""
        for row in self.corrections:
            yield {**as_row(row)}

    def tables(self) -> Iterator[Table]:
        """Yield a row for each system and measure."""
        rows = tuple(
            (row.system, row.measure, row.labels, _estimate(row), row.graded) for row in self.corrections
        )
        title = f"Corrected by people, who graded {self.graded:,} of {self.pool:,} results"
        yield Table(("system", "measure", "by labels", "corrected", "graded"), rows, title=title, keys=2)


def correct_by_humans(
    builder: SessionViewBuilder, view: SessionView, human: LabelsLike, *, good: int = 2, level: float = 0.95
) -> Corrected:
    """Return CG and SRE of each system, prediction-powered: the labels' mean plus what people add on a sample.

    The graded results must be a random sample of the pool, the distinct results of each task, as `judged label --sample`
    draws it. A graded result that sessions share is one draw; results of other systems add nothing to a system's
    correction, and count as such in its variance. Tasks are the independent draws of both the labels' mean and the
    correction, so the interval is for other tasks.
    """
    index = LabelIndex(read_labels(human), builder.protocol.rules)
    pool = _pool_items(builder)
    grades = [_find_grade(index, builder.keys, item.results) for item in pool]
    drawn = [(item, grade) for item, grade in zip(pool, grades, strict=True) if grade is not None]
    if len(drawn) < 2:
        msg = f"people graded {len(drawn)} of the results, expected a sample of at least 2"
        raise BadSample(msg, hint="draw one with `judged label TRACE --sample 200 -o sheet.csv`")
    measures = (
        ("CG@last", gain_values(good, "graded"), np.ones(len(view))),
        ("SRE@last", gain_values(good, "binary"), _shares(view)),
    )
    systems: dict[str, list[int]] = {}
    for number, key in enumerate(builder.keys):
        systems.setdefault(key.system, []).append(number)
    of_session = _number_tasks(builder)
    corrections = [
        _correct(
            _Subject(system, np.array(sessions), name, worth, scale), drawn, pool, view, of_session, level
        )
        for system, sessions in systems.items()
        for name, worth, scale in measures
    ]
    tasks = len({item.task for item, _ in drawn})
    values = np.array([float(grade >= good) for _, grade in drawn])
    return Corrected(
        tuple(corrections), len(drawn), len(pool), tasks, describe_small_sample(values, tasks, noun="task")
    )


@dataclass(frozen=True, slots=True)
class _Item:
    """A distinct result of a task, with the sessions that found it."""

    task: int
    results: Sequence[NewResult]


@dataclass(frozen=True, slots=True)
class _Subject:
    """A measure of a system: what a grade is worth, and how much it counts in each session."""

    system: str
    sessions: Ints
    measure: str
    worth: Ints
    scale: Floats


def _number_tasks(builder: SessionViewBuilder) -> Ints:
    """Return the number of each session's task."""
    number = {task: at for at, task in enumerate(dict.fromkeys(key.task for key in builder.keys))}
    return np.array([number[key.task] for key in builder.keys])


def _pool_items(builder: SessionViewBuilder) -> list[_Item]:
    """Return the distinct results of every task, each with the sessions that found it."""
    items: list[_Item] = []
    for task, pool in enumerate(make_pools(builder).values()):
        groups: dict[int, list[NewResult]] = {}
        for number, result in zip(pool.numbers, pool.results, strict=True):
            groups.setdefault(number, []).append(result)
        items += [_Item(task, results) for results in groups.values()]
    return items


def _find_grade(index: LabelIndex, keys: Sequence[SessionKey], results: Sequence[NewResult]) -> int | None:
    for result in results:
        entry = index.find((*keys[result.session].names, result.query, None), result.result, result.scope)
        if entry is not None:
            return index.labels[entry].gain
    return None


def _shares(view: SessionView) -> Floats:
    """Return what one result is of all results of its session."""
    returned = count_until(view, view.results, "last")
    return np.divide(1.0, returned, out=np.zeros(len(view)), where=returned > 0)


def _correct(
    subject: _Subject,
    drawn: Sequence[tuple[_Item, int]],
    pool: Sequence[_Item],
    view: SessionView,
    of_session: Ints,
    level: float,
) -> Correction:
    """Return the mean by labels, and with the mean correction of the sample times the size of the pool.

    The correction is a ratio (what people add, for each graded result) times another (results of the pool, for each session);
    each task's part in the deviation of the estimate is that of its linearisation.
    """
    own, sessions = set(subject.sessions.tolist()), len(subject.sessions)
    of_own = of_session[subject.sessions].tolist()
    tasks = set(of_own)
    drawn = [(item, grade) for item, grade in drawn if item.task in tasks]
    of_pool = [item.task for item in pool if item.task in tasks]
    values = _session_values(view, subject.worth, subject.scale)[subject.sessions]
    added = np.array([_add(subject, item, grade, own, view) for item, grade in drawn])
    mean_added, share = float(added.mean()) if len(added) else 0.0, len(of_pool) / sessions
    corrected = float(values.mean()) + share * mean_added
    low, high = _bound(
        corrected,
        (share * (added - mean_added) / max(len(added), 1), [item.task for item, _ in drawn]),
        (
            np.concatenate([values - corrected, np.full(len(of_pool), mean_added)]) / sessions,
            [*of_own, *of_pool],
        ),
        level,
    )
    graded = sum(any(result.session in own for result in item.results) for item, _ in drawn)
    return Correction(subject.system, subject.measure, float(values.mean()), corrected, low, high, graded)


def _bound(
    corrected: float,
    human: tuple[Floats, Sequence[int]],
    others: tuple[Floats, Sequence[int]],
    level: float,
) -> tuple[float | Undefined, float | Undefined]:
    """Return the interval, from parts of the deviation with the number of the task of each."""
    if len(set(human[1])) < 2:
        few = Undefined("people graded results of fewer than two of its tasks")
        return few, few
    spread = combine_parts(human[0], np.array(human[1]), others[0], np.array(others[1]))
    largest = max(abs(corrected), float(np.abs(others[0]).max()))
    _, low, high = bound_mean(corrected, spread.error, spread.freedom, level, largest=largest)
    return low, high


def _add(subject: _Subject, item: _Item, grade: int, own: set[int], view: SessionView) -> float:
    """Return what a human grade of a result adds to the sum of the system's sessions."""
    return float(
        sum(
            subject.scale[result.session]
            * (subject.worth[grade] - subject.worth[max(int(view.gains[result.place]), 0)])
            for result in item.results
            if result.session in own
        )
    )


def _estimate(row: Correction) -> Estimate:
    if isinstance(row.low, Undefined) or isinstance(row.high, Undefined):
        return Estimate(row.corrected, reason=str(row.low))
    return Estimate(row.corrected, row.low, row.high)


def _session_values(view: SessionView, worth: Ints, scale: Floats) -> Floats:
    """Return the value of every session by labels."""
    gains = np.where(view.gains == UNLABELLED, 0, view.gains)
    session = np.repeat(view.session, view.new)
    return scale * np.bincount(session, weights=worth[gains], minlength=len(view))
