"""Recall of sessions: how much of what there was to find was found."""

from __future__ import annotations

import numpy as np

from judged.kernels.segments import Floats, divide
from judged.kernels.sessions.good_gain import (
    Iteration,
    Worth,
    count_until,
    reference_gain_found,
    reference_gain_total,
)
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["Recall", "reference_recall"]


def reference_recall(
    steps: SessionView, *, iteration: Iteration = "last", good: int = 2, gain: Worth = "binary"
) -> Floats:
    r"""The share of the good results of a reference that the session was given, up to and with an iteration.

    $$\mathrm{Recall}@i = \frac{|\{c \in UR@i : \mathrm{gain}_T(c) \ge \mathrm{good}\}|}{|\{c \in T : \mathrm{gain}_T(c) \ge \mathrm{good}\}|}$$

    where $T$ is what is known of the task with its gains $\mathrm{gain}_T$: judgments, or what all compared systems found. With
    `gain="graded"`, gains are added up in place of results. In a ranking, `R` is recall; of sessions, `R` counts results.

    Unlabelled: does not matter: gains are those of the reference.
    Empty: 0 for a session that never searched or found nothing; undefined (NaN, left out of the mean and counted) where
        the reference has nothing good.

    Example:
        Two of three good results are found:

        >>> from judged.kernels.examples import make_sessions
        >>> reference_recall(make_sessions(["a4 b0", "d2"], reference=["a4 d2 z3"])).round(4)
        array([0.6667])

    References:
        Manning, Raghavan and Schütze. Introduction to Information Retrieval, section 8.3. Cambridge University Press, 2008.
    """
    found = count_until(steps, reference_gain_found(steps, good, gain), iteration)
    sought = reference_gain_total(steps, good, gain)
    return np.where(sought > 0, divide(found, sought), np.nan)


Recall = Measure(
    "Recall",
    reference_recall,
    at="iteration",
    family="session",
    properties=frozenset({"accumulates"}),
    own=SESSION_PARAMETERS,
)
