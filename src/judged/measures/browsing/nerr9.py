"""Nearly ERR, equation 9: satisfaction stops the reader, and so does the rank."""

from __future__ import annotations

from judged.kernels.ranked.browsing import browse, gain_share, nerr9_reader
from judged.kernels.ranked.gains import Gain
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["NERR9", "nearly_expected_reciprocal_falling"]


def nearly_expected_reciprocal_falling(
    ranking: Ranking,
    *,
    cutoff: int,
    gain: Gain = "linear",
    max_grade: float | None = None,
) -> Floats:
    r"""The gain for each result looked at by a reader whose chance to reach rank i is at most 1/i.

    $$\mathrm{NERR9} = \sum_{i=1}^{k} W_i \, u(g_i), \qquad W_i \propto \prod_{j < i} C_j, \qquad
      C_i = \frac{i}{i + 1} (1 - u(g_i))$$

    where $u(g)$ is the gain of a grade, $g / g_{\max}$ (`gain="linear"`) or $(2^g - 1) / (2^{g_{\max}} - 1)$
    (`"exp"`), and $g_{\max}$ is `max_grade`, by default the highest grade in all the judgments; a grade above
    it counts as it. $g_i$ is the grade of the result at rank $i$, and $C_i$ the chance of going on from there.
    The weights $W$ add up to 1. The weights fall with the rank as those of ERR do.

    Unjudged: has no gain and satisfies nobody; `EU_residual` tells how much that could matter.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing with a positive grade is retrieved.
    Agrees with: cwl_eval's `NERReq9CWLMetric` and ir_measures' `NERR9(max_rel=…)@k`.

    Example:
        The ranks are reached with the chances $1$, $1/2$ and, since the second result satisfies, $0$; one third
        of all looks falls on the second:

        >>> from judged.kernels.examples import make_ranking
        >>> nearly_expected_reciprocal_falling(make_ranking([0, 1, 1]), cutoff=3).round(4)
        array([0.3333])

    References:
        Azzopardi, Mackenzie and Moffat. ERR is not C/W/L: exploring the relationship between expected reciprocal
        rank and other metrics. ICTIR 2021. doi:10.1145/3471158.3472239
    """
    return browse(ranking, gain_share(ranking, gain, max_grade), nerr9_reader(cutoff)).rate


NERR9 = Measure(
    "NERR9",
    nearly_expected_reciprocal_falling,
    at="cutoff",
    family="browsing",
    properties=frozenset({"zero-if-nothing-found", "gain-only", "grows"}),
)
