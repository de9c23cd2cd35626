"""Analyses that only sessions have, as functions of an evaluation: bounds, curves, stopping points, overlaps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan
from typing import cast

import numpy as np

from judged.agents.attempts import Attempts, summarise_attempts
from judged.agents.builder import DedupDecision
from judged.agents.corrected import Corrected
from judged.agents.family import align_of, session_keys
from judged.agents.kernels import SessionView, count_until, iteration_gain, total_until
from judged.agents.redundancy import Redundancy, explain_redundancy
from judged.agents.stopping import StoppingRules, apply_rules
from judged.agents.use import Use, summarise_use
from judged.arrays import Floats, Ints
from judged.errors import BadMeasure, BadProtocol
from judged.measures.measure import Measure
from judged.measures.parse import parse_measure
from judged.scoring.evaluation import Evaluation, aggregate
from judged.stats.intervals import Interval, student_interval


def decisions(evaluation: Evaluation) -> tuple[DedupDecision, ...]:
    """Return why each result is new or a duplicate; empty unless it was evaluated with `explain`."""
    return align_of(evaluation).decisions


def average_tasks(evaluation: Evaluation) -> Evaluation:
    """Return the evaluation with a row for each task: the mean over the sessions of a system on it.

    A task that only its place in a file names is this system's alone.
    """
    keys = session_keys(evaluation)
    own = [f"{key.system}/{key.conversation}" if key.task_from == "position" else key.task for key in keys]
    return evaluation.average_by(own, "task")


def upper_bound(evaluation: Evaluation, measure: Measure | str) -> float:
    """Return a measure with the gain 4 for every unlabelled result; NaN where the reference would change too."""
    known, alignment = evaluation.find_measure(measure), align_of(evaluation)
    if alignment.pools and known.needs_reference:
        return nan
    view = alignment.view.cached(("upper",), alignment.view.with_best_labels)
    return aggregate(known, _find_averaged(known, view), view=view, empty=nan)


def _find_averaged(measure: Measure, view: SessionView) -> Floats:
    """Return the values that count in the mean."""
    values: Floats = measure.per_query(view)
    left_out = np.isnan(values) if measure.averaged is None else np.isnan(values) | ~measure.averaged(view)
    return values[~left_out]


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A measure at one iteration, over all sessions."""

    iteration: int
    running: int
    """Number of sessions with at least this many iterations; the others keep their last value, or are padded."""
    value: float
    interval: Interval | None
    """None where fewer than two sessions have a value, or the value is pooled over them."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A measure of one system, iteration by iteration."""

    system: str
    measure: str
    """As it is written, without an iteration."""
    points: tuple[CurvePoint, ...]


def curve(
    evaluation: Evaluation, measure: Measure | str, *, iterations: int | None = None, level: float = 0.95
) -> Curve:
    """Return the measure at each iteration, by default up to that of the longest session.

    The measure need not be one of the evaluation's; its own iteration is ignored.
    """
    wanted, view = parse_measure(measure, family="session"), align_of(evaluation).view
    if wanted.at_parameter != "iteration":
        msg = f"{wanted} is one number for a whole session, and has no curve over iterations"
        raise BadMeasure(msg, hint="for example `CG`, `SRR` or `RG`")
    longest = int(view.iterations.max(initial=0)) if iterations is None else iterations
    points = tuple(_point(view, wanted @ number, number, level) for number in range(1, longest + 1))
    return Curve(evaluation.system, _drop_iteration(wanted), points)


def _point(view: SessionView, measure: Measure, iteration: int, level: float) -> CurvePoint:
    there = _find_averaged(measure, view)
    averaged = measure.aggregate == "mean" and len(there) > 1
    interval = student_interval(there, level=level) if averaged else None
    running = int((view.iterations >= iteration).sum())
    value = aggregate(measure, there, view=view, empty=nan)
    return CurvePoint(iteration, running, value, interval)


def curve_measures(measures: Iterable[Measure]) -> list[Measure]:
    """Return the measures that have a curve, each once regardless of its iteration."""
    with_curve = [measure for measure in measures if measure.at_parameter == "iteration"]
    return list({_drop_iteration(measure): measure for measure in with_curve}.values())


def _drop_iteration(measure: Measure) -> str:
    return str(measure @ 1).rpartition("@")[0]


@dataclass(frozen=True, slots=True)
class Stop:
    """The effect of stopping every session at one iteration."""

    iteration: int
    running: int
    """Number of sessions that went on beyond it."""
    gain: float
    """The mean good gain up to there."""
    lost: float
    """The mean share of its own good gain that a session would have lost; NaN where none found anything good."""
    losing: int
    """Number of sessions that would have lost anything."""
    searches_saved: float
    """The share of all searches that came later."""
    tokens_saved: float
    """The share of all tokens that were spent later; NaN where the tokens of some iteration are unknown."""


def stopping_points(
    evaluation: Evaluation, *, good: int = 2, iterations: int | None = None
) -> tuple[Stop, ...]:
    """Return, for each iteration but the longest session's last, what stopping there would lose and save."""
    view = align_of(evaluation).view
    longest = int(view.iterations.max(initial=0)) if iterations is None else iterations + 1
    return tuple(_stop(view, iteration, good) for iteration in range(1, longest))


def _stop(view: SessionView, iteration: int, good: int) -> Stop:
    gains = iteration_gain(view, good, "graded")
    here, there = count_until(view, gains, iteration), count_until(view, gains, "last")
    lost = (there - here)[there > 0] / there[there > 0]
    searches = count_until(view, view.searches, iteration).sum()
    return Stop(
        iteration,
        running=int((view.iterations > iteration).sum()),
        gain=float(here.mean()),
        lost=float(lost.mean()) if len(lost) else nan,
        losing=int((there > here).sum()),
        searches_saved=1 - float(searches) / float(view.searches.sum()),
        tokens_saved=1
        - _share(total_until(view, view.tokens, iteration), total_until(view, view.tokens, "last")),
    )


def _share(part: Floats, whole: Floats) -> float:
    everything = float(np.sum(whole))
    return float(np.sum(part)) / everything if everything > 0 else nan


@dataclass(frozen=True, slots=True)
class IterationCounts:
    """Findings of a system's sessions in one iteration, all of them together."""

    iteration: int
    running: int
    """Number of sessions that have this iteration."""
    searches: int
    results: int
    good: int
    """New results whose gain is good."""
    other: int
    """New results that are not good, or have no label."""
    duplicates: int


def count_by_iteration(evaluation: Evaluation, *, good: int = 2) -> tuple[IterationCounts, ...]:
    """Return, for each iteration up to the longest session's last, how many results were new, good and duplicates."""
    view = align_of(evaluation).view
    longest = int(view.iterations.max(initial=0))

    def total(values: Ints) -> list[int]:
        sums = np.bincount(view.number, weights=values, minlength=longest + 1)
        return [int(number) for number in sums.tolist()[1:]]

    fine = view.grades[:, 1 + good :].sum(axis=1)
    columns = (
        np.ones_like(view.results),
        view.searches,
        view.results,
        fine,
        view.new - fine,
        view.duplicates,
    )
    rows = zip(*map(total, columns), strict=True)
    return tuple(IterationCounts(number, *row) for number, row in enumerate(rows, 1))


@dataclass(frozen=True, slots=True)
class Cost:
    """Gain and cost of one session."""

    session: str
    task: str
    gain: float
    """The good gain of the whole session."""
    tokens: float
    """NaN where the tokens of some iteration are unknown."""
    seconds: float
    """NaN where the seconds of some iteration are unknown."""
    cost: float
    """Money; NaN where the cost of some iteration is unknown."""


def find_costs(evaluation: Evaluation, *, good: int = 2) -> tuple[Cost, ...]:
    """Return, for each session, its good gain, its tokens, its seconds and its cost in money."""
    alignment = align_of(evaluation)
    view = alignment.view
    gain = count_until(view, iteration_gain(view, good, "graded"), "last")
    spent = (total_until(view, column, "last") for column in (view.tokens, view.seconds, view.cost))
    rows = zip(alignment.keys, gain.tolist(), *(column.tolist() for column in spent), strict=True)
    return tuple(
        Cost(key.conversation, key.task, float(gained), tokens, seconds, cost)
        for key, gained, tokens, seconds, cost in rows
    )


@dataclass(frozen=True, slots=True)
class Overlap:
    """The good results of two systems on the tasks that both did."""

    first: str
    second: str
    tasks: int
    both: int
    only_first: int
    only_second: int

    @property
    def jaccard(self) -> float | None:
        """The share of what either found that both found; None where neither found anything."""
        either = self.both + self.only_first + self.only_second
        return self.both / either if either else None


@dataclass(frozen=True, slots=True)
class Alone:
    """The good results of one system, and those that no other system found."""

    system: str
    found: int
    alone: int
    missed: int
    """Good results of the same tasks that only other systems found."""


def overlaps(evaluation: Evaluation, *, good: int = 2) -> tuple[Overlap, ...]:
    """Return, for each pair of systems, the good results that they found on the same tasks."""
    results = _find_good(evaluation, good)
    return tuple(_overlap(first, second, results) for first, second in combinations(results, 2))


def alone(evaluation: Evaluation, *, good: int = 2) -> tuple[Alone, ...]:
    """Return, for each system, what it alone found and what it missed of what the others found."""
    results = _find_good(evaluation, good)
    return tuple(_alone(system, results) for system in results)


def _find_good(evaluation: Evaluation, good: int) -> dict[str, dict[str, set[int]]]:
    """Return, for each system and each of its tasks, the good results that it found there."""
    alignment = align_of(evaluation)
    if not alignment.pools:
        msg = "the good results that several systems share are unknown without the union of what they found"
        raise BadProtocol(msg, hint='evaluate with `reference="union"`')
    sessions: dict[str, dict[str, set[int]]] = {}
    for number, key in enumerate(alignment.keys):
        sessions.setdefault(key.system, {}).setdefault(key.task, set()).add(number)
    return {
        system: {task: alignment.pools[task].found_by(frozenset(own), good) for task, own in tasks.items()}
        for system, tasks in sessions.items()
    }


def _overlap(first: str, second: str, found_by: dict[str, dict[str, set[int]]]) -> Overlap:
    own, others = found_by[first], found_by[second]
    shared = [(results, others[task]) for task, results in own.items() if task in others]
    return Overlap(
        first,
        second,
        tasks=len(shared),
        both=sum(len(mine & theirs) for mine, theirs in shared),
        only_first=sum(len(mine - theirs) for mine, theirs in shared),
        only_second=sum(len(theirs - mine) for mine, theirs in shared),
    )


def _alone(system: str, found_by: dict[str, dict[str, set[int]]]) -> Alone:
    own, others = found_by[system], [tasks for name, tasks in found_by.items() if name != system]
    elsewhere = {
        task: cast("set[int]", set()).union(*(other.get(task, set()) for other in others)) for task in own
    }
    return Alone(
        system,
        found=sum(len(results) for results in own.values()),
        alone=sum(len(results - elsewhere[task]) for task, results in own.items()),
        missed=sum(len(elsewhere[task] - results) for task, results in own.items()),
    )


def redundancy(evaluation: Evaluation) -> Redundancy:
    """Return what the searches of each system repeated, for an evaluation with `searches`."""
    alignment = align_of(evaluation)
    if alignment.search_log is None:
        msg = "what each search repeated was not kept"
        raise BadProtocol(msg, hint="evaluate with `searches=True`")
    systems = {system: sessions.tolist() for system, sessions in alignment.systems().items()}
    return explain_redundancy(alignment.search_log, systems, [key.conversation for key in alignment.keys])


def use(evaluation: Evaluation, *, good: int = 2) -> Use:
    """Return what each system opened and cited of what it retrieved; raise `BadSample` if the traces have neither."""
    alignment = align_of(evaluation)
    systems = {system: sessions.tolist() for system, sessions in alignment.systems().items()}
    return summarise_use(alignment.uses, alignment.view, systems, good=good)


def stopping_rules(
    evaluation: Evaluation,
    *,
    budgets: Sequence[tuple[str, float]] = (),
    good: int = 2,
    level: float = 0.95,
) -> StoppingRules:
    """Return what agents would have saved and lost by stopping after dry iterations, or at budgets such as `("tokens", 1e4)`."""
    alignment = align_of(evaluation)
    views = {system: alignment.view.select(sessions) for system, sessions in alignment.systems().items()}
    return apply_rules(views, budgets=budgets, good=good, level=level)


def attempts(evaluation: Evaluation, *, good: int = 2) -> Attempts:
    """Return, for each system, mean and spread over its attempts at a task, and how likely k attempts find something good."""
    alignment = align_of(evaluation)
    gains = count_until(alignment.view, iteration_gain(alignment.view, good, "graded"), "last").tolist()
    values: dict[str, dict[str, list[tuple[float, bool]]]] = {}
    for key, gain in zip(alignment.keys, gains, strict=True):
        values.setdefault(key.system, {}).setdefault(key.task, []).append((float(gain), gain > 0))
    return summarise_attempts(values)


def corrected(evaluation: Evaluation) -> Corrected:
    """Return CG and SRE of each system corrected by human grades, for an evaluation with `human`."""
    corrections = align_of(evaluation).corrected
    if corrections is None:
        msg = "there are no human grades to correct labels by"
        raise BadProtocol(msg, hint="evaluate with `human=`, a sample drawn by `judged label --sample`")
    return corrections
