"""Set precision: how much of everything retrieved is relevant."""

from __future__ import annotations

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide
from judged.measures.measure import Measure

__all__ = ["SetP", "set_precision"]


def set_precision(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""The share of relevant documents among everything retrieved, whatever the order.

    $$\mathrm{SetP} = \frac{h}{n}$$

    where $h$ is the number of relevant documents among the $n$ retrieved.

    Unjudged: counts as not relevant.
    Ties: do not matter.
    Empty: 0 when nothing relevant is retrieved.
    Agrees with: `trec_eval -m set_P`; ir_measures' `SetP`.

    Example:
        One of four retrieved documents is relevant:

        >>> from judged.kernels.examples import make_ranking
        >>> set_precision(make_ranking([0, 1, 0, None]))
        array([0.25])

    References:
        van Rijsbergen. Information Retrieval, chapter 7. Butterworths, 1979.
    """
    return divide(ranking.hits_within(None, rel), ranking.retrieved)


SetP = Measure(
    "SetP",
    set_precision,
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
