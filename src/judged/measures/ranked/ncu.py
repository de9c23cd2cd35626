"""Normalised cumulative utility: what readers find useful down to the relevant document where they stop."""

from __future__ import annotations

from typing import Literal

import numpy as np

from judged.kernels.ranked.blended import blended_ratio
from judged.kernels.ranked.gains import Gain, Gains, grade_gains
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide, segment_sum
from judged.measures.measure import Measure
from judged.measures.parameters import BLEND

__all__ = ["NCU", "normalised_utility"]


def normalised_utility(
    ranking: Ranking,
    *,
    stop: Literal["graded", "biased", "uniform"] = "graded",
    beta: float = 1.0,
    rel: float | None = None,
    gain: Gain = "linear",
    gains: Gains | None = None,
    stops: Gains | None = None,
    gamma: float = 0.95,
) -> Floats:
    r"""The blended ratio of precision and gain at each relevant result, by the share of readers who stop there.

    $$\mathrm{NCU} = \sum_{i : g_i \ge \mathrm{rel}} p(i) \, \mathrm{BR}(i), \qquad
      \mathrm{BR}(i) = \frac{n_i + \beta \, V_i}{i + \beta \, V^*_i}$$

    where $g_i$ is the grade of the result at rank $i$, $n_i$ the number of relevant documents down to there,
    $V_i$ the sum of their gains and $V^*_i$ that of the best order. A relevant grade is worth itself
    (`gain="linear"`), $2^g - 1$ (`"exp"`) or what `gains` says.
    The share $p(i)$ of readers who stop at rank $i$ is $s(g_i) / \sum s(g^*)$ over all relevant documents
    (`stop="graded"`, $s$ being the gain or what `stops` says), $\gamma^{n_i - 1} / \sum_{j < R} \gamma^j$
    (`"biased"`: towards the first relevant documents) or $1 / R$ (`"uniform"`, which makes it `Q`); $R$ is the
    number of relevant documents. With `beta=0` the ratio is precision: NTCIREVAL's `NCUgu,P` and `NCUrb,P`.

    Unjudged: counts as not relevant.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: NTCIREVAL's and pyNTCIREVAL's `NCUgu,P`, `NCUgu,BR` (`stop="graded"`), `NCUrb,P` and `NCUrb,BR`
        (`stop="biased"`), where a document is relevant from grade 1.

    Example:
        One in three readers stops at grade 1, with a ratio of $2/3$; the others at grade 2, with a ratio of 1:

        >>> from judged.kernels.examples import make_ranking
        >>> normalised_utility(make_ranking([1, 2])).round(4)
        array([0.8889])

    References:
        Sakai and Robertson. Modelling a user population for designing information retrieval metrics. EVIA 2008.
    """
    ratio = blended_ratio(ranking, beta, rel, gain, gains)
    if stop == "graded":
        here, there = (
            np.maximum(grade_gains(worth_of, gain, stops if stops is not None else gains), 0.0)
            for worth_of in (ranking.grade, ranking.best)
        )
    else:
        step = gamma if stop == "biased" else 1.0
        here, there = step ** (ranking.found(rel) - 1.0), step ** (ranking.best_rank - 1.0)
    readers = segment_sum(np.where(ranking.best_relevant(rel), there, 0.0), ranking.best_offset)
    return divide(segment_sum(here * ratio, ranking.offset), readers)


NCU = Measure(
    "NCU",
    normalised_utility,
    own={"beta": BLEND},
    properties=frozenset({"zero-if-nothing-found", "one-if-ideal", "stepwise", "gain-only"}),
)
