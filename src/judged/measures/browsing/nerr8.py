"""Nearly ERR, equation 8: the gain of a reader who goes on until satisfied."""

from __future__ import annotations

from judged.kernels.ranked.browsing import browse, gain_share, nerr8_reader
from judged.kernels.ranked.gains import Gain
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["NERR8", "nearly_expected_reciprocal"]


def nearly_expected_reciprocal(
    ranking: Ranking,
    *,
    cutoff: int,
    gain: Gain = "linear",
    max_grade: float | None = None,
) -> Floats:
    r"""The gain for each result looked at by a reader who stops where satisfied, or after `cutoff` results.

    $$\mathrm{NERR8} = \sum_{i=1}^{k} W_i \, u(g_i), \qquad W_i \propto \prod_{j < i} C_j, \qquad
      C_i = 1 - u(g_i)$$

    where $u(g)$ is the gain of a grade, $g / g_{\max}$ (`gain="linear"`) or $(2^g - 1) / (2^{g_{\max}} - 1)$
    (`"exp"`), and $g_{\max}$ is `max_grade`, by default the highest grade in all the judgments; a grade above
    it counts as it. $g_i$ is the grade of the result at rank $i$, and $C_i$ the chance of going on from there.
    The weights $W$ add up to 1. With grades of 0 and 1 it is the
    reciprocal rank of the first relevant result among the first $k$.

    Unjudged: has no gain and satisfies nobody; `EU_residual` tells how much that could matter.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing with a positive grade is retrieved.
    Agrees with: cwl_eval's `NERReq8CWLMetric` and ir_measures' `NERR8(max_rel=…)@k`.

    Example:
        The second result satisfies:

        >>> from judged.kernels.examples import make_ranking
        >>> nearly_expected_reciprocal(make_ranking([0, 1, 1]), cutoff=3)
        array([0.5])

    References:
        Azzopardi, Mackenzie and Moffat. ERR is not C/W/L: exploring the relationship between expected reciprocal
        rank and other metrics. ICTIR 2021. doi:10.1145/3471158.3472239
    """
    return browse(ranking, gain_share(ranking, gain, max_grade), nerr8_reader(cutoff)).rate


NERR8 = Measure(
    "NERR8",
    nearly_expected_reciprocal,
    at="cutoff",
    family="browsing",
    properties=frozenset({"zero-if-nothing-found", "gain-only", "grows"}),
)
