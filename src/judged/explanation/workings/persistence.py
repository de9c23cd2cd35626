"""The working of rank-biased precision: the weight of each rank, and what its result is worth."""

from __future__ import annotations

from typing import Literal

import numpy as np

from judged.explanation.working import Formula, Working
from judged.kernels.ranked.browsing import reach_probability
from judged.kernels.ranked.gains import Gain, grade_gains
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide

__all__ = ["RBP"]


def RBP(
    view: Ranking,
    *,
    cutoff: int | None,
    p: float,
    rel: float | None,
    gain: Literal["linear", "exp", "grade"] | None,
    max_grade: float | Literal["query"] | None,
) -> Working:
    """Gain times the chance of being reached, summed, over the number of results that a reader sees."""
    share = _share(view, rel, gain, max_grade)
    weight = reach_probability(view, p)
    term = np.where(view.within(cutoff), share * weight, 0.0)
    total = np.cumsum(term)
    got = float(total[-1]) if len(total) else 0.0
    formula = Formula("(1 − p) × the sum of the terms", "(1 − {}) × {}", (p, got), (1.0 - p) * got)
    return Working({"gain": share, "weight": weight, "term": term, "total": total}, formula)


def _share(
    view: Ranking,
    rel: float | None,
    gain: Literal["linear", "exp", "grade"] | None,
    max_grade: float | Literal["query"] | None,
) -> Floats:
    """What each result is worth to the reader."""
    if gain is None:
        return view.hits(rel).astype(np.float64)
    if gain == "grade":
        return np.where(view.hits(rel), view.grade, 0.0)
    return _graded(view, gain, max_grade)


def _graded(view: Ranking, gain: Gain, max_grade: float | Literal["query"] | None) -> Floats:
    """The gain of each result as a share of the highest."""
    if max_grade == "query":
        highest = max(float(view.best.max(initial=0.0)), 1.0)
    else:
        highest = max(view.highest if max_grade is None else max_grade, 0.0)
    top = np.array(highest)
    return divide(grade_gains(np.minimum(view.grade, top), gain), grade_gains(top, gain))
