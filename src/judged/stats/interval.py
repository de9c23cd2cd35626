"""Confidence intervals of a mean."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadSample
from judged.stats.sample import sample

__all__ = ["Interval", "checked_level", "student_interval"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean (or another statistic), and the bounds that hold the true one with the given confidence."""

    mean: float
    low: float
    high: float
    level: float
    method: str = "student"
    """How it was made: `student`, `wilson`, `percentile` or `bca`."""


def checked_level(level: float) -> None:
    """Refuse a confidence that is no probability."""
    if not 0 < level < 1:
        msg = f"the confidence level is {level}, expected a number between 0 and 1"
        raise BadSample(msg, hint="95 % is written 0.95")


def student_interval(values: Iterable[float] | NDArray[np.float64], *, level: float = 0.95) -> Interval:
    r"""The interval of Student's t around the mean of `values`.

    $$\bar{x} \pm t_{n-1,\,(1+\mathrm{level})/2} \; s / \sqrt{n}$$

    One value, or values that are all equal, have an interval of width 0.

    Example:
        >>> interval = student_interval([0.2, 0.4, 0.6])
        >>> round(interval.low, 4), round(interval.high, 4)
        (-0.0968, 0.8968)
    """
    checked_level(level)
    of = sample(values)
    if of.deviation == 0:
        return Interval(of.mean, of.mean, of.mean, level)
    from scipy.special import stdtrit

    margin = float(stdtrit(of.size - 1, (1 + level) / 2)) * of.deviation / math.sqrt(of.size)
    return Interval(of.mean, of.mean - margin, of.mean + margin, level)
