"""The number of searches that were made."""

from __future__ import annotations

import math

from judged.kernels.segments import Floats
from judged.kernels.sessions.good_gain import Iteration, count_until
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["Searches", "searches_made"]


def searches_made(steps: SessionView, *, iteration: Iteration = "last") -> Floats:
    r"""How many searches were made up to and with an iteration.

    $$\mathrm{Searches}@i = \sum_{k=1}^{i} |S^k|$$

    where $S^k$ holds the searches of iteration $k$: several where the agent asked for several at once, or one call held
    several queries.

    Unlabelled: does not matter.
    Empty: 0 for a session that never searched, which stays in the mean.

    Example:
        Two searches in the first iteration, one in the second:

        >>> from judged.kernels.examples import make_sessions
        >>> searches_made(make_sessions(["a4 b3 | c1", "d2 a4"]))
        array([3.])

    References:
        Source document 001, Retrieved Good Gain Metrics, Preliminaries.
    """
    return count_until(steps, steps.searches, iteration).astype(float)


Searches = Measure(
    "Searches",
    searches_made,
    at="iteration",
    bounds=(0.0, math.inf),
    family="session",
    higher_is_better=None,
    properties=frozenset({"whole", "accumulates", "gain-free"}),
    own=SESSION_PARAMETERS,
)
