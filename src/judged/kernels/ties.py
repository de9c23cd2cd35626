"""Tied results: the same judged documents at other ranks, and the value of a measure over all orders.

For many measures, what a result adds depends on its rank and grade and on *which* judged documents are above it, but
not on their ranks ("stepwise"); for some, on its own rank and grade alone ("linear"). The documents above a tied group
are the same in every order, so every group can be analysed by itself; within a group it is enough to count how many
documents of each kind came before, and that count is hypergeometric. For all other measures every order is enumerated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product
from math import comb, prod
from typing import NamedTuple, TypeAlias

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import segment_ids, take_segments

Valuation: TypeAlias = Callable[[Ranking], Floats]
"""A measure with its parameters: one value for every query of a view."""

ENTRIES = 1 << 19
"""The number of judged documents evaluated at once, found or not; it bounds the memory and changes no value."""


@dataclass(frozen=True, slots=True)
class Arrangements:
    """Lists of retrieved judged documents of a view, every list for one of its queries."""

    query: Ints
    """The query of every list."""
    hit: Ints
    """The documents, by their place in the view, list after list."""
    rank: Ints
    """The rank of every document in its list, ascending within the list."""
    offset: Ints
    """List `a` owns `hit[offset[a]:offset[a + 1]]`, and the same of `rank`."""

    def __len__(self) -> int:
        return len(self.query)

    @classmethod
    def from_flags(cls, query: Ints, chosen: Flags, rank: Ints, hit: Ints) -> Arrangements:
        """Return a list for every row of flags, which says which documents `hit` it holds, at the ranks of that row."""
        row, column = np.nonzero(chosen)
        offset = np.concatenate(([0], np.cumsum(chosen.sum(axis=1)))).astype(np.int64)
        order = np.lexsort((rank[row, column], row))
        return cls(query, hit[column[order]], rank[row, column][order], offset)


def concatenate_lists(parts: list[Arrangements]) -> Arrangements:
    """Concatenate several sets of lists."""
    ends = np.cumsum([0, *(int(part.offset[-1]) for part in parts)])
    offsets = [part.offset[1:] + end for part, end in zip(parts, ends, strict=False)]
    return Arrangements(
        query=np.concatenate([part.query for part in parts]),
        hit=np.concatenate([part.hit for part in parts]),
        rank=np.concatenate([part.rank for part in parts]),
        offset=np.concatenate([np.zeros(1, dtype=np.int64), *offsets]),
    )


def evaluate_lists(value: Valuation, ranking: Ranking, lists: Arrangements) -> Floats:
    """Return the value of the measure for every list; other counts and judgments of its query stay the same."""
    parts = [value(arrange(ranking, lists, first, last)) for first, last in _shares(ranking, lists)]
    return np.concatenate(parts) if parts else np.zeros(0)


def arrange(ranking: Ranking, lists: Arrangements, first: int = 0, last: int | None = None) -> Ranking:
    """Return the view in which every list from `first` to `last` − 1 is a query of its own."""
    last = len(lists) if last is None else last
    query = lists.query[first:last]
    owned = slice(int(lists.offset[first]), int(lists.offset[last]))
    hit = lists.hit[owned]
    offset = lists.offset[first : last + 1] - lists.offset[first]
    best, best_offset = take_segments(ranking.best_offset, query)
    apart = int(np.ptp(ranking.best_target)) + 1 if len(best) else 1  # a target's number belongs to one query
    return replace(
        ranking,
        rank=lists.rank[owned],
        grade=ranking.grade[hit],
        offset=offset,
        retrieved=ranking.retrieved[query],
        best=ranking.best[best],
        best_offset=best_offset,
        target=ranking.target[hit] + apart * segment_ids(offset),
        best_target=ranking.best_target[best] + apart * segment_ids(best_offset),
        document=_document(ranking, query, hit, offset, best_offset),
        intents=None if ranking.intents is None else ranking.intents.of_lists(query, best, best_offset),
        above=None,
        tied=None,
        _cache={},
    )


def _document(ranking: Ranking, query: Ints, hit: Ints, offset: Ints, best_offset: Ints) -> Ints:
    """Return the number of every document among those of all lists; documents are numbered by query."""
    if ranking.intents is None:
        return ranking.document
    moved = best_offset[:-1] - ranking.best_offset[query]
    number: Ints = ranking.document[hit] + moved[segment_ids(offset)]
    return number


def _shares(ranking: Ranking, lists: Arrangements) -> Iterator[tuple[int, int]]:
    """Split lists into batches of about as many documents as fit into memory."""
    size = np.diff(lists.offset) + np.diff(ranking.best_offset)[lists.query] + 1
    share = np.cumsum(size) // ENTRIES
    cuts = np.flatnonzero(np.diff(share)) + 1
    edges = [0, *cuts.tolist(), len(lists)]
    return ((first, last) for first, last in pairwise(edges) if first < last)


@dataclass(frozen=True, slots=True)
class TiedGroup:
    """Results that share a score, at least one of them judged."""

    query: int
    above: int
    """The number of results with a higher score."""
    size: int
    """The number of results that share the score."""
    first: int
    """Its judged documents are `first` to before `last` of the view."""
    last: int

    @property
    def end(self) -> int:
        """The last rank of its results."""
        return self.above + self.size


def find_tied_groups(ranking: Ranking) -> list[TiedGroup]:
    """Return every tied group with a judged document, in the order of the view."""
    if ranking.above is None or ranking.tied is None or not len(ranking.rank):
        return []
    above, tied, query = ranking.above, ranking.tied, ranking.query
    new = np.ones(len(above), dtype=bool)
    new[1:] = (query[1:] != query[:-1]) | (above[1:] != above[:-1])
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(above))
    rows = np.stack([query[first], above[first], tied[first], first, last], axis=1)
    return [TiedGroup(*row) for row in rows[tied[first] > 1].tolist()]


def order_ties_by_grade(ranking: Ranking, depth: int | None, *, best: bool) -> Ranking:
    """Return the view with tied documents by falling grade at the top of their group, or by rising grade at its end.

    Documents that are then below `depth` are left out; unjudged results of a group are at its other end.
    """
    if ranking.above is None or ranking.tied is None:
        return ranking
    group = ranking.query * (int(ranking.above.max(initial=0)) + 1) + ranking.above
    order = np.lexsort((-ranking.grade if best else ranking.grade, group))
    start = np.searchsorted(group, group, side="left")
    judged = np.searchsorted(group, group, side="right") - start
    unjudged_first = 0 if best else ranking.tied - judged
    rank = ranking.above + unjudged_first + np.arange(len(order)) - start + 1
    kept = slice(None) if depth is None else rank <= depth
    order, rank, query = order[kept], rank[kept], ranking.query[kept]
    offset = np.searchsorted(query, np.arange(len(ranking) + 1)).astype(np.int64)
    ordered = arrange(ranking, Arrangements(np.arange(len(ranking)), order, rank, offset))
    return replace(ordered, above=ranking.above[order], tied=ranking.tied[order])


def make_ideal(ranking: Ranking, query: Ints) -> Ranking:
    """Return the view of some queries in which each retrieved exactly its judged documents, in the best order.

    By intent there are several best orders, and the one by the highest grade of each document is used.
    """
    best, offset = take_segments(ranking.best_offset, query)
    document, intents = ranking.document, ranking.intents
    if intents is not None:
        # documents are numbered by query, so that all of them in order are those of the query
        document, intents = np.arange(len(best)), intents.of_lists(query, best, offset)
    return replace(
        ranking,
        rank=np.arange(1, len(best) + 1) - np.repeat(offset[:-1], np.diff(offset)),
        grade=ranking.best[best],
        offset=offset,
        retrieved=np.diff(offset),
        best=ranking.best[best],
        best_offset=offset,
        target=ranking.best_target[best],
        best_target=ranking.best_target[best],
        document=document,
        intents=intents,
        above=None,
        tied=None,
        _cache={},
    )


MAX_LISTS = 500_000
"""The number of lists that one group may need; more would take minutes."""
TOGETHER = 100_000
"""The number of lists after which the groups so far are evaluated together."""


class TooManyOrders(Exception):
    """A group or a query has too many orders to enumerate; the caller words the error."""

    def __init__(self, query: int, orders: float) -> None:
        super().__init__(query, orders)
        self.query, self.orders = query, orders


@dataclass(frozen=True, slots=True)
class TieContributions:
    """Contribution of a document of every kind at every place of one tied group."""

    group: TiedGroup
    count: Ints
    """The number of documents of every kind in the group; all other results add nothing."""
    seen: Ints
    """A row for every combination of documents that may have come before: how many of every kind."""
    adds: Floats
    """Contribution of the next document, by row of `seen`, kind, and place in the group; 0 if impossible."""
    reference: float
    """Contribution of the group in the order of the view."""
    alone: bool
    """Whether it does not matter what came before; then `seen` has a single row of zeros."""

    @property
    def expected(self) -> float:
        """Mean contribution of the group over all orders of its results."""
        chance = self.count[:, None] / self.group.size if self.alone else self._chance()
        return float((chance * self.adds).sum())

    def extremes(self) -> tuple[float, float]:
        """Return the least and the most that the group adds in any order."""
        most = self._best_assignment if self.alone else self._best_path
        return -most(-self.adds), most(self.adds)

    def _chance(self) -> Floats:
        """Return the probability of every step: exactly these documents came before, and one of this kind is next."""
        size, places = self.group.size, self.adds.shape[2]
        others = size - int(self.count.sum())
        before = np.arange(places)
        blank = before - self.seen.sum(axis=1)[:, None]
        possible = (blank >= 0) & (blank <= others)
        ways = _log_choose(self.count, self.seen).sum(axis=1)[:, None]
        ways = ways + _log_choose(np.array(others), np.clip(blank, 0, others))
        reached = np.where(possible, np.exp(ways - _log_choose(np.array(size), before)), 0.0)
        left = (self.count - self.seen)[:, :, None] / (size - before)
        return (reached[:, None, :] * left).astype(np.float64)

    def _best_assignment(self, adds: Floats) -> float:
        """Return the most that documents add if any of them can take any place."""
        from scipy.optimize import linear_sum_assignment

        hidden = min(self.group.size - adds.shape[2], int(self.count.sum()))
        gains = np.repeat(np.pad(adds[0], ((0, 0), (0, hidden))), self.count, axis=0)
        return float(gains[linear_sum_assignment(gains, maximize=True)].sum())

    def _best_path(self, adds: Floats) -> float:
        """Return the most that any path through the places collects."""
        shape = tuple(self.count + 1)
        strides = np.array([int(np.prod(shape[kind + 1 :])) for kind in range(len(shape))], dtype=np.int64)
        total = self.seen.sum(axis=1)
        others = self.group.size - int(self.count.sum())
        most = np.where(total == 0, 0.0, -np.inf)
        for place in range(adds.shape[2]):
            after = np.where(
                place + 1 - total <= others, most, -np.inf
            )  # a result that adds nothing comes next
            for kind, stride in enumerate(strides.tolist()):
                able = np.flatnonzero(self.seen[:, kind] < self.count[kind])
                reached = most[able] + adds[able, kind, place]
                after[able + stride] = np.maximum(after[able + stride], reached)
            most = after
        return float(most.max())


def tie_contributions(
    value: Valuation,
    ranking: Ranking,
    kind: Ints,
    tied: list[TiedGroup],
    *,
    visible: int | None = None,
    alone: bool = False,
) -> Iterator[TieContributions]:
    """Return the contributions of every group; documents of one `kind` are alike, those below 0 add nothing.

    Results below the rank `visible` add nothing either. `alone` says that the measure is linear.
    """
    # many small groups in one call, since a call of a measure costs more than most of them
    waiting: list[_Plan] = []
    size = 0
    for group in tied:
        if visible is not None and group.above >= visible:
            continue
        plan = _Plan.of(ranking, kind, group, visible, alone=alone)
        if len(plan.count):
            waiting.append(plan)
            size += plan.size
        if size > TOGETHER:
            yield from _evaluate_plans(value, ranking, waiting)
            waiting, size = [], 0
    yield from _evaluate_plans(value, ranking, waiting)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The lists whose values give the contributions of one group."""

    group: TiedGroup
    count: Ints
    seen: Ints
    places: int
    members: list[Ints]
    """The documents of every kind."""
    before: Ints
    """The documents above the group; none for a linear measure."""
    visible: int | None
    alone: bool

    @classmethod
    def of(cls, ranking: Ranking, kind: Ints, group: TiedGroup, visible: int | None, *, alone: bool) -> _Plan:
        here = np.arange(group.first, group.last)
        kinds = [code for code in np.unique(kind[here]).tolist() if code >= 0]
        members = [here[kind[here] == code] for code in kinds]
        count = np.array([len(documents) for documents in members], dtype=np.int64)
        places = group.size if visible is None else min(group.size, visible - group.above)
        start = int(ranking.offset[group.query])
        before = np.arange(0) if alone else np.arange(start, group.first)
        before = before[kind[before] >= 0]
        ways = 1.0 if alone else float(np.prod(count + 1.0))
        work = ways * places * max(len(count), 1)
        if work > MAX_LISTS or work * (len(before) + count.sum()) > MAX_LISTS * 50:
            raise TooManyOrders(group.query, work)
        rows = [(0,) * len(count)] if alone else list(product(*(range(n + 1) for n in count.tolist())))
        seen = np.array(rows, dtype=np.int64).reshape(len(rows), len(count))
        return cls(group, count, seen, places, members, before, visible, alone)

    @property
    def size(self) -> int:
        """The approximate number of lists."""
        return len(self.seen) * (1 + len(self.count) * self.places) + 2

    def steps(self) -> tuple[Ints, Ints, Ints]:
        """Return the possible steps: rows of `seen`, kinds and places, the places from 0."""
        room = self.group.size - int(self.count.sum())
        blank = np.arange(self.places) - self.seen.sum(axis=1)[:, None]
        possible = (blank >= 0) & ((blank <= room) | self.alone)
        able = self.seen < self.count
        return tuple(np.nonzero(able[:, :, None] & possible[:, None, :]))  # type: ignore[return-value]

    def lists(self, ranking: Ranking) -> Arrangements:
        """Return the rows of `seen`, then the steps, then the group's beginning and end in the order of the view."""
        group, seen = self.group, self.seen
        hits = np.concatenate([self.before, *self.members])
        row, kind, place = self.steps()
        owner = np.repeat(np.arange(len(self.count)), self.count)
        nth = np.concatenate([np.arange(n) for n in self.count.tolist()])
        held = np.concatenate(
            [np.ones((len(seen), len(self.before)), dtype=bool), seen[:, owner] > nth], axis=1
        )
        rank = np.concatenate(
            [
                np.broadcast_to(ranking.rank[self.before], (len(seen), len(self.before))),
                group.above + np.cumsum(seen[:, owner] > nth, axis=1),
            ],
            axis=1,
        )
        after, moved = held[row], rank[row]
        start = np.concatenate(([0], np.cumsum(self.count)))[:-1]
        next_one = len(self.before) + start[kind] + seen[row, kind]
        after[np.arange(len(row)), next_one] = True
        moved[np.arange(len(row)), next_one] = group.above + 1 + place
        query = np.full(len(seen) + len(row) + 2, group.query)
        ends = np.zeros((2, len(hits)), dtype=bool)
        ends[:, : len(self.before)] = True
        shown = ranking.rank[hits] <= (group.end if self.visible is None else self.visible)
        ends[1] = shown
        given = np.broadcast_to(ranking.rank[hits], ends.shape)
        flags, ranks = np.concatenate([held, after, ends]), np.concatenate([rank, moved, given])
        return Arrangements.from_flags(query, flags, ranks, hits)

    def contributions(self, values: Floats) -> TieContributions:
        """Return the contributions, from the values of all lists."""
        row, kind, place = self.steps()
        adds = np.zeros((len(self.seen), len(self.count), self.places))
        adds[row, kind, place] = values[len(self.seen) : -2] - values[row]
        return TieContributions(
            self.group, self.count, self.seen, adds, float(values[-1] - values[-2]), self.alone
        )


def _evaluate_plans(value: Valuation, ranking: Ranking, plans: list[_Plan]) -> Iterator[TieContributions]:
    """Return the contributions of several groups, evaluated together."""
    if not plans:
        return
    lists = [plan.lists(ranking) for plan in plans]
    values = evaluate_lists(value, ranking, concatenate_lists(lists))
    ends = np.cumsum([0, *(len(arrangements) for arrangements in lists)])
    for plan, first, last in zip(plans, ends[:-1], ends[1:], strict=True):
        yield plan.contributions(values[first:last])


def _log_choose(total: Ints, chosen: Ints) -> Floats:
    """Return the logarithm of the number of combinations, in the widest floats available."""
    # long doubles: the differences of three large logarithms lose digits
    table = np.concatenate(
        ([0.0], np.cumsum(np.log(np.arange(1, int(total.max(initial=0)) + 1, dtype=np.longdouble))))
    )
    ways: Floats = table[total] - table[chosen] - table[total - chosen]
    return ways


MAX_ORDERS = 100_000
"""The number of different orders of one query's results that are enumerated."""


class OrderStatistics(NamedTuple):
    """The value of a measure over all orders of one query's tied results."""

    query: int
    expected: float
    low: float
    high: float


def enumerate_orders(
    value: Valuation, ranking: Ranking, kind: Ints, tied: list[TiedGroup], *, visible: int | None = None
) -> Iterator[OrderStatistics]:
    """Return mean, minimum and maximum of every query with a tied group; documents of one `kind` are alike.

    All different orders are equally likely, because all of them represent the same number of orders of documents.
    """
    for query in dict.fromkeys(group.query for group in tied):
        own = [group for group in tied if group.query == query]
        many = prod(_different(kind, group) for group in own)
        if many > MAX_ORDERS:
            raise TooManyOrders(query, many)
        values = evaluate_lists(value, ranking, _lists(ranking, kind, own, visible))
        yield OrderStatistics(query, float(values.mean()), float(values.min()), float(values.max()))


def _counts(kind: Ints, group: TiedGroup) -> list[int]:
    codes = kind[group.first : group.last]
    return [int(count) for count in np.unique(codes[codes >= 0], return_counts=True)[1]]


def _different(kind: Ints, group: TiedGroup) -> int:
    """Count the different orders of a group."""
    ways, left = 1, group.size
    for count in _counts(kind, group):
        ways *= comb(left, count)
        left -= count
    return ways


def _lists(ranking: Ranking, kind: Ints, tied: list[TiedGroup], visible: int | None) -> Arrangements:
    """Return the query's documents in a list for every order."""
    query = tied[0].query
    hits = np.arange(int(ranking.offset[query]), int(ranking.offset[query + 1]))
    hits = hits[kind[hits] >= 0]
    ways = [_ways(kind, group) for group in tied]
    many = prod(map(len, ways))
    ranks = np.tile(ranking.rank[hits], (many, 1))
    chosen = np.unravel_index(np.arange(many), [len(rows) for rows in ways])
    for group, rows, row in zip(tied, ways, chosen, strict=True):
        ranks[:, np.searchsorted(hits, _members(kind, group))] = rows[row]
    flags = np.ones(ranks.shape, dtype=bool) if visible is None else ranks <= visible
    return Arrangements.from_flags(np.full(many, query), flags, ranks, hits)


def _members(kind: Ints, group: TiedGroup) -> Ints:
    """Return the documents of a group that matter, by kind."""
    here = np.arange(group.first, group.last)
    return here[np.argsort(kind[here], kind="stable")][int((kind[here] < 0).sum()) :]


def _ways(kind: Ints, group: TiedGroup) -> Ints:
    """Return a row for every different order of a group: the ranks of its members."""
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
