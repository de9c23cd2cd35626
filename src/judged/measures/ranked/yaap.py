"""Yet another average precision: AP on a scale where differences at either end count alike."""

from __future__ import annotations

import math

import numpy as np

from judged.kernels.ranked.precision import precision_sum
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["logit_average_precision", "yaap"]


def logit_average_precision(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""The smoothed log odds of average precision.

    $$\mathrm{yaap} = \ln \frac{1 + s}{1 + R - s}, \qquad s = \sum_{i : g_i \ge \mathrm{rel}} \mathrm{P}@i$$

    where $g_i$ is the grade of the result at rank $i$ and $R$ the number of relevant documents of the
    query, so that $s = R \cdot \mathrm{AP}$. It is 0 at an average precision of 1/2 and has no upper limit.

    Unjudged: counts as not relevant.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: $-\ln(1 + R)$ when nothing relevant is retrieved; 0 when the query has no relevant document, and
        0 for a query missing from the run, as trec_eval has it.
    Agrees with: `trec_eval -m yaap`.

    Example:
        The one relevant document comes second, an average precision of 1/2:

        >>> from judged.kernels.examples import make_ranking
        >>> logit_average_precision(make_ranking([0, 1])), logit_average_precision(make_ranking([1])).round(4)
        (array([0.]), array([0.6931]))

    References:
        Robertson. On smoothing average precision. ECIR 2012. doi:10.1007/978-3-642-28997-2_14
    """
    total = precision_sum(ranking, None, rel)
    return np.log((1.0 + total) / (1.0 + ranking.relevant(rel) - total))


yaap = Measure(
    "yaap",
    logit_average_precision,
    bounds=(-math.inf, math.inf),
    properties=frozenset({"swap", "relevance-only", "by-grade", "in-order"}),
)
