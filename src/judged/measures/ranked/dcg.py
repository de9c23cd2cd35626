"""Discounted cumulative gain: the gain a ranking brings, less the deeper it lies."""

from __future__ import annotations

import math

from judged.kernels.ranked.gains import Gain, Gains, discounted_sum
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["DCG", "discounted_gain"]


def discounted_gain(
    ranking: Ranking, *, cutoff: int | None = None, gain: Gain = "linear", gains: Gains | None = None
) -> Floats:
    r"""The sum of the gains of the results, each divided by the logarithm of its rank plus one.

    $$\mathrm{DCG}@k = \sum_{i=1}^{k} \frac{v(g_i)}{\log_2(i + 1)}$$

    where $g_i$ is the grade of the result at rank $i$ and $v(g)$ its worth: $g$ (`gain="linear"`),
    $2^g - 1$ (`"exp"`) or what `gains` says. Queries with more to find can reach more; `nDCG` evens that out.

    Unjudged: has no gain.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing with a gain is retrieved.
    Agrees with: `trec_eval -m dcg` (version 10); ranx' `dcg` and `dcg_burges`.

    Example:
        $3/1 + 0 + 2/2 + 1/\log_2 5$:

        >>> from judged.kernels.examples import make_ranking
        >>> discounted_gain(make_ranking([3, 0, 2, 1])).round(4)
        array([4.4307])

    References:
        Järvelin and Kekäläinen. Cumulated gain-based evaluation of IR techniques. TOIS 20(4), 2002.
        doi:10.1145/582415.582418
    """
    return discounted_sum(ranking, cutoff, gain, gains)


DCG = Measure(
    "DCG",
    discounted_gain,
    at="cutoff",
    bounds=(0.0, math.inf),
    properties=frozenset({"swap", "zero-if-nothing-found", "linear", "gain-only", "by-grade", "grows"}),
)
