"""nDCG at relevant documents: nDCG averaged over the ranks where something with a gain is found."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.gains import (
    Gains,
    best_gains,
    cumulative_gains,
    discounted_sum,
    found_gains,
    ideal_cumulative_gains,
    ideal_sum,
)
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide, segment_count, segment_sum
from judged.measures.measure import Measure

__all__ = ["discounted_gain_at_relevant", "nDCG_rel"]


def discounted_gain_at_relevant(ranking: Ranking, *, gains: Gains | None = None) -> Floats:
    r"""The mean of nDCG at the rank of each document with a gain; a missed one brings nDCG of everything.

    $$\mathrm{nDCG\_rel} = \frac{1}{N} \left( \sum_{i : v(g_i) > 0} \mathrm{nDCG}@i +
        (N - n) \cdot \mathrm{nDCG} \right)$$

    where $v(g_i)$ is the gain of the result at rank $i$, $N$ the number of judged documents of the query
    with a gain and $n$ of those the retrieved.

    Unjudged: has no gain.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing with a gain is retrieved, and when nothing of the query has one.
    Agrees with: `trec_eval -m ndcg_rel`, whole gains given.

    Example:
        nDCG is 0.6309 at rank 2, where the one document with a gain is found:

        >>> from judged.kernels.examples import make_ranking
        >>> discounted_gain_at_relevant(make_ranking([0, 1])).round(4)
        array([0.6309])

    References:
        Buckley. trec_eval, measure `ndcg_rel` (experimental). NIST, 2008.
    """
    useful = found_gains(ranking, gains=gains) > 0
    possible = segment_count(best_gains(ranking, gains=gains) > 0, ranking.best_offset)
    missed = possible - segment_count(useful, ranking.offset)
    at_each = divide(cumulative_gains(ranking, gains), _ideal_at(ranking, gains))
    whole = divide(discounted_sum(ranking, gains=gains), ideal_sum(ranking, gains=gains))
    total = segment_sum(np.where(useful, at_each, 0.0), ranking.offset) + missed * whole
    return divide(np.maximum(total, 0.0), possible)


def _ideal_at(ranking: Ranking, gains: Gains | None) -> Floats:
    """The discounted gain of the best order down to the rank of each retrieved judged document."""
    start, length = ranking.best_offset[:-1], np.diff(ranking.best_offset)
    deep = np.minimum(ranking.rank, length[ranking.query]) - 1
    at_each: Floats = ideal_cumulative_gains(ranking, gains)[start[ranking.query] + deep]
    return at_each


nDCG_rel = Measure(
    "nDCG_rel",
    discounted_gain_at_relevant,
    properties=frozenset({"swap", "zero-if-nothing-found", "one-if-ideal", "gain-only", "by-grade"}),
)
