"""Preference measures: pairs of documents that people compare, where a run ranks them, and which pairs it fulfils."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.kernels.ranked.ranking import Ranking, RecallPoints
from judged.kernels.segments import (
    ViewCache,
    divide,
    segment_count,
    segment_ids,
    segment_running_count,
    segment_sum,
)


def stated_pairs(level: Floats, group: Ints) -> tuple[Ints, Ints]:
    """Return the rows of the higher and of the lower level, for every two rows of a group with different levels.

    >>> [rows.tolist() for rows in stated_pairs(np.array([1.0, 3.0, 2.0, 9.0]), np.array([0, 0, 0, 1]))]
    [[1, 1, 2], [2, 0, 0]]
    """
    order = np.lexsort((-level, group))
    ordered, levels = group[order], level[order]
    new = np.ones(len(order) + 1, dtype=bool)
    new[1:-1] = (ordered[1:] != ordered[:-1]) | (levels[1:] != levels[:-1])
    starts = np.flatnonzero(new)
    lower = starts[np.searchsorted(starts, np.arange(len(order)), side="right")]
    count = np.searchsorted(ordered, ordered, side="right") - lower
    first = np.repeat(lower - np.cumsum(count) + count, count)
    return np.repeat(order, count), order[first + np.arange(int(count.sum()))]


def transitive_closure(better: Ints, worse: Ints, size: int) -> Flags:
    """Return the matrix whose entry (a, b) says that a is preferred to b, directly or through others.

    An entry on the diagonal means that the preferences contradict each other.

    >>> transitive_closure(np.array([0, 1]), np.array([1, 2]), 3).astype(int).tolist()
    [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    """
    reached = np.zeros((size, size), dtype=bool)
    reached[better, worse] = True
    while True:
        counts = reached.astype(np.float32)
        further = reached | ((counts @ counts) > 0)
        if (further == reached).all():
            return reached
        reached = further


@dataclass(frozen=True)
class PreferencePairs:
    """The preferences that groups of judgments state, before any run: an entry for every document of every group."""

    level: Floats
    """The level that the group gives the document."""
    document: Ints
    """The number of the document."""
    offset: Ints
    """Group `g` owns entries `offset[g]` to `offset[g + 1]`."""
    partial: Flags
    """Mask of groups that are stated in several sub-groups, and so order their documents only in part."""
    better: Ints
    worse: Ints
    """The entries of the preferred document and of the other, for every preference."""
    pair_offset: Ints
    """Group `g` owns preferences `pair_offset[g]` to `pair_offset[g + 1]`."""


@dataclass(frozen=True)
class PreferenceView(ViewCache):
    """The preferences of groups of judgments, and where their documents are in the run."""

    pairs: PreferencePairs
    place: Ints
    """The place of every entry's document among all: by query, in the order of the ranking, then those that were
    not retrieved, in the order of their ids."""
    found: Flags
    """Mask of the entries whose documents were retrieved."""
    query_offset: Ints
    """Query `q` owns groups `query_offset[q]` to `query_offset[q + 1]`."""
    ranking: Ranking
    """The same as ranked lists with grades, one per group, for measures that average over judges."""
    _cache: dict[tuple[object, ...], object] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.query_offset) - 1

    @property
    def groups(self) -> Ints:
        """The number of groups of every query."""
        return np.diff(self.query_offset)

    @property
    def group(self) -> Ints:
        """The group of every entry."""
        return self.cached(("group",), lambda: segment_ids(self.pairs.offset))

    @property
    def fulfilled(self) -> Flags:
        """The preferences that the run fulfils: the better document was found, the other later or not at all."""
        return self.cached(("fulfilled",), self._fulfilled)

    @property
    def retrieved(self) -> Ints:
        """Number of a preference's two documents that were retrieved: 0, 1 or 2."""
        return self.cached(("retrieved",), self._retrieved)

    def count(self, flags: Flags) -> Ints:
        """Count the flagged preferences of every group."""
        return segment_count(flags, self.pairs.pair_offset)

    def _fulfilled(self) -> Flags:
        first, second = self.pairs.better, self.pairs.worse
        fulfilled: Flags = self.found[first] & (self.place[first] < self.place[second])
        return fulfilled

    def _retrieved(self) -> Ints:
        flags = self.found.astype(np.int64)
        return flags[self.pairs.better] + flags[self.pairs.worse]


def build_pairs(level: Floats, document: Ints, group: Ints, subgroup: Ints) -> PreferencePairs:
    """Return all preferences that sorted rows of levels state, and in partial groups those that follow."""
    groups = int(group.max(initial=-1)) + 1
    parts = np.bincount(group[np.unique(subgroup, return_index=True)[1]], minlength=groups)
    key = group * (int(document.max(initial=0)) + 1) + document
    _, entry = np.unique(key, return_inverse=True)
    entry = entry.reshape(-1).astype(np.int64)
    size = int(entry.max(initial=-1)) + 1
    last = np.zeros(size, dtype=np.int64)
    last[entry] = np.arange(len(entry))  # of several sub-groups the last one's level holds, as in trec_eval
    offset = np.searchsorted(group[last], np.arange(groups + 1)).astype(np.int64)
    better, worse = (entry[rows] for rows in stated_pairs(level, subgroup))
    better, worse = _close_partial_groups(better, worse, offset, parts > 1)
    pair_offset = np.searchsorted(group[last][better], np.arange(groups + 1)).astype(np.int64)
    return PreferencePairs(level[last], document[last], offset, parts > 1, better, worse, pair_offset)


def find_contradiction(pairs: PreferencePairs) -> tuple[int, int] | None:
    """Return two entries of a partial group that are preferred to each other; None if there are none."""
    parted = np.flatnonzero(np.repeat(pairs.partial, np.diff(pairs.pair_offset)))
    above, below = pairs.better[parted], pairs.worse[parted]
    loops = np.flatnonzero(above == below)  # a document preferred to itself is in a cycle with another
    if not len(loops):
        return None
    first = int(above[loops[0]])
    into = below[(above == first) & (below != first)]
    back = above[(below == first) & (above != first)]
    return first, int(np.intersect1d(into, back)[0])


def build_preference_view(
    pairs: PreferencePairs,
    *,
    place: Ints,
    rank: Ints,
    retrieved: Ints,
    query_offset: Ints,
    removed: bool = False,
    rel: float = 1.0,
    recall_points: RecallPoints = "truncated",
) -> PreferenceView:
    """Return the view, from the place and rank (0: not retrieved) of every document and the counts of results.

    `removed` takes the documents that a group did not judge out of that group's ranked list.
    """
    here = rank[pairs.document]
    group = segment_ids(pairs.offset)
    chosen = here > 0
    if removed:
        chosen &= pairs.level >= 0
    entries = np.flatnonzero(chosen)
    entries = entries[np.lexsort((here[entries], group[entries]))]
    offset = np.searchsorted(group[entries], np.arange(len(pairs.offset))).astype(np.int64)
    best = np.lexsort((-pairs.level, group))
    ranks = (
        np.arange(1, len(entries) + 1) - np.repeat(offset[:-1], np.diff(offset)) if removed else here[entries]
    )
    ranking = Ranking(
        rank=ranks,
        grade=pairs.level[entries],
        offset=offset,
        retrieved=np.diff(offset) if removed else np.repeat(retrieved, np.diff(query_offset)),
        best=pairs.level[best],
        best_offset=pairs.offset,
        target=entries,
        best_target=best,
        rel=rel,
        highest=float(pairs.level.max(initial=0.0)),
        recall_points=recall_points,
    )
    return PreferenceView(pairs, place[pairs.document], here > 0, query_offset, ranking)


def _close_partial_groups(better: Ints, worse: Ints, offset: Ints, partial: Flags) -> tuple[Ints, Ints]:
    """Return all preferences by group, once each: as stated in whole groups, closed in partial ones."""
    if not partial.any():
        return better, worse  # already ordered by group
    owner = segment_ids(offset)
    order = np.argsort(owner[better], kind="stable")
    better, worse = better[order], worse[order]
    cut = np.searchsorted(owner[better], np.arange(len(offset)))
    whole = ~partial[owner[better]]
    parts = [(better[whole], worse[whole])]
    for group in np.flatnonzero(partial).tolist():
        first, here = int(offset[group]), slice(int(cut[group]), int(cut[group + 1]))
        reach = transitive_closure(better[here] - first, worse[here] - first, int(offset[group + 1]) - first)
        above, below = np.nonzero(reach)
        parts.append((above + first, below + first))
    upper, lower = (np.concatenate(columns).astype(np.int64) for columns in zip(*parts, strict=True))
    order = np.argsort(owner[upper], kind="stable")
    return upper[order], lower[order]


def order_documents(rank: Ints, query: Ints) -> Ints:
    """Return the place of every document, by query, then rank, then id for those not retrieved (rank 0)."""
    place = np.empty(len(rank), dtype=np.int64)
    place[np.lexsort((rank, rank == 0, query))] = np.arange(len(rank))
    return place


def count_possible(view: PreferenceView, least: int = 0) -> Ints:
    """Count the preferences of every query of which at least `least` of the two documents were retrieved."""
    return _by_query(view, view.count(view.retrieved >= least))


def count_fulfilled(view: PreferenceView, least: int = 0) -> Ints:
    """Count how many of these the run fulfils."""
    return _by_query(view, view.count(view.fulfilled & (view.retrieved >= least)))


def simple_share(view: PreferenceView, least: int = 0) -> Floats:
    """Return the share of every query's preferences that the run fulfils; 0 without preferences."""
    return divide(count_fulfilled(view, least), count_possible(view, least))


def group_share(view: PreferenceView, least: int = 0) -> Floats:
    """Return the share that the run fulfils within a group, averaged over the groups of every query."""
    counted = view.retrieved >= least
    shares = divide(view.count(view.fulfilled & counted), view.count(counted))
    return mean_over_groups(view, shares)


def mean_over_groups(view: PreferenceView, values: Floats) -> Floats:
    """Return the mean of the groups' values for every query."""
    return divide(segment_sum(values, view.query_offset), view.groups)


def pair_share(view: PreferenceView, least: int = 0) -> Floats:
    """Return the share of the groups' preferences on a pair of documents that the run fulfils, averaged over pairs.

    Pairs are added in the order of trec_eval, both retrieved before one retrieved, so that the last digit agrees.
    """
    if (view.groups <= 1).all():
        return simple_share(view, least)  # no pair is judged twice
    pairs = view.cached(("pairs",), lambda: _pairs(view))
    counted = pairs.retrieved >= least
    query, share = pairs.query[counted], pairs.share[counted]
    total = np.bincount(query, weights=share, minlength=len(view))
    return divide(total, np.bincount(query, minlength=len(view)))


def balanced_share(view: PreferenceView, *, retrieved_only: bool = False) -> Floats:
    """Return the share fulfilled within a group with as many non-relevant documents as relevant ones, averaged.

    A group without anything to count makes the query's value 0, as in trec_eval.
    """
    seen = view.found if retrieved_only else np.ones(len(view.found), dtype=bool)
    relevant, other = _relevant(view), _not_relevant(view)
    wanted, there = _count(view, relevant & seen), _count(view, other & seen)
    few = wanted < there
    kept = _kept(view, np.where(view.pairs.partial, _count(view, relevant), wanted))
    counted = view.retrieved >= (2 if retrieved_only else 0)
    counted &= kept | ~few[segment_ids(view.pairs.pair_offset)]
    fulfilled, possible = view.count(view.fulfilled & counted), view.count(counted)
    spare = np.where(few, 0, wanted - there)
    more_fulfilled, more = _among_the_lowest(view, wanted, few & ~view.pairs.partial, seen)
    fulfilled = fulfilled + _count(view, relevant & view.found) * spare + more_fulfilled
    possible = possible + _count(view, relevant) * spare + more
    nothing = segment_count(possible == 0, view.query_offset) > 0
    return np.where(nothing, 0.0, mean_over_groups(view, divide(fulfilled, possible)))


def _by_query(view: PreferenceView, counts: Ints) -> Ints:
    return segment_sum(counts.astype(np.float64), view.query_offset).astype(np.int64)


class _Pairs(NamedTuple):
    """Every pair of documents on which some group has a preference, those with both retrieved first."""

    query: Ints
    retrieved: Ints
    share: Floats
    """The share of the groups' preferences that the run fulfils."""


def _pairs(view: PreferenceView) -> _Pairs:
    """Return the pairs in the order in which trec_eval adds them up."""
    first, second = view.place[view.pairs.better], view.place[view.pairs.worse]
    width = int(view.place.max(initial=0)) + 1
    key = np.minimum(first, second) * width + np.maximum(first, second)
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    at = order[starts]
    times = np.diff(np.append(starts, len(key)))
    fulfilled = np.add.reduceat(view.fulfilled[order].astype(np.int64), starts) if len(starts) else times
    query = segment_ids(view.query_offset)[segment_ids(view.pairs.pair_offset)]
    seen = view.retrieved[at]
    by_trec_eval = np.argsort(-seen, kind="stable")
    return _Pairs(query[at][by_trec_eval], seen[by_trec_eval], (fulfilled / times)[by_trec_eval])


def _count(view: PreferenceView, flags: Flags) -> Ints:
    return segment_count(flags, view.pairs.offset)


def _relevant(view: PreferenceView) -> Flags:
    flags: Flags = view.pairs.level > 0
    return flags


def _not_relevant(view: PreferenceView) -> Flags:
    """Flag level 0, and in a group without sub-groups everything below."""
    level = view.pairs.level
    flags: Flags = (level == 0) | ((level < 0) & ~view.pairs.partial[view.group])
    return flags


def _lowest(view: PreferenceView) -> Flags:
    """Flag the documents of which a group may have too many: its lowest level, or level 0 of a partial group."""
    level, offset = view.pairs.level, view.pairs.offset
    lowest = np.minimum.reduceat(level, offset[:-1]) if len(level) else level
    flags: Flags = level == np.where(view.pairs.partial, 0.0, lowest)[view.group]
    return flags


def _kept(view: PreferenceView, cut: Ints) -> Flags:
    """Flag the preferences that remain if every group keeps only the first `cut` of its lowest documents."""
    lowest = _lowest(view)
    order = np.lexsort((view.place, view.group))
    before = np.empty(len(order), dtype=np.int64)
    before[order] = segment_running_count(lowest[order], view.pairs.offset) - 1
    kept = ~lowest | (before < cut[view.group])
    flags: Flags = kept[view.pairs.better] & kept[view.pairs.worse]
    return flags


def _among_the_lowest(view: PreferenceView, cut: Ints, groups: Flags, seen: Flags) -> tuple[Ints, Ints]:
    """Count what trec_eval adds: all lowest documents of a whole group against the first `cut` of them."""
    lowest = _lowest(view)
    found, size = _count(view, lowest & view.found), _count(view, lowest & seen)
    first = np.minimum(cut, size)
    inner = np.minimum(first, found)
    fulfilled = inner * (inner - 1) // 2 + found * (first - inner)
    return np.where(groups, fulfilled, 0), np.where(groups, first * size, 0)
