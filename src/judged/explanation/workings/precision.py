"""The working of what counts relevant results: how many were found, and the precision there."""

from __future__ import annotations

from typing import Any

import numpy as np

from judged.explanation.working import Formula, Working
from judged.kernels.ranked.precision import precision_at_hits
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats

__all__ = ["AP", "AP11", "F1", "RR", "IPrec", "NumRelRet", "P", "R", "Rprec", "Success", "gm_AP", "quotient"]


def P(view: Ranking, *, cutoff: int, rel: float | None, over: str) -> Working:
    """Found over the cutoff, or over what was retrieved."""
    length, name = cutoff, str(cutoff)
    if over == "retrieved":
        length, name = min(cutoff, int(view.retrieved[0])), f"min({cutoff}, retrieved)"
    return Working(_columns(view, rel), quotient(f"found / {name}", _found(view, cutoff, rel), length))


def R(view: Ranking, *, cutoff: int, rel: float | None, over: str) -> Working:
    """Found over all relevant documents, or over as many of them as the cutoff has room for."""
    relevant, name = _relevant(view, rel), "relevant"
    if over == "cutoff":
        relevant, name = min(cutoff, relevant), f"min({cutoff}, relevant)"
    return Working(_columns(view, rel), quotient(f"found / {name}", _found(view, cutoff, rel), relevant))


def F1(view: Ranking, *, cutoff: int, rel: float | None) -> Working:
    """Twice what was found over the cutoff and all relevant documents together."""
    found, relevant = _found(view, cutoff, rel), _relevant(view, rel)
    value, numbers = 2 * found / (cutoff + relevant), (found, cutoff, relevant)
    return Working(
        _columns(view, rel), Formula("2 × found / (k + relevant)", "2 × {} / ({} + {})", numbers, value)
    )


def Success(view: Ranking, *, cutoff: int, rel: float | None) -> Working:
    """1 if anything was found."""
    found = _found(view, cutoff, rel)
    return Working(
        _columns(view, rel), Formula("min(1, found)", "min(1, {})", (found,), float(min(1, found)))
    )


def RR(view: Ranking, *, cutoff: int | None, rel: float | None) -> Working:
    """One over the rank of the first relevant result."""
    hits = view.rank[view.hits(rel) & view.within(cutoff)]
    if len(hits) == 0:
        return Working(_columns(view, rel))
    first = int(hits[0])
    formula = Formula("1 / rank of the first relevant result", "1 / {}", (first,), 1 / first)
    return Working(_columns(view, rel), formula)


def AP(view: Ranking, *, rel: float | None, cutoff: int | None = None, over: str = "relevant") -> Working:
    """The precisions at relevant results, summed, over the number of relevant documents."""
    term = np.where(view.within(cutoff), precision_at_hits(view, rel), 0.0)
    relevant, name = _relevant(view, rel), "relevant"
    if cutoff is not None and over == "cutoff":
        relevant, name = min(relevant, cutoff), f"min({cutoff}, relevant)"
    total = np.cumsum(term)
    got = float(total[-1]) if len(total) else 0.0
    columns = {**_columns(view, rel), "term": term, "total": total}
    return Working(columns, quotient(f"sum of the terms / {name}", got, relevant))


gm_AP = AP
"""A query's value is its average precision; the geometric mean comes after."""


def Rprec(view: Ranking, *, rel: float | None, multiple: float) -> Working:
    """Found among as many results as there are relevant documents, over that many."""
    length = int(np.floor(multiple * _relevant(view, rel) + 0.9))
    words = f"found among the first {length} / {length}"
    return Working(_columns(view, rel), quotient(words, _found(view, length, rel), length))


def NumRelRet(view: Ranking, *, rel: float | None) -> Working:
    """How many relevant documents were found."""
    found = _found(view, None, rel)
    return Working(_columns(view, rel), Formula("found", "{}", (found,), float(found)))


def IPrec(view: Ranking, *, rel: float | None, **_recall: Any) -> Working:
    """Precision and recall at each rank; the highest precision at or after a recall counts."""
    relevant, columns = _relevant(view, rel), _columns(view, rel)
    recall = columns["found"] / relevant if relevant else np.zeros(len(view.rank))
    return Working({**columns, "recall": recall})


AP11 = IPrec
"""The mean of interpolated precisions goes through the same columns."""


def quotient(words: str, above: float, below: float) -> Formula | None:
    """The formula of a quotient; none where nothing can be divided by."""
    return Formula(words, "{} / {}", (above, below), above / below) if below else None


def _columns(view: Ranking, rel: float | None) -> dict[str, Floats]:
    found = view.found(rel)
    return {"found": found, "precision": found / view.rank}  # type: ignore[dict-item]


def _found(view: Ranking, cutoff: int | None, rel: float | None) -> int:
    return int(view.hits_within(cutoff, rel)[0])


def _relevant(view: Ranking, rel: float | None) -> int:
    return int(view.relevant(rel)[0])
