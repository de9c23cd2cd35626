"""Discounted rate of good gain: what an iteration brings on average, less the later it comes."""

from __future__ import annotations

import math

from judged.kernels.segments import Floats, divide
from judged.kernels.sessions.good_gain import (
    Beyond,
    Discount,
    Iteration,
    Worth,
    discounted_total_until,
    iteration_count,
    iteration_gain,
    mask_not_found,
)
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["DRG", "discounted_gain_rate"]


def discounted_gain_rate(
    steps: SessionView,
    *,
    iteration: Iteration = "last",
    good: int = 2,
    gain: Worth = "graded",
    discount: Discount = "log2",
    beyond: Beyond = "hold",
) -> Floats:
    r"""The discounted good gain up to and with an iteration, divided by the number of iterations.

    $$\mathrm{DRG}@i = \frac{\mathrm{DCG}@i}{i}$$

    where $i$ is at most the number of the session's iterations, unless they are padded. Late gain is diminished
    twice, by its weight and by the divisor.
    It rises when an agent stops early, so it is never shown alone: read it beside `CG` and `N`.

    Unlabelled: counts as gain 0, so that more labels can only raise the value.
    Empty: undefined (NaN, left out of the mean and counted) for a session that never searched or found nothing
        at all.

    Example:
        $(7 + 2 / \log_2 3) / 2$:

        >>> from judged.kernels.examples import make_sessions
        >>> discounted_gain_rate(make_sessions(["a4 b3 c1", "d2 a4"])).round(4)
        array([4.1309])

    References:
        Source document 001, Retrieved Good Gain Metrics, section 4.
    """
    total = discounted_total_until(steps, iteration_gain(steps, good, gain), iteration, discount)
    return mask_not_found(steps, divide(total, iteration_count(steps, iteration, beyond)))


DRG = Measure(
    "DRG",
    discounted_gain_rate,
    at="iteration",
    bounds=(0.0, math.inf),
    family="session",
    properties=frozenset({"grows", "rate", "undefined-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
