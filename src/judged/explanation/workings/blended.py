"""The working of NTCIR's measures: what was found and gained, beside the best, blended into one ratio."""

from __future__ import annotations

from typing import Any

import numpy as np

from judged.explanation.working import Formula, Working
from judged.explanation.workings.precision import quotient
from judged.kernels.ranked.blended import blended_ratio, ideal_gain_down_to, is_top_document, relevant_gains
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats

__all__ = ["NCU", "O", "P_measure", "P_plus", "Q"]


def Q(view: Ranking, *, cutoff: int | None, over: str, rel: float | None, **blend: Any) -> Working:
    """The ratios at relevant results, summed, over the number of relevant documents."""
    columns, relevant, name = _columns(view, rel, **blend), int(view.relevant(rel)[0]), "relevant"
    if cutoff is not None and over == "cutoff":
        relevant, name = min(relevant, cutoff), f"min({cutoff}, relevant)"
    total = np.cumsum(np.where(view.within(cutoff), columns["ratio"], 0.0))
    got = float(total[-1]) if len(total) else 0.0
    return Working({**columns, "total": total}, quotient(f"sum of the ratios / {name}", got, relevant))


def P_measure(view: Ranking, *, rel: float | None, **blend: Any) -> Working:
    """The ratio at the preferred result."""
    columns = _columns(view, rel, **blend)
    words = "the ratio at the first of the most relevant results"
    return Working(columns, _only(words, columns["ratio"][is_top_document(view, rel)]))


def P_plus(view: Ranking, *, rel: float | None, **blend: Any) -> Working:
    """The mean ratio down to the preferred result."""
    columns = _columns(view, rel, **blend)
    last = view.rank[is_top_document(view, rel)]
    if len(last) == 0:
        return Working(columns)
    above = view.hits(rel) & (view.rank <= last[0])
    total = float(np.cumsum(np.where(above, columns["ratio"], 0.0))[-1])
    words = "sum of the ratios down to the first of the most relevant results / how many they are"
    return Working(columns, quotient(words, total, int(above.sum())))


def O(view: Ranking, *, rel: float | None, **blend: Any) -> Working:  # noqa: E743 - its published name
    """The ratio at the first relevant result."""
    columns = _columns(view, rel, **blend)
    first = view.hits(rel) & (columns["found"] == 1)
    return Working(columns, _only("the ratio at the first relevant result", columns["ratio"][first]))


def NCU(view: Ranking, *, rel: float | None, beta: float, gain: Any, gains: Any, **_readers: Any) -> Working:
    """The ratios, of which each reader takes the one where it stops."""
    return Working(_columns(view, rel, beta=beta, gain=gain, gains=gains))


def _columns(view: Ranking, rel: float | None, *, beta: float, gain: Any, gains: Any) -> dict[str, Floats]:
    return {
        "found": view.found(rel).astype(np.int64),
        "gained": np.cumsum(relevant_gains(view, rel, gain, gains)),
        "ideal": ideal_gain_down_to(view, rel, gain, gains),
        "ratio": blended_ratio(view, beta, rel, gain, gains),
    }


def _only(words: str, values: Floats) -> Formula | None:
    """The formula of a value taken from one result; none if there is no such result."""
    return Formula(words, "{}", (float(values[0]),), float(values[0])) if len(values) else None
