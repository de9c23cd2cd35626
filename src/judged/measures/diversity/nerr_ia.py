"""Normalised intent-aware expected reciprocal rank: ERR-IA as a share of what the judged documents allow."""

from __future__ import annotations

from judged.kernels.diversity.novelty import GREEDY_RATIO, best_novelty, novelty, reciprocal_discount
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide
from judged.measures.measure import Measure
from judged.measures.parameters import SATISFIED

__all__ = ["nERR_IA", "normalised_intent_aware_err"]


def normalised_intent_aware_err(
    ranking: Ranking, *, cutoff: int | None = None, alpha: float = 0.5, rel: float | None = None
) -> Floats:
    r"""How soon a reader of unknown intent is satisfied, beside a good order of all judged documents.

    $$\mathrm{nERR\text{-}IA}@k = \frac{\sum_{i=1}^{k} G_i / i}{\sum_{i=1}^{k} G^*_i / i},
      \qquad G_i = \sum_{j} w_j \, J_{ij} (1 - \alpha)^{c_{ij}}$$

    where $J_{ij}$ is 1 if the result at rank $i$ is relevant to intent $j$, else 0, $c_{ij}$ the number of
    results before it that are, $\alpha$ the chance that a relevant result satisfies, and $w_j$ the weight of
    the intent, 1 unless the judgments give others. $G^*$ belongs to the order that takes the document of the
    greatest novelty next, of several the one with the greatest id. This greedy order approximates the best
    one: a ranking can be better than it, and then scores above 1, though never above $e / (e - 1)$.

    Unjudged: answers no intent.
    Ties: results stand in the order that the protocol's tie rule gives; the order of ids in the divisor does
        not depend on it.
    Empty: 0 when nothing relevant is retrieved, and when no intent has a relevant document.
    Agrees with: ndeval's `nERR-IA` and ir_measures' `nERR_IA` for equal weights; both stop at 20.

    Example:
        Results that answer one intent twice bring 1 + 1/4, where 1 + 1/2 were to be had:

        >>> from judged.kernels.examples import make_ranking
        >>> normalised_intent_aware_err(make_ranking([1, 1], missed=[[1]], intents=[[{1}, {1}, {2}]]), cutoff=2).round(4)
        array([0.8333])

    References:
        Chapelle, Metzler, Zhang and Grinspan. Expected reciprocal rank for graded relevance. CIKM 2009.
        doi:10.1145/1645953.1646033
        Clarke, Craswell, Soboroff and Ashkan. A comparative analysis of cascade measures for novelty and
        diversity. WSDM 2011. doi:10.1145/1935826.1935847
    """
    best = best_novelty(ranking, reciprocal_discount, alpha=alpha, rel=rel, cutoff=cutoff)
    return divide(novelty(ranking, reciprocal_discount, alpha=alpha, rel=rel, cutoff=cutoff), best)


nERR_IA = Measure(
    "nERR_IA",
    normalised_intent_aware_err,
    at="cutoff",
    bounds=(0.0, GREEDY_RATIO),
    family="diversity",
    properties=frozenset({"zero-if-nothing-found", "one-if-ideal", "stepwise"}),
    own={"alpha": SATISFIED},
    intents=True,
)
