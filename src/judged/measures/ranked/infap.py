"""Inferred average precision: AP estimated where only a sample of the pool was judged."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide, segment_running_count, segment_sum
from judged.measures.measure import Measure

__all__ = ["infAP", "inferred_average_precision"]

EPSILON = 1e-5
"""Smooths the estimate where nothing was judged above; the value that trec_eval uses."""


def inferred_average_precision(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""An estimate of average precision from a judged sample of the pool.

    $$\mathrm{infAP} = \frac{1}{R} \sum_{i : g_i \ge \mathrm{rel}} \left( \frac{1}{i} +
        \frac{i - 1}{i} \cdot \frac{d_i}{i - 1} \cdot
        \frac{r_i + \varepsilon}{r_i + n_i + 2 \varepsilon} \right)$$

    where, of the documents above rank $i$, $d_i$ are in the pool, judged or not, $r_i$ are judged relevant
    and $n_i$ judged non-relevant; $R$ is the number of relevant documents and $\varepsilon = 10^{-5}$.
    A document of the pool that was not judged has a negative grade.

    Unjudged: outside the pool, counts as not relevant; in the pool (negative grade), is assumed to be
        relevant as often as the judged ones above.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m infAP`; ir_measures' `infAP`.

    Example:
        The result above the relevant one is in the pool but was not judged, so nothing speaks against it:

        >>> from judged.kernels.examples import make_ranking
        >>> inferred_average_precision(make_ranking([-1, 1])), inferred_average_precision(make_ranking([0, 1])).round(4)
        (array([0.75]), array([0.5]))

    References:
        Yilmaz and Aslam. Estimating average precision with incomplete and imperfect judgments. CIKM 2006.
        doi:10.1145/1183614.1183633
    """
    hit, above = ranking.hits(rel), ranking.rank - 1
    pooled = np.arange(len(hit)) - ranking.offset[ranking.query]
    relevant = ranking.found(rel) - hit
    refuted = segment_running_count((ranking.grade >= 0) & ~hit, ranking.offset)
    rate = (relevant + EPSILON) / (relevant + refuted + 2 * EPSILON)
    estimate = 1.0 / ranking.rank + above / ranking.rank * divide(pooled, above) * rate
    return divide(segment_sum(np.where(hit, estimate, 0.0), ranking.offset), ranking.relevant(rel))


infAP = Measure(
    "infAP",
    inferred_average_precision,
    properties=frozenset({"swap", "zero-if-nothing-found", "stepwise", "judgment-only", "in-order"}),
)
