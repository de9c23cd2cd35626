"""Values pooled over sessions: the sum of their numerators over the sum of their denominators."""

from __future__ import annotations

import math

from judged.errors import BadMeasure
from judged.kernels.segments import Floats
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure

__all__ = ["pooled", "pooled_parts"]


def pooled(measure: Measure, view: SessionView) -> float:
    """The value of all sessions taken together; NaN where there is nothing to divide by."""
    numerators, denominators = (float(each.sum()) for each in pooled_parts(measure, view))
    return numerators / denominators if denominators else math.nan


def pooled_parts(measure: Measure, view: SessionView) -> tuple[Floats, Floats]:
    """The numerator and the denominator of each session, for whoever pools a part of them."""
    if measure.parts is None:
        msg = f"{measure} is not pooled over sessions: each has its own value, and they have a mean"
        raise BadMeasure(msg, hint="`SRE_micro` and `SRR_micro` are")
    numerators, denominators = measure.parts(view, **measure.parameters)
    return numerators.astype(float), denominators.astype(float)
