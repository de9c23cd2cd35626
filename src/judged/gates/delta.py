"""The least difference that a gate allows: a number, or a share of the baseline's mean."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadProtocol, BadSample

__all__ = ["Delta", "as_delta"]


@dataclass(frozen=True, slots=True)
class Delta:
    """A difference in the measure's own units, or relative to the baseline's mean."""

    value: float
    relative: bool = False

    def margin(self, baseline: NDArray[np.float64], *, measure: str) -> NDArray[np.float64]:
        """The margin of each query: a share of its baseline value, whose mean is that share of the mean.

        So the mean of the baseline is not taken for known: its spread is part of the test.
        """
        if not self.relative:
            return np.full(len(baseline), self.value)
        if baseline.mean() < 0:
            msg = f"{measure}: `min_delta` is {self}, a share of the baseline's mean, which is {baseline.mean():g}, expected 0 or more"
            raise BadSample(msg, hint="give `min_delta` as a number, such as -0.01")
        return self.value * baseline

    def __str__(self) -> str:
        return f"{100 * self.value:.10g}%" if self.relative else f"{self.value:.10g}"


def as_delta(given: float | str | Delta) -> Delta:
    """The difference that is meant by a number, or by text such as `-0.01` and `-2%`.

    >>> as_delta("-2%"), str(as_delta("-2%")), as_delta(-0.01)
    (Delta(value=-0.02, relative=True), '-2%', Delta(value=-0.01, relative=False))
    """
    if isinstance(given, Delta):
        return given
    text = str(given).strip().replace("\N{MINUS SIGN}", "-")
    relative = text.endswith("%")
    try:
        value = float(text.removesuffix("%")) / (100 if relative else 1)
    except ValueError:
        value = math.nan
    if isinstance(given, bool) or not math.isfinite(value):
        msg = f"`min_delta` is `{given}`, expected a number or a percentage"
        raise BadProtocol(
            msg, hint="-0.01 allows a hundredth less, -2% two hundredths of the baseline's mean"
        )
    return Delta(value, relative)
