"""Good gain for each search."""

from __future__ import annotations

import math

from judged.kernels.segments import Floats
from judged.kernels.sessions.good_gain import Iteration, Worth, gain_per_cost
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["GainPerSearch", "gain_per_search"]


def gain_per_search(
    steps: SessionView, *, iteration: Iteration = "last", good: int = 2, gain: Worth = "graded"
) -> Floats:
    r"""The good gain up to and with an iteration, divided by the number of searches that it took.

    $$\mathrm{GainPerSearch}@i = \frac{\mathrm{CG}@i}{\mathrm{Searches}@i}$$

    where several searches of one iteration, asked for at once, are counted each.
    It rises when an agent stops early, so it is never shown alone: read it beside `CG` and `N`.

    Unlabelled: counts as gain 0, so that more labels can only raise the value.
    Empty: undefined (NaN, left out of the mean and counted) for a session that never searched or found nothing
        at all.

    Example:
        9 with three searches:

        >>> from judged.kernels.examples import make_sessions
        >>> gain_per_search(make_sessions(["a4 b3 | c1", "d2 a4"]))
        array([3.])

    References:
        Azzopardi. Modelling interaction with economic models of search. SIGIR 2014. doi:10.1145/2600428.2609574
    """
    return gain_per_cost(steps, steps.searches, iteration, good, gain)


GainPerSearch = Measure(
    "GainPerSearch",
    gain_per_search,
    at="iteration",
    bounds=(0.0, math.inf),
    family="session",
    properties=frozenset({"grows", "rate", "undefined-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
