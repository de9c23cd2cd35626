"""Normalised discounted gain as first published: no discount before the rank that is the base of the logarithm."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.gains import Gain, Gains, best_gains, found_gains
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, Ints, divide, segment_sum
from judged.measures.measure import Measure

__all__ = ["nDCG_JK", "originally_discounted_gain"]


def originally_discounted_gain(
    ranking: Ranking,
    *,
    cutoff: int | None = None,
    base: float = 2.0,
    gain: Gain = "linear",
    gains: Gains | None = None,
) -> Floats:
    r"""The share of the best order's gain, discounted by the logarithm of the rank from rank `base` on.

    $$\mathrm{nDCG_{JK}}@k = \frac{\sum_{i=1}^{k} v(g_i) / \max(1, \log_b i)}
                                {\sum_{i=1}^{k} v(g^*_i) / \max(1, \log_b i)}$$

    where $b$ is `base`, $g_i$ the grade of the result at rank $i$ and $g^*$ are all judged grades of the query,
    the most valuable first. A grade is worth $v(g) = g$ (`gain="linear"`), $2^g - 1$ (`"exp"`) or what `gains`
    says. The order of the first $b$ results does not matter. Today's usual discount, $\log_2(i + 1)$, is that of
    `nDCG`.

    Unjudged: has no gain.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing with a positive gain is retrieved, and when nothing of the query has one.
    Agrees with: NTCIREVAL's and pyNTCIREVAL's `nDCG`, with `base` for `-logb`; their `MSnDCG` is `nDCG`.

    Example:
        The one relevant document comes third, at $1 / \log_2 3$:

        >>> from judged.kernels.examples import make_ranking
        >>> originally_discounted_gain(make_ranking([0, 0, 1])).round(4)
        array([0.6309])

    References:
        Järvelin and Kekäläinen. Cumulated gain-based evaluation of IR techniques. TOIS 20(4), 2002.
        doi:10.1145/582415.582418
    """
    got = found_gains(ranking, gain, gains) / _discount(ranking.rank, base)
    best = best_gains(ranking, gain, gains) / _discount(ranking.best_rank, base)
    near = True if cutoff is None else ranking.best_rank <= cutoff
    return divide(
        segment_sum(np.where(ranking.within(cutoff), got, 0.0), ranking.offset),
        segment_sum(np.where(near, best, 0.0), ranking.best_offset),
    )


def _discount(rank: Ints, base: float) -> Floats:
    discount: Floats = np.maximum(np.log(rank) / np.log(base), 1.0)
    return discount


nDCG_JK = Measure(
    "nDCG_JK",
    originally_discounted_gain,
    at="cutoff",
    properties=frozenset(
        {"swap", "zero-if-nothing-found", "one-if-ideal", "linear", "gain-only", "by-grade", "parted"}
    ),
)
