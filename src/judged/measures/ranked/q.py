"""Q-measure: average precision that minds how relevant the documents are."""

from __future__ import annotations

from typing import Literal

import numpy as np

from judged.kernels.ranked.blended import blended_ratio
from judged.kernels.ranked.gains import Gain, Gains
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide, segment_sum
from judged.measures.measure import Measure
from judged.measures.parameters import BLEND

__all__ = ["Q", "q_measure"]


def q_measure(
    ranking: Ranking,
    *,
    cutoff: int | None = None,
    beta: float = 1.0,
    rel: float | None = None,
    gain: Gain = "linear",
    gains: Gains | None = None,
    over: Literal["cutoff", "relevant"] = "cutoff",
) -> Floats:
    r"""The blended ratio of precision and gain at each relevant document, averaged; a missed one brings 0.

    $$\mathrm{Q}@k = \frac{1}{\min(k, R)} \sum_{i \le k,\; g_i \ge \mathrm{rel}} \mathrm{BR}(i), \qquad
      \mathrm{BR}(i) = \frac{n_i + \beta \, V_i}{i + \beta \, V^*_i}$$

    where $g_i$ is the grade of the result at rank $i$, $n_i$ the number of relevant documents down to there,
    $V_i$ the sum of their gains and $V^*_i$ that of the best order. A relevant grade is worth itself
    (`gain="linear"`), $2^g - 1$ (`"exp"`) or what `gains` says. $R$ is the number of relevant documents of the query, and with
    `over="relevant"` the divisor. With `beta=0` it is average precision.

    Unjudged: counts as not relevant.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: NTCIREVAL's and pyNTCIREVAL's `Q-measure`, where a document is relevant from grade 1.

    Example:
        Grades 1 and 2 are in the wrong order, so the first ratio is $(1 + 1) / (1 + 2)$ and the second 1:

        >>> from judged.kernels.examples import make_ranking
        >>> q_measure(make_ranking([1, 2])).round(4)
        array([0.8333])

    References:
        Sakai. New performance metrics based on multigrade relevance: their application to question answering.
        NTCIR-4, 2004.
        Sakai and Song. Evaluating diversified search results using per-intent graded relevance. SIGIR 2011.
        doi:10.1145/2009916.2010055
    """
    ratio = blended_ratio(ranking, beta, rel, gain, gains)
    relevant = ranking.relevant(rel)
    if over == "cutoff" and cutoff is not None:
        relevant = np.minimum(relevant, cutoff)
    return divide(segment_sum(np.where(ranking.within(cutoff), ratio, 0.0), ranking.offset), relevant)


Q = Measure(
    "Q",
    q_measure,
    at="cutoff",
    own={"beta": BLEND},
    properties=frozenset(
        {"swap", "zero-if-nothing-found", "one-if-ideal", "stepwise", "gain-only", "by-grade", "parted"}
    ),
)
