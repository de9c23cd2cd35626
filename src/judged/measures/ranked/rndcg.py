"""R-level nDCG: nDCG averaged over the ranks where the best order goes down a grade."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.gains import (
    Gains,
    best_gains,
    cumulative_gains,
    discounted_sum,
    ideal_cumulative_gains,
    ideal_sum,
)
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Flags, Floats, Ints, divide, segment_count, segment_sum
from judged.measures.measure import Measure

__all__ = ["Rndcg", "r_level_discounted_gain"]


def r_level_discounted_gain(
    ranking: Ranking, *, rel: float | None = None, gains: Gains | None = None
) -> Floats:
    r"""The mean of nDCG at the ranks where the best order passes from one gain to the next.

    $$\mathrm{Rndcg} = \frac{1}{|C|} \sum_{c \in C} \mathrm{nDCG}@c$$

    where $C$ holds, for each positive gain $v$ that a judged document of the query has, the number of
    documents with a gain of $v$ or more; and the number of retrieved documents, if that exceeds the number
    of documents with a gain by more than one.

    Unjudged: has no gain.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing with a gain is retrieved, and when no document of the query is relevant.
    Agrees with: `trec_eval -m Rndcg`, whole gains given.

    Example:
        One document of grade 2 and one of grade 1: nDCG@1 is 1/2 and nDCG@2 is 0.8597:

        >>> from judged.kernels.examples import make_ranking
        >>> r_level_discounted_gain(make_ranking([1, 2])).round(4)
        array([0.6799])

    References:
        Buckley. trec_eval, measure `Rndcg` (experimental). NIST, 2008.
    """
    value, offset = best_gains(ranking, gains=gains), ranking.best_offset
    last = _last_of_level(value, offset)
    level = _collected(ranking, ranking.best_query[last], ranking.best_rank[last], gains)
    ratio = np.zeros(len(value))
    ratio[last] = level / ideal_cumulative_gains(ranking, gains)[last]
    beyond = ranking.retrieved > segment_count(value > 0, offset) + 1
    whole = divide(discounted_sum(ranking, gains=gains), ideal_sum(ranking, gains=gains))
    points = segment_count(last, offset) + (beyond & (ideal_sum(ranking, gains=gains) > 0))
    total = segment_sum(ratio, offset) + np.where(beyond, whole, 0.0)
    return np.where(ranking.relevant(rel) > 0, divide(total, points), 0.0)


def _last_of_level(value: Floats, offset: Ints) -> Flags:
    """Which documents of the best order have a gain and stand before one with another, or at the end."""
    last = np.ones(len(value), dtype=bool)
    last[:-1] = value[:-1] != value[1:]
    ends = offset[1:][np.diff(offset) > 0] - 1
    last[ends] = True
    return last & (value > 0)


def _collected(ranking: Ranking, query: Ints, cutoff: Ints, gains: Gains | None) -> Floats:
    """The discounted gain of each query's results down to a rank of its own."""
    running = np.concatenate(([0.0], cumulative_gains(ranking, gains)))
    standing = ranking.standing(query, cutoff)
    return np.where(standing > 0, running[ranking.offset[query] + standing], 0.0)


Rndcg = Measure(
    "Rndcg",
    r_level_discounted_gain,
    properties=frozenset(
        {"swap", "zero-if-nothing-found", "one-if-ideal", "linear", "gain-only", "by-grade"}
    ),
)
