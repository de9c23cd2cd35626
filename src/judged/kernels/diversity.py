"""Diversity: queries split into their intents, and the novelty of results.

A document is worth less to an intent with every earlier document that answered the same intent. The ideal ranking
takes the judged document of the greatest novelty next, again and again, because the best order cannot be found in
reasonable time; of documents of equal novelty it takes the one with the greatest id, as ndeval does. Documents relevant
to the same intents are always worth the same, so the choice is between *kinds* of documents, of which the first that is
left represents all. All queries take their next step at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.errors import BadMeasure
from judged.kernels.elementary import log2
from judged.kernels.ranked.ranking import Intents, Ranking
from judged.kernels.segments import divide, segment_ids, segment_sum

INTENTS_HINT = (
    "give them in a column `intent`, as a dict query → document → intent → grade, or in the second column of "
    "TREC judgments"
)


def require_intents(ranking: Ranking) -> Intents:
    """Return the judgments by intent; raise `BadMeasure` if there are none."""
    if ranking.intents is None:
        msg = "the judgments have no intents, which the measure needs"
        raise BadMeasure(msg, hint=INTENTS_HINT)
    return ranking.intents


def intent_hits(ranking: Ranking, rel: float | None = None) -> tuple[Ints, Ints]:
    """Return the pairs of a retrieved document and an intent it is relevant to: its place, and the intent.

    Pairs are ordered by query, rank and intent.
    """
    at, intents = ranking.threshold(rel), require_intents(ranking)

    def hits() -> tuple[Ints, Ints]:
        row, place = intents.rows(ranking.document)
        chosen = intents.relevant(at)[row]
        return place[chosen], intents.intent[row[chosen]]

    return ranking.cached(("intent hits", at), hits)


def answered_intents(ranking: Ranking, rel: float | None = None) -> Flags:
    """Flag the intents that have a relevant document; the others are left out, as in ndeval."""
    at, intents = ranking.threshold(rel), require_intents(ranking)
    return ranking.cached(
        ("answered", at),
        lambda: np.bincount(intents.intent[intents.relevant(at)], minlength=len(intents.weight)) > 0,
    )


def intent_weight(ranking: Ranking, rel: float | None = None) -> Floats:
    """Return the total weight of the intents of every query that have a relevant document."""
    at, intents = ranking.threshold(rel), require_intents(ranking)
    return ranking.cached(
        ("intent weight", at),
        lambda: segment_sum(
            np.where(answered_intents(ranking, at), intents.weight, 0.0), intents.query_offset
        ),
    )


def intent_mean(ranking: Ranking, values: Floats, rel: float | None = None) -> Floats:
    """Return the weighted mean of the values of every query's intents that have a relevant document."""
    intents = require_intents(ranking)
    counted = np.where(answered_intents(ranking, rel), values * intents.weight, 0.0)
    return divide(segment_sum(counted, intents.query_offset), intent_weight(ranking, rel))


def split_by_intent(ranking: Ranking) -> Ranking:
    """Return the view in which every intent is a query: the same results, graded for that intent alone."""
    return ranking.cached(("by intent",), lambda: _apart(ranking, require_intents(ranking)))


def _apart(ranking: Ranking, intents: Intents) -> Ranking:
    row, place = intents.rows(ranking.document)
    order = np.argsort(intents.intent[row], kind="stable")  # keeps the ranks within an intent
    best = np.lexsort((-intents.grade, intents.intent))
    row, place = row[order], place[order]
    return Ranking(
        rank=ranking.rank[place],
        grade=intents.grade[row],
        offset=_offset(intents.intent[row], len(intents.weight)),
        retrieved=ranking.retrieved[intents.query],
        best=intents.grade[best],
        best_offset=_offset(intents.intent, len(intents.weight)),
        target=row,
        best_target=best,
        rel=ranking.rel,
        highest=ranking.highest,
        recall_points=ranking.recall_points,
    )


def _offset(intent: Ints, intents: int) -> Ints:
    return np.concatenate(([0], np.cumsum(np.bincount(intent, minlength=intents)))).astype(np.int64)


Discount: TypeAlias = Callable[[Ints], Floats]
"""The share of a gain that is left at every rank."""


def log_discount(rank: Ints) -> Floats:
    """Return 1 over log₂(rank + 1)."""
    return 1.0 / log2(rank + 1)


def reciprocal_discount(rank: Ints) -> Floats:
    """Return 1 over the rank."""
    return 1.0 / rank


def geometric_discount(beta: float) -> Discount:
    """Return the discount that is 1 at the first rank and falls by the factor `beta` from rank to rank."""
    return lambda rank: powers(beta, int(rank.max(initial=1)))[rank - 1]


def powers(factor: float, count: int) -> Floats:
    """Return the first powers of a factor, from the 0th, by repeated multiplication as in ndeval."""
    factors = np.full(max(count, 1), factor, dtype=np.float64)
    factors[0] = 1.0
    made: Floats = np.multiply.accumulate(factors)
    return made


def novelty(
    ranking: Ranking, discount: Discount, *, alpha: float, rel: float | None, cutoff: int | None = None
) -> Floats:
    """Return the discounted novelty of the first `cutoff` results of every query, over all ranks and intents."""
    at = ranking.threshold(rel)
    gain = ranking.cached(("novelty", alpha, at), lambda: _gains(ranking, alpha, at))
    counted = np.where(ranking.within(cutoff), gain * discount(ranking.rank), 0.0)
    return segment_sum(counted, ranking.offset)


def best_novelty(
    ranking: Ranking, discount: Discount, *, alpha: float, rel: float | None, cutoff: int | None = None
) -> Floats:
    """Return the same for the greedy ideal order of all judged documents."""
    at, intents = ranking.threshold(rel), require_intents(ranking)
    query, rank, gain = ranking.cached(
        ("greedy", alpha, at, cutoff), lambda: greedy_order(intents, alpha=alpha, at=at, depth=cutoff)
    )
    return np.bincount(query, weights=gain * discount(rank), minlength=len(ranking)).astype(np.float64)


def share_of_bound(
    ranking: Ranking, discount: Discount, *, alpha: float, rel: float | None, cutoff: int
) -> Floats:
    """Return the novelty of the first `cutoff` results over the bound that no ranking can exceed.

    The bound is reached by a ranking in which every result answers every intent.
    """
    rank = np.arange(1, cutoff + 1)
    bound = float(np.cumsum(powers(1.0 - alpha, cutoff) * discount(rank))[-1])
    got = novelty(ranking, discount, alpha=alpha, rel=rel, cutoff=cutoff)
    return divide(got, intent_weight(ranking, rel) * bound)


def _gains(ranking: Ranking, alpha: float, at: float) -> Floats:
    """Return the novelty of every retrieved judged document: (1 − α) per intent and earlier document that answered it."""
    place, intent = intent_hits(ranking, at)
    before = _before(intent)
    left = powers(1.0 - alpha, int(before.max(initial=0)) + 1)[before]
    weighed = left * require_intents(ranking).weight[intent]
    return np.bincount(place, weights=weighed, minlength=len(ranking.rank)).astype(np.float64)


def _before(values: Ints) -> Ints:
    """Count for every value the equal ones before it."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    count = np.empty(len(values), dtype=np.int64)
    count[order] = np.arange(len(values)) - np.searchsorted(ordered, ordered, side="left")
    return count


GREEDY_RATIO = math.e / (math.e - 1)
"""The factor by which the best order can exceed the greedy one, at most, under any discount.

What the first results are worth together is a monotone submodular function of their set, of which greedy choices
have at least the share 1 − 1/e; and a discounted sum is a sum of such values, none with a negative factor.
"""

NO_DOCUMENT = np.iinfo(np.int64).max
"""The next document of a kind that has none left."""


@dataclass(frozen=True, eq=False)
class _Kinds:
    """Documents by the intents they are relevant to; kinds are numbered by query."""

    query: Ints
    """The query of every kind."""
    document: Ints
    """All documents, by kind, the first choice of a kind first; then `NO_DOCUMENT`."""
    offset: Ints
    """Kind `k` owns `document[offset[k]:offset[k + 1]]`."""
    intent: Ints
    """The intents of every kind, one kind after another."""
    intent_offset: Ints
    """Kind `k` owns `intent[intent_offset[k]:intent_offset[k + 1]]`."""


def greedy_order(
    intents: Intents, *, alpha: float, at: float, depth: int | None = None
) -> tuple[Ints, Ints, Floats]:
    """Return query, rank and novelty of the documents chosen for the first `depth` ranks, by rank."""
    kinds = _kinds(intents, intents.relevant(at))
    if len(kinds.query) == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
    longest = int(np.bincount(kinds.query, weights=np.diff(kinds.offset)).max())
    steps = longest if depth is None else min(depth, longest)
    chosen = _choices(kinds, intents.weight.copy(), 1.0 - alpha, steps)
    query, gain = zip(*chosen, strict=True)
    rank = np.repeat(np.arange(1, steps + 1), [len(chosen_queries) for chosen_queries in query])
    return np.concatenate(query), rank, np.concatenate(gain)


def _choices(kinds: _Kinds, worth: Floats, left: float, steps: int) -> list[tuple[Ints, Floats]]:
    """Return for every step the queries that still have a document, and the novelty of the one they take."""
    owner, intent = segment_ids(kinds.intent_offset), kinds.intent
    starts = np.flatnonzero(np.diff(kinds.query, prepend=-1))
    queries, place = (
        kinds.query[starts],
        np.repeat(np.arange(len(starts)), np.diff([*starts, len(kinds.query)])),
    )
    kind_of = np.full(int(kinds.document[:-1].max()) + 1, -1)
    kind_of[kinds.document[:-1]] = segment_ids(kinds.offset)
    pointer, chosen = kinds.offset[:-1].copy(), []
    for _ in range(steps):
        spent = pointer == kinds.offset[1:]
        gain = np.bincount(owner, weights=worth[intent], minlength=len(pointer))
        gain[spent] = -1.0
        best = np.maximum.reduceat(gain, starts)
        head = np.where(spent | (gain < best[place]), NO_DOCUMENT, kinds.document[pointer])
        document = np.minimum.reduceat(head, starts)
        alive = best >= 0
        taken = kind_of[document[alive]]
        chosen.append((queries[alive], best[alive]))
        pointer[taken] += 1
        worth[intent[_members(kinds.intent_offset, taken)]] *= left
    return chosen


def _kinds(intents: Intents, relevant: Flags) -> _Kinds:
    """Group the documents relevant to any intent by the intents they are relevant to."""
    owner, intent = segment_ids(intents.offset)[relevant], intents.intent[relevant]
    document, first, length = np.unique(owner, return_index=True, return_counts=True)
    mark = _marks(intent, first, length)
    order = np.lexsort((document, mark, intents.query[intent[first]]))
    new = np.flatnonzero(np.diff(mark[order], prepend=-1))
    head = order[new]
    return _Kinds(
        query=intents.query[intent[first[head]]],
        document=np.append(document[order], NO_DOCUMENT),
        offset=np.append(new, len(order)).astype(np.int64),
        intent=intent[_members(np.append(first, len(intent)), head)],
        intent_offset=np.concatenate(([0], np.cumsum(length[head]))).astype(np.int64),
    )


def _marks(intent: Ints, first: Ints, length: Ints) -> Ints:
    """Return a number for every document, equal for documents of the same intents."""
    mark = np.zeros(len(first), dtype=np.int64)
    base = int(intent.max(initial=0)) + 2
    for step in range(int(length.max(initial=0))):
        at = np.minimum(first + step, len(intent) - 1)
        code = np.where(length > step, intent[at] + 1, 0)
        mark = np.unique(mark * base + code, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return mark


def _members(offset: Ints, chosen: Ints) -> Ints:
    """Return the places of the elements of the chosen segments, one segment after another."""
    start, length = offset[chosen], offset[chosen + 1] - offset[chosen]
    before = np.cumsum(length) - length
    place: Ints = np.arange(int(length.sum())) - np.repeat(before, length) + np.repeat(start, length)
    return place
