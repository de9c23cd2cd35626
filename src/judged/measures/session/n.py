"""The number of iterations that searched."""

from __future__ import annotations

import math

from judged.kernels.segments import Floats
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure

__all__ = ["N", "iterations_searched"]


def iterations_searched(steps: SessionView) -> Floats:
    r"""How many iterations of the session searched.

    $$N = |\{k : \text{iteration } k \text{ searched}\}|$$

    where an iteration is one step of the agent, with all the searches that it asked for. One that searched and found nothing
    counts; one that did not search does not. Rates mean little without it.

    Unlabelled: does not matter.
    Empty: 0 for a session that never searched, which stays in the mean.

    Example:
        Three iterations, of which the second finds nothing:

        >>> from judged.kernels.examples import make_sessions
        >>> iterations_searched(make_sessions(["a4 b3 c1", "", "d2 a4"]))
        array([3.])

    References:
        Source document 001, Retrieved Good Gain Metrics, Preliminaries.
    """
    return steps.iterations.astype(float)


N = Measure(
    "N",
    iterations_searched,
    bounds=(0.0, math.inf),
    family="session",
    higher_is_better=None,
    properties=frozenset({"whole", "gain-free"}),
)
