"""Stopping points: what would have been lost, and what saved, had every agent stopped at an iteration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judged.kernels.segments import Floats
from judged.kernels.sessions.good_gain import count_until, iteration_gain, total_until
from judged.sessions.evaluation import SessionEvaluation

__all__ = ["Stop", "stopping_points"]


@dataclass(frozen=True, slots=True)
class Stop:
    """What stopping at one iteration would have meant, over all sessions."""

    iteration: int
    running: int
    """How many sessions went on beyond it."""
    gain: float
    """The mean good gain up to there."""
    lost: float
    """The mean share of its own good gain that a session would have lost; NaN where none found anything good."""
    losing: int
    """How many sessions would have lost anything."""
    searches_saved: float
    """The share of all searches that came later."""
    tokens_saved: float
    """The share of all tokens that were spent later; NaN where some iteration does not tell its tokens."""


def stopping_points(
    evaluation: SessionEvaluation, *, good: int = 2, iterations: int | None = None
) -> tuple[Stop, ...]:
    """For each iteration but the longest session's last, what had been lost and saved by stopping there."""
    longest = int(evaluation.view.iterations.max(initial=0)) if iterations is None else iterations + 1
    return tuple(_stop(evaluation, i, good) for i in range(1, longest))


def _stop(evaluation: SessionEvaluation, iteration: int, good: int) -> Stop:
    view = evaluation.view
    gains = iteration_gain(view, good, "graded")
    here, there = count_until(view, gains, iteration), count_until(view, gains, "last")
    lost = (there - here)[there > 0] / there[there > 0]
    searches = count_until(view, view.searches, iteration).sum()
    return Stop(
        iteration,
        running=int((view.iterations > iteration).sum()),
        gain=float(here.mean()),
        lost=float(lost.mean()) if len(lost) else float("nan"),
        losing=int((there > here).sum()),
        searches_saved=1 - float(searches) / float(view.searches.sum()),
        tokens_saved=1
        - _share(total_until(view, view.tokens, iteration), total_until(view, view.tokens, "last")),
    )


def _share(part: Floats, whole: Floats) -> float:
    every = float(np.sum(whole))
    return float(np.sum(part)) / every if every > 0 else float("nan")
