"""Rate of average gain: what a result brings, averaged over iterations."""

from __future__ import annotations

from judged.kernels.segments import Floats, divide
from judged.kernels.sessions.good_gain import (
    Beyond,
    Iteration,
    Worth,
    average_gain,
    iteration_count,
    mask_not_found,
    total_until,
)
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["RAG", "yield_rate"]


def yield_rate(
    steps: SessionView,
    *,
    iteration: Iteration = "last",
    good: int = 2,
    gain: Worth = "graded",
    beyond: Beyond = "hold",
) -> Floats:
    r"""The mean over iterations of the good gain for each returned result.

    $$\mathrm{RAG}@i = \frac{1}{i} \sum_{k=1}^{i} \mathrm{AvgGain}_k$$

    where $\mathrm{AvgGain}_k$ is the good gain of iteration $k$ over the number of its results, and 0 where it has
    none. An iteration with two results weighs as much as one with twenty. It has nothing to do with
    retrieval-augmented generation.
    It rises when an agent stops early, so it is never shown alone: read it beside `CG` and `N`.

    Unlabelled: counts as gain 0, so that more labels can only raise the value.
    Empty: undefined (NaN, left out of the mean and counted) for a session that never searched or found nothing
        at all.

    Example:
        The mean of $7/3$ and $2/2$:

        >>> from judged.kernels.examples import make_sessions
        >>> yield_rate(make_sessions(["a4 b3 c1", "d2 a4"])).round(4)
        array([1.6667])

    References:
        Source document 001, Retrieved Good Gain Metrics, section 6.
    """
    added = total_until(steps, average_gain(steps, good, gain), iteration)
    return mask_not_found(steps, divide(added, iteration_count(steps, iteration, beyond)))


RAG = Measure(
    "RAG",
    yield_rate,
    at="iteration",
    bounds=(0.0, 4.0),
    family="session",
    properties=frozenset({"grows", "rate", "undefined-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
