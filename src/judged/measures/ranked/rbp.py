"""Rank-biased precision: what a reader gains who goes on to the next result with a fixed chance."""

from __future__ import annotations

from typing import Literal

import numpy as np

from judged.kernels.ranked.browsing import reach_probability
from judged.kernels.ranked.gains import Gain, grade_gains
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide, segment_max, segment_sum
from judged.measures.measure import Measure

__all__ = ["RBP", "rank_biased_precision"]


def rank_biased_precision(
    ranking: Ranking,
    *,
    cutoff: int | None = None,
    p: float = 0.8,
    rel: float | None = None,
    gain: Literal["linear", "exp", "grade"] | None = None,
    max_grade: float | Literal["query"] | None = None,
) -> Floats:
    r"""The gain per result looked at by a reader who goes on to the next one with the chance `p`.

    $$\mathrm{RBP} = (1 - p) \sum_i u(g_i) \, p^{i - 1}$$

    where $g_i$ is the grade of the result at rank $i$ and $u(g)$ lies between 0 and 1: by default 1 if
    $g \ge \mathrm{rel}$, else 0; with `gain="linear"` $g / g_{\max}$; with `gain="exp"`
    $(2^g - 1) / (2^{g_{\max}} - 1)$. $g_{\max}$ is `max_grade`, by default the highest grade in all the
    judgments; a grade above it counts as it. With `max_grade="query"` it is the highest grade of the query,
    or 1 if that is less. With `gain="grade"` $u(g)$ is the grade itself where $g \ge \mathrm{rel}$, else 0,
    so that values above 1 are possible.

    Unjudged: has no gain; `RBP_residual` tells how much that could matter.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved.
    Agrees with: ir_measures' and cwl_eval's `RBP(rel=…, p=…)`; ranx' `rbp.80` is `RBP(p=0.8, gain="grade")`. `trec_eval -m rbp` (version 10) is
        `RBP(p=0.9, gain="linear", max_grade="query")` where the memory it forgets to clear holds zeros.

    Example:
        Relevant results come first and third, $0.5 (1 + 0.5^2)$:

        >>> from judged.kernels.examples import make_ranking
        >>> rank_biased_precision(make_ranking([1, 0, 1]), p=0.5)
        array([0.625])

    References:
        Moffat and Zobel. Rank-biased precision for measurement of retrieval effectiveness. TOIS 27(1), 2008.
        doi:10.1145/1416950.1416952
    """
    use = _use(ranking, rel, gain, max_grade)
    seen = np.where(ranking.within(cutoff), use * reach_probability(ranking, p), 0.0)
    return (1.0 - p) * segment_sum(seen, ranking.offset)


def _use(
    ranking: Ranking,
    rel: float | None,
    gain: Literal["linear", "exp", "grade"] | None,
    max_grade: float | Literal["query"] | None,
) -> Floats:
    """What each retrieved judged document is worth to the reader."""
    if gain is None:
        return ranking.hits(rel).astype(np.float64)
    if gain == "grade":
        return np.where(ranking.hits(rel), ranking.grade, 0.0)
    return _graded(ranking, gain, max_grade)


def _graded(ranking: Ranking, gain: Gain, max_grade: float | Literal["query"] | None) -> Floats:
    """The gain of each retrieved judged document as a share of the highest there is."""
    if max_grade == "query":
        own = np.maximum(segment_max(np.maximum(ranking.best, 0.0), ranking.best_offset), 1.0)
        top = own[ranking.query]
    else:
        highest = ranking.highest if max_grade is None else max_grade
        top = np.full(len(ranking.rank), max(highest, 0.0))
    return divide(grade_gains(np.minimum(ranking.grade, top), gain), grade_gains(top, gain))


RBP = Measure(
    "RBP",
    rank_biased_precision,
    at="cutoff",
    properties=frozenset({"swap", "zero-if-nothing-found", "linear", "gain-only", "by-grade", "grows"}),
)
