"""Iterations for all good results: how soon everything good had been found."""

from __future__ import annotations

import numpy as np

from judged.kernels.segments import Floats
from judged.kernels.sessions.good_gain import ReferenceKind, completion_iteration
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["MOST", "IterationsForAllGoodResults", "iterations_for_all_good"]

MOST = 100
"""What stands for this many iterations, for more, and for never."""


def iterations_for_all_good(steps: SessionView, *, good: int = 2, reference: ReferenceKind = "own") -> Floats:
    r"""The first iteration by which all good results had been found; 100 where it was later, or never.

    $$\mathrm{IterationsForAllGoodResults} = \min(k, 100), \qquad k = \min \{i : GR@i = GR_T\}$$

    where $GR_T$ is the number of the good results there were to find: those that the session found itself (`own`),
    so that $k$ is the last iteration that added one, or those of the reference (`given`): judgments, or what all
    compared systems found. By its own results a session that gives up early does well; `AllGoodReached` tells
    100 iterations and never apart.

    Unlabelled: is not good; more labels may move the value either way.
    Empty: undefined (NaN, left out of the mean and counted) where there was nothing good to find.

    Example:
        The last good result comes in iteration 2; `z` of the reference is never found:

        >>> from judged.kernels.examples import make_sessions
        >>> steps = make_sessions(["a3 x0", "b2", "a3 x0"], reference=["a3 b2 z2"])
        >>> iterations_for_all_good(steps), iterations_for_all_good(steps, reference="given")
        (array([2.]), array([100.]))

    References:
        Source document 001, Retrieved Good Gain Metrics, section 10.
    """
    last, reached, sought = completion_iteration(steps, good, reference)
    return np.where(sought, np.where(reached, np.minimum(last, MOST), MOST), np.nan)


IterationsForAllGoodResults = Measure(
    "IterationsForAllGoodResults",
    iterations_for_all_good,
    bounds=(1.0, float(MOST)),
    family="session",
    higher_is_better=False,
    properties=frozenset({"whole"}),
    own=SESSION_PARAMETERS,
)
