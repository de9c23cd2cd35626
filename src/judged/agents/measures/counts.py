"""Counts of results, searches and iterations of a session."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from judged.agents.kernels import Iteration, SessionView, count_until, good_results
from judged.arrays import Floats
from judged.kernels.segments import divide
from judged.measures.laws import SESSION_COUNT, Law
from judged.measures.measure import Measure

_measure = partial(Measure, family="session", at_parameter="iteration")
_count = partial(_measure, bounds=(0.0, math.inf), higher_is_better=None)


def results_returned(view: SessionView, *, iteration: Iteration = "last") -> Floats:
    r"""Return how many results were returned up to and including an iteration, duplicates among them.

    $$R@i = \sum_{k=1}^{i} |R^k|$$

    where $R^k$ holds everything that iteration $k$ returned, each time that it did: it is what `SRE` and
    `SRR` divide by. $R@i = UR@i + \mathrm{Dup}@i$. In a ranking, `R` is recall; of sessions that is `Recall`.

    Title: Number of results that were returned.
    References: Retrieved Good Gain Metrics, Preliminaries (document 001 in docs/concepts/sources.md).

    Example:
        Three results, then two:

        >>> session = {"iterations": [iteration(a=4, b=3, c=1), iteration(d=2, a=4)]}
        >>> judged.evaluate_sessions([session], "R").mean()
        {'R@last': 5.0}
    """
    return count_until(view, view.results, iteration).astype(float)


R = _count("R", results_returned, laws=SESSION_COUNT)


def unique_results(view: SessionView, *, iteration: Iteration = "last") -> Floats:
    r"""Return how many different results were returned up to and including an iteration, each counted once.

    $$UR@i = \sum_{k=1}^{i} |UR^k|$$

    where $UR^k$ holds the results that iteration $k$ was the first to return.

    Title: Number of different results that were returned.
    References: Retrieved Good Gain Metrics, Preliminaries (document 001 in docs/concepts/sources.md).

    Example:
        Three new results, then one:

        >>> session = {"iterations": [iteration(a=4, b=3, c=1), iteration(d=2, a=4)]}
        >>> judged.evaluate_sessions([session], "UR").mean()
        {'UR@last': 4.0}
    """
    return count_until(view, view.new, iteration).astype(float)


UR = _count("UR", unique_results, laws=SESSION_COUNT)


def good_unique_results(view: SessionView, *, iteration: Iteration = "last", good: int = 2) -> Floats:
    r"""Return how many different good results were returned up to and including an iteration, each counted once.

    $$GR@i = \sum_{k=1}^{i} |GR^k|$$

    where $GR^k$ holds the results that iteration $k$ was the first to return and whose gain is at least
    `good`. It is `CG(gain="binary")`.

    Title: Number of different good results that were returned.
    Unlabelled: is not good, so that more labels can only raise the value.
    References: Retrieved Good Gain Metrics, Preliminaries (document 001 in docs/concepts/sources.md).

    Example:
        `a`, `b` and `d` are good:

        >>> session = {"iterations": [iteration(a=4, b=3, c=1), iteration(d=2, a=4)]}
        >>> judged.evaluate_sessions([session], "GR").mean()
        {'GR@last': 3.0}
    """
    return count_until(view, good_results(view, good), iteration).astype(float)


GR = _measure(
    "GR",
    good_unique_results,
    bounds=(0.0, math.inf),
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.WHOLE, Law.ACCUMULATES, Law.GROWS}),
)


def duplicate_results(view: SessionView, *, iteration: Iteration = "last") -> Floats:
    r"""Return how many results up to and including an iteration repeat an earlier one, of the same iteration or of one before.

    $$\mathrm{Dup}@i = \sum_{k=1}^{i} |\mathrm{Dup}^k| = R@i - UR@i$$

    where $\mathrm{Dup}^k$ holds the results of iteration $k$ that the agent had been given before in the same
    turn.

    Title: Number of results that repeat an earlier one.
    References: Retrieved Good Gain Metrics, Preliminaries (document 001 in docs/concepts/sources.md).

    Example:
        `a` comes twice:

        >>> session = {"iterations": [iteration(a=4, b=3, c=1), iteration(d=2, a=4)]}
        >>> judged.evaluate_sessions([session], "Dup").mean()
        {'Dup@last': 1.0}
    """
    return count_until(view, view.duplicates, iteration).astype(float)


Dup = _count("Dup", duplicate_results, laws=SESSION_COUNT)


def iterations_searched(view: SessionView) -> Floats:
    r"""Return how many iterations of the session searched.

    $$N = |\{k : \text{iteration } k \text{ searched}\}|$$

    where an iteration is one step of the agent, with all the searches that it asked for. One that searched
    and found nothing counts; one that did not search does not. Rates mean little without it.

    Title: Number of iterations that searched.
    Empty: 0 for a session that never searched, which stays in the mean.
    References: Retrieved Good Gain Metrics, Preliminaries (document 001 in docs/concepts/sources.md).

    Example:
        Three iterations, of which the second finds nothing:

        >>> session = {"iterations": [iteration(a=4, b=3, c=1), iteration(), iteration(d=2, a=4)]}
        >>> judged.evaluate_sessions([session], "N").mean()
        {'N': 3.0}
    """
    return view.iterations.astype(float)


N = Measure(
    "N",
    iterations_searched,
    bounds=(0.0, math.inf),
    family="session",
    higher_is_better=None,
    laws=frozenset({Law.WHOLE, Law.GAIN_FREE}),
)


def searches_made(view: SessionView, *, iteration: Iteration = "last") -> Floats:
    r"""Return how many searches were made up to and including an iteration.

    $$\mathrm{Searches}@i = \sum_{k=1}^{i} |S^k|$$

    where $S^k$ holds the searches of iteration $k$: several where the agent asked for several at once, or one
    call held several queries.

    Title: Number of searches that were made.
    Empty: 0 for a session that never searched, which stays in the mean.
    References: Retrieved Good Gain Metrics, Preliminaries (document 001 in docs/concepts/sources.md).

    Example:
        Two searches in the first iteration, one in the second:

        >>> two = iteration(a=4, b=3)["searches"] + iteration(c=1)["searches"]
        >>> session = {"iterations": [{"searches": two}, iteration(d=2, a=4)]}
        >>> judged.evaluate_sessions([session], "Searches").mean()
        {'Searches@last': 3.0}
    """
    return count_until(view, view.searches, iteration).astype(float)


Searches = _count("Searches", searches_made, laws=frozenset({Law.WHOLE, Law.ACCUMULATES, Law.GAIN_FREE}))


def label_coverage(view: SessionView, *, iteration: Iteration = "last") -> Floats:
    r"""Return the share of the different results up to and including an iteration that somebody labelled.

    $$\mathrm{Coverage}@i = \frac{|\{c \in UR@i : c \text{ is labelled}\}|}{UR@i}$$

    where a label given to any occurrence of a result counts for all of them. Below 1, every value that
    depends on gains is a lower or an open one.

    Title: Coverage: how many of the results have a label.
    Unlabelled: is what is counted.
    Empty: undefined (NaN, left out of the mean and counted) while nothing has been returned.
    References: Retrieved Good Gain Metrics, Preliminaries (document 001 in docs/concepts/sources.md).

    Example:
        `b` has no label:

        >>> session = {"iterations": [iteration(a=3, b=None, c=0), iteration(d=2)]}
        >>> judged.evaluate_sessions([session], "Coverage").mean()
        {'Coverage@last': 0.75}
    """
    unique = count_until(view, view.new, iteration)
    labelled = count_until(view, view.new - view.grades[:, 0], iteration)
    return np.where(unique > 0, divide(labelled, unique), np.nan)


Coverage = _measure(
    "Coverage", label_coverage, higher_is_better=None, laws=frozenset({Law.UNDEFINED_IF_NOTHING_FOUND})
)
