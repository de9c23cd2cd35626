"""P-measure: how good the results are down to the best of them."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.blended import blended_ratio, is_top_document
from judged.kernels.ranked.gains import Gain, Gains
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, segment_sum
from judged.measures.measure import Measure
from judged.measures.parameters import BLEND

__all__ = ["P_measure", "preferred_ratio"]


def preferred_ratio(
    ranking: Ranking,
    *,
    beta: float = 1.0,
    rel: float | None = None,
    gain: Gain = "linear",
    gains: Gains | None = None,
) -> Floats:
    r"""The blended ratio of precision and gain at the first of the most relevant results.

    $$\mathrm{P\text{-}measure} = \mathrm{BR}(r_p), \qquad
      \mathrm{BR}(i) = \frac{n_i + \beta \, V_i}{i + \beta \, V^*_i}$$

    where $g_i$ is the grade of the result at rank $i$, $n_i$ the number of relevant documents down to there,
    $V_i$ the sum of their gains and $V^*_i$ that of the best order. A relevant grade is worth itself
    (`gain="linear"`), $2^g - 1$ (`"exp"`) or what `gains` says.
    $r_p$ is the rank of the first of the most relevant documents that were retrieved; to get there, a reader
    must pass over all results above. Moving a better result up can lower it, because what stood there then lies below $r_p$.

    Unjudged: counts as not relevant.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved.
    Agrees with: NTCIREVAL's and pyNTCIREVAL's `P-measure`, where a document is relevant from grade 1.

    Example:
        The best result comes third, after one that is relevant and one that is not, $(2 + 3) / (3 + 3)$:

        >>> from judged.kernels.examples import make_ranking
        >>> preferred_ratio(make_ranking([0, 1, 2])).round(4)
        array([0.8333])

    References:
        Sakai. On the properties of evaluation metrics for finding one highly relevant document. IPSJ
        Transactions on Databases 48(SIG9), 2007.
    """
    ratio = blended_ratio(ranking, beta, rel, gain, gains)
    return segment_sum(np.where(is_top_document(ranking, rel), ratio, 0.0), ranking.offset)


P_measure = Measure(
    "P_measure",
    preferred_ratio,
    own={"beta": BLEND},
    properties=frozenset({"zero-if-nothing-found", "one-if-ideal", "gain-only"}),
)
