"""α-DCG: gain that is discounted by rank, and for every intent that was answered before."""

from __future__ import annotations

from judged.kernels.diversity.novelty import log_discount, share_of_bound
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["alpha_DCG", "alpha_discounted_gain"]


def alpha_discounted_gain(
    ranking: Ranking, *, cutoff: int, alpha: float = 0.5, rel: float | None = None
) -> Floats:
    r"""The novelty of the first `cutoff` results, discounted by rank, over the most that any results could have.

    $$\alpha\text{-}\mathrm{DCG}@k = \frac{\sum_{i=1}^{k} \sum_{j} w_j \, J_{ij} (1 - \alpha)^{c_{ij}} / \log_2(i + 1)}
           {\sum_{j} w_j \, \sum_{i=1}^{k} (1 - \alpha)^{i - 1} / \log_2(i + 1)}$$

    where $J_{ij}$ is 1 if the result at rank $i$ is relevant to intent $j$, else 0, $c_{ij}$ the number of
    results before it that are, and $w_j$ the weight of the intent, 1 unless the judgments give others. Intents
    without a relevant document are left out. The divisor is what results would have that all answer every
    intent; it does not depend on which documents there are.

    Unjudged: answers no intent.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved, and when no intent has a relevant document.
    Agrees with: ndeval's `alpha-DCG` and ir_measures' `alpha_DCG` for equal weights and from `@2` on; at 1
        they leave out the divisor, and a value may exceed 1.

    Example:
        Of two intents, the first result answers one, so half of what a result can be worth:

        >>> from judged.kernels.examples import make_ranking
        >>> alpha_discounted_gain(make_ranking([1, 1], intents=[[{1}, {1, 2}]]), cutoff=1)
        array([0.5])

    References:
        Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher and MacKinnon. Novelty and diversity in
        information retrieval evaluation. SIGIR 2008. doi:10.1145/1390334.1390446
        Clarke, Craswell, Soboroff and Ashkan. A comparative analysis of cascade measures for novelty and
        diversity. WSDM 2011. doi:10.1145/1935826.1935847
    """
    return share_of_bound(ranking, log_discount, alpha=alpha, rel=rel, cutoff=cutoff)


alpha_DCG = Measure(
    "alpha_DCG",
    alpha_discounted_gain,
    at="cutoff",
    family="diversity",
    properties=frozenset({"zero-if-nothing-found", "stepwise"}),
    intents=True,
)
