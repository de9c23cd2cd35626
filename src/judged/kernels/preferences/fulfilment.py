"""How many preferences a run fulfils: over all of them, over pairs of documents, over groups of judgments."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from judged.kernels.preferences.view import PreferenceView
from judged.kernels.segments import (
    Flags,
    Floats,
    Ints,
    divide,
    segment_count,
    segment_ids,
    segment_running_count,
    segment_sum,
)

__all__ = [
    "balanced_share",
    "count_fulfilled",
    "count_possible",
    "group_share",
    "mean_over_groups",
    "pair_share",
    "simple_share",
]


def count_possible(opinions: PreferenceView, least: int = 0) -> Ints:
    """How many preferences each query has of which at least so many of the two documents were retrieved."""
    return _by_query(opinions, opinions.count(opinions.retrieved >= least))


def count_fulfilled(opinions: PreferenceView, least: int = 0) -> Ints:
    """How many of these the run obeys."""
    return _by_query(opinions, opinions.count(opinions.fulfilled & (opinions.retrieved >= least)))


def simple_share(opinions: PreferenceView, least: int = 0) -> Floats:
    """The share of each query's preferences that the run obeys; 0 of none."""
    return divide(count_fulfilled(opinions, least), count_possible(opinions, least))


def group_share(opinions: PreferenceView, least: int = 0) -> Floats:
    """The share that the run obeys within each group, averaged over a query's groups; 0 of none."""
    counted = opinions.retrieved >= least
    shares = divide(opinions.count(opinions.fulfilled & counted), opinions.count(counted))
    return mean_over_groups(opinions, shares)


def mean_over_groups(opinions: PreferenceView, values: Floats) -> Floats:
    """The mean of the groups' values, for each query."""
    return divide(segment_sum(values, opinions.query_offset), opinions.groups)


def pair_share(opinions: PreferenceView, least: int = 0) -> Floats:
    """For each two documents, the share of the groups' preferences that the run obeys; averaged over pairs.

    Pairs are added up as trec_eval does, both retrieved before one retrieved, for the last digit's sake.
    """
    if (opinions.groups <= 1).all():
        return simple_share(opinions, least)  # no pair is spoken of twice
    pairs = opinions.cached(("pairs",), lambda: _pairs(opinions))
    counted = pairs.retrieved >= least
    query, share = pairs.query[counted], pairs.share[counted]
    total = np.bincount(query, weights=share, minlength=len(opinions))
    return divide(total, np.bincount(query, minlength=len(opinions)))


def balanced_share(opinions: PreferenceView, *, retrieved_only: bool = False) -> Floats:
    """The share obeyed within each group, with as many non-relevant documents as relevant ones; averaged.

    A group in which nothing can be counted makes the query's value 0, as in trec_eval.
    """
    seen = opinions.found if retrieved_only else np.ones(len(opinions.found), dtype=bool)
    relevant, other = _relevant(opinions), _not_relevant(opinions)
    wanted, there = _count(opinions, relevant & seen), _count(opinions, other & seen)
    few = wanted < there
    kept = _kept(opinions, np.where(opinions.views.partial, _count(opinions, relevant), wanted))
    counted = opinions.retrieved >= (2 if retrieved_only else 0)
    counted &= kept | ~few[segment_ids(opinions.views.pair_offset)]
    obeyed, all_ = opinions.count(opinions.fulfilled & counted), opinions.count(counted)
    spare = np.where(few, 0, wanted - there)
    more_obeyed, more = _among_the_lowest(opinions, wanted, few & ~opinions.views.partial, seen)
    obeyed = obeyed + _count(opinions, relevant & opinions.found) * spare + more_obeyed
    all_ = all_ + _count(opinions, relevant) * spare + more
    nothing = segment_count(all_ == 0, opinions.query_offset) > 0
    return np.where(nothing, 0.0, mean_over_groups(opinions, divide(obeyed, all_)))


def _by_query(opinions: PreferenceView, counts: Ints) -> Ints:
    return segment_sum(counts.astype(np.float64), opinions.query_offset).astype(np.int64)


class _Pairs(NamedTuple):
    """Every two documents between which some group has a preference, those both retrieved first."""

    query: Ints
    retrieved: Ints
    share: Floats
    """The share of the groups' preferences that the run obeys."""


def _pairs(opinions: PreferenceView) -> _Pairs:
    """Pairs in the order in which trec_eval adds them up."""
    first, second = opinions.place[opinions.views.better], opinions.place[opinions.views.worse]
    width = int(opinions.place.max(initial=0)) + 1
    key = np.minimum(first, second) * width + np.maximum(first, second)
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    at = order[starts]
    times = np.diff(np.append(starts, len(key)))
    obeyed = np.add.reduceat(opinions.fulfilled[order].astype(np.int64), starts) if len(starts) else times
    query = segment_ids(opinions.query_offset)[segment_ids(opinions.views.pair_offset)]
    seen = opinions.retrieved[at]
    by_trec_eval = np.argsort(-seen, kind="stable")
    return _Pairs(query[at][by_trec_eval], seen[by_trec_eval], (obeyed / times)[by_trec_eval])


def _count(opinions: PreferenceView, flags: Flags) -> Ints:
    return segment_count(flags, opinions.views.offset)


def _relevant(opinions: PreferenceView) -> Flags:
    flags: Flags = opinions.views.level > 0
    return flags


def _not_relevant(opinions: PreferenceView) -> Flags:
    """Level 0, and in a group without sub-groups everything below."""
    level = opinions.views.level
    flags: Flags = (level == 0) | ((level < 0) & ~opinions.views.partial[opinions.group])
    return flags


def _lowest(opinions: PreferenceView) -> Flags:
    """The documents of which too many may be judged: a whole group's lowest level, or a partial one's level 0."""
    level, offset = opinions.views.level, opinions.views.offset
    lowest = np.minimum.reduceat(level, offset[:-1]) if len(level) else level
    flags: Flags = level == np.where(opinions.views.partial, 0.0, lowest)[opinions.group]
    return flags


def _kept(opinions: PreferenceView, cut: Ints) -> Flags:
    """Which preferences remain when each group keeps only the first `cut` of its lowest documents."""
    lowest = _lowest(opinions)
    order = np.lexsort((opinions.place, opinions.group))
    before = np.empty(len(order), dtype=np.int64)
    before[order] = segment_running_count(lowest[order], opinions.views.offset) - 1
    kept = ~lowest | (before < cut[opinions.group])
    flags: Flags = kept[opinions.views.better] & kept[opinions.views.worse]
    return flags


def _among_the_lowest(opinions: PreferenceView, cut: Ints, groups: Flags, seen: Flags) -> tuple[Ints, Ints]:
    """What trec_eval counts besides: all lowest documents of a whole group against the first `cut` of them."""
    lowest = _lowest(opinions)
    found, size = _count(opinions, lowest & opinions.found), _count(opinions, lowest & seen)
    first = np.minimum(cut, size)
    inner = np.minimum(first, found)
    obeyed = inner * (inner - 1) // 2 + found * (first - inner)
    return np.where(groups, obeyed, 0), np.where(groups, first * size, 0)
