"""Bejewelled player model: the gain of a reader who stops with enough, or after enough."""

from __future__ import annotations

from judged.kernels.ranked.browsing import bpm_reader, browse, gain_share
from judged.kernels.ranked.gains import Gain
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["BPM", "bejewelled_player"]


def bejewelled_player(
    ranking: Ranking,
    *,
    cutoff: int,
    T: float = 1.0,
    hb: float = 0.0,
    hc: float = 0.0,
    gain_med: float = 0.5,
    depth: int = 1000,
    gain: Gain = "linear",
    max_grade: float | None = None,
) -> Floats:
    r"""The gain for each result looked at by a reader who stops with a gain of `T`, or after `cutoff` results.

    $$\mathrm{BPM}@k = \frac{1}{s} \sum_{i=1}^{s} u(g_i), \qquad
      s = \min \{ i : G_i \ge T + h_b S_i \;\text{or}\; i \ge k + h_c S_i \;\text{or}\; i = d \}$$

    where $u(g)$ is the gain of a grade, $g / g_{\max}$ (`gain="linear"`) or $(2^g - 1) / (2^{g_{\max}} - 1)$
    (`"exp"`), and $g_{\max}$ is `max_grade`, by default the highest grade in all the judgments; a grade above
    it counts as it. $g_i$ is the grade of the result at rank $i$, $G_i = \sum_{j \le i} u(g_j)$, and
    $S_i = \sum_{j < i} (u(g_j) - \mathrm{gain\_med})$ tells how much better than expected the results above
    were: with `hb` and `hc` other than 0 (the dynamic model) that moves what the reader is after, and how
    long. $d$ is `depth`.

    Unjudged: has no gain; `EU_residual` tells how much that could matter.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing with a positive grade is retrieved.
    Agrees with: ir_measures' `BPM(T=…, max_rel=…)@k`; cwl_eval's static model, and its dynamic one with
        `hc=0`, whose patience never moves: it changes the other variable.

    Example:
        The reader stops satisfied with the second result; with `T=2` after the fourth:

        >>> from judged.kernels.examples import make_ranking
        >>> ranking = make_ranking([0, 1, 0, 0])
        >>> bejewelled_player(ranking, cutoff=4), bejewelled_player(ranking, cutoff=4, T=2)
        (array([0.5]), array([0.25]))

    References:
        Zhang, Liu, Li, Zhang, Xu and Ma. Evaluating web search with a bejeweled player model. SIGIR 2017.
        doi:10.1145/3077136.3080841
    """
    return browse(
        ranking, gain_share(ranking, gain, max_grade), bpm_reader(T, cutoff, hb, hc, gain_med, depth)
    ).rate


BPM = Measure(
    "BPM",
    bejewelled_player,
    at="cutoff",
    family="browsing",
    properties=frozenset({"zero-if-nothing-found", "gain-only"}),
)
