"""The number of different results that were returned."""

from __future__ import annotations

import math

from judged.kernels.segments import Floats
from judged.kernels.sessions.good_gain import Iteration, count_until
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["UR", "unique_results"]


def unique_results(steps: SessionView, *, iteration: Iteration = "last") -> Floats:
    r"""How many different results were returned up to and with an iteration, each counted once.

    $$UR@i = \sum_{k=1}^{i} |UR^k|$$

    where $UR^k$ holds the results that iteration $k$ was the first to bring.

    Unlabelled: does not matter.
    Empty: 0 for a session that never searched or found nothing, which stays in the mean.

    Example:
        Three new results, then one:

        >>> from judged.kernels.examples import make_sessions
        >>> unique_results(make_sessions(["a4 b3 c1", "d2 a4"]))
        array([4.])

    References:
        Source document 001, Retrieved Good Gain Metrics, Preliminaries.
    """
    return count_until(steps, steps.new, iteration).astype(float)


UR = Measure(
    "UR",
    unique_results,
    at="iteration",
    bounds=(0.0, math.inf),
    family="session",
    higher_is_better=None,
    properties=frozenset({"whole", "accumulates", "gain-free", "zero-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
