"""The working of what looks at everything retrieved as one set."""

from __future__ import annotations

import numpy as np

from judged.explanation.working import Formula, Working
from judged.explanation.workings.precision import quotient
from judged.kernels.ranked.ranking import Ranking

__all__ = ["Judged", "SetAP", "SetP", "SetR", "SetRelP"]


def SetP(view: Ranking, *, rel: float | None) -> Working:
    """Found over retrieved."""
    found, retrieved, _ = _counts(view, rel)
    return Working({"found": view.found(rel)}, quotient("found / retrieved", found, retrieved))


def SetR(view: Ranking, *, rel: float | None) -> Working:
    """Found over relevant."""
    found, _, relevant = _counts(view, rel)
    return Working({"found": view.found(rel)}, quotient("found / relevant", found, relevant))


def SetRelP(view: Ranking, *, rel: float | None) -> Working:
    """Found over what could be."""
    found, retrieved, relevant = _counts(view, rel)
    words = "found / min(retrieved, relevant)"
    return Working({"found": view.found(rel)}, quotient(words, found, min(retrieved, relevant)))


def SetAP(view: Ranking, *, rel: float | None) -> Working:
    """Precision times recall."""
    found, retrieved, relevant = _counts(view, rel)
    columns = {"found": view.found(rel)}
    if not retrieved * relevant:
        return Working(columns)
    value, numbers = found * found / (retrieved * relevant), (found, found, retrieved, relevant)
    words = "found × found / (retrieved × relevant)"
    return Working(columns, Formula(words, "{} × {} / ({} × {})", numbers, value))


def Judged(view: Ranking, *, cutoff: int | None) -> Working:
    """Judged results over results looked at."""
    known = (view.grade >= 0) & view.within(cutoff)
    retrieved = int(view.retrieved[0])
    shown = retrieved if cutoff is None else min(retrieved, cutoff)
    formula = quotient("judged / results looked at", int(known.sum()), shown)
    return Working({"judged": np.cumsum(known)}, formula)


def _counts(view: Ranking, rel: float | None) -> tuple[int, int, int]:
    """How many were found, were retrieved, and are relevant."""
    return int(view.hits_within(None, rel)[0]), int(view.retrieved[0]), int(view.relevant(rel)[0])
