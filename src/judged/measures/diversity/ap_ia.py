"""Intent-aware average precision: average precision for each intent, averaged."""

from __future__ import annotations

from judged.kernels.diversity.intent_aware import intent_mean, split_by_intent
from judged.kernels.ranked.precision import precision_sum
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide
from judged.measures.measure import Measure

__all__ = ["AP_IA", "intent_aware_average_precision"]


def intent_aware_average_precision(
    ranking: Ranking, *, cutoff: int | None = None, rel: float | None = None
) -> Floats:
    r"""The average precision of the results, for each intent by itself, averaged over intents.

    $$\mathrm{AP\text{-}IA}@k = \sum_{j} \frac{w_j}{\sum_{l} w_l} \, \mathrm{AP}_j@k$$

    where $\mathrm{AP}_j$ is `AP` with the grades that documents have for intent $j$, and $w_j$ the weight of
    the intent, 1 unless the judgments give others. Intents without a relevant document are left out. The mean
    over queries is known as MAP-IA.

    Unjudged: counts as not relevant; so does a document that was not judged for the intent.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved, and when no intent has a relevant document.
    Agrees with: ndeval's `MAP-IA` and ir_measures' `AP_IA` for equal weights; `IA(of="AP")` is the same.

    Example:
        The first result is all that one intent needs; of the other, the only document comes third:

        >>> from judged.kernels.examples import make_ranking
        >>> intent_aware_average_precision(make_ranking([1, 0, 1], intents=[[{1}, {1}, {2}]])).round(4)
        array([0.6667])

    References:
        Agrawal, Gollapudi, Halverson and Ieong. Diversifying search results. WSDM 2009.
        doi:10.1145/1498759.1498766
    """
    apart = split_by_intent(ranking)
    return intent_mean(ranking, divide(precision_sum(apart, cutoff, rel), apart.relevant(rel)), rel)


AP_IA = Measure(
    "AP_IA",
    intent_aware_average_precision,
    at="cutoff",
    family="diversity",
    properties=frozenset({"zero-if-nothing-found", "stepwise"}),
    intents=True,
)
