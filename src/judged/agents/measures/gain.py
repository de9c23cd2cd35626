"""The good gain that the iterations of a session contribute."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from judged.agents.kernels import (
    Beyond,
    Discount,
    Iteration,
    SessionView,
    Worth,
    best_gain,
    count_until,
    discounted_total_until,
    iteration_count,
    iteration_gain,
    value_at,
)
from judged.arrays import Floats
from judged.kernels.segments import divide
from judged.measures.laws import SESSION_RATE, Law
from judged.measures.measure import Measure
from judged.measures.parameters import LOOKED_AT

_measure = partial(Measure, family="session", at_parameter="iteration")
_rate = partial(_measure, bounds=(0.0, math.inf), laws=SESSION_RATE, companions=("CG", "N"))


def cumulative_gain(
    view: SessionView, *, iteration: Iteration = "last", good: int = 2, gain: Worth = "graded"
) -> Floats:
    r"""Return the sum of the gains of all good results that were new, up to and including an iteration.

    $$\mathrm{CG}@i = \sum_{k=1}^{i} G_k, \qquad G_k = \sum_{c \in GR^k} \mathrm{gain}(c)$$

    where $GR^k$ holds the results that iteration $k$ was the first to return and whose gain is at least
    `good`. A duplicate adds nothing. The value never falls from one iteration to the next; after the last one
    it stays.

    Title: Cumulative good gain: what all new good results are worth together.
    References: Retrieved Good Gain Metrics, section 1 (document 001 in docs/concepts/sources.md).

    Example:
        The second iteration adds 2, the duplicate of `a` nothing:

        >>> session = {"iterations": [iteration(a=4, b=3, c=1), iteration(d=2, a=4)]}
        >>> judged.evaluate_sessions([session], "CG").mean()
        {'CG@last': 9.0}
    """
    return count_until(view, iteration_gain(view, good, gain), iteration).astype(float)


CG = _measure(
    "CG",
    cumulative_gain,
    bounds=(0.0, math.inf),
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.WHOLE, Law.ACCUMULATES, Law.GROWS}),
)


def gain_rate(
    view: SessionView,
    *,
    iteration: Iteration = "last",
    good: int = 2,
    gain: Worth = "graded",
    beyond: Beyond = "hold",
) -> Floats:
    r"""Return the good gain up to and including an iteration, divided by the number of iterations.

    $$\mathrm{RG}@i = \frac{\mathrm{CG}@i}{i}$$

    where $i$ is at most the number of the session's iterations, unless they are padded.

    Title: Rate of good gain: the average gain of an iteration.
    References: Retrieved Good Gain Metrics, section 2 (document 001 in docs/concepts/sources.md).

    Example:
        7 and then 2 make 4.5 on average:

        >>> session = {"iterations": [iteration(a=4, b=3, c=1), iteration(d=2, a=4)]}
        >>> judged.evaluate_sessions([session], "RG").mean()
        {'RG@last': 4.5}
    """
    total = count_until(view, iteration_gain(view, good, gain), iteration)
    return divide(total, iteration_count(view, iteration, beyond))


RG = _rate("RG", gain_rate)


def discounted_iteration_gain(
    view: SessionView,
    *,
    iteration: Iteration = "last",
    good: int = 2,
    gain: Worth = "graded",
    discount: Discount = "log2",
) -> Floats:
    r"""Return the sum of the good gains of the iterations, each times a weight that falls from one to the next.

    $$\mathrm{DCG}@i = \sum_{k=1}^{i} w(k) \cdot G_k, \qquad w(k) = \frac{1}{\log_2(k + 1)}$$

    where $G_k$ is the gain of the good results that iteration $k$ was the first to return, and $w$ the
    `discount`. Ranks within an iteration do not matter: it is not the `DCG` of a ranking. It is never above
    `CG`.

    Title: Discounted cumulative good gain: what new good results are worth, less the later they come.
    References: Retrieved Good Gain Metrics, section 3 (document 001 in docs/concepts/sources.md).
        Järvelin, Price, Delcambre and Nielsen. Discounted cumulated gain based evaluation of multiple-query
        IR sessions. ECIR 2008. doi:10.1007/978-3-540-78646-7_4

    Example:
        The first iteration's 7 count whole, the second's 2 are divided by $\log_2 3$:

        >>> session = {"iterations": [iteration(a=4, b=3, c=1), iteration(d=2, a=4)]}
        >>> judged.evaluate_sessions([session], "DCG").mean()
        {'DCG@last': 8.2618...}
    """
    return discounted_total_until(view, iteration_gain(view, good, gain), iteration, discount)


DCG = _measure(
    "DCG",
    discounted_iteration_gain,
    bounds=(0.0, math.inf),
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.ACCUMULATES, Law.GROWS}),
)


def discounted_gain_rate(
    view: SessionView,
    *,
    iteration: Iteration = "last",
    good: int = 2,
    gain: Worth = "graded",
    discount: Discount = "log2",
    beyond: Beyond = "hold",
) -> Floats:
    r"""Return the discounted good gain up to and including an iteration, divided by the number of iterations.

    $$\mathrm{DRG}@i = \frac{\mathrm{DCG}@i}{i}$$

    where $i$ is at most the number of the session's iterations, unless they are padded. Late gain is
    diminished twice, by its weight and by the divisor.

    Title: Discounted rate of good gain: the average gain of an iteration, less the later it comes.
    References: Retrieved Good Gain Metrics, section 4 (document 001 in docs/concepts/sources.md).

    Example:
        $(7 + 2 / \log_2 3) / 2$:

        >>> session = {"iterations": [iteration(a=4, b=3, c=1), iteration(d=2, a=4)]}
        >>> judged.evaluate_sessions([session], "DRG").mean()
        {'DRG@last': 4.1309...}
    """
    total = discounted_total_until(view, iteration_gain(view, good, gain), iteration, discount)
    return divide(total, iteration_count(view, iteration, beyond))


DRG = _rate("DRG", discounted_gain_rate)


def order_of_gain(
    view: SessionView,
    *,
    iteration: Iteration = "last",
    good: int = 2,
    gain: Worth = "graded",
    discount: Discount = "log2",
) -> Floats:
    r"""Return the share of the discounted good gain that the same results would have had in the best order.

    $$\mathrm{nDCG}@i = \frac{\mathrm{DCG}@i}{\max_\pi \mathrm{DCG}_{\pi}@i}$$

    where $\pi$ runs over all ways to distribute the session's new results over its iterations, each
    iteration getting as many of them as it returned. The best way sorts them by descending gain. It lies
    between 0 and 1, because up to any iteration the best $UR@k$ results are worth at least as much as the
    ones that came, and because weights never rise:
    $\sum_{k=1}^{i} w(k) G_k = \sum_{k=1}^{i-1} (w(k) - w(k + 1)) \mathrm{CG}@k + w(i) \mathrm{CG}@i$. It
    speaks of order alone: one that finds a single good result, and that at once, has 1.

    Title: Normalised discounted cumulative good gain: how early the good results came, of those that came.
    Unlabelled: counts as gain 0; more labels may move the value either way.
    Empty: undefined (NaN, left out of the mean and counted) where no order would have gained anything by
        then.
    References: Järvelin, Price, Delcambre and Nielsen. Discounted cumulated gain based evaluation of
        multiple-query IR sessions. ECIR 2008. doi:10.1007/978-3-540-78646-7_4

    Example:
        With `c` and `a` exchanged, 4 would have come at once and 0 after:

        >>> session = {"iterations": [iteration(c=0), iteration(a=4)]}
        >>> judged.evaluate_sessions([session], "nDCG").mean()
        {'nDCG@last': 0.6309...}
    """
    reached = discounted_total_until(view, iteration_gain(view, good, gain), iteration, discount)
    best = discounted_total_until(view, best_gain(view, good, gain), iteration, discount)
    return np.where(best > 0, divide(reached, best), np.nan)


nDCG = _measure("nDCG", order_of_gain, laws=frozenset({Law.UNDEFINED_IF_NOTHING_FOUND}))


def marginal_gain(
    view: SessionView,
    *,
    iteration: Iteration = "last",
    good: int = 2,
    gain: Worth = "graded",
    beyond: Beyond = "hold",
) -> Floats:
    r"""Return the good gain that one iteration adds to what was found before.

    $$\mathrm{MarginalGain}@i = G_i = \mathrm{CG}@i - \mathrm{CG}@(i - 1)$$

    where $G_i$ is the gain of the good results that iteration $i$ was the first to return. Where it stays at
    0, the agent could have stopped.

    Title: Marginal gain: what a single iteration adds.
    Empty: 0 for an iteration that returned nothing new and good, and for a session that never searched.
    References: Retrieved Good Gain Metrics, Preliminaries (document 001 in docs/concepts/sources.md).
        Maxwell, Azzopardi, Järvelin and Keskustalo. An initial investigation into fixed and adaptive stopping
        strategies. SIGIR 2015. doi:10.1145/2766462.2767802

    Example:
        The second iteration adds 2:

        >>> session = {"iterations": [iteration(a=4, b=3, c=1), iteration(d=2, a=4)]}
        >>> judged.evaluate_sessions([session], "MarginalGain@2").mean()
        {'MarginalGain@2': 2.0}
    """
    return value_at(view, iteration_gain(view, good, gain), iteration, beyond)


MarginalGain = _measure(
    "MarginalGain",
    marginal_gain,
    bounds=(0.0, math.inf),
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.WHOLE, Law.GROWS}),
    extra_parameters=LOOKED_AT,
)


def gain_lost(
    view: SessionView, *, iteration: Iteration = "last", good: int = 2, gain: Worth = "graded"
) -> Floats:
    r"""Return the share of the session's good gain that would have been lost, had the agent stopped after an iteration.

    $$\mathrm{Lost}@i = 1 - \frac{\mathrm{CG}@i}{\mathrm{CG}@N}$$

    where $N$ is the session's last iteration, so that it is 0 there and beyond. It looks ahead: what a longer
    session would have found is not known.

    Title: Lost gain: what stopping at an iteration would have cost.
    Unlabelled: counts as gain 0; more labels may move the value either way.
    Empty: undefined (NaN, left out of the mean and counted) for a session that found nothing good.
    References: Maxwell, Azzopardi, Järvelin and Keskustalo. An initial investigation into fixed and adaptive
        stopping strategies. SIGIR 2015. doi:10.1145/2766462.2767802

    Example:
        Two of nine would have been lost:

        >>> session = {"iterations": [iteration(a=4, b=3, c=1), iteration(d=2, a=4)]}
        >>> judged.evaluate_sessions([session], "Lost@1").mean()
        {'Lost@1': 0.2222...}
    """
    kept, everything = (
        count_until(view, iteration_gain(view, good, gain), place) for place in (iteration, "last")
    )
    return np.where(everything > 0, 1.0 - divide(kept, everything), np.nan)


Lost = _measure("Lost", gain_lost, higher_is_better=False, laws=frozenset({Law.UNDEFINED_IF_NOTHING_FOUND}))
