"""Novelty- and rank-biased precision: what a reader of fixed patience finds that is new."""

from __future__ import annotations

from judged.kernels.diversity.intent_aware import intent_weight
from judged.kernels.diversity.novelty import geometric_discount, novelty
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide
from judged.measures.measure import Measure
from judged.measures.parameters import PATIENCE

__all__ = ["NRBP", "novelty_rank_biased"]


def novelty_rank_biased(
    ranking: Ranking, *, alpha: float = 0.5, beta: float = 0.5, rel: float | None = None
) -> Floats:
    r"""The novelty of all results, the reader going on from each to the next with chance `beta`.

    $$\mathrm{NRBP} = \frac{1 - (1 - \alpha) \beta}{\sum_{j} w_j} \sum_{i} \beta^{i - 1} \sum_{j} w_j \, J_{ij} (1 - \alpha)^{c_{ij}}$$

    where $J_{ij}$ is 1 if the result at rank $i$ is relevant to intent $j$, else 0, $c_{ij}$ the number of
    results before it that are, and $w_j$ the weight of the intent, 1 unless the judgments give others. Intents
    without a relevant document are left out. Results that all answer every intent, without end, score 1.

    Unjudged: answers no intent.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved, and when no intent has a relevant document.
    Agrees with: ndeval's and ir_measures' `NRBP` for equal weights.

    Example:
        One intent, answered first: of 1 + 1/4 + 1/16 and so on, the first term:

        >>> from judged.kernels.examples import make_ranking
        >>> novelty_rank_biased(make_ranking([1, 0]))
        array([0.75])

    References:
        Clarke, Kolla and Vechtomova. An effectiveness measure for ambiguous and underspecified queries.
        ICTIR 2009. doi:10.1007/978-3-642-04417-5_17
    """
    got = novelty(ranking, geometric_discount(beta), alpha=alpha, rel=rel)
    return divide(got * (1.0 - (1.0 - alpha) * beta), intent_weight(ranking, rel))


NRBP = Measure(
    "NRBP",
    novelty_rank_biased,
    family="diversity",
    properties=frozenset({"zero-if-nothing-found", "stepwise"}),
    own={"beta": PATIENCE},
    intents=True,
)
