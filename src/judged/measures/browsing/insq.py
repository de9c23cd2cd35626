"""INSQ: the gain of a reader who goes on the more readily the longer the search has lasted."""

from __future__ import annotations

from judged.kernels.ranked.browsing import browse, gain_share, insq_reader
from judged.kernels.ranked.gains import Gain
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["INSQ", "inverse_squared"]


def inverse_squared(
    ranking: Ranking,
    *,
    T: float = 1.0,
    depth: int = 1000,
    gain: Gain = "linear",
    max_grade: float | None = None,
) -> Floats:
    r"""The gain for each result looked at by a reader who comes with the aim of a total gain `T`.

    $$\mathrm{INSQ} = \sum_{i=1}^{d} W_i \, u(g_i), \qquad
      W_i = \frac{(i + 2T - 1)^{-2}}{\sum_{j=1}^{d} (j + 2T - 1)^{-2}}$$

    where $u(g)$ is the gain of a grade, $g / g_{\max}$ (`gain="linear"`) or $(2^g - 1) / (2^{g_{\max}} - 1)$
    (`"exp"`), and $g_{\max}$ is `max_grade`, by default the highest grade in all the judgments; a grade above
    it counts as it. $g_i$ is the grade of the result at rank $i$ and $d$ is `depth`. The reader goes on from rank
    $i$ with the chance $((i + 2T - 1) / (i + 2T))^2$.

    Unjudged: has no gain; `EU_residual` tells how much that could matter.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing with a positive grade is retrieved.
    Agrees with: cwl_eval and ir_measures' `INSQ(T=…, max_rel=…)`; both go through 1000 results.

    Example:
        With $T = 1/2$ the three ranks weigh $1 : 1/4 : 1/9$, and only the first result has a gain:

        >>> from judged.kernels.examples import make_ranking
        >>> inverse_squared(make_ranking([1, 0, 0]), T=0.5, depth=3).round(4)
        array([0.7347])

    References:
        Moffat, Scholer and Thomas. Models and metrics: IR evaluation as a user process. ADCS 2012.
        doi:10.1145/2407085.2407092
    """
    return browse(ranking, gain_share(ranking, gain, max_grade), insq_reader(T, depth)).rate


INSQ = Measure(
    "INSQ",
    inverse_squared,
    family="browsing",
    properties=frozenset({"swap", "zero-if-nothing-found", "linear", "gain-only", "by-grade", "grows"}),
)
