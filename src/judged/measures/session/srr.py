"""Search result redundancy: the share of all returned results that were duplicates."""

from __future__ import annotations

from judged.kernels.segments import Floats, Ints, divide
from judged.kernels.sessions.good_gain import Iteration, count_until, mask_not_found
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["SRR", "again_of_all", "result_redundancy"]


def result_redundancy(steps: SessionView, *, iteration: Iteration = "last") -> Floats:
    r"""The share of all results up to and with an iteration that the agent had been given before.

    $$\mathrm{SRR}@i = \frac{\mathrm{Dup}@i}{R@i}$$

    where $\mathrm{Dup}@i$ counts the results that repeat an earlier one of the same turn, in the same iteration
    or before, and $R@i$ all results. `SRE` and `SRR` together are never above 1.
    It falls when an agent stops early, so it is never shown alone: read it beside `CG` and `N`.

    Unlabelled: does not matter.
    Empty: 0 while nothing has been returned yet; undefined (NaN, left out of the mean and counted) for a session
        that never searched or found nothing at all, so that nobody wins by not searching.

    Example:
        One of five results repeats another:

        >>> from judged.kernels.examples import make_sessions
        >>> result_redundancy(make_sessions(["a4 b3 c1", "d2 a4"]))
        array([0.2])

    References:
        Source document 001, Retrieved Good Gain Metrics, section 9.
    """
    return mask_not_found(steps, divide(*again_of_all(steps, iteration=iteration)))


def again_of_all(steps: SessionView, *, iteration: Iteration) -> tuple[Ints, Ints]:
    """How many results of each session repeated an earlier one, and how many there were."""
    return count_until(steps, steps.duplicates, iteration), count_until(steps, steps.results, iteration)


SRR = Measure(
    "SRR",
    result_redundancy,
    at="iteration",
    family="session",
    higher_is_better=False,
    properties=frozenset({"gain-free", "undefined-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
