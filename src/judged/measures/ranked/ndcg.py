"""Normalised discounted cumulative gain: how close a ranking comes to the best possible order."""

from __future__ import annotations

from judged.kernels.ranked.gains import Gain, Gains, discounted_sum, ideal_sum
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide
from judged.measures.measure import Measure

__all__ = ["nDCG", "normalised_discounted_gain"]


def normalised_discounted_gain(
    ranking: Ranking, *, cutoff: int | None = None, gain: Gain = "linear", gains: Gains | None = None
) -> Floats:
    r"""The share of the gain of the best possible order that a ranking collects.

    $$\mathrm{nDCG}@k = \frac{\sum_{i=1}^{k} v(g_i) / \log_2(i + 1)}
                             {\sum_{i=1}^{k} v(g^*_i) / \log_2(i + 1)}$$

    where $g_i$ is the grade of the result at rank $i$ and $g^*$ are *all* judged grades of the query, the
    most valuable first, retrieved or not. A grade is worth $v(g) = g$ (`gain="linear"`), $2^g - 1$ (`"exp"`)
    or what `gains` says; negative gains are never part of the best order. `rel` has no part in it.

    Unjudged: has no gain.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing with a positive gain is retrieved, and when nothing of the query has one.
    Agrees with: `trec_eval -m ndcg` and `-m ndcg_cut`; ir_measures' `nDCG` (`dcg='exp-log2'` is `exp`);
        ranx' `ndcg` and `ndcg_burges`. trec_eval's order of custom gains fails where two differ by less
        than 1; this one does not.

    Example:
        The grades [3, 0, 2, 1] collect 4.4307 of the 4.7619 that [3, 2, 1, 0] would:

        >>> from judged.kernels.examples import make_ranking
        >>> normalised_discounted_gain(make_ranking([3, 0, 2, 1]), cutoff=4).round(4)
        array([0.9305])

    References:
        Järvelin and Kekäläinen. Cumulated gain-based evaluation of IR techniques. TOIS 20(4), 2002.
        doi:10.1145/582415.582418
        Burges and others. Learning to rank using gradient descent. ICML 2005. doi:10.1145/1102351.1102363
    """
    return divide(discounted_sum(ranking, cutoff, gain, gains), ideal_sum(ranking, cutoff, gain, gains))


nDCG = Measure(
    "nDCG",
    normalised_discounted_gain,
    at="cutoff",
    properties=frozenset(
        {
            "swap",
            "zero-if-nothing-found",
            "one-if-ideal",
            "linear",
            "gain-only",
            "by-grade",
            "discounted-ratio",
        }
    ),
)
