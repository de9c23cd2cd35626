"""Updates while others search: which vectors could be found at a moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from judged.arrays import Ints
from judged.index.data import Dataset
from judged.index.exact import find_neighbours
from judged.index.neighbours import Neighbours

WINDOWS = 5
"""Parts of the time with updates, each of which is scored."""
RESERVE = 0.1
"""The share of vectors that is out of the index when updates begin, and waits to be inserted."""


def draw_reserve(size: int, seed: int) -> Ints:
    """Return the vectors that are out of the index when updates begin."""
    chosen = np.random.default_rng([seed, 6]).choice(size, max(1, round(RESERVE * size)), replace=False)
    return np.sort(chosen).astype(np.int64)


@dataclass(frozen=True)
class Presence:
    """When vectors were inserted and deleted: for each, its writes in order of time."""

    writes: Mapping[int, list[tuple[int, int, bool]]]
    """Start and end in nanoseconds, and whether the vector was inserted."""
    absent: frozenset[int]
    """Vectors that were out of the index at first."""

    @classmethod
    def from_rows(cls, rows: pa.Table, reserve: Ints) -> Presence:
        """Return the writes of the raw rows of a round."""
        writes: dict[int, list[tuple[int, int, bool]]] = {}
        phases, ids, starts, lengths = (
            rows[name].to_pylist() for name in ("phase", "query", "start", "nanoseconds")
        )
        for phase, number, start, length in zip(phases, ids, starts, lengths, strict=True):
            if phase.startswith("write:"):
                writes.setdefault(number, []).append((start, start + length, phase == "write:insert"))
        for of_one in writes.values():
            of_one.sort()
        return cls(writes, frozenset(reserve.tolist()))

    def find(self, number: int, start: int, end: int) -> bool | None:
        """Return whether a vector was in the index all through that time; None if it was on its way in or out."""
        there = number not in self.absent
        for began, ended, inserted in self.writes.get(number, ()):
            if ended <= start:
                there = inserted
            elif began < end:
                return None
        return there


def find_present(
    dataset: Dataset, presence: Presence, near: Neighbours, rows: pa.Table, ids: Ints
) -> tuple[Neighbours, Ints, int]:
    """Return for every query of a window the neighbours that were there all through it, the answers, and how many were gone.

    An answer that had been deleted before its query was asked is wrong. One that was on its way in or out is right if it is as
    near as the k-th neighbour that was there.
    """
    queries, starts, lengths = (rows[name].to_pylist() for name in ("query", "start", "nanoseconds"))
    depth, k = near.depth, ids.shape[1]
    truth, distances = np.full((len(ids), depth), -1, dtype=np.int64), np.full((len(ids), depth), np.inf)
    kept, gone = ids.copy(), 0
    suspect = presence.absent | presence.writes.keys()
    for row, (query, start, length) in enumerate(zip(queries, starts, lengths, strict=True)):
        listed, far = near.ids[query], near.distances[query]
        there = np.array(
            [
                number not in suspect or presence.find(number, start, start + length) is True
                for number in listed.tolist()
            ]
        )
        if there.sum() < k and near.depth < near.population:
            # too many of those that are known were away: all vectors are looked at
            all_there = [
                number
                for number in range(len(dataset.vectors))
                if number not in suspect or presence.find(number, start, start + length) is True
            ]
            found = find_neighbours(
                dataset.vectors.array,
                dataset.queries.array[query][None],
                dataset.metric,
                depth=depth,
                ids=np.array(all_there),
            )
            listed, far, there = found.ids[0], found.distances[0], found.ids[0] >= 0
        count = int(there.sum())
        truth[row, :count], distances[row, :count] = listed[there], far[there]
        for place, number in enumerate(ids[row].tolist()):
            if number in suspect and presence.find(number, start, start + length) is False:
                kept[row, place], gone = -1, gone + 1
    return replace(near, ids=truth, distances=distances), kept, gone
