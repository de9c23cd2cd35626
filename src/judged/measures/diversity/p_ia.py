"""Intent-aware precision: precision for each intent, averaged."""

from __future__ import annotations

from judged.kernels.diversity.intent_aware import intent_mean, split_by_intent
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["P_IA", "intent_aware_precision"]


def intent_aware_precision(ranking: Ranking, *, cutoff: int, rel: float | None = None) -> Floats:
    r"""The share of the first `cutoff` results that are relevant to an intent, averaged over intents.

    $$\mathrm{P\text{-}IA}@k = \sum_{j} \frac{w_j}{\sum_{l} w_l} \, \mathrm{P}_j@k$$

    where $\mathrm{P}_j$ is `P` with the grades that documents have for intent $j$, and $w_j$ the weight of the
    intent, 1 unless the judgments give others. Intents without a relevant document are left out.

    Unjudged: counts as not relevant; so does a document that was not judged for the intent.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved, and when no intent has a relevant document.
    Agrees with: ndeval's `P-IA` and ir_measures' `P_IA` for equal weights; `IA(of="P@10")` is the same.

    Example:
        Both results are relevant to the first intent, one to the second:

        >>> from judged.kernels.examples import make_ranking
        >>> intent_aware_precision(make_ranking([1, 1], intents=[[{1}, {1, 2}]]), cutoff=2)
        array([0.75])

    References:
        Agrawal, Gollapudi, Halverson and Ieong. Diversifying search results. WSDM 2009.
        doi:10.1145/1498759.1498766
    """
    return intent_mean(ranking, split_by_intent(ranking).hits_within(cutoff, rel) / cutoff, rel)


P_IA = Measure(
    "P_IA",
    intent_aware_precision,
    at="cutoff",
    family="diversity",
    properties=frozenset({"zero-if-nothing-found", "linear"}),
    intents=True,
)
