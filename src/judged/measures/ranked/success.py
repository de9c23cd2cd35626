"""Success: whether anything relevant is shown at all; many call it hit rate."""

from __future__ import annotations

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["Success", "success"]


def success(ranking: Ranking, *, cutoff: int, rel: float | None = None) -> Floats:
    r"""1 if a relevant document stands among the first `cutoff` results, else 0.

    $$\mathrm{Success}@k = [\, \exists\, i \le k : g_i \ge \mathrm{rel} \,]$$

    where $g_i$ is the grade of the result at rank $i$. The mean over queries is the share of queries that
    are answered, known as hit rate or `Hit@k`.

    Unjudged: counts as not relevant.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved.
    Agrees with: `trec_eval -m success`; ir_measures' `Success`; ranx' `hit_rate`.

    Example:
        The relevant result comes third:

        >>> from judged.kernels.examples import make_ranking
        >>> success(make_ranking([0, 0, 1]), cutoff=2), success(make_ranking([0, 0, 1]), cutoff=3)
        (array([0.]), array([1.]))

    References:
        Tomlinson. Early precision measures: implications from the downside of blind feedback. SIGIR 2006.
        doi:10.1145/1148170.1148319
    """
    return (ranking.hits_within(cutoff, rel) > 0).astype(float)


Success = Measure(
    "Success",
    success,
    at="cutoff",
    properties=frozenset(
        {"swap", "zero-if-nothing-found", "one-if-ideal", "stepwise", "relevance-only", "by-grade", "grows"}
    ),
)
