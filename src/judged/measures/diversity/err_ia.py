"""Intent-aware expected reciprocal rank: how soon a reader of unknown intent is satisfied."""

from __future__ import annotations

from judged.kernels.diversity.novelty import reciprocal_discount, share_of_bound
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure
from judged.measures.parameters import SATISFIED

__all__ = ["ERR_IA", "intent_aware_err"]


def intent_aware_err(
    ranking: Ranking, *, cutoff: int, alpha: float = 0.5, rel: float | None = None
) -> Floats:
    r"""The mean over intents of one over the rank at which a reader is satisfied, over the most it could be.

    $$\mathrm{ERR\text{-}IA}@k = \frac{\sum_{i=1}^{k} \frac{1}{i} \sum_{j} w_j \, J_{ij} (1 - \alpha)^{c_{ij}}}
           {\sum_{j} w_j \, \sum_{i=1}^{k} \frac{1}{i} (1 - \alpha)^{i - 1}}$$

    where $J_{ij}$ is 1 if the result at rank $i$ is relevant to intent $j$, else 0, $c_{ij}$ the number of
    results before it that are, $\alpha$ the chance that a relevant result satisfies, and $w_j$ the weight of
    the intent, 1 unless the judgments give others. Intents without a relevant document are left out. This is
    ndeval's form, whose highest value is 1; the plain mean of `ERR` over intents, with grades, is
    `IA(of="ERR@20")`.

    Unjudged: answers no intent.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved, and when no intent has a relevant document.
    Agrees with: ndeval's `ERR-IA` and ir_measures' `ERR_IA` for equal weights and from `@2` on; at 1 they
        leave out the divisor, and a value may exceed 1.

    Example:
        Of two intents, both results answer the first; of a possible 1 + 1/4 for each, it has all:

        >>> from judged.kernels.examples import make_ranking
        >>> intent_aware_err(make_ranking([1, 1], missed=[[1]], intents=[[{1}, {1}, {2}]]), cutoff=2)
        array([0.5])

    References:
        Chapelle, Metzler, Zhang and Grinspan. Expected reciprocal rank for graded relevance. CIKM 2009.
        doi:10.1145/1645953.1646033
        Clarke, Craswell, Soboroff and Ashkan. A comparative analysis of cascade measures for novelty and
        diversity. WSDM 2011. doi:10.1145/1935826.1935847
    """
    return share_of_bound(ranking, reciprocal_discount, alpha=alpha, rel=rel, cutoff=cutoff)


ERR_IA = Measure(
    "ERR_IA",
    intent_aware_err,
    at="cutoff",
    family="diversity",
    properties=frozenset({"zero-if-nothing-found", "stepwise"}),
    own={"alpha": SATISFIED},
    intents=True,
)
