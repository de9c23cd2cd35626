"""Readers who go down the list and may stop at every result: expected reciprocal rank, rank-biased precision."""

from __future__ import annotations

from typing import Literal

import numpy as np

from judged.arrays import Floats
from judged.kernels.ranked.browsing import (
    best_reciprocal_rank,
    expected_reciprocal_rank,
    rbp_gain,
    reach_probability,
)
from judged.kernels.ranked.gains import LARGEST_EXPONENT, scale_exponential_gains
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.ranked.terms import err_terms, nerr_terms, rbp_terms
from judged.kernels.segments import divide, segment_count, segment_max, segment_sum
from judged.measures.laws import GRADED, Law
from judged.measures.measure import Measure


def expected_reciprocal(
    ranking: Ranking, *, cutoff: int | None = None, max_grade: float | None = None
) -> Floats:
    r"""Return the mean of one over the rank at which a reader going down the list is satisfied.

    $$\mathrm{ERR}@k = \sum_{i=1}^{k} \frac{1}{i} \, s_i \prod_{j < i} (1 - s_j), \qquad
      s_i = \frac{2^{g_i} - 1}{2^{g_{\max}}}$$

    where $g_i$ is the grade of the result at rank $i$ and $s_i$ the chance that it satisfies. $g_{\max}$ is
    `max_grade`, by default the highest grade in all the judgments; a grade above it counts as it.

    Title: Expected reciprocal rank: where a reader who stops when satisfied will stop.
    Unjudged: satisfies nobody.
    Empty: 0 when nothing with a positive grade is retrieved.
    Agrees with: gdeval.pl and ir_measures' `ERR` for `max_grade=4`, which they have built in.
    References: Chapelle, Metzler, Zhang and Grinspan. Expected reciprocal rank for graded relevance. CIKM
        2009. doi:10.1145/1645953.1646033

    Example:
        On a scale from 0 to 1, the second reader in two goes on to rank 2, and half of those stop there:

        >>> qrels = {"q1": {"a": 1, "b": 1}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "ERR").mean()
        {'ERR': 0.625}
    """
    highest = ranking.highest if max_grade is None else max_grade
    return expected_reciprocal_rank(ranking, highest, cutoff)


ERR = Measure(
    "ERR",
    expected_reciprocal,
    terms=err_terms,
    at_parameter="cutoff",
    laws=GRADED | {Law.STEPWISE, Law.GROWS},
)


def normalised_expected_reciprocal(
    ranking: Ranking, *, cutoff: int | None = None, max_grade: float | None = None
) -> Floats:
    r"""Return expected reciprocal rank over that of the best order of everything judged.

    $$\mathrm{nERR}@k = \frac{\mathrm{ERR}@k(g)}{\mathrm{ERR}@k(g^*)}$$

    where $g$ are the grades of the results and $g^*$ all judged grades of the query, highest first. The top
    of the scale is `max_grade`, by default the highest grade in all the judgments.

    Title: Normalised expected reciprocal rank: ERR as a share of the best that the query allows.
    Unjudged: satisfies nobody.
    Empty: 0 when nothing with a positive grade is retrieved, and when nothing of the query has one.
    Agrees with: NTCIREVAL's `nERR` where every grade of the scale has the gain $2^g - 1$.
    References: Chapelle, Metzler, Zhang and Grinspan. Expected reciprocal rank for graded relevance. CIKM
        2009. doi:10.1145/1645953.1646033
        Sakai. Metrics, statistics, tests. PROMISE Winter School 2013. doi:10.1007/978-3-642-54798-0_6

    Example:
        The one relevant document comes second, half as good as first:

        >>> qrels = {"q1": {"a": 0, "b": 1}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "nERR").mean()
        {'nERR': 0.5}
    """
    highest = ranking.highest if max_grade is None else max_grade
    got = expected_reciprocal_rank(ranking, highest, cutoff)
    ratio = divide(got, best_reciprocal_rank(ranking, highest, cutoff))
    if highest <= LARGEST_EXPONENT:
        return ratio
    # Far below the highest grade, the chances of stopping are tiny, reach is 1, and they add up like gains.
    scaled = scale_exponential_gains(ranking)
    top = segment_max(np.maximum(ranking.best, 0.0), ranking.best_offset)
    near = True if cutoff is None else ranking.best_rank <= cutoff
    added = segment_sum(np.where(ranking.within(cutoff), scaled.grade / ranking.rank, 0.0), ranking.offset)
    best = segment_sum(np.where(near, scaled.best / ranking.best_rank, 0.0), ranking.best_offset)
    return np.where(top < highest - 100, divide(added, best), ratio)


nERR = Measure(
    "nERR",
    normalised_expected_reciprocal,
    terms=nerr_terms,
    at_parameter="cutoff",
    laws=GRADED | {Law.ONE_IF_IDEAL, Law.STEPWISE, Law.PARTED},
)


def rank_biased_precision(
    ranking: Ranking,
    *,
    cutoff: int | None = None,
    p: float = 0.8,
    rel: float | None = None,
    gain: Literal["linear", "exp", "grade"] | None = None,
    max_grade: float | Literal["query"] | None = None,
) -> Floats:
    r"""Return the gain per result looked at by a reader who goes on to the next one with the chance `p`.

    $$\mathrm{RBP} = (1 - p) \sum_i u(g_i) \, p^{i - 1}$$

    where $g_i$ is the grade of the result at rank $i$ and $u(g)$ lies between 0 and 1: by default 1 if
    $g \ge \mathrm{rel}$, else 0; with `gain="linear"` $g / g_{\max}$; with `gain="exp"`
    $(2^g - 1) / (2^{g_{\max}} - 1)$. $g_{\max}$ is `max_grade`, by default the highest grade in all the
    judgments; a grade above it counts as it. With `max_grade="query"` it is the highest grade of the query,
    or 1 if that is less. With `gain="grade"` $u(g)$ is the grade itself where $g \ge \mathrm{rel}$, else 0,
    so that values above 1 are possible.

    Title: Rank-biased precision: what a reader gains who goes on to the next result with a fixed chance.
    Unjudged: has no gain; `RBP_residual` shows how much that could matter.
    Empty: 0 when nothing relevant is retrieved.
    Agrees with: ir_measures' and cwl_eval's `RBP(rel=…, p=…)`; ranx' `rbp.80` is `RBP(p=0.8, gain="grade")`.
        `trec_eval -m rbp` (version 10) is `RBP(p=0.9, gain="linear", max_grade="query")` where the memory it
        forgets to clear holds zeros.
    References: Moffat and Zobel. Rank-biased precision for measurement of retrieval effectiveness. TOIS
        27(1), 2008. doi:10.1145/1416950.1416952

    Example:
        Relevant results come first and third, $0.5 (1 + 0.5^2)$:

        >>> qrels = {"q1": {"a": 1, "b": 0, "c": 1}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "RBP(p=0.5)").mean()
        {'RBP(p=0.5)': 0.625}
    """
    worth = rbp_gain(ranking, rel, gain, max_grade)
    seen = np.where(ranking.within(cutoff), worth * reach_probability(ranking, p), 0.0)
    return (1.0 - p) * segment_sum(seen, ranking.offset)


RBP = Measure(
    "RBP",
    rank_biased_precision,
    terms=rbp_terms,
    at_parameter="cutoff",
    laws=GRADED | {Law.LINEAR, Law.GROWS},
    unbounded_with=("gain", "grade"),
    dot_parameter="p",
)


def rank_biased_residual(
    ranking: Ranking, *, p: float = 0.8, tail: Literal["always", "unjudged"] = "always"
) -> Floats:
    r"""Return the width of what rank-biased precision could be, given what was not judged or not retrieved.

    $$\mathrm{residual} = (1 - p) \sum_{i \le n,\; i \text{ unjudged}} p^{i - 1} + p^n
                        = 1 - (1 - p) \sum_{i \text{ judged}} p^{i - 1}$$

    where $n$ is the number of retrieved documents: $p^n$ is the weight of all that lies beyond them. With
    `tail="unjudged"` that weight counts only if something unjudged was retrieved, and the residual is 0
    otherwise. True RBP lies between RBP and RBP plus this.

    Title: Residual of rank-biased precision: how much higher it could be if all that is unknown were
        relevant.
    Unjudged: is what it measures; a negative grade is unjudged too.
    Empty: 1 when nothing is retrieved, because nothing is known (0 with `tail="unjudged"`).
    Agrees with: `trec_eval -m rbp_resid` (version 10) with `p=0.9, tail="unjudged"`.
    References: Moffat and Zobel. Rank-biased precision for measurement of retrieval effectiveness. TOIS
        27(1), 2008. doi:10.1145/1416950.1416952

    Example:
        The second result is unjudged, and nothing is known beyond the third, $0.5 \cdot 0.5 + 0.5^3$:

        >>> qrels = {"q1": {"a": 1, "c": 0}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "RBP_residual(p=0.5)").mean()
        {'RBP_residual(p=0.5)': 0.375}
    """
    judged = ranking.grade >= 0
    known = (1.0 - p) * segment_sum(np.where(judged, reach_probability(ranking, p), 0.0), ranking.offset)
    residual = np.maximum(1.0 - known, 0.0)
    if tail == "always":
        return residual
    return np.where(segment_count(judged, ranking.offset) < ranking.retrieved, residual, 0.0)


RBP_residual = Measure(
    "RBP_residual",
    rank_biased_residual,
    higher_is_better=None,
    zero_if_missing=False,
    laws=frozenset({Law.GRADE_FREE, Law.JUDGMENT_ONLY, Law.BY_GRADE}),
)
