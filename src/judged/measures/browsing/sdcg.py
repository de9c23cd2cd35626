"""Scaled DCG: discounted gain as a share of what a list of nothing but the best would bring."""

from __future__ import annotations

from judged.kernels.ranked.browsing import browse, gain_share, sdcg_reader
from judged.kernels.ranked.gains import Gain
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["SDCG", "scaled_discounted_gain"]


def scaled_discounted_gain(
    ranking: Ranking,
    *,
    cutoff: int,
    gain: Gain = "linear",
    max_grade: float | None = None,
) -> Floats:
    r"""Discounted cumulative gain over that of a list in which every result has the highest grade.

    $$\mathrm{SDCG}@k = \frac{\sum_{i=1}^{k} u(g_i) / \log_2(i + 1)}{\sum_{i=1}^{k} 1 / \log_2(i + 1)}$$

    where $u(g)$ is the gain of a grade, $g / g_{\max}$ (`gain="linear"`) or $(2^g - 1) / (2^{g_{\max}} - 1)$
    (`"exp"`), and $g_{\max}$ is `max_grade`, by default the highest grade in all the judgments; a grade above
    it counts as it. $g_i$ is the grade of the result at rank $i$. Unlike that of `nDCG`, the ideal takes no notice of
    how many relevant documents there are.

    Unjudged: has no gain; `EU_residual` tells how much that could matter.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing with a positive grade is retrieved.
    Agrees with: cwl_eval's `NDCGCWLMetric` and ir_measures' `SDCG(max_rel=…)@k`.

    Example:
        The first of two ranks weighs $1$ and the second $1 / \log_2 3 = 0.6309$:

        >>> from judged.kernels.examples import make_ranking
        >>> scaled_discounted_gain(make_ranking([1, 0]), cutoff=2).round(4)
        array([0.6131])

    References:
        Järvelin and Kekäläinen. Cumulated gain-based evaluation of IR techniques. TOIS 20(4), 2002.
        doi:10.1145/582415.582418
        Azzopardi, Thomas and Moffat. cwl_eval: an evaluation tool for information retrieval. SIGIR 2019.
        doi:10.1145/3331184.3331398
    """
    return browse(ranking, gain_share(ranking, gain, max_grade), sdcg_reader(cutoff)).rate


SDCG = Measure(
    "SDCG",
    scaled_discounted_gain,
    at="cutoff",
    family="browsing",
    properties=frozenset({"swap", "zero-if-nothing-found", "linear", "gain-only", "by-grade", "grows"}),
)
