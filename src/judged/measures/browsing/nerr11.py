"""Nearly ERR, equation 11: satisfaction stops the reader, and so does a goal as in INSQ."""

from __future__ import annotations

from judged.kernels.ranked.browsing import browse, gain_share, nerr11_reader
from judged.kernels.ranked.gains import Gain
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["NERR11", "nearly_expected_reciprocal_goal"]


def nearly_expected_reciprocal_goal(
    ranking: Ranking,
    *,
    T: float = 1.0,
    depth: int = 1000,
    gain: Gain = "linear",
    max_grade: float | None = None,
) -> Floats:
    r"""The gain for each result looked at by a reader who, where not satisfied, goes on as the one of INSQ.

    $$\mathrm{NERR11} = \sum_{i=1}^{d} W_i \, u(g_i), \qquad W_i \propto \prod_{j < i} C_j, \qquad
      C_i = \left( \frac{i + 2T - 1}{i + 2T} \right)^2 (1 - u(g_i))$$

    where $u(g)$ is the gain of a grade, $g / g_{\max}$ (`gain="linear"`) or $(2^g - 1) / (2^{g_{\max}} - 1)$
    (`"exp"`), and $g_{\max}$ is `max_grade`, by default the highest grade in all the judgments; a grade above
    it counts as it. $g_i$ is the grade of the result at rank $i$, and $C_i$ the chance of going on from there.
    The weights $W$ add up to 1. It is `INSQ` for a reader who can be
    satisfied; $d$ is `depth`.

    Unjudged: has no gain and satisfies nobody; `EU_residual` tells how much that could matter.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing with a positive grade is retrieved.
    Agrees with: cwl_eval's `NERReq11CWLMetric` and ir_measures' `NERR11(T=…, max_rel=…)`.

    Example:
        The ranks are reached with the chances $1$, $1/4$ and, since the second result satisfies, $0$:

        >>> from judged.kernels.examples import make_ranking
        >>> nearly_expected_reciprocal_goal(make_ranking([0, 1, 1]), T=0.5)
        array([0.2])

    References:
        Azzopardi, Mackenzie and Moffat. ERR is not C/W/L: exploring the relationship between expected reciprocal
        rank and other metrics. ICTIR 2021. doi:10.1145/3471158.3472239
    """
    return browse(ranking, gain_share(ranking, gain, max_grade), nerr11_reader(T, depth)).rate


NERR11 = Measure(
    "NERR11",
    nearly_expected_reciprocal_goal,
    family="browsing",
    properties=frozenset({"zero-if-nothing-found", "gain-only", "grows"}),
)
