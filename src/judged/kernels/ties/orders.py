"""Every order of tied results, one by one: exact for any measure, where there are not too many."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb, prod
from typing import NamedTuple

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Ints
from judged.kernels.ties.arrangements import Arrangements, Valuation, valued
from judged.kernels.ties.contributions import TooManyOrders
from judged.kernels.ties.groups import Group

__all__ = ["ORDERS", "Orders", "every_order"]

ORDERS = 100_000
"""How many different orders of one query's results are looked at."""


class Orders(NamedTuple):
    """What a measure says over all orders of one query's tied results."""

    query: int
    expected: float
    low: float
    high: float


def every_order(
    value: Valuation, ranking: Ranking, kind: Ints, tied: list[Group], *, visible: int | None = None
) -> Iterator[Orders]:
    """The mean, least and greatest value of each query that has a tied group; documents of one `kind` are alike.

    All different orders are equally likely, because each stands for as many orders of documents.
    """
    for query in dict.fromkeys(group.query for group in tied):
        own = [group for group in tied if group.query == query]
        many = prod(_different(kind, group) for group in own)
        if many > ORDERS:
            raise TooManyOrders(query, many)
        values = valued(value, ranking, _lists(ranking, kind, own, visible))
        yield Orders(query, float(values.mean()), float(values.min()), float(values.max()))


def _counts(kind: Ints, group: Group) -> list[int]:
    codes = kind[group.first : group.last]
    return [int(count) for count in np.unique(codes[codes >= 0], return_counts=True)[1]]


def _different(kind: Ints, group: Group) -> int:
    """How many different orders a group has."""
    ways, left = 1, group.size
    for count in _counts(kind, group):
        ways *= comb(left, count)
        left -= count
    return ways


def _lists(ranking: Ranking, kind: Ints, tied: list[Group], visible: int | None) -> Arrangements:
    """The query's documents, in a list for every order."""
    query = tied[0].query
    hits = np.arange(int(ranking.offset[query]), int(ranking.offset[query + 1]))
    hits = hits[kind[hits] >= 0]
    ways = [_ways(kind, group) for group in tied]
    many = prod(map(len, ways))
    ranks = np.tile(ranking.rank[hits], (many, 1))
    chosen = np.unravel_index(np.arange(many), [len(each) for each in ways])
    for group, each, row in zip(tied, ways, chosen, strict=True):
        ranks[:, np.searchsorted(hits, _members(kind, group))] = each[row]
    flags = np.ones(ranks.shape, dtype=bool) if visible is None else ranks <= visible
    return Arrangements.from_flags(np.full(many, query), flags, ranks, hits)


def _members(kind: Ints, group: Group) -> Ints:
    """The documents of a group that matter, by kind."""
    here = np.arange(group.first, group.last)
    return here[np.argsort(kind[here], kind="stable")][int((kind[here] < 0).sum()) :]


def _ways(kind: Ints, group: Group) -> Ints:
    """A row for each different order of a group: the ranks of its members."""
    counts, free = _counts(kind, group), tuple(range(group.above + 1, group.end + 1))

    def placed(at: int, free: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if at == len(counts):
            yield ()
            return
        for chosen in combinations(free, counts[at]):
            left = tuple(rank for rank in free if rank not in chosen)
            for rest in placed(at + 1, left):
                yield (*chosen, *rest)

    return np.array(list(placed(0, free)), dtype=np.int64)
