"""Discounted rate of average gain: what a result brings, less the later it comes."""

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
)
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["DRAG", "discounted_yield_rate"]


def discounted_yield_rate(
    steps: SessionView,
    *,
    iteration: Iteration = "last",
    good: int = 2,
    gain: Worth = "graded",
    discount: Discount = "log2",
    beyond: Beyond = "hold",
) -> Floats:
    r"""The sum over iterations of the good gain for each returned result, times a falling weight, divided by their number.

    $$\mathrm{DRAG}@i = \frac{1}{i} \sum_{k=1}^{i} w(k) \cdot \mathrm{AvgGain}_k, \qquad w(k) = \frac{1}{\log_2(k + 1)}$$

    where $\mathrm{AvgGain}_k$ is the good gain of iteration $k$ over the number of its results. The source calls
    it a weighted mean, but it is divided by $i$ and not by the sum of the weights: a constant yield of 2 has the value
    1.420620 after three iterations. The weighted mean proper is `nDRAG`.
    It rises when an agent stops early, so it is never shown alone: read it beside `CG` and `N`.

    Unlabelled: counts as gain 0, so that more labels can only raise the value.
    Empty: undefined (NaN, left out of the mean and counted) for a session that never searched or found nothing
        at all.

    Example:
        A constant yield of 2, three times:

        >>> from judged.kernels.examples import make_sessions
        >>> discounted_yield_rate(make_sessions(["a2", "b2", "c2"])).round(6)
        array([1.42062])

    References:
        Source document 001, Retrieved Good Gain Metrics, section 7.
    """
    added = discounted_total_until(steps, average_gain(steps, good, gain), iteration, discount)
    return mask_not_found(steps, divide(added, iteration_count(steps, iteration, beyond)))


DRAG = Measure(
    "DRAG",
    discounted_yield_rate,
    at="iteration",
    bounds=(0.0, 4.0),
    family="session",
    properties=frozenset({"grows", "rate", "undefined-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
