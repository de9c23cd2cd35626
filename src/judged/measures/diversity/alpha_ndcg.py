"""α-nDCG: α-DCG as a share of what the judged documents allow."""

from __future__ import annotations

from judged.kernels.diversity.novelty import GREEDY_RATIO, best_novelty, log_discount, novelty
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide
from judged.measures.measure import Measure

__all__ = ["alpha_nDCG", "alpha_normalised_gain"]


def alpha_normalised_gain(
    ranking: Ranking, *, cutoff: int | None = None, alpha: float = 0.5, rel: float | None = None
) -> Floats:
    r"""The novelty of the results, discounted by rank, over that of a good order of all judged documents.

    $$\alpha\text{-}\mathrm{nDCG}@k = \frac{\sum_{i=1}^{k} G_i / \log_2(i + 1)}{\sum_{i=1}^{k} G^*_i / \log_2(i + 1)},
      \qquad G_i = \sum_{j} w_j \, J_{ij} (1 - \alpha)^{c_{ij}}$$

    where $J_{ij}$ is 1 if the result at rank $i$ is relevant to intent $j$, else 0, $c_{ij}$ the number of
    results before it that are, and $w_j$ the weight of the intent, 1 unless the judgments give others. $G^*$
    belongs to the order that takes the document of the greatest novelty next, of several the one with the
    greatest id. This greedy order approximates the best one, which is too hard to find: a ranking can be
    better than it, and then scores above 1, though never above $e / (e - 1)$.

    Unjudged: answers no intent.
    Ties: results stand in the order that the protocol's tie rule gives; the order of ids in the divisor does
        not depend on it.
    Empty: 0 when nothing relevant is retrieved, and when no intent has a relevant document.
    Agrees with: ndeval's `alpha-nDCG` and ir_measures' `alpha_nDCG` for equal weights; both stop at 20.

    Example:
        The second result answers what the first did, and so is worth half of one that was missed: 1 + ½ · 0.6309
        over 1 + 0.6309:

        >>> from judged.kernels.examples import make_ranking
        >>> alpha_normalised_gain(make_ranking([1, 1], missed=[[1]], intents=[[{1}, {1}, {2}]]), cutoff=2).round(4)
        array([0.8066])

    References:
        Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher and MacKinnon. Novelty and diversity in
        information retrieval evaluation. SIGIR 2008. doi:10.1145/1390334.1390446
    """
    best = best_novelty(ranking, log_discount, alpha=alpha, rel=rel, cutoff=cutoff)
    return divide(novelty(ranking, log_discount, alpha=alpha, rel=rel, cutoff=cutoff), best)


alpha_nDCG = Measure(
    "alpha_nDCG",
    alpha_normalised_gain,
    at="cutoff",
    bounds=(0.0, GREEDY_RATIO),
    family="diversity",
    properties=frozenset({"zero-if-nothing-found", "one-if-ideal", "stepwise"}),
    intents=True,
)
