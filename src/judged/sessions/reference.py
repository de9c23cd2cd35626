"""What there was to find: the good results of all systems together on a task, or those of judgments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from judged.dedup.find import Deduplicator
from judged.kernels.segments import Ints
from judged.kernels.sessions.view import UNLABELLED, Reference, SessionView
from judged.sessions.book import Book
from judged.sessions.gather import Find, Gathering
from judged.sessions.protocol import SessionProtocol
from judged.tables.sessions import GRADES

__all__ = ["Pool", "by_judgments", "by_union", "pools"]


class Pool:
    """The different things that the sessions of one task found together, each with one gain."""

    def __init__(self, finds: Sequence[Find], protocol: SessionProtocol) -> None:
        self.finds = finds
        self.gains: list[int] = []
        """The gain of each thing."""
        self.of: list[int] = []
        """For each find, the thing that it is."""
        seen = Deduplicator(protocol.rules)
        for find in finds:
            thing = seen.place(find.result, find.scope)
            self.of.append(thing)
            if thing == len(self.gains):
                self.gains.append(find.gain)
            else:
                self.gains[thing] = protocol.resolve_conflict(self.gains[thing], find.gain)

    def found_by(self, sessions: frozenset[int], good: int) -> set[int]:
        """The good things that some of the sessions given found."""
        return {
            thing
            for find, thing in zip(self.finds, self.of, strict=True)
            if find.session in sessions and self.gains[thing] >= good
        }


def pools(gathering: Gathering) -> dict[str, Pool]:
    """For each task, what its sessions found together."""
    finds: dict[str, list[Find]] = {named.task: [] for named in gathering.named}
    for find in gathering.finds:
        finds[gathering.named[find.session].task].append(find)
    return {task: Pool(found, gathering.protocol) for task, found in finds.items()}


def by_union(gathering: Gathering, steps: SessionView, pooled: Mapping[str, Pool]) -> Reference:
    """What all sessions of a task found together, as what each of them could have found."""
    found = np.full(len(steps.gains), UNLABELLED, dtype=np.int8)
    for pool in pooled.values():
        seen: set[tuple[int, int]] = (
            set()
        )  # two results of a session may be one thing to all systems together
        for find, thing in zip(pool.finds, pool.of, strict=True):
            if (find.session, thing) not in seen:
                seen.add((find.session, thing))
                found[find.place] = pool.gains[thing]
    rows = {task: _at_least(pool.gains) for task, pool in pooled.items()}
    return Reference(found, _rows(gathering, rows))


def by_judgments(gathering: Gathering, steps: SessionView, book: Book) -> Reference:
    """What judgments have for a task, as what its sessions could have found."""
    found = np.full(len(steps.gains), UNLABELLED, dtype=np.int8)
    seen: set[tuple[int, int]] = set()
    for find in gathering.finds:
        entry = book.find(gathering.named[find.session].task, find.query, find.result, find.scope)
        if entry is not None and (find.session, entry) not in seen:
            seen.add((find.session, entry))
            found[find.place] = book.gains[entry]
    by_task: dict[str, list[int]] = defaultdict(list)
    for task, gain in zip(book.tasks, book.gains, strict=True):
        if task is not None:
            by_task[task].append(gain)
    return Reference(found, _rows(gathering, {task: _at_least(gains) for task, gains in by_task.items()}))


def _rows(gathering: Gathering, of_task: Mapping[str, Ints]) -> Ints:
    """For each session, the counts of its task."""
    none = np.zeros(len(GRADES), dtype=np.int64)
    rows = [of_task.get(named.task, none) for named in gathering.named]
    return np.array(rows, dtype=np.int64).reshape(len(rows), len(GRADES))


def _at_least(gains: Sequence[int]) -> Ints:
    """How many gains are at least 0, 1, 2, 3, 4."""
    return np.array([sum(gain >= grade for gain in gains) for grade in GRADES], dtype=np.int64)
