"""Marginal gain: what a single iteration adds."""

from __future__ import annotations

import math

from judged.kernels.segments import Floats
from judged.kernels.sessions.good_gain import Beyond, Iteration, Worth, iteration_gain, value_at
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import LOOKED_AT, SESSION_PARAMETERS

__all__ = ["MarginalGain", "marginal_gain"]


def marginal_gain(
    steps: SessionView,
    *,
    iteration: Iteration = "last",
    good: int = 2,
    gain: Worth = "graded",
    beyond: Beyond = "hold",
) -> Floats:
    r"""The good gain that one iteration adds to what was found before.

    $$\mathrm{MarginalGain}@i = G_i = \mathrm{CG}@i - \mathrm{CG}@(i - 1)$$

    where $G_i$ is the gain of the good results that iteration $i$ was the first to bring. Where it stays at 0, the agent
    could have stopped.

    Unlabelled: counts as gain 0, so that more labels can only raise the value.
    Empty: 0 for an iteration that returned nothing new and good, and for a session that never searched.

    Example:
        The second iteration adds 2:

        >>> from judged.kernels.examples import make_sessions
        >>> marginal_gain(make_sessions(["a4 b3 c1", "d2 a4"]), iteration=2)
        array([2.])

    References:
        Source document 001, Retrieved Good Gain Metrics, Preliminaries.
        Maxwell, Azzopardi, Järvelin and Keskustalo. An initial investigation into fixed and adaptive stopping
        strategies. SIGIR 2015. doi:10.1145/2766462.2767802
    """
    return value_at(steps, iteration_gain(steps, good, gain), iteration, beyond)


MarginalGain = Measure(
    "MarginalGain",
    marginal_gain,
    at="iteration",
    bounds=(0.0, math.inf),
    family="session",
    properties=frozenset({"whole", "grows", "zero-if-nothing-found"}),
    own=SESSION_PARAMETERS | LOOKED_AT,
)
