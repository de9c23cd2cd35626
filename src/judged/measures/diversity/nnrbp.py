"""Normalised novelty- and rank-biased precision: NRBP as a share of what the judged documents allow."""

from __future__ import annotations

from judged.kernels.diversity.novelty import GREEDY_RATIO, best_novelty, geometric_discount, novelty
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide
from judged.measures.measure import Measure
from judged.measures.parameters import PATIENCE

__all__ = ["nNRBP", "normalised_novelty_rank_biased"]


def normalised_novelty_rank_biased(
    ranking: Ranking, *, alpha: float = 0.5, beta: float = 0.5, rel: float | None = None
) -> Floats:
    r"""What a reader of fixed patience finds that is new, beside a good order of all judged documents.

    $$\mathrm{nNRBP} = \frac{\sum_{i} \beta^{i - 1} G_i}{\sum_{i} \beta^{i - 1} G^*_i},
      \qquad G_i = \sum_{j} w_j \, J_{ij} (1 - \alpha)^{c_{ij}}$$

    where $J_{ij}$ is 1 if the result at rank $i$ is relevant to intent $j$, else 0, $c_{ij}$ the number of
    results before it that are, and $w_j$ the weight of the intent, 1 unless the judgments give others. $G^*$
    belongs to the order that takes the document of the greatest novelty next, of several the one with the
    greatest id. This greedy order approximates the best one: a ranking can be better than it, and then scores
    above 1, though never above $e / (e - 1)$.

    Unjudged: answers no intent.
    Ties: results stand in the order that the protocol's tie rule gives; the order of ids in the divisor does
        not depend on it.
    Empty: 0 when nothing relevant is retrieved, and when no intent has a relevant document.
    Agrees with: ndeval's and ir_measures' `nNRBP` for equal weights, which is not a number where no intent
        has a relevant document.

    Example:
        The one relevant document comes second, half as good as first:

        >>> from judged.kernels.examples import make_ranking
        >>> normalised_novelty_rank_biased(make_ranking([0, 1]))
        array([0.5])

    References:
        Clarke, Kolla and Vechtomova. An effectiveness measure for ambiguous and underspecified queries.
        ICTIR 2009. doi:10.1007/978-3-642-04417-5_17
    """
    best = best_novelty(ranking, geometric_discount(beta), alpha=alpha, rel=rel)
    return divide(novelty(ranking, geometric_discount(beta), alpha=alpha, rel=rel), best)


nNRBP = Measure(
    "nNRBP",
    normalised_novelty_rank_biased,
    bounds=(0.0, GREEDY_RATIO),
    family="diversity",
    properties=frozenset({"zero-if-nothing-found", "one-if-ideal", "stepwise"}),
    own={"beta": PATIENCE},
    intents=True,
)
