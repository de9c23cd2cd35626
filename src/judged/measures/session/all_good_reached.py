"""Whether everything good was found: what tells a hundred iterations and never apart."""

from __future__ import annotations

import numpy as np

from judged.kernels.segments import Floats
from judged.kernels.sessions.good_gain import ReferenceKind, completion_iteration
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["AllGoodReached", "all_good_reached"]


def all_good_reached(steps: SessionView, *, good: int = 2, reference: ReferenceKind = "own") -> Floats:
    r"""1 if the session found all good results that there were to find, else 0.

    $$\mathrm{AllGoodReached} = [\, GR@N = GR_T \,]$$

    where $GR_T$ is the number of the good results there were to find: those that the session found itself (`own`),
    which it has always reached, or those of the reference (`given`): judgments, or what all compared systems found.
    Its mean is the share of sessions to which `IterationsForAllGoodResults` gives an iteration.

    Unlabelled: is not good.
    Empty: undefined (NaN, left out of the mean and counted) where there was nothing good to find.

    Example:
        The second session never finds `b`:

        >>> from judged.kernels.examples import make_sessions
        >>> steps = make_sessions(["a3 x0", "b2"], ["a3"], reference=["a3 b2", "a3 b2"])
        >>> all_good_reached(steps, reference="given")
        array([1., 0.])

    References:
        Source document 001, Retrieved Good Gain Metrics, section 10.
    """
    _, reached, sought = completion_iteration(steps, good, reference)
    return np.where(sought, reached, np.nan)


AllGoodReached = Measure(
    "AllGoodReached",
    all_good_reached,
    family="session",
    properties=frozenset({"whole"}),
    own=SESSION_PARAMETERS,
)
