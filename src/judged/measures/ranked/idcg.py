"""Ideal discounted cumulative gain: the most that any ranking of a query could bring."""

from __future__ import annotations

import math

from judged.kernels.ranked.gains import Gain, Gains, ideal_sum
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["IDCG", "ideal_discounted_gain"]


def ideal_discounted_gain(
    ranking: Ranking, *, cutoff: int | None = None, gain: Gain = "linear", gains: Gains | None = None
) -> Floats:
    r"""The discounted cumulative gain of the best order of everything judged; nDCG divides by it.

    $$\mathrm{IDCG}@k = \sum_{i=1}^{k} \frac{v(g^*_i)}{\log_2(i + 1)}$$

    where $g^*$ are all judged grades of the query, the most valuable first, and $v(g)$ the worth of a grade:
    $g$ (`gain="linear"`), $2^g - 1$ (`"exp"`) or what `gains` says; negative gains are left out.

    Unjudged: has no part in it.
    Ties: have no part in it.
    Empty: 0 when nothing of the query has a positive gain; whether anything is retrieved does not matter.
    Agrees with: `trec_eval -m ideal_dcg` (version 10).

    Example:
        The best order of [3, 0, 2, 1] is [3, 2, 1, 0]:

        >>> from judged.kernels.examples import make_ranking
        >>> ideal_discounted_gain(make_ranking([3, 0, 2, 1])).round(4)
        array([4.7619])

    References:
        Järvelin and Kekäläinen. Cumulated gain-based evaluation of IR techniques. TOIS 20(4), 2002.
        doi:10.1145/582415.582418
    """
    return ideal_sum(ranking, cutoff, gain, gains)


IDCG = Measure(
    "IDCG",
    ideal_discounted_gain,
    at="cutoff",
    bounds=(0.0, math.inf),
    higher_is_better=None,
    of_run=False,
    properties=frozenset({"run-free", "order-free", "linear", "gain-only", "grows"}),
)
