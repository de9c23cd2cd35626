"""Set average precision: set precision times set recall."""

from __future__ import annotations

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide
from judged.measures.measure import Measure

__all__ = ["SetAP", "set_average_precision"]


def set_average_precision(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""Average precision if every relevant document retrieved had the precision of the whole set.

    $$\mathrm{SetAP} = \frac{h^2}{n R}$$

    where $h$ is the number of relevant documents among the $n$ retrieved and $R$ that of all relevant
    documents.

    Unjudged: counts as not relevant.
    Ties: do not matter.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m set_map`; ir_measures' `SetAP`.

    Example:
        Set precision and set recall are 1/2 each:

        >>> from judged.kernels.examples import make_ranking
        >>> set_average_precision(make_ranking([0, 1], missed=[[1]]))
        array([0.25])

    References:
        Buckley. trec_eval, measure `set_map`. NIST, 2008.
    """
    found = ranking.hits_within(None, rel)
    return divide(found * found, ranking.retrieved * ranking.relevant(rel))


SetAP = Measure(
    "SetAP",
    set_average_precision,
    properties=frozenset(
        {
            "order-free",
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
