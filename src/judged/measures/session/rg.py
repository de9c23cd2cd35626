"""Rate of good gain: what an iteration brings on average."""

from __future__ import annotations

import math

from judged.kernels.segments import Floats, divide
from judged.kernels.sessions.good_gain import (
    Beyond,
    Iteration,
    Worth,
    count_until,
    iteration_count,
    iteration_gain,
    mask_not_found,
)
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["RG", "gain_rate"]


def gain_rate(
    steps: SessionView,
    *,
    iteration: Iteration = "last",
    good: int = 2,
    gain: Worth = "graded",
    beyond: Beyond = "hold",
) -> Floats:
    r"""The good gain up to and with an iteration, divided by the number of iterations.

    $$\mathrm{RG}@i = \frac{\mathrm{CG}@i}{i}$$

    where $i$ is at most the number of the session's iterations, unless they are padded.
    It rises when an agent stops early, so it is never shown alone: read it beside `CG` and `N`.

    Unlabelled: counts as gain 0, so that more labels can only raise the value.
    Empty: undefined (NaN, left out of the mean and counted) for a session that never searched or found nothing
        at all.

    Example:
        7 and then 2 make 4.5 on average:

        >>> from judged.kernels.examples import make_sessions
        >>> gain_rate(make_sessions(["a4 b3 c1", "d2 a4"]))
        array([4.5])

    References:
        Source document 001, Retrieved Good Gain Metrics, section 2.
    """
    total = count_until(steps, iteration_gain(steps, good, gain), iteration)
    return mask_not_found(steps, divide(total, iteration_count(steps, iteration, beyond)))


RG = Measure(
    "RG",
    gain_rate,
    at="iteration",
    bounds=(0.0, math.inf),
    family="session",
    properties=frozenset({"grows", "rate", "undefined-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
