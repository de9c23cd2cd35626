"""Search result efficiency, pooled: the share of all sessions' results together that were new and good."""

from __future__ import annotations

from judged.kernels.segments import Floats
from judged.kernels.sessions.good_gain import Iteration
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session.sre import good_of_all, result_efficiency
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["SRE_micro", "pooled_result_efficiency"]


def pooled_result_efficiency(steps: SessionView, *, iteration: Iteration = "last", good: int = 2) -> Floats:
    r"""The share of the results of all sessions, taken together, that were new and good.

    $$\mathrm{SRE}_{\mathrm{micro}}@i = \frac{\sum_s GR_s@i}{\sum_s R_s@i}$$

    where $s$ runs over the sessions, so that one with many results weighs more; `SRE` gives each session the same
    weight. The value of a single session is that of `SRE`.
    It rises when agents stop early, so it is never shown alone: read it beside `CG` and `N`.

    Unlabelled: is not good, so that more labels can only raise the value.
    Empty: a session without results adds nothing; undefined (NaN) when no session has any.

    Example:
        One of two results in one session, one of ten in the other: 2 of 12, while the mean of the shares is 0.3.

        >>> from judged.kernels.examples import make_sessions
        >>> from judged.measures.pooling import pooled
        >>> steps = make_sessions(["a3 b0"], ["a2 b0 c0 d0 e0 f0 g0 h0 i0 j0"])
        >>> pooled_result_efficiency(steps), round(pooled(SRE_micro, steps), 6)
        (array([0.5, 0.1]), 0.166667)

    References:
        Source document 001, Retrieved Good Gain Metrics, section 8.
    """
    return result_efficiency(steps, iteration=iteration, good=good)


SRE_micro = Measure(
    "SRE_micro",
    pooled_result_efficiency,
    at="iteration",
    aggregate="pooled",
    family="session",
    properties=frozenset({"grows", "rate", "undefined-if-nothing-found"}),
    parts=good_of_all,
    own=SESSION_PARAMETERS,
)
