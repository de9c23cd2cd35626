"""The greedy ideal: of all judged documents, the one of the greatest novelty next, again and again.

The best order of all cannot be found in reasonable time; this is the one that ndeval takes for it, its rule
for ties included: of documents of equal novelty the one with the greatest id.

Documents relevant to the same intents are worth the same at any time, so the choice is between *kinds* of
documents, of each of which the first that is left stands for all. All queries take their next step at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from judged.kernels.diversity.intents import Intents
from judged.kernels.segments import Flags, Floats, Ints, segment_ids

__all__ = ["SURPASSED", "greedy_order"]

SURPASSED = math.e / (math.e - 1)
"""How many times the greedy order can be surpassed, at most, whatever the discount.

What the first results are worth together is a monotone submodular function of their set, of which greedy choices
have at least the share 1 − 1/e; and a discounted sum is a sum of such values, none with a negative factor.
"""

NOBODY = np.iinfo(np.int64).max
"""Stands for the next document of a kind that has none left."""


@dataclass(frozen=True, eq=False)
class _Kinds:
    """Documents by the intents they are relevant to; kinds are numbered query by query."""

    query: Ints
    """The query of each kind."""
    document: Ints
    """All documents, kind after kind, the first choice of each kind first; then one that is nobody."""
    offset: Ints
    """Kind `k` owns `document[offset[k]:offset[k + 1]]`."""
    intent: Ints
    """The intents of each kind, one kind after another."""
    intent_offset: Ints
    """Kind `k` owns `intent[intent_offset[k]:intent_offset[k + 1]]`."""


def greedy_order(
    intents: Intents, *, alpha: float, at: float, depth: int | None = None
) -> tuple[Ints, Ints, Floats]:
    """Query, rank and novelty of the documents chosen for the first `depth` ranks, rank after rank."""
    kinds = _kinds(intents, intents.relevant(at))
    if len(kinds.query) == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
    longest = int(np.bincount(kinds.query, weights=np.diff(kinds.offset)).max())
    steps = longest if depth is None else min(depth, longest)
    chosen = _choices(kinds, intents.weight.copy(), 1.0 - alpha, steps)
    query, gain = zip(*chosen, strict=True)
    rank = np.repeat(np.arange(1, steps + 1), [len(each) for each in query])
    return np.concatenate(query), rank, np.concatenate(gain)


def _choices(kinds: _Kinds, worth: Floats, left: float, steps: int) -> list[tuple[Ints, Floats]]:
    """For each step the queries that still have a document, and the novelty of the one they take."""
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
        head = np.where(spent | (gain < best[place]), NOBODY, kinds.document[pointer])
        document = np.minimum.reduceat(head, starts)
        alive = best >= 0
        taken = kind_of[document[alive]]
        chosen.append((queries[alive], best[alive]))
        pointer[taken] += 1
        worth[intent[_members(kinds.intent_offset, taken)]] *= left
    return chosen


def _kinds(intents: Intents, relevant: Flags) -> _Kinds:
    """The documents relevant to any intent, by the intents they are relevant to."""
    owner, intent = segment_ids(intents.offset)[relevant], intents.intent[relevant]
    document, first, length = np.unique(owner, return_index=True, return_counts=True)
    mark = _marks(intent, first, length)
    order = np.lexsort((document, mark, intents.query[intent[first]]))
    new = np.flatnonzero(np.diff(mark[order], prepend=-1))
    head = order[new]
    return _Kinds(
        query=intents.query[intent[first[head]]],
        document=np.append(document[order], NOBODY),
        offset=np.append(new, len(order)).astype(np.int64),
        intent=intent[_members(np.append(first, len(intent)), head)],
        intent_offset=np.concatenate(([0], np.cumsum(length[head]))).astype(np.int64),
    )


def _marks(intent: Ints, first: Ints, length: Ints) -> Ints:
    """A number for each document, the same for documents of the same intents."""
    mark = np.zeros(len(first), dtype=np.int64)
    base = int(intent.max(initial=0)) + 2
    for step in range(int(length.max(initial=0))):
        at = np.minimum(first + step, len(intent) - 1)
        code = np.where(length > step, intent[at] + 1, 0)
        mark = np.unique(mark * base + code, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return mark


def _members(offset: Ints, chosen: Ints) -> Ints:
    """Where the elements of the chosen segments stand, one segment after another."""
    start, length = offset[chosen], offset[chosen + 1] - offset[chosen]
    before = np.cumsum(length) - length
    place: Ints = np.arange(int(length.sum())) - np.repeat(before, length) + np.repeat(start, length)
    return place
