"""The gain of a reader for each result looked at, by models of how readers go on (C/W/L)."""

from __future__ import annotations

from functools import partial

from judged.arrays import Floats
from judged.kernels.ranked.browsing import (
    bpm_reader,
    browse,
    gain_share,
    insq_reader,
    inst_reader,
    nerr8_reader,
    nerr9_reader,
    nerr10_reader,
    nerr11_reader,
    sdcg_reader,
)
from judged.kernels.ranked.gains import Gain
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.ranked.terms import browsing_terms
from judged.measures.laws import GRADED, Law
from judged.measures.measure import Measure

_GAIN = (
    r'The gain of a grade is $u(g) = g / g_{\max}$ (`gain="linear"`) or $u(g) = (2^g - 1) / (2^{g_{\max}} - 1)$ '
    r'(`gain="exp"`), where $g_{\max}$ is `max_grade`, by default the highest grade in all the judgments; a higher '
    "grade counts as it."
)
"""Meaning of $u(g)$ in all formulas of this file, for cards."""

_measure = partial(Measure, group="browsing", note=_GAIN)
_growing = partial(_measure, laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.GAIN_ONLY, Law.GROWS}))


def inverse_squared_adaptive(
    ranking: Ranking,
    *,
    T: float = 1.0,
    depth: int = 1000,
    gain: Gain = "linear",
    max_grade: float | None = None,
) -> Floats:
    r"""Return the gain for each result looked at by a reader who wants a total gain `T` and adapts to what is still missing.

    $$\mathrm{INST} = \sum_{i=1}^{d} W_i \, u(g_i), \qquad W_i \propto \prod_{j < i} C_j, \qquad
      C_i = \left( \frac{i + T + T_i - 1}{i + T + T_i} \right)^2$$

    where $u(g)$ is the gain of a grade, $g_i$ the grade of the result at rank $i$,
    $T_i = T - \sum_{j \le i} u(g_j)$ the gain that is missing there, $C_i$ the chance of going on, and $d$ is
    `depth`. The weights $W$ add up to 1. Where a `T` below 1/2 would make a chance of something negative, it
    is 0.

    Title: INST: the gain of a reader who goes on the less readily the nearer the goal is.
    Agrees with: cwl_eval and ir_measures' `INST(T=…, max_rel=…)` from `T=0.5`; both go through 1000 results.
    References: Moffat, Bailey, Scholer and Thomas. INST: an adaptive metric for information retrieval
        evaluation.
        ADCS 2015. doi:10.1145/2838931.2838938

    Example:
        The first result provides all that was wanted, so the reader goes on with a chance of $(1/2)^2$ to the
        second and, from there, of $(2/3)^2$ to the third, $1 / (1 + 1/4 + 1/9)$:

        >>> qrels = {"q1": {"a": 1, "b": 0, "c": 0}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "INST(depth=3)").mean()
        {'INST(depth=3)': 0.7346...}
    """
    return browse(ranking, gain_share(ranking, gain, max_grade), inst_reader(T, depth)).rate


INST = _growing("INST", inverse_squared_adaptive, terms=browsing_terms(inst_reader))


def inverse_squared(
    ranking: Ranking,
    *,
    T: float = 1.0,
    depth: int = 1000,
    gain: Gain = "linear",
    max_grade: float | None = None,
) -> Floats:
    r"""Return the gain for each result looked at by a reader who comes with the aim of a total gain `T`.

    $$\mathrm{INSQ} = \sum_{i=1}^{d} W_i \, u(g_i), \qquad
      W_i = \frac{(i + 2T - 1)^{-2}}{\sum_{j=1}^{d} (j + 2T - 1)^{-2}}$$

    where $u(g)$ is the gain of a grade, $g_i$ the grade of the result at rank $i$ and $d$ is `depth`. The
    reader goes on from rank $i$ with the chance $((i + 2T - 1) / (i + 2T))^2$.

    Title: INSQ: the gain of a reader who goes on the more readily the longer the search has lasted.
    Agrees with: cwl_eval and ir_measures' `INSQ(T=…, max_rel=…)`; both go through 1000 results.
    References: Moffat, Scholer and Thomas. Models and metrics: IR evaluation as a user process. ADCS 2012.
        doi:10.1145/2407085.2407092

    Example:
        With $T = 1/2$ the three ranks weigh $1 : 1/4 : 1/9$, and only the first result has a gain:

        >>> qrels = {"q1": {"a": 1, "b": 0, "c": 0}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "INSQ(T=0.5, depth=3)").mean()
        {'INSQ(T=0.5, depth=3)': 0.7346...}
    """
    return browse(ranking, gain_share(ranking, gain, max_grade), insq_reader(T, depth)).rate


INSQ = _measure(
    "INSQ", inverse_squared, terms=browsing_terms(insq_reader), laws=GRADED | {Law.LINEAR, Law.GROWS}
)


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
    r"""Return the gain for each result looked at by a reader who stops with a gain of `T`, or after `cutoff` results.

    $$\mathrm{BPM}@k = \frac{1}{s} \sum_{i=1}^{s} u(g_i), \qquad
      s = \min \{ i : G_i \ge T + h_b S_i \;\text{or}\; i \ge k + h_c S_i \;\text{or}\; i = d \}$$

    where $u(g)$ is the gain of a grade, $g_i$ the grade of the result at rank $i$,
    $G_i = \sum_{j \le i} u(g_j)$, and $S_i = \sum_{j < i} (u(g_j) - \mathrm{gain\_med})$ is how much
    better than expected the results above were: with `hb` and `hc` other than 0 (the dynamic model) that
    moves what the reader is after, and how long. $d$ is `depth`.

    Title: Bejewelled player model: the gain of a reader who stops with enough, or after enough.
    Agrees with: ir_measures' `BPM(T=…, max_rel=…)@k`; cwl_eval's static model, and its dynamic one with
        `hc=0`, whose patience never moves: it changes the other variable.
    References: Zhang, Liu, Li, Zhang, Xu and Ma. Evaluating web search with a bejeweled player model. SIGIR
        2017. doi:10.1145/3077136.3080841

    Example:
        The reader stops satisfied with the second result; with `T=2` after the fourth:

        >>> qrels = {"q1": {"a": 0, "b": 1, "c": 0, "d": 0}}
        >>> run = {"q1": ["a", "b", "c", "d"]}
        >>> judged.evaluate(qrels, run, "BPM@4 BPM(T=2)@4").mean()
        {'BPM@4': 0.5, 'BPM(T=2)@4': 0.25}
    """
    return browse(
        ranking, gain_share(ranking, gain, max_grade), bpm_reader(T, cutoff, hb, hc, gain_med, depth)
    ).rate


BPM = _measure(
    "BPM",
    bejewelled_player,
    terms=browsing_terms(bpm_reader),
    at_parameter="cutoff",
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.GAIN_ONLY}),
)


def scaled_discounted_gain(
    ranking: Ranking, *, cutoff: int, gain: Gain = "linear", max_grade: float | None = None
) -> Floats:
    r"""Return discounted cumulative gain over that of a list in which every result has the highest grade.

    $$\mathrm{SDCG}@k = \frac{\sum_{i=1}^{k} u(g_i) / \log_2(i + 1)}{\sum_{i=1}^{k} 1 / \log_2(i + 1)}$$

    where $u(g)$ is the gain of a grade, $g_i$ the grade of the result at rank $i$. Unlike that of `nDCG`,
    the ideal ignores how many relevant documents there are.

    Title: Scaled discounted cumulative gain: discounted gain as a share of what a list of nothing but the best would yield.
    Agrees with: cwl_eval's `NDCGCWLMetric` and ir_measures' `SDCG(max_rel=…)@k`.
    References: Järvelin and Kekäläinen. Cumulated gain-based evaluation of IR techniques. TOIS 20(4), 2002.
        doi:10.1145/582415.582418
        Azzopardi, Thomas and Moffat. cwl_eval: an evaluation tool for information retrieval. SIGIR 2019.
        doi:10.1145/3331184.3331398

    Example:
        The first of two ranks weighs $1$ and the second $1 / \log_2 3 = 0.6309$:

        >>> qrels = {"q1": {"a": 1, "b": 0}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "SDCG@2").mean()
        {'SDCG@2': 0.6131...}
    """
    return browse(ranking, gain_share(ranking, gain, max_grade), sdcg_reader(cutoff)).rate


SDCG = _measure(
    "SDCG",
    scaled_discounted_gain,
    terms=browsing_terms(sdcg_reader),
    at_parameter="cutoff",
    laws=GRADED | {Law.LINEAR, Law.GROWS},
)


def nearly_expected_reciprocal(
    ranking: Ranking, *, cutoff: int, gain: Gain = "linear", max_grade: float | None = None
) -> Floats:
    r"""Return the gain for each result looked at by a reader who stops where satisfied, or after `cutoff` results.

    $$\mathrm{NERR8} = \sum_{i=1}^{k} W_i \, u(g_i), \qquad W_i \propto \prod_{j < i} C_j, \qquad
      C_i = 1 - u(g_i)$$

    where $u(g)$ is the gain of a grade, $g_i$ the grade of the result at rank $i$, and $C_i$ the chance of
    going on from there. The weights $W$ add up to 1. With grades of 0 and 1 it is the reciprocal rank of the
    first relevant result among the first $k$.

    Title: Nearly ERR, equation 8: the gain of a reader who goes on until satisfied.
    Agrees with: cwl_eval's `NERReq8CWLMetric` and ir_measures' `NERR8(max_rel=…)@k`.
    References: Azzopardi, Mackenzie and Moffat. ERR is not C/W/L: exploring the relationship between expected
        reciprocal rank and other metrics. ICTIR 2021. doi:10.1145/3471158.3472239

    Example:
        The second result satisfies:

        >>> qrels = {"q1": {"a": 0, "b": 1, "c": 1}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "NERR8@3").mean()
        {'NERR8@3': 0.5}
    """
    return browse(ranking, gain_share(ranking, gain, max_grade), nerr8_reader(cutoff)).rate


NERR8 = _growing(
    "NERR8", nearly_expected_reciprocal, terms=browsing_terms(nerr8_reader), at_parameter="cutoff"
)


def nearly_expected_reciprocal_falling(
    ranking: Ranking, *, cutoff: int, gain: Gain = "linear", max_grade: float | None = None
) -> Floats:
    r"""Return the gain for each result looked at by a reader whose chance to reach rank i is at most 1/i.

    $$\mathrm{NERR9} = \sum_{i=1}^{k} W_i \, u(g_i), \qquad W_i \propto \prod_{j < i} C_j, \qquad
      C_i = \frac{i}{i + 1} (1 - u(g_i))$$

    where $u(g)$ is the gain of a grade, $g_i$ the grade of the result at rank $i$, and $C_i$ the chance of
    going on from there. The weights $W$ add up to 1. The weights fall with the rank as those of ERR do.

    Title: Nearly ERR, equation 9: satisfaction stops the reader, and so does the rank.
    Agrees with: cwl_eval's `NERReq9CWLMetric` and ir_measures' `NERR9(max_rel=…)@k`.
    References: Azzopardi, Mackenzie and Moffat. ERR is not C/W/L: exploring the relationship between expected
        reciprocal rank and other metrics. ICTIR 2021. doi:10.1145/3471158.3472239

    Example:
        The ranks are reached with the chances $1$, $1/2$ and, since the second result satisfies, $0$; one third
        of all looks falls on the second:

        >>> qrels = {"q1": {"a": 0, "b": 1, "c": 1}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "NERR9@3").mean()
        {'NERR9@3': 0.3333...}
    """
    return browse(ranking, gain_share(ranking, gain, max_grade), nerr9_reader(cutoff)).rate


NERR9 = _growing(
    "NERR9", nearly_expected_reciprocal_falling, terms=browsing_terms(nerr9_reader), at_parameter="cutoff"
)


def nearly_expected_reciprocal_patient(
    ranking: Ranking,
    *,
    p: float = 0.9,
    depth: int = 1000,
    gain: Gain = "linear",
    max_grade: float | None = None,
) -> Floats:
    r"""Return the gain for each result looked at by a reader who, where not satisfied, goes on with the chance `p`.

    $$\mathrm{NERR10} = \sum_{i=1}^{d} W_i \, u(g_i), \qquad W_i \propto \prod_{j < i} C_j, \qquad
      C_i = p \, (1 - u(g_i))$$

    where $u(g)$ is the gain of a grade, $g_i$ the grade of the result at rank $i$, and $C_i$ the chance of
    going on from there. The weights $W$ add up to 1. It is `RBP` for a reader who can be satisfied; $d$ is
    `depth`.

    Title: Nearly ERR, equation 10: satisfaction stops the reader, and so does impatience.
    Agrees with: cwl_eval's `NERReq10CWLMetric` and ir_measures' `NERR10(p=…, max_rel=…)`.
    References: Azzopardi, Mackenzie and Moffat. ERR is not C/W/L: exploring the relationship between expected
        reciprocal rank and other metrics. ICTIR 2021. doi:10.1145/3471158.3472239

    Example:
        The ranks are reached with the chances $1$, $1/2$ and, since the second result satisfies, $0$:

        >>> qrels = {"q1": {"a": 0, "b": 1, "c": 1}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "NERR10(p=0.5)").mean()
        {'NERR10(p=0.5)': 0.3333...}
    """
    return browse(ranking, gain_share(ranking, gain, max_grade), nerr10_reader(p, depth)).rate


NERR10 = _growing("NERR10", nearly_expected_reciprocal_patient, terms=browsing_terms(nerr10_reader))


def nearly_expected_reciprocal_goal(
    ranking: Ranking,
    *,
    T: float = 1.0,
    depth: int = 1000,
    gain: Gain = "linear",
    max_grade: float | None = None,
) -> Floats:
    r"""Return the gain for each result looked at by a reader who, where not satisfied, goes on as the one of INSQ.

    $$\mathrm{NERR11} = \sum_{i=1}^{d} W_i \, u(g_i), \qquad W_i \propto \prod_{j < i} C_j, \qquad
      C_i = \left( \frac{i + 2T - 1}{i + 2T} \right)^2 (1 - u(g_i))$$

    where $u(g)$ is the gain of a grade, $g_i$ the grade of the result at rank $i$, and $C_i$ the chance of
    going on from there. The weights $W$ add up to 1. It is `INSQ` for a reader who can be satisfied; $d$ is
    `depth`.

    Title: Nearly ERR, equation 11: satisfaction stops the reader, and so does a goal as in INSQ.
    Agrees with: cwl_eval's `NERReq11CWLMetric` and ir_measures' `NERR11(T=…, max_rel=…)`.
    References: Azzopardi, Mackenzie and Moffat. ERR is not C/W/L: exploring the relationship between expected
        reciprocal rank and other metrics. ICTIR 2021. doi:10.1145/3471158.3472239

    Example:
        The ranks are reached with the chances $1$, $1/4$ and, since the second result satisfies, $0$:

        >>> qrels = {"q1": {"a": 0, "b": 1, "c": 1}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "NERR11(T=0.5)").mean()
        {'NERR11(T=0.5)': 0.2}
    """
    return browse(ranking, gain_share(ranking, gain, max_grade), nerr11_reader(T, depth)).rate


NERR11 = _growing("NERR11", nearly_expected_reciprocal_goal, terms=browsing_terms(nerr11_reader))
