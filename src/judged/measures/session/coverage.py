"""Coverage: how many of the results have a label."""

from __future__ import annotations

import numpy as np

from judged.kernels.segments import Floats, divide
from judged.kernels.sessions.good_gain import Iteration, counted
from judged.kernels.sessions.view import Steps
from judged.measures.measure import Measure
from judged.measures.session_parameters import SESSION_PARAMETERS

__all__ = ["Coverage", "label_coverage"]


def label_coverage(steps: Steps, *, iteration: Iteration = "last") -> Floats:
    r"""The share of the different results up to and with an iteration that somebody labelled.

    $$\mathrm{Coverage}@i = \frac{|\{c \in UR@i : c \text{ is labelled}\}|}{UR@i}$$

    where a label given to any occurrence of a result counts for all of them. Below 1, every value that depends on gains is a
    lower or an open one.

    Unlabelled: is what is counted.
    Empty: undefined (NaN, left out of the mean and counted) while nothing has been returned.

    Example:
        `b` has no label:

        >>> from judged.kernels.sessions.examples import steps_of
        >>> label_coverage(steps_of(["a3 b? c0", "d2"]))
        array([0.75])

    References:
        Source document 001, Retrieved Good Gain Metrics, Preliminaries.
    """
    unique = counted(steps, steps.new, iteration)
    labelled = counted(steps, steps.new - steps.grades[:, 0], iteration)
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
