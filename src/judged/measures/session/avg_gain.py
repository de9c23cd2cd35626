"""Average good gain: what an iteration brings for each result that it returns."""

from __future__ import annotations

from judged.kernels.segments import Floats
from judged.kernels.sessions.good_gain import Beyond, Iteration, Worth, average_gain, mask_not_found, value_at
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import LOOKED_AT, SESSION_PARAMETERS

__all__ = ["AvgGain", "iteration_yield"]


def iteration_yield(
    steps: SessionView,
    *,
    iteration: Iteration = "last",
    good: int = 2,
    gain: Worth = "graded",
    beyond: Beyond = "hold",
) -> Floats:
    r"""The good gain of one iteration, divided by the number of results that it returned, duplicates among them.

    $$\mathrm{AvgGain}_i = \frac{G_i}{|R^i|}$$

    where $G_i$ is the gain of the good results that iteration $i$ was the first to bring, and $R^i$ all that it returned.
    Written `AvgGain@i`, or `AvgGain_i` as in the source. It falls as a session goes on and finds less that is
    new, so it is never shown alone: read it beside `CG` and `N`.

    Unlabelled: counts as gain 0, so that more labels can only raise the value.
    Empty: 0 for an iteration that returned nothing; undefined (NaN, left out of the mean and counted) for a session that never searched or found nothing
        at all.

    Example:
        The second iteration brings 2 with two results:

        >>> from judged.kernels.examples import make_sessions
        >>> iteration_yield(make_sessions(["a4 b3 c1", "d2 a4"]), iteration=2)
        array([1.])

    References:
        Source document 001, Retrieved Good Gain Metrics, section 5.
    """
    return mask_not_found(steps, value_at(steps, average_gain(steps, good, gain), iteration, beyond))


AvgGain = Measure(
    "AvgGain",
    iteration_yield,
    at="iteration",
    bounds=(0.0, 4.0),
    family="session",
    properties=frozenset({"grows", "rate", "undefined-if-nothing-found"}),
    own=SESSION_PARAMETERS | LOOKED_AT,
)
