"""How many preferences a run fulfils: of all of them, of pairs of documents, of groups of judgments."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.kernels.preferences.view import PreferenceView
from judged.kernels.segments import divide, segment_count, segment_ids, segment_running_count, segment_sum

__all__ = [
    "balanced_share",
    "count_fulfilled",
    "count_possible",
    "group_share",
    "mean_over_groups",
    "pair_share",
    "simple_share",
]


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
