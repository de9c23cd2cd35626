"""Average precision: precision at each relevant document, averaged over all of them."""

from __future__ import annotations

from typing import Literal

import numpy as np

from judged.kernels.ranked.precision import precision_sum
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide
from judged.measures.measure import Measure

__all__ = ["AP", "average_precision"]


def average_precision(
    ranking: Ranking,
    *,
    cutoff: int | None = None,
    rel: float | None = None,
    over: Literal["relevant", "cutoff"] = "relevant",
) -> Floats:
    r"""The precision at the rank of each relevant document, averaged; a missed one brings 0.

    $$\mathrm{AP}@k = \frac{1}{R} \sum_{i \le k,\; g_i \ge \mathrm{rel}} \mathrm{P}@i$$

    where $g_i$ is the grade of the result at rank $i$ and $R$ the number of relevant documents of the
    query. With `over="cutoff"` the divisor is $\min(k, R)$. The mean over queries is known as MAP.

    Unjudged: counts as not relevant.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m map` and `-m map_cut`; ir_measures' `AP`; ranx' `map`.

    Example:
        Relevant documents come first and third, so the precisions are 1/1 and 2/3; a third one is missed:

        >>> from judged.kernels.examples import make_ranking
        >>> average_precision(make_ranking([1, 0, 1], missed=[[1]])).round(4)
        array([0.5556])

    References:
        Buckley and Voorhees. Retrieval System Evaluation. In Voorhees and Harman (editors), TREC:
        Experiment and Evaluation in Information Retrieval. MIT Press, 2005.
    """
    relevant = ranking.relevant(rel)
    if over == "cutoff" and cutoff is not None:
        relevant = np.minimum(relevant, cutoff)
    return divide(precision_sum(ranking, cutoff, rel), relevant)


AP = Measure(
    "AP",
    average_precision,
    at="cutoff",
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
