"""The working of the cascade: how many readers reach each result, and how many of them stop there."""

from __future__ import annotations

import numpy as np

from judged.explanation.working import Working, summed
from judged.explanation.workings.precision import quotient
from judged.kernels.ranked.browsing import stop_probability
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, Ints

__all__ = ["ERR", "nERR"]


def ERR(view: Ranking, *, cutoff: int | None, max_grade: float | None) -> Working:
    """The chance of stopping at each result, over its rank, summed."""
    highest = view.highest if max_grade is None else max_grade
    columns = _cascade(stop_probability(view.grade, highest), view.rank, cutoff)
    total = _total(columns)
    return Working(columns, summed("the sum of the terms", columns["term"].tolist(), total))


def nERR(view: Ranking, *, cutoff: int | None, max_grade: float | None) -> Working:
    """The sum over that of the best order."""
    highest = view.highest if max_grade is None else max_grade
    columns = _cascade(stop_probability(view.grade, highest), view.rank, cutoff)
    best = _cascade(stop_probability(view.best, highest), view.best_rank, cutoff)
    return Working(columns, quotient("ERR / ideal ERR", _total(columns), _total(best)), best)


def _cascade(stop: Floats, rank: Ints, cutoff: int | None) -> dict[str, Floats]:
    reached = np.concatenate(([1.0], np.cumprod(1.0 - stop)))[: len(stop)]
    near = True if cutoff is None else rank <= cutoff
    term = np.where(near, reached * stop / rank, 0.0)
    return {"reached": reached, "stops": stop, "term": term, "total": np.cumsum(term)}


def _total(columns: dict[str, Floats]) -> float:
    return float(columns["total"][-1]) if len(columns["total"]) else 0.0
