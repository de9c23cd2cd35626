"""`agreement`: how far labels of a machine can be trusted, by the grades that people gave to the same results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judged.agreements.grades import Grade, Graded, Grades, read_grades
from judged.agreements.result import Agreement
from judged.agreements.system_order import rank_runs
from judged.errors import BadSample, Unusable
from judged.problem import Problem
from judged.stats.interval import checked_level

__all__ = ["agreement"]


def agreement(
    labels: Any,
    human: Any,
    *,
    judges: Mapping[str, Any] | None = None,
    runs: Mapping[str, Any] | None = None,
    measures: Iterable[Any] | str = ("nDCG@10",),
    protocol: Any = "trec_eval-9",
    threshold: float = 2,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Agreement:
    """How far `labels` agree with the grades of `human`, and what the human means are in the light of both.

    Both are anything that `judged.read_labels` or `judged.read_judgments` takes. Results are paired by task and id (or
    domain id, or URL); what only one of them has is counted. `threshold` is the grade from which a result is good.
    `judges` are further ones, by name. With `runs`, by name, `measures` rank them under both, by the results that both have.

    Example:
        >>> human = {"t1": {"d1": 3, "d2": 0, "d3": 2}, "t2": {"d1": 0, "d4": 4}}
        >>> labels = {"t1": {"d1": 2, "d2": 1, "d3": 3, "d5": 0}, "t2": {"d1": 0, "d4": 1}}
        >>> found = agreement(labels, human)
        >>> found.items, found.only_labels, round(found.kappa_at(2).value, 4)
        (5, 1, 0.6154)
    """
    checked_level(level)
    people, machine = read_grades(human), read_grades(labels)
    if people.name == machine.name:  # objects in memory have no names of their own
        machine, people = replace(machine, name="labels"), replace(people, name="human")
    pairs = [(item, machine.place_of(item)) for item in people.items]
    matched = [(item, machine.items[at]) for item, at in pairs if at is not None]
    if not matched:
        raise _nothing_shared(machine, people)
    taken = {at for _, at in pairs if at is not None}
    rest = [item for at, item in enumerate(machine.items) if at not in taken]
    further = {name: read_grades(source, name=name) for name, source in (judges or {}).items()}
    return Agreement(
        labels=machine.name,
        human=people.name,
        truth=_numbers(item.grade for item, _ in matched),
        given=_numbers(label.grade for _, label in matched),
        tasks=tuple(item.task for item, _ in matched),
        others=_numbers(item.grade for item in rest),
        other_tasks=tuple(item.task for item in rest),
        only_human=len(people) - len(matched),
        panel=_panel([people, machine, *further.values()]),
        systems=rank_runs(matched, runs, _listed(measures), protocol=protocol) if runs else (),
        threshold=threshold,
        level=level,
        resamples=resamples,
        seed=seed,
        notes=tuple(_notes([machine, people, *further.values()])),
    )


def _panel(judges: Sequence[Grades]) -> dict[str, tuple[Grade | None, ...]]:
    """The grades of every judge on the results of the first; None where there is none."""
    panel: dict[str, tuple[Grade | None, ...]] = {}
    for each in judges:
        if each.name in panel:
            msg = f"two judges are called `{each.name}`, expected different names"
            raise BadSample(msg, hint="`NAME=FILE`, or the key in `judges`, names a judge")
        places = [each.place_of(item) for item in judges[0].items]
        panel[each.name] = tuple(None if at is None else each.items[at].grade for at in places)
    return panel


def _nothing_shared(labels: Grades, human: Grades) -> Unusable:
    mine, theirs = labels.items[0], human.items[0]
    told = f"holds no result that `{human.name}` has, expected some in both"
    hint = f"the first result here is {_words(mine)}, and there {_words(theirs)}"
    return Unusable("the labels", [Problem.error("no-shared-result", labels.name, told)], hint=hint)


def _words(item: Graded) -> str:
    task = "of any task" if item.task is None else f"of task `{item.task}`"
    return f"`{item.keys[0][:60]}` {task}"


def _notes(every: Sequence[Grades]) -> Iterator[str]:
    """What was noticed of the judges: grades given twice, and scales that may not be the same."""
    for each in every:
        if each.repeated:
            yield (
                f"{each.name}: {each.repeated:,} further {'grade' if each.repeated == 1 else 'grades'} of results that had one, {each.conflicts:,} of them"
                " another than the first, which counts"
            )
    ranges = {
        each.name: (min(g.grade for g in each.items), max(g.grade for g in each.items)) for each in every
    }
    if len(set(ranges.values())) > 1:
        told = ", ".join(f"{name} from {low} to {high}" for name, (low, high) in ranges.items())
        yield f"grades do not go as far on all sides: {told}"


def _listed(measures: Iterable[Any] | str) -> list[Any]:
    return [measures] if isinstance(measures, str) else list(measures)


def _numbers(grades: Iterable[Grade]) -> Any:
    return np.array(list(grades), dtype=np.float64)
