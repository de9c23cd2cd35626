"""Coverage: how many of the results have a label."""

from __future__ import annotations

import numpy as np

from judged.kernels.segments import Floats, divide
from judged.kernels.sessions.good_gain import Iteration, count_until
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["Coverage", "label_coverage"]


def label_coverage(steps: SessionView, *, iteration: Iteration = "last") -> Floats:
    r"""The share of the different results up to and with an iteration that somebody labelled.

    $$\mathrm{Coverage}@i = \frac{|\{c \in UR@i : c \text{ is labelled}\}|}{UR@i}$$

    where a label given to any occurrence of a result counts for all of them. Below 1, every value that depends on gains is a
    lower or an open one.

    Unlabelled: is what is counted.
    Empty: undefined (NaN, left out of the mean and counted) while nothing has been returned.

    Example:
        `b` has no label:

        >>> from judged.kernels.examples import make_sessions
        >>> label_coverage(make_sessions(["a3 b? c0", "d2"]))
        array([0.75])

    References:
        Source document 001, Retrieved Good Gain Metrics, Preliminaries.
    """
    unique = count_until(steps, steps.new, iteration)
    labelled = count_until(steps, steps.new - steps.grades[:, 0], iteration)
    return np.where(unique > 0, divide(labelled, unique), np.nan)


Coverage = Measure(
    "Coverage",
    label_coverage,
    at="iteration",
    family="session",
    higher_is_better=None,
    properties=frozenset({"undefined-if-nothing-found"}),
    own=SESSION_PARAMETERS,
)
