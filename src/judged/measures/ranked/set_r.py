"""Set recall: how much of what is relevant is retrieved at all."""

from __future__ import annotations

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide
from judged.measures.measure import Measure

__all__ = ["SetR", "set_recall"]


def set_recall(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""The share of all relevant documents that is retrieved, whatever the order.

    $$\mathrm{SetR} = \frac{h}{R}$$

    where $h$ is the number of relevant documents retrieved and $R$ that of all relevant documents.

    Unjudged: counts as not relevant.
    Ties: do not matter.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m set_recall`; ir_measures' `SetR`.

    Example:
        One of two relevant documents is retrieved:

        >>> from judged.kernels.examples import make_ranking
        >>> set_recall(make_ranking([0, 1], missed=[[1]]))
        array([0.5])

    References:
        van Rijsbergen. Information Retrieval, chapter 7. Butterworths, 1979.
    """
    return divide(ranking.hits_within(None, rel), ranking.relevant(rel))


SetR = Measure(
    "SetR",
    set_recall,
    properties=frozenset(
        {
            "order-free",
            "swap",
            "zero-if-nothing-found",
            "one-if-ideal",
            "linear",
            "relevance-only",
            "by-grade",
            "in-order",
        }
    ),
)
