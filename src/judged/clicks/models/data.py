"""Impressions as click models see them: pairs of query and document, place by place, each kind of list once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.clicks.kernels import add_up
from judged.clicks.tables import Clicks
from judged.errors import BadMeasure


@dataclass(frozen=True, eq=False)
class Lists:
    """Impressions with the same documents and clicks, once: a row for each place, a column for each of them.

    Models go down the places, so those of all lists lie next to each other.
    """

    pair: Ints
    """The pair of query and document at each place; −1 beyond the end of a list."""
    rank: Ints
    """The rank of each place, from 0."""
    click: Flags
    weight: Floats
    """How often each list was shown, with these clicks."""
    pairs: int
    ranks: int

    @classmethod
    def of(cls, clicks: Clicks, pair: Ints | None = None, pairs: int = 0, ranks: int = 0) -> Lists:
        """Return the lists of a log; raise `BadMeasure` for one without ranks.

        `pair` numbers the pairs of a part of a log as the whole does, which has `pairs` and `ranks`.
        """
        if clicks.rank is None:
            msg = f"click models need ranks, which `{clicks.name}` does not have"
            raise BadMeasure(msg)
        if pair is None:
            pair, query, _ = clicks.pairs
            pairs, ranks = len(query), int(clicks.rank.max())
        length = np.diff(clicks.offset)
        width = int(length.max(initial=0))
        column = np.arange(len(pair)) - np.repeat(clicks.offset[:-1], length)
        shape = (len(clicks), width)
        table = np.full((*shape, 3), -1, dtype=np.int32)
        table[clicks.owner, column, 0] = pair
        table[clicks.owner, column, 1] = clicks.rank - 1
        table[clicks.owner, column, 2] = clicks.click
        distinct, weight = _count_rows(table.reshape(len(clicks), -1))
        distinct = distinct.reshape(-1, width, 3)
        return cls(
            np.ascontiguousarray(distinct[:, :, 0].T).astype(np.int64),
            np.ascontiguousarray(distinct[:, :, 1].T).astype(np.int64),
            np.ascontiguousarray(distinct[:, :, 2].T == 1),
            weight,
            pairs,
            ranks,
        )

    def __len__(self) -> int:
        return int(self.pair.shape[1])

    @property
    def width(self) -> int:
        """The number of places of the longest list."""
        return int(self.pair.shape[0])

    @cached_property
    def shown(self) -> Flags:
        """Whether there is a document at each place."""
        return self.pair >= 0

    @cached_property
    def known(self) -> Ints:
        """The pair at each place, 0 beyond the end of a list."""
        return np.maximum(self.pair, 0)

    @cached_property
    def last(self) -> Ints:
        """The place of the last click of each list; −1 without one."""
        places = np.where(self.click, np.arange(self.width)[:, None], -1)
        last: Ints = places.max(axis=0, initial=-1)
        return last

    def follows(self, place: int) -> Flags:
        """Return which lists have a place after this one."""
        return self.shown[place + 1] if place + 1 < self.width else np.zeros(len(self), dtype=bool)

    def sum_pairs(self, values: Floats, where: Flags) -> Floats:
        """Return the sum of weighted values by pair, over the places where the flags say so."""
        weights = np.where(where, values * self.weight, 0.0)
        sums: Floats = add_up(self.known.ravel(), weights.ravel(), self.pairs)
        return sums

    def count_pairs(self, where: Flags) -> Floats:
        """Return how often each pair is at a place where the flags say so."""
        return self.sum_pairs(np.ones(()), where)

    def count_ranks(self, where: Flags) -> Floats:
        """Return how often each rank is at a place where the flags say so."""
        weights = np.where(where, self.weight, 0.0)
        rank = np.maximum(self.rank, 0).ravel()
        counts: Floats = add_up(rank, weights.ravel(), self.ranks)
        return counts


def _count_rows(
    table: np.ndarray[tuple[int, ...], np.dtype[np.int32]],
) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int32]], Floats]:
    """Return the distinct rows of a table, and how often each occurs."""
    whole = np.ascontiguousarray(table)
    # rows as single values of bytes: `unique(axis=0)` sorts field by field, which takes many times as long
    keys = whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1]))).reshape(-1)
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    return whole[first], counts.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Cells:
    """Places of lists by pair and rank, for models in which places do not depend on each other."""

    pair: Ints
    rank: Ints
    clicks: Floats
    """How often the pair was clicked at the rank."""
    shown: Floats
    """How often the pair was shown at the rank."""

    @classmethod
    def of(cls, lists: Lists) -> Cells:
        """Return the cells of lists."""
        where = lists.shown
        key = lists.pair[where] * lists.ranks + lists.rank[where]
        weight = np.broadcast_to(lists.weight, lists.pair.shape)[where]
        known, cell = np.unique(key, return_inverse=True)
        cell = cell.reshape(-1)
        shown = add_up(cell, weight, len(known))
        clicks = add_up(cell, weight * lists.click[where], len(known))
        return cls(known // lists.ranks, known % lists.ranks, clicks, shown)
