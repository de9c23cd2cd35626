"""Lost gain: what stopping at an iteration would have cost."""

from __future__ import annotations

import numpy as np

from judged.kernels.segments import Floats, divide
from judged.kernels.sessions.good_gain import Iteration, Worth, count_until, iteration_gain
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["Lost", "gain_lost"]


def gain_lost(
    steps: SessionView, *, iteration: Iteration = "last", good: int = 2, gain: Worth = "graded"
) -> Floats:
    r"""The share of the session's good gain that would have been lost, had the agent stopped after an iteration.

    $$\mathrm{Lost}@i = 1 - \frac{\mathrm{CG}@i}{\mathrm{CG}@N}$$

    where $N$ is the session's last iteration, so that it is 0 there and beyond. It looks ahead: what a longer session would
    have found is not known.

    Unlabelled: counts as gain 0; more labels may move the value either way.
    Empty: undefined (NaN, left out of the mean and counted) for a session that found nothing good.

    Example:
        Two of nine would have been lost:

        >>> from judged.kernels.examples import make_sessions
        >>> gain_lost(make_sessions(["a4 b3 c1", "d2 a4"]), iteration=1).round(4)
        array([0.2222])

    References:
        Maxwell, Azzopardi, Järvelin and Keskustalo. An initial investigation into fixed and adaptive stopping
        strategies. SIGIR 2015. doi:10.1145/2766462.2767802
    """
    kept, everything = (
        count_until(steps, iteration_gain(steps, good, gain), each) for each in (iteration, "last")
    )
    return np.where(everything > 0, 1.0 - divide(kept, everything), np.nan)


Lost = Measure(
    "Lost",
    gain_lost,
    at="iteration",
    family="session",
    higher_is_better=False,
    properties=frozenset({"undefined-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
