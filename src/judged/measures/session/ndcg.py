"""Normalised discounted cumulative good gain: how early the good results came, of those that came."""

from __future__ import annotations

import numpy as np

from judged.kernels.segments import Floats, divide
from judged.kernels.sessions.good_gain import (
    Discount,
    Iteration,
    Worth,
    best_gain,
    discounted_total_until,
    iteration_gain,
)
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["nDCG", "order_of_gain"]


def order_of_gain(
    steps: SessionView,
    *,
    iteration: Iteration = "last",
    good: int = 2,
    gain: Worth = "graded",
    discount: Discount = "log2",
) -> Floats:
    r"""The share of the discounted good gain that the same results would have brought in the best order.

    $$\mathrm{nDCG}@i = \frac{\mathrm{DCG}@i}{\max_\pi \mathrm{DCG}_\pi@i}$$

    where $\pi$ runs over all ways to deal the session's new results out to its iterations anew, each iteration getting as
    many of them as it brought. The best way deals them out by falling gain. It lies between 0 and 1, because up to any
    iteration the best $UR@k$ results are worth at least as much as the ones that came, and because weights never
    rise: $\sum_{k=1}^{i} w(k) G_k = \sum_{k=1}^{i-1} (w(k) - w(k + 1)) \mathrm{CG}@k + w(i) \mathrm{CG}@i$. It
    speaks of order alone: one that finds a single good result, and that at once, has 1.

    Unlabelled: counts as gain 0; more labels may move the value either way.
    Empty: undefined (NaN, left out of the mean and counted) where no order would have brought anything by then.

    Example:
        With `c` and `a` exchanged, 4 would have come at once and 0 after:

        >>> from judged.kernels.examples import make_sessions
        >>> order_of_gain(make_sessions(["c0", "a4"])).round(4)
        array([0.6309])

    References:
        Järvelin, Price, Delcambre and Nielsen. Discounted cumulated gain based evaluation of multiple-query IR
        sessions. ECIR 2008. doi:10.1007/978-3-540-78646-7_4
    """
    reached = discounted_total_until(steps, iteration_gain(steps, good, gain), iteration, discount)
    best = discounted_total_until(steps, best_gain(steps, good, gain), iteration, discount)
    return np.where(best > 0, divide(reached, best), np.nan)


nDCG = Measure(
    "nDCG",
    order_of_gain,
    at="iteration",
    family="session",
    properties=frozenset({"undefined-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
