"""Discounted cumulative good gain: what new good results are worth, less the later they come."""

from __future__ import annotations

import math

from judged.kernels.segments import Floats
from judged.kernels.sessions.good_gain import (
    Discount,
    Iteration,
    Worth,
    discounted_total_until,
    iteration_gain,
)
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["DCG", "discounted_iteration_gain"]


def discounted_iteration_gain(
    steps: SessionView,
    *,
    iteration: Iteration = "last",
    good: int = 2,
    gain: Worth = "graded",
    discount: Discount = "log2",
) -> Floats:
    r"""The sum of the good gains of the iterations, each times a weight that falls from one to the next.

    $$\mathrm{DCG}@i = \sum_{k=1}^{i} w(k) \cdot G_k, \qquad w(k) = \frac{1}{\log_2(k + 1)}$$

    where $G_k$ is the gain of the good results that iteration $k$ was the first to bring, and $w$ the
    `discount`. Ranks within an iteration do not matter: it is not the `DCG` of a ranking. It is never above `CG`.

    Unlabelled: counts as gain 0, so that more labels can only raise the value.
    Empty: 0 for a session that never searched or found nothing, which stays in the mean.

    Example:
        The first iteration's 7 count whole, the second's 2 are divided by $\log_2 3$:

        >>> from judged.kernels.examples import make_sessions
        >>> discounted_iteration_gain(make_sessions(["a4 b3 c1", "d2 a4"])).round(4)
        array([8.2619])

    References:
        Source document 001, Retrieved Good Gain Metrics, section 3.
        Järvelin, Price, Delcambre and Nielsen. Discounted cumulated gain based evaluation of multiple-query IR
        sessions. ECIR 2008. doi:10.1007/978-3-540-78646-7_4
    """
    return discounted_total_until(steps, iteration_gain(steps, good, gain), iteration, discount)


DCG = Measure(
    "DCG",
    discounted_iteration_gain,
    at="iteration",
    bounds=(0.0, math.inf),
    family="session",
    properties=frozenset({"accumulates", "grows", "zero-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
