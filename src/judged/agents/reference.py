"""References: what a session could have found, by all systems together on its task, or by judgments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from judged.agents.builder import NewResult, SessionViewBuilder
from judged.agents.dedup.find import Deduplicator
from judged.agents.dedup.label_index import LabelIndex, task_key
from judged.agents.kernels import UNLABELLED, Reference, SessionView
from judged.agents.protocol import SessionProtocol
from judged.arrays import Ints
from judged.tables.schema import GRADES


@dataclass(frozen=True, slots=True)
class Pool:
    """The distinct results that the sessions of one task found together, each with one gain."""

    gains: tuple[int, ...]
    """The gain of each distinct result."""
    numbers: tuple[int, ...]
    """For each result of each session, its number among the distinct ones."""
    sessions: tuple[int, ...]
    """For each result, the session that found it."""
    results: Sequence[NewResult] = field(default=(), metadata={"saved": False})

    @classmethod
    def of(cls, results: Sequence[NewResult], protocol: SessionProtocol) -> Pool:
        """Return the pool of what sessions found, each of its results with one gain."""
        gains: list[int] = []
        numbers = []
        seen = Deduplicator(protocol.rules)
        for result in results:
            cluster = seen.place(result.result, result.scope)
            numbers.append(cluster)
            if cluster == len(gains):
                gains.append(result.gain)
            else:
                gains[cluster] = protocol.resolve_conflict(gains[cluster], result.gain)
        return cls(tuple(gains), tuple(numbers), tuple(result.session for result in results), results)

    def found_by(self, sessions: frozenset[int], good: int) -> set[int]:
        """Return the good results that some of the given sessions found."""
        return {
            cluster
            for session, cluster in zip(self.sessions, self.numbers, strict=True)
            if session in sessions and self.gains[cluster] >= good
        }


def make_pools(builder: SessionViewBuilder) -> dict[str, Pool]:
    """Return, for each task, what its sessions found together."""
    by_task: dict[str, list[NewResult]] = {key.task: [] for key in builder.keys}
    for result in builder.new_results:
        by_task[builder.keys[result.session].task].append(result)
    return {task: Pool.of(results, builder.protocol) for task, results in by_task.items()}


def make_union_reference(
    builder: SessionViewBuilder, view: SessionView, pools: Mapping[str, Pool]
) -> Reference:
    """Return what all sessions of a task found together, as what each of them could have found."""
    gains = np.full(len(view.gains), UNLABELLED, dtype=np.int8)
    for pool in pools.values():
        seen: set[tuple[int, int]] = set()  # two results of a session may be one to all systems together
        for result, number in zip(pool.results, pool.numbers, strict=True):
            if (result.session, number) not in seen:
                seen.add((result.session, number))
                gains[result.place] = pool.gains[number]
    rows = {task: _count_at_least(pool.gains) for task, pool in pools.items()}
    return Reference(gains, _to_rows(builder, rows))


def make_judged_reference(builder: SessionViewBuilder, view: SessionView, judged: LabelIndex) -> Reference:
    """Return what judgments have for a task, as what its sessions could have found."""
    gains = np.full(len(view.gains), UNLABELLED, dtype=np.int8)
    seen: set[tuple[int, int]] = set()
    for result in builder.new_results:
        names = builder.keys[result.session].names
        entry = judged.find((*names, result.query, None), result.result, result.scope)
        if entry is not None and (result.session, entry) not in seen:
            seen.add((result.session, entry))
            gains[result.place] = judged.labels[entry].gain
    by_task: dict[str, list[int]] = defaultdict(list)
    for label in judged.labels:
        if label.task is not None:
            by_task[task_key(label.task) or ""].append(label.gain)
    rows = {
        key.task: _count_at_least(
            next((by_task[name] for name in map(task_key, key.names) if name in by_task), [])
        )
        for key in builder.keys
    }
    return Reference(gains, _to_rows(builder, rows))


def _to_rows(builder: SessionViewBuilder, by_task: Mapping[str, Ints]) -> Ints:
    """Return, for each session, the counts of its task."""
    none = np.zeros(len(GRADES), dtype=np.int64)
    rows = [by_task.get(key.task, none) for key in builder.keys]
    return np.array(rows, dtype=np.int64).reshape(len(rows), len(GRADES))


def _count_at_least(gains: Sequence[int]) -> Ints:
    """Return how many gains are at least 0, 1, 2, 3, 4."""
    return np.array([sum(gain >= grade for gain in gains) for grade in GRADES], dtype=np.int64)
