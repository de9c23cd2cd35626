"""The number of results that were returned."""

from __future__ import annotations

import math

from judged.kernels.segments import Floats
from judged.kernels.sessions.good_gain import Iteration, count_until
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["R", "results_returned"]


def results_returned(steps: SessionView, *, iteration: Iteration = "last") -> Floats:
    r"""How many results were returned up to and with an iteration, duplicates among them.

    $$R@i = \sum_{k=1}^{i} |R^k|$$

    where $R^k$ holds everything that iteration $k$ returned, each time that it did: it is what `SRE` and `SRR` divide
    by. $R@i = UR@i + \mathrm{Dup}@i$. In a ranking, `R` is recall; of sessions that is `Recall`.

    Unlabelled: does not matter.
    Empty: 0 for a session that never searched or found nothing, which stays in the mean.

    Example:
        Three results, then two:

        >>> from judged.kernels.examples import make_sessions
        >>> results_returned(make_sessions(["a4 b3 c1", "d2 a4"]))
        array([5.])

    References:
        Source document 001, Retrieved Good Gain Metrics, Preliminaries.
    """
    return count_until(steps, steps.results, iteration).astype(float)


R = Measure(
    "R",
    results_returned,
    at="iteration",
    bounds=(0.0, math.inf),
    family="session",
    higher_is_better=None,
    properties=frozenset({"whole", "accumulates", "gain-free", "zero-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
