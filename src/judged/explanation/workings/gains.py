"""The working of discounted gain: gain over discount, rank by rank, and the same of the best order."""

from __future__ import annotations

import numpy as np

from judged.explanation.working import Formula, Working, summed
from judged.kernels.ranked.gains import Gain, Gains, best_gains, found_gains, grade_gains
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, Ints

__all__ = ["DCG", "IDCG", "nDCG", "nDCG_JK"]


def DCG(view: Ranking, *, cutoff: int | None, gain: Gain, gains: Gains | None) -> Working:
    """Gain over log₂(rank + 1), summed."""
    found = _terms(found_gains(view, gain, gains), _discount(view.rank), view.rank, cutoff)
    total = _total(found)
    return Working(found, summed("the sum of the terms", found["term"].tolist(), total))


def IDCG(view: Ranking, *, cutoff: int | None, gain: Gain, gains: Gains | None) -> Working:
    """The same of the best order alone."""
    best = _terms(best_gains(view, gain, gains), _discount(view.best_rank), view.best_rank, cutoff)
    total = _total(best)
    formula = summed("the sum of the terms of the best order", best["term"].tolist(), total)
    return Working({}, formula, best, _order(view, gain, gains))


def nDCG(view: Ranking, *, cutoff: int | None, gain: Gain, gains: Gains | None) -> Working:
    """The sum over that of the best order."""
    found = _terms(found_gains(view, gain, gains), _discount(view.rank), view.rank, cutoff)
    best = _terms(best_gains(view, gain, gains), _discount(view.best_rank), view.best_rank, cutoff)
    return Working(found, _share(found, best, cutoff), best, _order(view, gain, gains))


def nDCG_JK(view: Ranking, *, cutoff: int | None, base: float, gain: Gain, gains: Gains | None) -> Working:
    """The same where ranks up to the base are not discounted."""
    here, there = (np.maximum(np.log(rank) / np.log(base), 1.0) for rank in (view.rank, view.best_rank))
    found = _terms(found_gains(view, gain, gains), here, view.rank, cutoff)
    best = _terms(best_gains(view, gain, gains), there, view.best_rank, cutoff)
    return Working(found, _share(found, best, cutoff), best, _order(view, gain, gains))


def _discount(rank: Ints) -> Floats:
    discount: Floats = np.log2(rank + 1.0)
    return discount


def _terms(gain: Floats, discount: Floats, rank: Ints, cutoff: int | None) -> dict[str, Floats]:
    near = True if cutoff is None else rank <= cutoff
    term = np.where(near, gain / discount, 0.0)
    return {"gain": gain, "discount": discount, "term": term, "total": np.cumsum(term)}


def _share(found: dict[str, Floats], best: dict[str, Floats], cutoff: int | None) -> Formula | None:
    got, ideal, at = _total(found), _total(best), "" if cutoff is None else f"@{cutoff}"
    if ideal == 0:
        return None
    return Formula(f"DCG{at} / ideal DCG{at}", "{} / {}", (got, ideal), got / ideal)


def _total(columns: dict[str, Floats]) -> float:
    return float(columns["total"][-1]) if len(columns["total"]) else 0.0


def _order(view: Ranking, gain: Gain, gains: Gains | None) -> Ints | None:
    """The best order of gains, where a table of gains makes it another than that of grades."""
    if gains is None:
        return None
    return np.argsort(-np.maximum(grade_gains(view.best, gain, gains), 0.0), kind="stable")
