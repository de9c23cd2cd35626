"""Overlap: which good results several systems found, and which only one of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from judged.errors import BadProtocol
from judged.sessions.evaluation import SessionEvaluation
from judged.sessions.reference import Pool

__all__ = ["Alone", "Overlap", "alone", "overlaps"]


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
    """What one system found that is good, and what of it no other system found."""

    system: str
    found: int
    alone: int
    missed: int
    """Good results of the same tasks that only other systems found."""


def overlaps(evaluation: SessionEvaluation, *, good: int = 2) -> tuple[Overlap, ...]:
    """Each pair of systems, by the good results that they found on the same tasks."""
    found = _found(evaluation, good)
    return tuple(_overlap(one, other, found) for one, other in combinations(found, 2))


def alone(evaluation: SessionEvaluation, *, good: int = 2) -> tuple[Alone, ...]:
    """Each system, by what it alone found and what it missed of what the others found."""
    found = _found(evaluation, good)
    return tuple(_alone(system, found) for system in found)


def _found(evaluation: SessionEvaluation, good: int) -> dict[str, dict[str, set[int]]]:
    """For each system and each of its tasks, the good things that it found there."""
    if not evaluation.pools:
        msg = "which good results are the same for several systems was not looked for"
        raise BadProtocol(msg, hint='evaluate with `reference="union"`')
    sessions: dict[str, dict[str, set[int]]] = {}
    for at, named in enumerate(evaluation.named):
        sessions.setdefault(named.system, {}).setdefault(named.task, set()).add(at)
    return {
        system: {task: _things(evaluation.pools[task], of, good) for task, of in tasks.items()}
        for system, tasks in sessions.items()
    }


def _things(pool: Pool, sessions: Iterable[int], good: int) -> set[int]:
    return pool.found_by(frozenset(sessions), good)


def _overlap(one: str, other: str, found: dict[str, dict[str, set[int]]]) -> Overlap:
    shared = [(found[one][task], found[other][task]) for task in found[one] if task in found[other]]
    return Overlap(
        one,
        other,
        tasks=len(shared),
        both=sum(len(mine & theirs) for mine, theirs in shared),
        only_first=sum(len(mine - theirs) for mine, theirs in shared),
        only_second=sum(len(theirs - mine) for mine, theirs in shared),
    )


def _alone(system: str, found: dict[str, dict[str, set[int]]]) -> Alone:
    own, others = found[system], [tasks for name, tasks in found.items() if name != system]
    elsewhere = {task: set().union(*(each.get(task, set()) for each in others)) for task in own}
    return Alone(
        system,
        found=sum(len(things) for things in own.values()),
        alone=sum(len(things - elsewhere[task]) for task, things in own.items()),
        missed=sum(len(elsewhere[task] - things) for task, things in own.items()),
    )
