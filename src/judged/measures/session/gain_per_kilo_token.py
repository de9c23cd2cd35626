"""Good gain for a thousand tokens."""

from __future__ import annotations

import math

from judged.kernels.segments import Floats
from judged.kernels.sessions.good_gain import Iteration, Worth, gain_per_cost
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["GainPerKiloToken", "gain_per_kilo_token"]


def gain_per_kilo_token(
    steps: SessionView, *, iteration: Iteration = "last", good: int = 2, gain: Worth = "graded"
) -> Floats:
    r"""The good gain up to and with an iteration, for each thousand tokens that the iterations took.

    $$\mathrm{GainPerKiloToken}@i = \frac{\mathrm{CG}@i}{\mathrm{tokens}@i} \cdot 1000$$

    where tokens are those that the trace gives for each iteration.
    It rises when an agent stops early, so it is never shown alone: read it beside `CG` and `N`.

    Unlabelled: counts as gain 0, so that more labels can only raise the value.
    Empty: undefined (NaN, left out of the mean and counted) for a session that never searched or found nothing
        at all, and where the trace does not say what its iterations took.

    Example:
        9 with 1,500 tokens:

        >>> from judged.kernels.examples import make_sessions
        >>> gain_per_kilo_token(make_sessions(["a4 b3 c1", "d2 a4"], tokens=[[1000, 500]]))
        array([6.])

    References:
        Azzopardi. Modelling interaction with economic models of search. SIGIR 2014. doi:10.1145/2600428.2609574
    """
    return 1000.0 * gain_per_cost(steps, steps.tokens, iteration, good, gain)


GainPerKiloToken = Measure(
    "GainPerKiloToken",
    gain_per_kilo_token,
    at="iteration",
    bounds=(0.0, math.inf),
    family="session",
    properties=frozenset({"grows", "rate", "undefined-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
