"""Search result efficiency: the share of all returned results that were new and good."""

from __future__ import annotations

from judged.kernels.segments import Floats, Ints, divide
from judged.kernels.sessions.good_gain import Iteration, count_until, good_results, mask_not_found
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["SRE", "good_of_all", "result_efficiency"]


def result_efficiency(steps: SessionView, *, iteration: Iteration = "last", good: int = 2) -> Floats:
    r"""The share of all results up to and with an iteration, duplicates among them, that were new and good.

    $$\mathrm{SRE}@i = \frac{GR@i}{R@i}$$

    where $GR@i$ counts the good results, each once, and $R@i$ all results with their duplicates.
    It rises when an agent stops early, so it is never shown alone: read it beside `CG` and `N`.

    Unlabelled: is not good, so that more labels can only raise the value.
    Empty: 0 while nothing has been returned yet; undefined (NaN, left out of the mean and counted) for a session
        that never searched or found nothing at all.

    Example:
        Three of five results are good and new:

        >>> from judged.kernels.examples import make_sessions
        >>> result_efficiency(make_sessions(["a4 b3 c1", "d2 a4"]))
        array([0.6])

    References:
        Source document 001, Retrieved Good Gain Metrics, section 8.
    """
    return mask_not_found(steps, divide(*good_of_all(steps, iteration=iteration, good=good)))


def good_of_all(steps: SessionView, *, iteration: Iteration, good: int) -> tuple[Ints, Ints]:
    """How many results of each session were new and good, and how many there were."""
    return count_until(steps, good_results(steps, good), iteration), count_until(
        steps, steps.results, iteration
    )


SRE = Measure(
    "SRE",
    result_efficiency,
    at="iteration",
    family="session",
    properties=frozenset({"grows", "rate", "undefined-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
