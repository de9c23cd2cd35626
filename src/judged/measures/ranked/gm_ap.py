"""Geometric mean of average precision: rewards a system that fails no query."""

from __future__ import annotations

from judged.kernels.ranked.precision import precision_sum
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide
from judged.measures.measure import Measure

__all__ = ["geometric_average_precision", "gm_AP"]


def geometric_average_precision(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""The average precision of each query, to be averaged geometrically over queries.

    $$\mathrm{gm\_AP} = \exp \left( \frac{1}{|Q|} \sum_{q \in Q} \ln \max(\mathrm{AP}_q, 10^{-5}) \right)$$

    where $Q$ is the set of queries. The value of one query is its AP; a query that fails altogether counts
    as 0.00001, so it drags the mean down without making it 0.

    Unjudged: counts as not relevant.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved, which counts as 0.00001 in the mean.
    Agrees with: `trec_eval -m gm_map`, whose summary shows the mean and whose queries show nothing.

    Example:
        The query's own value is its average precision, (1/1 + 2/3) / 2:

        >>> from judged.kernels.examples import make_ranking
        >>> geometric_average_precision(make_ranking([1, 0, 1])).round(4)
        array([0.8333])

    References:
        Robertson. On GMAP: and other transformations. CIKM 2006. doi:10.1145/1183614.1183630
    """
    return divide(precision_sum(ranking, None, rel), ranking.relevant(rel))


gm_AP = Measure(
    "gm_AP",
    geometric_average_precision,
    aggregate="geometric",
    properties=frozenset(
        {
            "swap",
            "zero-if-nothing-found",
            "one-if-ideal",
            "stepwise",
            "relevance-only",
            "by-grade",
            "in-order",
        }
    ),
)
