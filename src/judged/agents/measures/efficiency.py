"""Efficiency: the share of results that are good or repeated, and the gain for each search, token and second."""

from __future__ import annotations

import math
from functools import partial

from judged.agents.kernels import (
    Iteration,
    SessionView,
    Worth,
    count_until,
    gain_per_cost,
    good_results,
)
from judged.arrays import Flags, Floats, Ints
from judged.kernels.segments import divide
from judged.measures.laws import SESSION_RATE, Law
from judged.measures.measure import Measure

_measure = partial(Measure, family="session", at_parameter="iteration")
_rate = partial(_measure, laws=SESSION_RATE, companions=("CG", "N"))
_per_cost = partial(_rate, bounds=(0.0, math.inf), laws=SESSION_RATE - {Law.ZERO_IF_NOTHING_FOUND})


def result_efficiency(view: SessionView, *, iteration: Iteration = "last", good: int = 2) -> Floats:
    r"""Return the share of all results up to and including an iteration, duplicates among them, that were new and good.

    $$\mathrm{SRE}@i = \frac{GR@i}{R@i}$$

    where $GR@i$ counts the good results, each once, and $R@i$ all results with their duplicates.

    Title: Search result efficiency: the share of all returned results that were new and good.
    Unlabelled: is not good, so that more labels can only raise the value.
    Empty: 0 while nothing has been returned yet, and for a session that never searched or found nothing, which
        stays in the mean.
    References: Retrieved Good Gain Metrics, section 8 (document 001 in docs/concepts/sources.md).

    Example:
        Three of five results are good and new:

        >>> session = {"iterations": [iteration(a=4, b=3, c=1), iteration(d=2, a=4)]}
        >>> judged.evaluate_sessions([session], "SRE").mean()
        {'SRE@last': 0.6}
    """
    return divide(*good_of_all(view, iteration=iteration, good=good))


def good_of_all(view: SessionView, *, iteration: Iteration, good: int) -> tuple[Ints, Ints]:
    """Return how many results of each session were new and good, and how many there were."""
    return count_until(view, good_results(view, good), iteration), count_until(view, view.results, iteration)


SRE = _rate("SRE", result_efficiency)


def pooled_result_efficiency(view: SessionView, *, iteration: Iteration = "last", good: int = 2) -> Floats:
    r"""Return the share of the results of all sessions, taken together, that were new and good.

    $$\mathrm{SRE}_{\mathrm{micro}}@i = \frac{\sum_s GR_s@i}{\sum_s R_s@i}$$

    where $s$ runs over the sessions, so that one with many results weighs more; `SRE` gives each session the
    same weight. The value of a single session is that of `SRE`.

    Title: Search result efficiency, pooled: the share of all sessions' results together that were new and
        good.
    Unlabelled: is not good, so that more labels can only raise the value.
    Empty: 0 for a session without results, which adds nothing; undefined (NaN) when no session has any.
    References: Retrieved Good Gain Metrics, section 8 (document 001 in docs/concepts/sources.md).

    Example:
        One of two results in one session, one of ten in the other: 2 of 12, while the mean of the shares is
        0.3.

        >>> first = {"task": "t1", "iterations": [iteration(a=3, b=0)]}
        >>> found = iteration(a=2, b=0, c=0, d=0, e=0, f=0, g=0, h=0, i=0, j=0)
        >>> second = {"task": "t2", "iterations": [found]}
        >>> judged.evaluate_sessions([first, second], "SRE_micro SRE").mean()
        {'SRE_micro@last': 0.1666..., 'SRE@last': 0.3}
    """
    return result_efficiency(view, iteration=iteration, good=good)


SRE_micro = _rate(
    "SRE_micro",
    pooled_result_efficiency,
    aggregate="pooled",
    parts=good_of_all,
    compare_by="SRE",
)


def result_redundancy(view: SessionView, *, iteration: Iteration = "last") -> Floats:
    r"""Return the share of all results up to and including an iteration that the agent had been given before.

    $$\mathrm{SRR}@i = \frac{\mathrm{Dup}@i}{R@i}$$

    where $\mathrm{Dup}@i$ counts the results that repeat an earlier one of the same turn, in the same
    iteration or before, and $R@i$ all results. `SRE` and `SRR` together are never above 1.

    Title: Search result redundancy: the share of all returned results that were duplicates.
    Empty: 0 while nothing has been returned yet, and for a session that never searched or found nothing at all, which
        the mean and comparisons leave out and count, so that nobody wins by not searching.
    References: Retrieved Good Gain Metrics, section 9 (document 001 in docs/concepts/sources.md).

    Example:
        One of five results repeats another:

        >>> session = {"iterations": [iteration(a=4, b=3, c=1), iteration(d=2, a=4)]}
        >>> judged.evaluate_sessions([session], "SRR").mean()
        {'SRR@last': 0.2}
    """
    return divide(*again_of_all(view, iteration=iteration))


def has_results(view: SessionView) -> Flags:
    """Return which sessions have any result, in whichever iteration."""
    return view.found


def again_of_all(view: SessionView, *, iteration: Iteration) -> tuple[Ints, Ints]:
    """Return how many results of each session repeated an earlier one, and how many there were."""
    return count_until(view, view.duplicates, iteration), count_until(view, view.results, iteration)


SRR = _measure(
    "SRR",
    result_redundancy,
    higher_is_better=False,
    averaged=has_results,
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.GAIN_FREE}),
    companions=("CG", "N"),
)


def pooled_result_redundancy(view: SessionView, *, iteration: Iteration = "last") -> Floats:
    r"""Return the share of the results of all sessions, taken together, that repeated an earlier one of their session.

    $$\mathrm{SRR}_{\mathrm{micro}}@i = \frac{\sum_s \mathrm{Dup}_s@i}{\sum_s R_s@i}$$

    where $s$ runs over the sessions, so that one with many results weighs more; `SRR` gives each session the
    same weight. The value of a single session is that of `SRR`. It falls when agents stop early, so it is
    never shown alone: read it together with `CG` and `N`.

    Title: Search result redundancy, pooled: the share of all sessions' results together that were duplicates.
    Empty: 0 for a session without results, which adds nothing; undefined (NaN) when no session has any.
    References: Retrieved Good Gain Metrics, section 9 (document 001 in docs/concepts/sources.md).

    Example:
        One of two results in one session, none of six in the other: 1 of 8, while the mean of the shares is 0.25.

        >>> twice = {"searches": iteration(a=3)["searches"] * 2}
        >>> first = {"task": "t1", "iterations": [twice]}
        >>> second = {"task": "t2", "iterations": [iteration(a=2, b=0, c=0), iteration(d=0, e=0, f=0)]}
        >>> judged.evaluate_sessions([first, second], "SRR_micro SRR").mean()
        {'SRR_micro@last': 0.125, 'SRR@last': 0.25}
    """
    return result_redundancy(view, iteration=iteration)


SRR_micro = _measure(
    "SRR_micro",
    pooled_result_redundancy,
    aggregate="pooled",
    higher_is_better=False,
    averaged=has_results,
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.GAIN_FREE}),
    parts=again_of_all,
    compare_by="SRR",
)


def gain_per_search(
    view: SessionView, *, iteration: Iteration = "last", good: int = 2, gain: Worth = "graded"
) -> Floats:
    r"""Return the good gain up to and including an iteration, divided by the number of searches that it took.

    $$\mathrm{GainPerSearch}@i = \frac{\mathrm{CG}@i}{\mathrm{Searches}@i}$$

    where several searches of one iteration, asked for at once, are counted each.

    Title: Good gain for each search.
    Empty: 0 for a session that searched and found nothing; undefined (NaN, left out of the mean and counted)
        for one that never searched.
    References: Azzopardi. Modelling interaction with economic models of search. SIGIR 2014.
        doi:10.1145/2600428.2609574

    Example:
        9 with three searches:

        >>> two = iteration(a=4, b=3)["searches"] + iteration(c=1)["searches"]
        >>> session = {"iterations": [{"searches": two}, iteration(d=2, a=4)]}
        >>> judged.evaluate_sessions([session], "GainPerSearch").mean()
        {'GainPerSearch@last': 3.0}
    """
    return gain_per_cost(view, view.searches, iteration, good, gain)


GainPerSearch = _per_cost("GainPerSearch", gain_per_search)


def gain_per_kilo_token(
    view: SessionView, *, iteration: Iteration = "last", good: int = 2, gain: Worth = "graded"
) -> Floats:
    r"""Return the good gain up to and including an iteration, for each thousand tokens that the iterations took.

    $$\mathrm{GainPerKiloToken}@i = \frac{\mathrm{CG}@i}{\mathrm{tokens}@i} \cdot 1000$$

    where tokens are those that the trace gives for each iteration.

    Title: Good gain for a thousand tokens.
    Empty: 0 for a session that searched and found nothing; undefined (NaN, left out of the mean and counted)
        for one that never searched, and where the trace does not say what its iterations took.
    References: Azzopardi. Modelling interaction with economic models of search. SIGIR 2014.
        doi:10.1145/2600428.2609574

    Example:
        9 with 1,500 tokens:

        >>> first = {**iteration(a=4, b=3, c=1), "tokens": 1000}
        >>> session = {"iterations": [first, {**iteration(d=2, a=4), "tokens": 500}]}
        >>> judged.evaluate_sessions([session], "GainPerKiloToken").mean()
        {'GainPerKiloToken@last': 6.0}
    """
    return 1000.0 * gain_per_cost(view, view.tokens, iteration, good, gain)


GainPerKiloToken = _per_cost("GainPerKiloToken", gain_per_kilo_token)


def gain_per_second(
    view: SessionView, *, iteration: Iteration = "last", good: int = 2, gain: Worth = "graded"
) -> Floats:
    r"""Return the good gain up to and including an iteration, for each second that the iterations took.

    $$\mathrm{GainPerSecond}@i = \frac{\mathrm{CG}@i}{\mathrm{seconds}@i}$$

    where seconds are those that the trace gives for each iteration.

    Title: Good gain for each second.
    Empty: 0 for a session that searched and found nothing; undefined (NaN, left out of the mean and counted)
        for one that never searched, and where the trace does not say what its iterations took.
    References: Smucker and Clarke. Time-based calibration of effectiveness measures. SIGIR 2012.
        doi:10.1145/2348283.2348300

    Example:
        9 in 4.5 seconds:

        >>> first = {**iteration(a=4, b=3, c=1), "seconds": 2.5}
        >>> session = {"iterations": [first, {**iteration(d=2, a=4), "seconds": 2.0}]}
        >>> judged.evaluate_sessions([session], "GainPerSecond").mean()
        {'GainPerSecond@last': 2.0}
    """
    return gain_per_cost(view, view.seconds, iteration, good, gain)


GainPerSecond = _per_cost("GainPerSecond", gain_per_second)


def gain_per_cost_unit(
    view: SessionView, *, iteration: Iteration = "last", good: int = 2, gain: Worth = "graded"
) -> Floats:
    r"""Return the good gain up to and including an iteration, for each unit of money that the iterations took.

    $$\mathrm{GainPerCost}@i = \frac{\mathrm{CG}@i}{\mathrm{cost}@i}$$

    where cost is what the trace says that each iteration cost, usually in US dollars.

    Title: Good gain for each unit of money.
    Empty: 0 for a session that searched and found nothing; undefined (NaN, left out of the mean and counted)
        for one that never searched, and where the trace does not say what its iterations took.
    References: Azzopardi. Modelling interaction with economic models of search. SIGIR 2014.
        doi:10.1145/2600428.2609574

    Example:
        9 for three cents:

        >>> first = {**iteration(a=4, b=3, c=1), "cost": 0.02}
        >>> session = {"iterations": [first, {**iteration(d=2, a=4), "cost": 0.01}]}
        >>> judged.evaluate_sessions([session], "GainPerCost").mean()
        {'GainPerCost@last': 300.0}
    """
    return gain_per_cost(view, view.cost, iteration, good, gain)


GainPerCost = _per_cost("GainPerCost", gain_per_cost_unit)
