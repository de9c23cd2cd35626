"""Sweeps: every setting of a plan in rounds of fresh processes, in random order, resumable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import numpy as np

from judged.errors import EngineFailed
from judged.index.data import Dataset
from judged.index.engine import Engine, Settings
from judged.index.measurement import TARGET, Measurement, Workload
from judged.index.sweeps.plan import Build
from judged.index.sweeps.process import identify_build, run_build
from judged.index.sweeps.rows import read_points
from judged.index.sweeps.worker import Job, PlannedPoint, find_effort, make_key, search_effort
from judged.index.vectors import save_attributes
from judged.net.secrets import hide_secrets
from judged.progress import Progress
from judged.saved import to_builtins
from judged.store.files import scratch_folder
from judged.store.lock import lock_folder
from judged.store.machine import describe_machine

CHANGES = ("churn:", "updates:", "runbook:")
"""Beginnings of the names of what is measured while vectors come and go."""
FORMAT = 2
"""Part of every key; raised when a measurement is made in another way."""


@dataclass(frozen=True)
class Failure:
    """A build that could not be measured."""

    name: str
    message: str


Finished: TypeAlias = dict[tuple[str, int], Measurement]
"""Finished points by key and round."""


def make_subject(
    dataset: Dataset, build: Build, workload: Workload, identity: Mapping[str, str]
) -> dict[str, object]:
    """Return everything that the points of a build depend on; `identity` is that of its engine."""
    measured = {
        name: value
        for name, value in to_builtins(workload).items()
        if name not in {"rounds", "build_budget"}  # how often something is measured does not change it
    }
    return {
        "format": FORMAT,
        "data": dataset.digest,
        "engine": build.engine.name,
        **identity,
        "url": build.url and hide_secrets(build.url),
        "environment": build.environment.name,
        "build": dict(build.settings),
        "workload": measured,
        "machine": describe_machine(),
    }


@dataclass
class _Plan:
    """A build, its points, and how far it is."""

    build: Build
    subject: Mapping[str, object]
    rounds: int
    """Rounds to be measured; fewer than were asked for if building takes longer than its budget."""
    group: str = field(init=False)

    def __post_init__(self) -> None:
        self.group = make_key(self.subject)

    def list_points(self, finished: Finished, number: int) -> dict[str, Settings]:
        """Return the points of a round: those that were asked for, and after the first those that it added."""
        planned = {make_key(self.subject, query): query for query in self.build.queries}
        added = {
            point.key: point.query
            for point in finished.values()
            if point.group == self.group and point.round == 1 and number > 1
        }
        return {**planned, **added}

    def select(self, finished: Finished, number: int) -> tuple[Measurement, ...]:
        """Return the finished points of a round."""
        return tuple(
            point for point in finished.values() if point.group == self.group and point.round == number
        )


@dataclass(frozen=True)
class Swept:
    """The outcome of a sweep."""

    points: tuple[tuple[Build, tuple[Measurement, ...]], ...]
    """Every point with its rounds, in the order of the plan."""
    failures: tuple[Failure, ...]
    started: str
    """Start of the sweep: points with an earlier time were measured before, and are reused."""


def run_sweep(
    dataset: Dataset,
    builds: Sequence[Build],
    workload: Workload,
    results: Path,
    *,
    progress: Progress | None = None,
    timeout: float | None = None,
    at_recall: float | None = None,
    fresh: bool = False,
) -> Swept:
    """Measure every point that is not in the folder yet, round by round, builds and settings in random order.

    An index is built once in each round for all of its search settings. Vectors are replaced at the setting of a build
    that is cheapest at the recall. `fresh` reuses nothing.
    """
    started = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    with lock_folder(results), scratch_folder("data") as folder:
        sweep = _Sweep(
            dataset,
            workload,
            results,
            folder,
            at_recall,
            started if fresh else "",
            timeout,
            progress,
        )
        sweep.plan(builds)
        for number in range(1, workload.rounds + 1):
            rng = np.random.default_rng([workload.seed, 3, number])
            for at in rng.permutation(len(sweep.plans)).tolist():
                plan = sweep.plans[at]
                if number <= plan.rounds:
                    sweep.run(plan, number, rng)
    points = [
        (plan.build, rounds)
        for plan in sweep.plans
        for rounds in _in_order(plan, sweep.finished, searched=at_recall is not None)
    ]
    return Swept(tuple(points), tuple(sweep.failures), started)


@dataclass
class _Sweep:
    """A sweep that is running: what is measured, and what is finished."""

    dataset: Dataset
    workload: Workload
    results: Path
    folder: Path
    """Folder in which workers find the data."""
    at_recall: float | None
    since: str
    """Points that were measured before this time do not count."""
    timeout: float | None
    progress: Progress | None
    plans: list[_Plan] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    finished: Finished = field(default_factory=dict)
    done: int = 0

    def plan(self, builds: Sequence[Build]) -> None:
        """Find out what would answer, which is part of every key; a server that is gone is a failure."""
        for build in builds:
            try:
                identity = identify_build(build, self.folder)
            except EngineFailed as error:
                self.failures.append(Failure(build.name, error.message))
            else:
                subject = make_subject(self.dataset, build, self.workload, identity)
                self.plans.append(_Plan(build, subject, self.workload.rounds))
        self.finished = read_points(self.results, since=self.since)

    def run(self, plan: _Plan, number: int, rng: np.random.Generator) -> None:
        """Measure what is missing of a build in a round; a failure ends its rounds."""
        job = self._make_job(plan, number, rng)
        self.done += len(job.known)
        if _has_work(job, plan.build.engine):
            try:
                _save_data(self.dataset, self.folder, self.workload.k)
                for event in run_build(job, plan.build, self.timeout):
                    self.done += event["event"] == "point"
                    self._report(plan)
            except EngineFailed as error:
                self.failures.append(Failure(plan.build.name, error.message))
                plan.rounds = 0
            except OSError as error:
                self.failures.append(
                    Failure(plan.build.name, f"its data cannot be written: {error.strerror}")
                )
                plan.rounds = 0
            self.finished = read_points(self.results, since=self.since)
        if number == 1:
            plan.rounds = min(plan.rounds, _budget_rounds(plan, self.finished, self.workload))

    def _make_job(self, plan: _Plan, number: int, rng: np.random.Generator) -> Job:
        known = plan.select(self.finished, number)
        target = TARGET if self.at_recall is None else self.at_recall
        changes = self.workload.churn or self.workload.updates or self.workload.runbook
        keys = {point.key for point in known}
        replaced = any(
            "deletions" in point.skipped or any(name.startswith(CHANGES) for name in point.details)
            for point in known
        )
        wanted = [item for item in plan.list_points(self.finished, number).items() if item[0] not in keys]
        return Job(
            "",
            dict(plan.build.settings),
            tuple(
                PlannedPoint(wanted[at][0], dict(wanted[at][1]))
                for at in rng.permutation(len(wanted)).tolist()
            ),
            self.workload,
            self.dataset.metric,
            str(self.folder),
            str(self.results.resolve()),
            plan.subject,
            plan.build.url,
            self.dataset.vectors.bits,
            number,
            self.at_recall if number == 1 else None,
            known,
            target if changes and number == 1 and not replaced else None,
        )

    def _report(self, plan: _Plan) -> None:
        if self.progress is not None:
            planned = sum(
                plan.rounds * len(plan.list_points(self.finished, plan.rounds)) for plan in self.plans
            )
            self.progress(self.done, max(planned, self.done), plan.build.name)


def _budget_rounds(plan: _Plan, finished: Finished, workload: Workload) -> int:
    """Return how many rounds the time for building allows: the first, and others while its budget lasts."""
    seconds = max((point.cost.seconds for point in plan.select(finished, 1)), default=0.0)
    further = workload.build_budget / seconds if seconds else workload.rounds
    return min(workload.rounds, 1 + int(further))


def _has_work(job: Job, kind: type[Engine]) -> bool:
    """Return whether points are missing, or the effort that reaches the recall, or what changes the index."""
    if job.points or job.changes_at is not None:
        return True
    name = find_effort(kind)
    return bool(
        job.at_recall is not None
        and name is not None
        and job.known
        and search_effort(name, job.known, job.at_recall)
    )


def _in_order(plan: _Plan, finished: Finished, *, searched: bool) -> list[tuple[Measurement, ...]]:
    """Return the rounds of each point, points by their query settings."""
    asked = {make_key(plan.subject, query) for query in plan.build.queries}
    rounds: dict[str, list[Measurement]] = {}
    for point in sorted(finished.values(), key=lambda point: point.round):
        if point.group == plan.group and (searched or point.key in asked):
            rounds.setdefault(point.key, []).append(point)
    # by type first: words and numbers cannot be compared with each other
    return sorted(
        (tuple(points) for points in rounds.values()),
        key=lambda points: [(str(type(value)), value) for value in points[0].query.values()],
    )


def _save_data(dataset: Dataset, folder: Path, k: int) -> None:
    # once for all builds, and only when one of them has work: vectors may take gigabytes
    if (folder / "complete").exists():
        return
    np.save(folder / "vectors.npy", dataset.vectors.array)
    np.save(folder / "queries.npy", dataset.queries.array)
    save_attributes(dataset.vectors, folder)
    truth = dataset.neighbours(k)
    np.savez(folder / "truth.npz", ids=truth.ids, distances=truth.distances)
    (folder / "complete").touch()
