"""The number of different good results that were returned."""

from __future__ import annotations

import math

from judged.kernels.segments import Floats
from judged.kernels.sessions.good_gain import Iteration, count_until, good_results
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["GR", "good_unique_results"]


def good_unique_results(steps: SessionView, *, iteration: Iteration = "last", good: int = 2) -> Floats:
    r"""How many different good results were returned up to and with an iteration, each counted once.

    $$GR@i = \sum_{k=1}^{i} |GR^k|$$

    where $GR^k$ holds the results that iteration $k$ was the first to bring and whose gain is at least `good`.
    It is `CG(gain="binary")`.

    Unlabelled: is not good, so that more labels can only raise the value.
    Empty: 0 for a session that never searched or found nothing, which stays in the mean.

    Example:
        `a`, `b` and `d` are good:

        >>> from judged.kernels.examples import make_sessions
        >>> good_unique_results(make_sessions(["a4 b3 c1", "d2 a4"]))
        array([3.])

    References:
        Source document 001, Retrieved Good Gain Metrics, Preliminaries.
    """
    return count_until(steps, good_results(steps, good), iteration).astype(float)


GR = Measure(
    "GR",
    good_unique_results,
    at="iteration",
    bounds=(0.0, math.inf),
    family="session",
    properties=frozenset({"whole", "accumulates", "grows", "zero-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
