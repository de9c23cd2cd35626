"""How soon, and how completely, a session finds what there was to find."""

from __future__ import annotations

import numpy as np

from judged.agents.kernels import (
    Iteration,
    ReferenceKind,
    SessionView,
    Worth,
    completion_iteration,
    count_until,
    reference_gain_found,
    reference_gain_total,
)
from judged.arrays import Floats
from judged.kernels.segments import divide
from judged.measures.laws import Law
from judged.measures.measure import Measure

MOST = 100


"""The value for this many iterations, for more, and for never."""


def iterations_for_all_good(view: SessionView, *, good: int = 2, reference: ReferenceKind = "own") -> Floats:
    r"""Return the first iteration by which all good results had been found; 100 where it was later, or never.

    $$\mathrm{IterationsForAllGoodResults} = \min(k, 100), \qquad k = \min \{i : GR@i = GR_T\}$$

    where $GR_T$ is the number of the good results there were to find: those of the reference (`given`) where one
    is given, judgments or what all compared systems found, else those that the session found itself
    (`own`), so that $k$ is the last iteration that added one. By its own results a session that gives up early
    does well; `AllGoodReached` shows 100 iterations and never apart.

    Title: Iterations for all good results: how soon everything good had been found.
    Unlabelled: is not good; more labels may move the value either way.
    Empty: undefined (NaN, left out of the mean and counted) where there was nothing good to find.
    References: Retrieved Good Gain Metrics, section 10 (document 001 in docs/concepts/sources.md).

    Example:
        The last good result comes in iteration 2; `z` of the reference is never found:

        >>> session = {"task": "t1", "iterations": [iteration(a=3, x=0), iteration(b=2), iteration(a=3, x=0)]}
        >>> reference = {"t1": {"a": 3, "b": 2, "z": 2}}
        >>> judged.evaluate_sessions([session], "IterationsForAllGoodResults").mean()
        {'IterationsForAllGoodResults': 2.0}
        >>> judged.evaluate_sessions([session], "IterationsForAllGoodResults", reference=reference).mean()
        {'IterationsForAllGoodResults(reference="given")': 100.0}
    """
    last, reached, to_find = completion_iteration(view, good, reference)
    return np.where(to_find, np.where(reached, np.minimum(last, MOST), MOST), np.nan)


IterationsForAllGoodResults = Measure(
    "IterationsForAllGoodResults",
    iterations_for_all_good,
    bounds=(1.0, float(MOST)),
    family="session",
    higher_is_better=False,
    laws=frozenset({Law.WHOLE}),
    companions=("AllGoodReached",),
)


def all_good_reached(view: SessionView, *, good: int = 2, reference: ReferenceKind = "own") -> Floats:
    r"""Return 1 if the session found all good results that there were to find, else 0.

    $$\mathrm{AllGoodReached} = [\, GR@N = GR_T \,]$$

    where $GR_T$ is the number of the good results there were to find: those that the session found itself
    (`own`), which it has always reached, or those of the reference (`given`): judgments, or what all compared
    systems found. Its mean is the share of sessions to which `IterationsForAllGoodResults` gives an
    iteration.

    Title: All good results reached: the difference between a hundred iterations and never.
    Unlabelled: is not good.
    Empty: undefined (NaN, left out of the mean and counted) where there was nothing good to find.
    References: Retrieved Good Gain Metrics, section 10 (document 001 in docs/concepts/sources.md).

    Example:
        The second session never finds `b`:

        >>> first = {"task": "t1", "iterations": [iteration(a=3, x=0), iteration(b=2)]}
        >>> second = {"task": "t2", "iterations": [iteration(a=3)]}
        >>> reference = {"t1": {"a": 3, "b": 2}, "t2": {"a": 3, "b": 2}}
        >>> measure = 'AllGoodReached(reference="given")'
        >>> judged.evaluate_sessions([first, second], measure, reference=reference).mean()
        {'AllGoodReached(reference="given")': 0.5}
    """
    _, reached, to_find = completion_iteration(view, good, reference)
    return np.where(to_find, reached, np.nan)


AllGoodReached = Measure("AllGoodReached", all_good_reached, family="session", laws=frozenset({Law.WHOLE}))


def reference_recall(
    view: SessionView, *, iteration: Iteration = "last", good: int = 2, gain: Worth = "binary"
) -> Floats:
    r"""Return the share of the good results of a reference that the session was given, up to and including an iteration.

    $$\mathrm{Recall}@i = \frac{|\{c \in UR@i : \mathrm{gain}_T(c) \ge \mathrm{good}\}|}{|\{c \in T : \mathrm{gain}_T(c) \ge \mathrm{good}\}|}$$

    where $T$ is what is known of the task with its gains $\mathrm{gain}_T$: judgments, or what all compared
    systems found. With `gain="graded"`, gains are added up in place of results. In a ranking, `R` is recall;
    of sessions, `R` counts results.

    Title: Recall of sessions: how much of what there was to find was found.
    Unlabelled: does not matter: gains are those of the reference.
    Empty: 0 for a session that never searched or found nothing; undefined (NaN, left out of the mean and
        counted) where the reference has nothing good.
    References: Manning, Raghavan and Schütze. Introduction to Information Retrieval, section 8.3. Cambridge
        University Press, 2008.

    Example:
        Two of three good results are found:

        >>> session = {"task": "t1", "iterations": [iteration(a=4, b=0), iteration(d=2)]}
        >>> reference = {"t1": {"a": 4, "d": 2, "z": 3}}
        >>> judged.evaluate_sessions([session], "Recall", reference=reference).mean()
        {'Recall@last': 0.6666...}
    """
    found = count_until(view, reference_gain_found(view, good, gain), iteration)
    to_find = reference_gain_total(view, good, gain)
    return np.where(to_find > 0, divide(found, to_find), np.nan)


Recall = Measure(
    "Recall",
    reference_recall,
    at_parameter="iteration",
    family="session",
    laws=frozenset({Law.ACCUMULATES}),
    needs="reference",
)
