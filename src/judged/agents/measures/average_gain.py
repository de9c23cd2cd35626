"""The average gain of the new results of each iteration."""

from __future__ import annotations

from functools import partial

from judged.agents.kernels import (
    Beyond,
    Discount,
    Iteration,
    SessionView,
    Worth,
    average_gain,
    discounted_total_until,
    iteration_count,
    total_until,
    value_at,
    weight_sum,
)
from judged.arrays import Floats
from judged.kernels.segments import divide
from judged.measures.laws import SESSION_RATE
from judged.measures.measure import Measure
from judged.measures.parameters import LOOKED_AT

_rate = partial(
    Measure,
    family="session",
    at_parameter="iteration",
    bounds=(0.0, 4.0),
    laws=SESSION_RATE,
    companions=("CG", "N"),
)


def iteration_yield(
    view: SessionView,
    *,
    iteration: Iteration = "last",
    good: int = 2,
    gain: Worth = "graded",
    beyond: Beyond = "hold",
) -> Floats:
    r"""Return the good gain of one iteration, divided by the number of results that it returned, duplicates among them.

    $$\mathrm{AvgGain}_i = \frac{G_i}{|R^i|}$$

    where $G_i$ is the gain of the good results that iteration $i$ was the first to return, and $R^i$ all that
    it returned. Written `AvgGain@i`, or `AvgGain_i` as in the source. It falls as a session goes on and finds
    less that is new.

    Title: Average good gain: the gain of an iteration for each result that it returns.
    Empty: 0 for an iteration that returned nothing, and for a session that never searched or found nothing,
        which stays in the mean.
    References: Retrieved Good Gain Metrics, section 5 (document 001 in docs/concepts/sources.md).

    Example:
        The second iteration gains 2 with two results:

        >>> session = {"iterations": [iteration(a=4, b=3, c=1), iteration(d=2, a=4)]}
        >>> judged.evaluate_sessions([session], "AvgGain@2").mean()
        {'AvgGain@2': 1.0}
    """
    return value_at(view, average_gain(view, good, gain), iteration, beyond)


AvgGain = _rate("AvgGain", iteration_yield, extra_parameters=LOOKED_AT)


def yield_rate(
    view: SessionView,
    *,
    iteration: Iteration = "last",
    good: int = 2,
    gain: Worth = "graded",
    beyond: Beyond = "hold",
) -> Floats:
    r"""Return the mean over iterations of the good gain for each returned result.

    $$\mathrm{RAG}@i = \frac{1}{i} \sum_{k=1}^{i} \mathrm{AvgGain}_k$$

    where $\mathrm{AvgGain}_k$ is the good gain of iteration $k$ over the number of its results, and 0 where
    it has none. An iteration with two results weighs as much as one with twenty. It has nothing to do with
    retrieval-augmented generation.

    Title: Rate of average gain: the gain of a result, averaged over iterations.
    References: Retrieved Good Gain Metrics, section 6 (document 001 in docs/concepts/sources.md).

    Example:
        The mean of $7/3$ and $2/2$:

        >>> session = {"iterations": [iteration(a=4, b=3, c=1), iteration(d=2, a=4)]}
        >>> judged.evaluate_sessions([session], "RAG").mean()
        {'RAG@last': 1.6666...}
    """
    added = total_until(view, average_gain(view, good, gain), iteration)
    return divide(added, iteration_count(view, iteration, beyond))


RAG = _rate("RAG", yield_rate)


def discounted_yield_rate(
    view: SessionView,
    *,
    iteration: Iteration = "last",
    good: int = 2,
    gain: Worth = "graded",
    discount: Discount = "log2",
    beyond: Beyond = "hold",
) -> Floats:
    r"""Return the sum over iterations of the good gain for each returned result, times a falling weight, divided by their number.

    $$\mathrm{DRAG}@i = \frac{1}{i} \sum_{k=1}^{i} w(k) \cdot \mathrm{AvgGain}_k, \qquad w(k) = \frac{1}{\log_2(k + 1)}$$

    where $\mathrm{AvgGain}_k$ is the good gain of iteration $k$ over the number of its results. The source
    calls it a weighted mean, but it is divided by $i$ and not by the sum of the weights: a constant yield of
    2 has the value 1.420620 after three iterations. The weighted mean proper is `nDRAG`.

    Title: Discounted rate of average gain: the gain of a result, less the later it comes.
    References: Retrieved Good Gain Metrics, section 7 (document 001 in docs/concepts/sources.md).

    Example:
        A constant yield of 2, three times:

        >>> session = {"iterations": [iteration(a=2), iteration(b=2), iteration(c=2)]}
        >>> judged.evaluate_sessions([session], "DRAG").mean()
        {'DRAG@last': 1.4206...}
    """
    added = discounted_total_until(view, average_gain(view, good, gain), iteration, discount)
    return divide(added, iteration_count(view, iteration, beyond))


DRAG = _rate("DRAG", discounted_yield_rate)


def weighted_yield(
    view: SessionView,
    *,
    iteration: Iteration = "last",
    good: int = 2,
    gain: Worth = "graded",
    discount: Discount = "log2",
    beyond: Beyond = "hold",
) -> Floats:
    r"""Return the mean over iterations of the good gain for each returned result, weighted so that early iterations count more.

    $$\mathrm{nDRAG}@i = \frac{\sum_{k=1}^{i} w(k) \cdot \mathrm{AvgGain}_k}{\sum_{k=1}^{i} w(k)}, \qquad w(k) = \frac{1}{\log_2(k + 1)}$$

    where $\mathrm{AvgGain}_k$ is the good gain of iteration $k$ over the number of its results. A constant
    yield is its own mean, however many iterations there are, which `DRAG` does not grant.

    Title: Weighted mean of average gain: the gain of a result, early iterations weighing more.
    References: Retrieved Good Gain Metrics, section 7 (document 001 in docs/concepts/sources.md).

    Example:
        A constant yield of 2, three times:

        >>> session = {"iterations": [iteration(a=2), iteration(b=2), iteration(c=2)]}
        >>> judged.evaluate_sessions([session], "nDRAG").mean()
        {'nDRAG@last': 2.0}
    """
    added = discounted_total_until(view, average_gain(view, good, gain), iteration, discount)
    return divide(added, weight_sum(iteration_count(view, iteration, beyond), discount))


nDRAG = _rate("nDRAG", weighted_yield)
