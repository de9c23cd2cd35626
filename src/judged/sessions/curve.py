"""Curves: a measure at every iteration, with how many sessions still run there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from judged.errors import BadMeasure
from judged.measures.measure import Measure
from judged.measures.parse import parse_measure
from judged.sessions.evaluation import SessionEvaluation, over_sessions
from judged.stats.intervals import Interval, student_interval

__all__ = ["At", "Curve", "curve", "curve_measures"]


@dataclass(frozen=True, slots=True)
class At:
    """What a measure is at one iteration, over all sessions."""

    iteration: int
    running: int
    """How many sessions have at least so many iterations; the others are held at their last, or padded."""
    value: float
    interval: Interval | None
    """None where fewer than two sessions have a value, or the value is pooled over them."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A measure of one system, iteration by iteration."""

    system: str
    measure: str
    """As it is written, without an iteration."""
    points: tuple[At, ...]


def curve(
    evaluation: SessionEvaluation,
    measure: Measure | str,
    *,
    iterations: int | None = None,
    level: float = 0.95,
) -> Curve:
    """The measure at each iteration, up to that of the longest session unless said otherwise.

    The measure need not be one of the evaluation's; its own iteration does not matter.
    """
    wanted = parse_measure(measure, family="session")
    if wanted.at_parameter != "iteration":
        msg = f"{wanted} is one number for a whole session, and has no curve over iterations"
        raise BadMeasure(msg, hint="for example `CG`, `SRR` or `RG`")
    longest = int(evaluation.view.iterations.max(initial=0)) if iterations is None else iterations
    points = tuple(_at(evaluation, wanted @ i, i, level) for i in range(1, longest + 1))
    return Curve(evaluation.run, head(wanted), points)


def _at(evaluation: SessionEvaluation, measure: Measure, iteration: int, level: float) -> At:
    values = measure.per_query(evaluation.view)
    there = values[~np.isnan(values)]
    interval = None
    if measure.aggregate == "mean" and len(there) > 1:
        interval = student_interval(there, level=level)
    running = int((evaluation.view.iterations >= iteration).sum())
    return At(iteration, running, over_sessions(measure, evaluation.view, values), interval)


def curve_measures(measures: Iterable[Measure]) -> list[Measure]:
    """The measures that have a curve, each once whatever iterations it was asked for at."""
    return list({head(each): each for each in measures if each.at_parameter == "iteration"}.values())


def head(measure: Measure) -> str:
    """The measure as it is written, without an iteration."""
    return str(measure @ 1).rpartition("@")[0]
