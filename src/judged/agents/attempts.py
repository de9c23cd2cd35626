"""Repeated attempts at a task: mean and spread over attempts, and the chance that one of k finds something good."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb, nan, sqrt
from statistics import fmean

import numpy as np

from judged.blocks import Table, Value
from judged.errors import BadSample
from judged.stats.repeats import measure_attempts


@dataclass(frozen=True, slots=True)
class SystemAttempts:
    """The attempts of one system."""

    system: str
    tasks: int
    attempts: tuple[int, int]
    """The fewest and the most attempts at a task."""
    mean: float
    """The mean gain over tasks, each the mean of its attempts."""
    spread: float
    """The standard deviation of attempts at one task, pooled over tasks; NaN where no task has two."""
    found: tuple[float, ...]
    """For k = 1, 2, … the chance that one of k attempts at a task found something good, averaged over tasks."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """The attempts of every system."""

    systems: tuple[SystemAttempts, ...]

    def rows(self) -> Iterator[dict[str, Value]]:
        """Yield a row for each system and number of attempts."""
        for system in self.systems:
            for number, chance in enumerate(system.found, 1):
                yield {
                    "system": system.system,
                    "tasks": system.tasks,
                    "fewest": system.attempts[0],
                    "most": system.attempts[1],
                    "mean": system.mean,
                    "spread": system.spread,
                    "within": number,
                    "found": chance,
                }

    def tables(self) -> Iterator[Table]:
        """Yield a row for each system."""
        most = max(len(system.found) for system in self.systems)
        columns = ("system", "tasks", "attempts", "CG", "spread", *(f"found@{k}" for k in range(1, most + 1)))
        rows = tuple(
            (
                *(system.system, system.tasks, "–".join(dict.fromkeys(map(str, system.attempts)))),
                *(system.mean, system.spread, *system.found, *([None] * (most - len(system.found)))),
            )
            for system in self.systems
        )
        yield Table(columns, rows, title="Repeated attempts at a task")


def found_within(attempts: int, successes: int, k: int) -> float:
    """Return the chance that at least one of `k` attempts, drawn without replacement, is a success.

    >>> found_within(4, 1, 2)
    0.5
    """
    return 1 - comb(attempts - successes, k) / comb(attempts, k)


def summarise_attempts(values: Mapping[str, Mapping[str, Sequence[tuple[float, bool]]]]) -> Attempts:
    """Return the attempts of each system: for each task, the gain of every session and whether it found anything good."""
    systems = [_summarise(system, tasks) for system, tasks in values.items()]
    if all(system.attempts[1] < 2 for system in systems):
        msg = "no system tried a task more than once"
        raise BadSample(msg, hint="sessions with the same `task`, or the same question, are attempts at it")
    return Attempts(tuple(systems))


def _summarise(system: str, tasks: Mapping[str, Sequence[tuple[float, bool]]]) -> SystemAttempts:
    counts = [len(sessions) for sessions in tasks.values()]
    gains = np.full((len(tasks), max(counts)), nan)
    for row, sessions in zip(gains, tasks.values(), strict=True):
        row[: len(sessions)] = [gain for gain, _ in sessions]
    spread = measure_attempts(gains)
    return SystemAttempts(
        system,
        len(tasks),
        (spread.fewest, spread.most),
        mean=fmean(fmean(gain for gain, _ in sessions) for sessions in tasks.values()),
        spread=sqrt(spread.variance) if spread.repeated else nan,
        found=tuple(
            fmean(
                found_within(len(sessions), sum(succeeded for _, succeeded in sessions), k)
                for sessions in tasks.values()
            )
            for k in range(1, min(counts) + 1)
        ),
    )
