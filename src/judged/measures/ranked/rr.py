"""Reciprocal rank: how soon the first relevant result comes."""

from __future__ import annotations

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, segment_max
from judged.measures.measure import Measure

__all__ = ["RR", "reciprocal_rank"]


def reciprocal_rank(ranking: Ranking, *, cutoff: int | None = None, rel: float | None = None) -> Floats:
    r"""One over the rank of the first relevant result.

    $$\mathrm{RR} = \frac{1}{\min \{ i : g_i \ge \mathrm{rel} \}}$$

    where $g_i$ is the grade of the result at rank $i$.

    Unjudged: counts as not relevant.
    Ties: the rank is the one the protocol's tie rule gives.
    Empty: 0 when no relevant result is retrieved (among the first `cutoff`, if that is set).
    Agrees with: `trec_eval -m recip_rank`; ir_measures' `RR` except for the tie rule of its `RR@k`.

    Example:
        The first relevant result comes second:

        >>> from judged.kernels.examples import make_ranking
        >>> reciprocal_rank(make_ranking([0, 1, 1]))
        array([0.5])

    References:
        Voorhees. The TREC-8 Question Answering Track Report. TREC 1999.
    """
    hit = ranking.hits(rel) & ranking.within(cutoff)
    return segment_max(hit / ranking.rank, ranking.offset)


RR = Measure(
    "RR",
    reciprocal_rank,
    at="cutoff",
    properties=frozenset(
        {"swap", "zero-if-nothing-found", "one-if-ideal", "stepwise", "relevance-only", "by-grade", "grows"}
    ),
)
