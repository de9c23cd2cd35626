"""Relative set precision: set precision as a share of the best that a set of that size can have."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide
from judged.measures.measure import Measure

__all__ = ["SetRelP", "set_relative_precision"]


def set_relative_precision(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""The number of relevant documents retrieved over the most that could have been.

    $$\mathrm{SetRelP} = \frac{h}{\min(n, R)}$$

    where $h$ is the number of relevant documents among the $n$ retrieved and $R$ that of all relevant
    documents.

    Unjudged: counts as not relevant.
    Ties: do not matter.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m set_relative_P`; ir_measures' `SetRelP`.

    Example:
        Two documents are retrieved and one of them is relevant; two could have been:

        >>> from judged.kernels.examples import make_ranking
        >>> set_relative_precision(make_ranking([0, 1], missed=[[1, 1]]))
        array([0.5])

    References:
        Buckley. trec_eval, measure `set_relative_P`. NIST, 2008.
    """
    return divide(ranking.hits_within(None, rel), np.minimum(ranking.retrieved, ranking.relevant(rel)))


SetRelP = Measure(
    "SetRelP",
    set_relative_precision,
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
