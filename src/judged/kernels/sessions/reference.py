"""What there was to find: a reference beside the sessions, or what they found themselves, and when all of it was."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from judged.errors import BadMeasure
from judged.kernels.segments import Flags, Floats, Ints, segment_count, segment_max
from judged.kernels.sessions.good_gain import Worth, good_results, increments, worth_of
from judged.kernels.sessions.view import Reference, Steps, graded

__all__ = ["Sought", "completed", "found_of_reference", "sought_of_reference"]

Sought: TypeAlias = Literal["own", "given"]
"""The good results that a session found itself, or those of the reference."""


def found_of_reference(steps: Steps, good: int, worth: Worth) -> Ints:
    """For each iteration, what its new results that are good in the reference are worth there."""
    reference = _reference(steps)
    counts = steps.cached(("reference grades",), lambda: graded(reference.gains, steps.cut))
    return worth_of(counts, good, worth)


def sought_of_reference(steps: Steps, good: int, worth: Worth) -> Ints:
    """For each session, what all good results of the reference are worth."""
    return _reference(steps).counts @ increments(good, worth)


def completed(steps: Steps, good: int, sought: Sought) -> tuple[Floats, Flags, Flags]:
    """For each session, the last iteration that brought one of the good results; whether that was all; and any there.

    >>> from judged.kernels.sessions.examples import steps_of
    >>> completed(steps_of(["a3 x0", "b2", "a3 x0"]), 2, "own")
    (array([2.]), array([ True]), array([ True]))
    """
    if sought == "own":
        adding = good_results(steps, good)
        wanted = segment_count(adding > 0, steps.offset)
        found = wanted
    else:
        adding = found_of_reference(steps, good, "binary")
        wanted = sought_of_reference(steps, good, "binary")
        found = np.bincount(steps.session, weights=adding, minlength=len(steps)).astype(np.int64)
    last = segment_max(np.where(adding > 0, steps.number, 0).astype(np.float64), steps.offset)
    return last, found >= wanted, wanted > 0


def _reference(steps: Steps) -> Reference:
    if steps.reference is None:
        msg = "a measure that looks at what there was to find needs a reference, and there is none"
        raise BadMeasure(
            msg, hint="give judgments of the tasks, or compare several systems on the same tasks"
        )
    return steps.reference
