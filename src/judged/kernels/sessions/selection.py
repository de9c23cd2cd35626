"""Some sessions of a view, as a view of their own."""

from __future__ import annotations

from judged.kernels.segments import Ints, repeated_segments
from judged.kernels.sessions.view import Reference, Steps

__all__ = ["chosen_steps"]


def chosen_steps(steps: Steps, sessions: Ints) -> Steps:
    """The view of the sessions given, by their numbers and in that order.

    >>> from judged.kernels.sessions.examples import steps_of
    >>> chosen_steps(steps_of(["a3 b1"], ["c2", "c2 d4"]), [1]).gains.tolist()
    [2, 4]
    """
    iterations, offset = repeated_segments(steps.offset, sessions)
    new, cut = repeated_segments(steps.cut, iterations)
    reference = steps.reference
    return Steps(
        offset=offset,
        results=steps.results[iterations],
        cut=cut,
        gains=steps.gains[new],
        searches=steps.searches[iterations],
        tokens=steps.tokens[iterations],
        seconds=steps.seconds[iterations],
        reference=None if reference is None else Reference(reference.gains[new], reference.counts[sessions]),
    )
