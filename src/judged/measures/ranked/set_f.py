"""Set F: precision and recall of everything retrieved, weighted, in one number."""

from __future__ import annotations

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide
from judged.measures.measure import Measure

__all__ = ["SetF", "set_f"]


def set_f(
    ranking: Ranking, *, rel: float | None = None, beta: float = 1.0, weight: float | None = None
) -> Floats:
    r"""The weighted harmonic mean of set precision and set recall.

    $$\mathrm{SetF}_\beta = \frac{(1 + \beta^2) P R}{\beta^2 P + R}$$

    where $P$ and $R$ are set precision and set recall: recall matters `beta` times as much as precision.
    `weight`, if given, stands for $\beta^2$.

    Unjudged: counts as not relevant.
    Ties: do not matter.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m set_F.x` where `weight` is x: trec_eval, and with it ir_measures'
        `SetF(beta=x)`, do not square it.

    Example:
        Precision is 1 and recall 1/2:

        >>> from judged.kernels.examples import make_ranking
        >>> set_f(make_ranking([1], missed=[[1]])).round(4), set_f(make_ranking([1], missed=[[1]]), beta=2).round(4)
        (array([0.6667]), array([0.5556]))

    References:
        van Rijsbergen. Information Retrieval, chapter 7. Butterworths, 1979.
    """
    found = ranking.hits_within(None, rel)
    square = beta * beta if weight is None else weight
    precision, recall = divide(found, ranking.retrieved), divide(found, ranking.relevant(rel))
    return divide((1.0 + square) * precision * recall, square * precision + recall)


SetF = Measure(
    "SetF",
    set_f,
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
