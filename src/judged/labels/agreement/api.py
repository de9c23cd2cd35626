"""`agreement`: how far labels can be trusted, measured against human grades of the same results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from types import NoneType

import numpy as np

from judged.arrays import Floats
from judged.errors import BadSample, Unusable, check_kind
from judged.labels.agreement.grades import Grade, GradedResult, Grades, GradesLike, read_grades
from judged.labels.agreement.result import Agreement
from judged.labels.agreement.system_order import rank_runs
from judged.measures.measure import Measure
from judged.problem import Note, Problem
from judged.profiles.profile import Profile
from judged.protocol import Protocol
from judged.result import InputFile, Provenance, observe_files
from judged.stats.outcome import Undefined
from judged.stats.paired import check_level, check_resamples
from judged.stats.prediction_powered import describe_small_sample
from judged.tables.inputs import RunLike
from judged.wording import join_words

FAIR_KAPPA = 0.4
"""A smaller κ at the threshold is a reason for a warning."""
ENOUGH_COVERAGE = 0.95
"""So is a smaller share of human grades with a label."""
ENOUGH_RESULTS = 30
"""So is a smaller number of results."""


def agreement(
    labels: GradesLike,
    human: GradesLike,
    *,
    judges: Mapping[str, GradesLike] | None = None,
    runs: Mapping[str, RunLike] | None = None,
    measures: Iterable[Measure | str] | Measure | str = ("nDCG@10",),
    protocol: Protocol | Profile | str = "trec_eval-9",
    threshold: float = 2,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Agreement:
    """Measure how far `labels` agree with the grades of `human`, and estimate the human means from both.

    Both are anything that `judged.read_labels` or `judged.read_judgments` reads. Results are paired by task and id
    (or domain id, or URL); results of one side only are counted. A result is good from the grade `threshold` on.
    `judges` are further ones by name. `runs`, by name, are ranked by `measures` under both, on the results both graded.

    Example:
        >>> human = {"t1": {"d1": 3, "d2": 0, "d3": 2}, "t2": {"d1": 0, "d4": 4}}
        >>> labels = {"t1": {"d1": 2, "d2": 1, "d3": 3, "d5": 0}, "t2": {"d1": 0, "d4": 1}}
        >>> found = agreement(labels, human)
        >>> found.items, found.only_labels, round(found.kappa_at(2).value, 4)
        (5, 1, 0.6154)
    """
    check_level(level)
    check_resamples(resamples)
    check_kind("threshold", threshold, Real, "a number")
    for name, value in {"judges": judges, "runs": runs}.items():
        check_kind(name, value, (Mapping, NoneType), "a mapping from names, or None")
    inputs = _list_inputs(labels, human, judges or {}, runs or {})
    people, machine = read_grades(human), read_grades(labels)
    if people.name == machine.name:  # objects in memory have no name
        machine, people = replace(machine, name="labels"), replace(people, name="human")
    if machine.words != people.words:
        raise _different_scales(machine, people)
    positions = [machine.find(item) for item in people.items]
    pairs = [
        (item, machine.items[position])
        for item, position in zip(people.items, positions, strict=True)
        if position is not None
    ]
    if not pairs:
        raise _nothing_shared(machine, people)
    paired = set(positions)
    rest = [item for position, item in enumerate(machine.items) if position not in paired]
    others = [read_grades(source, name=name) for name, source in (judges or {}).items()]
    result = Agreement(
        labels=machine.name,
        human=people.name,
        truth=_to_numpy(item.grade for item, _ in pairs),
        given=_to_numpy(label.grade for _, label in pairs),
        tasks=tuple(item.task for item, _ in pairs),
        others=_to_numpy(item.grade for item in rest),
        other_tasks=tuple(item.task for item in rest),
        only_human=len(people) - len(pairs),
        panel=_collect_panel([people, machine, *others]),
        systems=rank_runs(pairs, runs, measures, protocol=protocol) if runs else (),
        threshold=threshold,
        level=level,
        resamples=resamples,
        seed=seed,
        provenance=Provenance(
            inputs=inputs,
            settings={"threshold": threshold, "level": level, "resamples": resamples, "seed": seed},
        ),
    )
    notes = (
        *_warn(result),
        *_name_words(machine.words),
        _describe_means(result),
        *_compare_judges([machine, people, *others]),
    )
    return replace(result, notes=notes)


def _list_inputs(
    labels: GradesLike, human: GradesLike, judges: Mapping[str, GradesLike], runs: Mapping[str, RunLike]
) -> tuple[InputFile, ...]:
    """Return the inputs that are files."""
    sources: list[tuple[str, object]] = [("labels", labels), ("human", human)]
    sources += [("judge", judge) for judge in judges.values()] + [("run", run) for run in runs.values()]
    return observe_files(sources)


def _collect_panel(judges: Sequence[Grades]) -> dict[str, tuple[Grade | None, ...]]:
    """Return the grades of every judge on the results of the first; None where a judge has none."""
    panel: dict[str, tuple[Grade | None, ...]] = {}
    for judge in judges:
        if judge.name in panel:
            msg = f"two judges are called `{judge.name}`, expected different names"
            raise BadSample(msg, hint="`NAME=FILE`, or the key in `judges`, names a judge")
        positions = [judge.find(item) for item in judges[0].items]
        panel[judge.name] = tuple(None if at is None else judge.items[at].grade for at in positions)
    return panel


def _nothing_shared(labels: Grades, human: Grades) -> Unusable:
    def describe(item: GradedResult) -> str:
        task = "of any task" if item.task is None else f"of task `{item.task}`"
        return f"`{item.keys[0][:60]}` {task}"

    problem = f"has no result in common with `{human.name}`"
    hint = f"its first result is {describe(labels.items[0])}, the other's is {describe(human.items[0])}"
    return Unusable("the labels", [Problem.error("no-shared-result", labels.name, problem)], hint=hint)


def _different_scales(labels: Grades, human: Grades) -> Unusable:
    ours, theirs = (join_words(judge.words) or "grades" for judge in (labels, human))
    problem = Problem.error("different-scales", labels.name, f"has {ours}, and `{human.name}` has {theirs}")
    return Unusable("the labels", [problem], hint="labels are compared on one scale, and not converted")


def _name_words(words: Sequence[str]) -> Iterator[Note]:
    """Yield a note on the words that grades stand for."""
    if words:
        scale = ", ".join(f"{grade} is `{word}`" for grade, word in enumerate(words))
        yield Note("words", "info", f"grades are the places of labels on their scale: {scale}")


def _warn(result: Agreement) -> Iterator[Note]:
    """Yield the reasons not to rely on the labels."""
    cut, kappa = f"κ at ≥{result.threshold:g}", result.kappa_at(result.threshold).value
    if isinstance(kappa, Undefined):
        yield Note("undefined-kappa", "warning", f"{cut} is {kappa}")
    elif kappa < FAIR_KAPPA:
        message = f"{cut} is {kappa:.3f}, below {FAIR_KAPPA}: agreement on good results is little better than chance"
        yield Note("low-kappa", "warning", message)
    if result.coverage < ENOUGH_COVERAGE:
        message = (
            f"{result.coverage:.1%} of the results that people graded have a label, below {ENOUGH_COVERAGE:.0%}:"
            " results that could not be labelled may differ from the others"
        )
        yield Note("low-coverage", "warning", message)
    if result.items < ENOUGH_RESULTS:
        results = "result has" if result.items == 1 else "results have"
        message = f"{result.items} {results} both grades, fewer than {ENOUGH_RESULTS}: intervals are rough"
        yield Note("few-results", "warning", message)
    if message := describe_small_sample(result.truth, len(set(result.tasks)), noun="task"):
        yield Note("few-graded-tasks", "warning", message)


def _describe_means(result: Agreement) -> Note:
    if not result.only_labels:
        message = "every labelled result has a human grade, so labels add nothing to the means"
        return Note("all-graded", "info", message)
    message = (
        "PPI++ requires that the results that people graded are a random sample of the labelled ones; the interval of"
        " labels alone ignores their mistakes"
    )
    return Note("random-sample", "info", message)


def _compare_judges(judges: Sequence[Grades]) -> Iterator[Note]:
    """Yield notes on repeated grades, and on scales that may differ."""
    for judge in judges:
        if judge.repeated:
            repeats = "grade repeats" if judge.repeated == 1 else "grades repeat"
            message = (
                f"{judge.name}: {judge.repeated:,} {repeats} an earlier one of the same result, {judge.conflicts:,} of"
                " them with another value; the first counts"
            )
            yield Note("repeated-grades", "info", message)
    ranges = {}
    for judge in judges:
        grades = [item.grade for item in judge.items]
        ranges[judge.name] = min(grades), max(grades)
    if len(set(ranges.values())) > 1:
        spans = ", ".join(f"{name} from {low} to {high}" for name, (low, high) in ranges.items())
        yield Note("different-ranges", "info", f"the ranges of grades differ: {spans}")


def _to_numpy(grades: Iterable[Grade]) -> Floats:
    return np.array(list(grades), dtype=np.float64)
