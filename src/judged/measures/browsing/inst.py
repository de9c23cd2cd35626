"""INST: the gain of a reader who goes on the less readily the nearer the goal is."""

from __future__ import annotations

from judged.kernels.ranked.browsing import browse, gain_share, inst_reader
from judged.kernels.ranked.gains import Gain
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["INST", "inverse_squared_adaptive"]


def inverse_squared_adaptive(
    ranking: Ranking,
    *,
    T: float = 1.0,
    depth: int = 1000,
    gain: Gain = "linear",
    max_grade: float | None = None,
) -> Floats:
    r"""The gain for each result looked at by a reader who wants a total gain `T` and minds what is still missing.

    $$\mathrm{INST} = \sum_{i=1}^{d} W_i \, u(g_i), \qquad W_i \propto \prod_{j < i} C_j, \qquad
      C_i = \left( \frac{i + T + T_i - 1}{i + T + T_i} \right)^2$$

    where $u(g)$ is the gain of a grade, $g / g_{\max}$ (`gain="linear"`) or $(2^g - 1) / (2^{g_{\max}} - 1)$
    (`"exp"`), and $g_{\max}$ is `max_grade`, by default the highest grade in all the judgments; a grade above
    it counts as it. $g_i$ is the grade of the result at rank $i$, $T_i = T - \sum_{j \le i} u(g_j)$ the gain that is
    missing there, $C_i$ the chance of going on, and $d$ is `depth`. The weights $W$ add up to 1. Where a `T`
    below 1/2 would make a chance of something negative, it is 0.

    Unjudged: has no gain; `EU_residual` tells how much that could matter.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing with a positive grade is retrieved.
    Agrees with: cwl_eval and ir_measures' `INST(T=…, max_rel=…)` from `T=0.5`; both go through 1000 results.

    Example:
        The first result brings all that was wanted, so the reader goes on with a chance of $(1/2)^2$ to the
        second and, from there, of $(2/3)^2$ to the third, $1 / (1 + 1/4 + 1/9)$:

        >>> from judged.kernels.examples import make_ranking
        >>> inverse_squared_adaptive(make_ranking([1, 0, 0]), depth=3).round(4)
        array([0.7347])

    References:
        Moffat, Bailey, Scholer and Thomas. INST: an adaptive metric for information retrieval evaluation.
        ADCS 2015. doi:10.1145/2838931.2838938
    """
    return browse(ranking, gain_share(ranking, gain, max_grade), inst_reader(T, depth)).rate


INST = Measure(
    "INST",
    inverse_squared_adaptive,
    family="browsing",
    properties=frozenset({"zero-if-nothing-found", "gain-only", "grows"}),
)
