"""F1: precision and recall in one number."""

from __future__ import annotations

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide
from judged.measures.measure import Measure

__all__ = ["F1", "f1"]


def f1(ranking: Ranking, *, cutoff: int, rel: float | None = None) -> Floats:
    r"""The harmonic mean of precision and recall of the first `cutoff` results.

    $$\mathrm{F1}@k = \frac{2 \cdot \mathrm{P}@k \cdot \mathrm{R}@k}{\mathrm{P}@k + \mathrm{R}@k}
                    = \frac{2 h}{k + R}$$

    where $h$ is the number of relevant documents among the first $k$ results and $R$ that of all relevant
    documents of the query. `SetF` is the same over everything retrieved, with a weight.

    Unjudged: counts as not relevant.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: ranx' `f1`; trec_eval has it for whole sets only (`set_F`).

    Example:
        Precision is 1/2 and recall is 1:

        >>> from judged.kernels.examples import make_ranking
        >>> f1(make_ranking([1, 0]), cutoff=2).round(4)
        array([0.6667])

    References:
        van Rijsbergen. Information Retrieval, chapter 7. Butterworths, 1979.
    """
    return divide(2 * ranking.hits_within(cutoff, rel), cutoff + ranking.relevant(rel))


F1 = Measure(
    "F1",
    f1,
    at="cutoff",
    properties=frozenset(
        {"swap", "zero-if-nothing-found", "one-if-ideal", "linear", "relevance-only", "by-grade", "in-order"}
    ),
)
