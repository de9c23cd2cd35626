"""Search result redundancy, pooled: the share of all sessions' results together that were duplicates."""

from __future__ import annotations

from judged.kernels.segments import Floats
from judged.kernels.sessions.good_gain import Iteration
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session.srr import again_of_all, result_redundancy
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["SRR_micro", "pooled_result_redundancy"]


def pooled_result_redundancy(steps: SessionView, *, iteration: Iteration = "last") -> Floats:
    r"""The share of the results of all sessions, taken together, that repeated an earlier one of their session.

    $$\mathrm{SRR}_{\mathrm{micro}}@i = \frac{\sum_s \mathrm{Dup}_s@i}{\sum_s R_s@i}$$

    where $s$ runs over the sessions, so that one with many results weighs more; `SRR` gives each session the same
    weight. The value of a single session is that of `SRR`.
    It falls when agents stop early, so it is never shown alone: read it beside `CG` and `N`.

    Unlabelled: does not matter.
    Empty: a session without results adds nothing; undefined (NaN) when no session has any.

    Example:
        One of two results in one session, none of six in the other: 1 of 8, while the mean of the shares is 0.25.

        >>> from judged.kernels.examples import make_sessions
        >>> from judged.measures.pooling import pooled
        >>> steps = make_sessions(["a3 a3"], ["a2 b0 c0", "d0 e0 f0"])
        >>> pooled_result_redundancy(steps), pooled(SRR_micro, steps)
        (array([0.5, 0. ]), 0.125)

    References:
        Source document 001, Retrieved Good Gain Metrics, section 9.
    """
    return result_redundancy(steps, iteration=iteration)


SRR_micro = Measure(
    "SRR_micro",
    pooled_result_redundancy,
    at="iteration",
    aggregate="pooled",
    family="session",
    higher_is_better=False,
    properties=frozenset({"gain-free", "undefined-if-nothing-found"}),
    parts=again_of_all,
    own=SESSION_PARAMETERS,
)
