"""Queries split into their intents, every one scored as a query of its own, and the mean over them."""

from __future__ import annotations

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.errors import BadMeasure
from judged.kernels.diversity.intents import Intents
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import divide, segment_sum

__all__ = [
    "INTENTS_HINT",
    "answered_intents",
    "intent_hits",
    "intent_mean",
    "intent_weight",
    "require_intents",
    "split_by_intent",
]

INTENTS_HINT = (
    "give them in a column `intent`, as a dict query → document → intent → grade, or in the second column of "
    "TREC judgments"
)


def require_intents(ranking: Ranking) -> Intents:
    """Return the judgments by intent; raise `BadMeasure` if there are none."""
    if ranking.intents is None:
        msg = "the judgments say nothing of intents, which the measure needs"
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
    found = np.argsort(intents.intent[row], kind="stable")
    best = np.lexsort((-intents.grade, intents.intent))
    row, place = row[found], place[found]
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
