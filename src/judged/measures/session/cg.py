"""Cumulative good gain: what all new good results are worth together."""

from __future__ import annotations

import math

from judged.kernels.segments import Floats
from judged.kernels.sessions.good_gain import Iteration, Worth, count_until, iteration_gain
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["CG", "cumulative_gain"]


def cumulative_gain(
    steps: SessionView, *, iteration: Iteration = "last", good: int = 2, gain: Worth = "graded"
) -> Floats:
    r"""The sum of the gains of all good results that were new, up to and with an iteration.

    $$\mathrm{CG}@i = \sum_{k=1}^{i} G_k, \qquad G_k = \sum_{c \in GR^k} \mathrm{gain}(c)$$

    where $GR^k$ holds the results that iteration $k$ was the first to bring and whose gain is at least `good`.
    A duplicate adds nothing. The value never falls from one iteration to the next; after the last one it stays.

    Unlabelled: counts as gain 0, so that more labels can only raise the value.
    Empty: 0 for a session that never searched or found nothing, which stays in the mean.

    Example:
        The second iteration brings 2 more, the duplicate of `a` nothing:

        >>> from judged.kernels.examples import make_sessions
        >>> cumulative_gain(make_sessions(["a4 b3 c1", "d2 a4"]))
        array([9.])

    References:
        Source document 001, Retrieved Good Gain Metrics, section 1.
    """
    return count_until(steps, iteration_gain(steps, good, gain), iteration).astype(float)


CG = Measure(
    "CG",
    cumulative_gain,
    at="iteration",
    bounds=(0.0, math.inf),
    family="session",
    properties=frozenset({"whole", "accumulates", "grows", "zero-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
