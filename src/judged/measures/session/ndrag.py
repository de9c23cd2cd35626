"""Weighted mean of average gain: what a result brings, early iterations weighing more."""

from __future__ import annotations

from judged.kernels.segments import Floats, divide
from judged.kernels.sessions.good_gain import (
    Beyond,
    Discount,
    Iteration,
    Worth,
    average_gain,
    discounted_total_until,
    iteration_count,
    mask_not_found,
    weight_sum,
)
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["nDRAG", "weighted_yield"]


def weighted_yield(
    steps: SessionView,
    *,
    iteration: Iteration = "last",
    good: int = 2,
    gain: Worth = "graded",
    discount: Discount = "log2",
    beyond: Beyond = "hold",
) -> Floats:
    r"""The mean over iterations of the good gain for each returned result, weighted so that early iterations count more.

    $$\mathrm{nDRAG}@i = \frac{\sum_{k=1}^{i} w(k) \cdot \mathrm{AvgGain}_k}{\sum_{k=1}^{i} w(k)}, \qquad w(k) = \frac{1}{\log_2(k + 1)}$$

    where $\mathrm{AvgGain}_k$ is the good gain of iteration $k$ over the number of its results. A constant yield is its
    own mean, however many iterations there are, which `DRAG` does not grant.
    It rises when an agent stops early, so it is never shown alone: read it beside `CG` and `N`.

    Unlabelled: counts as gain 0, so that more labels can only raise the value.
    Empty: undefined (NaN, left out of the mean and counted) for a session that never searched or found nothing
        at all.

    Example:
        A constant yield of 2, three times:

        >>> from judged.kernels.examples import make_sessions
        >>> weighted_yield(make_sessions(["a2", "b2", "c2"]))
        array([2.])

    References:
        Source document 001, Retrieved Good Gain Metrics, section 7.
    """
    added = discounted_total_until(steps, average_gain(steps, good, gain), iteration, discount)
    return mask_not_found(
        steps, divide(added, weight_sum(iteration_count(steps, iteration, beyond), discount))
    )


nDRAG = Measure(
    "nDRAG",
    weighted_yield,
    at="iteration",
    bounds=(0.0, 4.0),
    family="session",
    properties=frozenset({"grows", "rate", "undefined-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
