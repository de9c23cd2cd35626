"""Good gain for each second."""

from __future__ import annotations

import math

from judged.kernels.segments import Floats
from judged.kernels.sessions.good_gain import Iteration, Worth, gain_per_cost
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["GainPerSecond", "gain_per_second"]


def gain_per_second(
    steps: SessionView, *, iteration: Iteration = "last", good: int = 2, gain: Worth = "graded"
) -> Floats:
    r"""The good gain up to and with an iteration, for each second that the iterations took.

    $$\mathrm{GainPerSecond}@i = \frac{\mathrm{CG}@i}{\mathrm{seconds}@i}$$

    where seconds are those that the trace gives for each iteration.
    It rises when an agent stops early, so it is never shown alone: read it beside `CG` and `N`.

    Unlabelled: counts as gain 0, so that more labels can only raise the value.
    Empty: undefined (NaN, left out of the mean and counted) for a session that never searched or found nothing
        at all, and where the trace does not say what its iterations took.

    Example:
        9 in 4.5 seconds:

        >>> from judged.kernels.examples import make_sessions
        >>> gain_per_second(make_sessions(["a4 b3 c1", "d2 a4"], seconds=[[2.5, 2.0]]))
        array([2.])

    References:
        Smucker and Clarke. Time-based calibration of effectiveness measures. SIGIR 2012.
        doi:10.1145/2348283.2348300
    """
    return gain_per_cost(steps, steps.seconds, iteration, good, gain)


GainPerSecond = Measure(
    "GainPerSecond",
    gain_per_second,
    at="iteration",
    bounds=(0.0, math.inf),
    family="session",
    properties=frozenset({"grows", "rate", "undefined-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
