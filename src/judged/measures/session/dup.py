"""The number of results that repeat an earlier one."""

from __future__ import annotations

import math

from judged.kernels.segments import Floats
from judged.kernels.sessions.good_gain import Iteration, count_until
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["Dup", "duplicate_results"]


def duplicate_results(steps: SessionView, *, iteration: Iteration = "last") -> Floats:
    r"""How many results up to and with an iteration repeat an earlier one, of the same iteration or of one before.

    $$\mathrm{Dup}@i = \sum_{k=1}^{i} |\mathrm{Dup}^k| = R@i - UR@i$$

    where $\mathrm{Dup}^k$ holds the results of iteration $k$ that the agent had been given before in the same turn.

    Unlabelled: does not matter.
    Empty: 0 for a session that never searched or found nothing, which stays in the mean.

    Example:
        `a` comes twice:

        >>> from judged.kernels.examples import make_sessions
        >>> duplicate_results(make_sessions(["a4 b3 c1", "d2 a4"]))
        array([1.])

    References:
        Source document 001, Retrieved Good Gain Metrics, Preliminaries.
    """
    return count_until(steps, steps.duplicates, iteration).astype(float)


Dup = Measure(
    "Dup",
    duplicate_results,
    at="iteration",
    bounds=(0.0, math.inf),
    family="session",
    higher_is_better=None,
    properties=frozenset({"whole", "accumulates", "gain-free", "zero-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
