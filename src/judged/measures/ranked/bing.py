"""Binary G: relevant documents discounted by the number of others above them."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide, segment_sum
from judged.measures.measure import Measure

__all__ = ["binG", "binary_gain"]


def binary_gain(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""The mean over relevant documents of one over the logarithm of two plus the others above.

    $$\mathrm{binG} = \frac{1}{R} \sum_{i : g_i \ge \mathrm{rel}} \frac{1}{\log_2(2 + n_i)}$$

    where $g_i$ is the grade of the result at rank $i$, $n_i$ the number of results above it that are not
    relevant, and $R$ the number of relevant documents of the query.

    Unjudged: counts as not relevant.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m binG`.

    Example:
        One relevant document has nothing above it, the other one result that is not relevant:

        >>> from judged.kernels.examples import make_ranking
        >>> binary_gain(make_ranking([1, 0, 1])).round(4)
        array([0.8155])

    References:
        Buckley. trec_eval, measure `binG` (experimental). NIST, 2008.
    """
    others = ranking.rank - ranking.found(rel)
    each = np.where(ranking.hits(rel), 1.0 / np.log2(2.0 + others), 0.0)
    return divide(segment_sum(each, ranking.offset), ranking.relevant(rel))


binG = Measure(
    "binG",
    binary_gain,
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
