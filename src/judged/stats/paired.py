"""Differences of two systems on the same queries: checked, freed of rounding, counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadSample
from judged.stats.sample import checked

__all__ = ["Floats", "Values", "WinsTiesLosses", "differences", "steady", "wins_ties_losses"]

Floats: TypeAlias = NDArray[np.float64]
Values: TypeAlias = Sequence[float] | Floats

DIGITS = 12
"""How many digits of the largest score count; what lies below them is the rounding of float64."""


@dataclass(frozen=True, slots=True)
class WinsTiesLosses:
    """On how many queries the first system is better, equal and worse."""

    wins: int
    ties: int
    losses: int


def differences(first: Values, second: Values) -> Floats:
    """The difference of each query, first minus second.

    >>> differences([0.5, 0.1 + 0.2], [0.25, 0.3]).tolist()
    [0.25, 0.0]
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape:
        msg = f"a paired comparison was given {a.size:,} and {b.size:,} scores, expected the same queries in both"
        raise BadSample(msg, hint="use Welch's test for samples that are not paired")
    checked(a, name="the first scores")
    checked(b, name="the second scores")
    return steady(a - b, scale=float(max(np.abs(a).max(), np.abs(b).max())))


def steady(values: Floats, *, scale: float) -> Floats:
    """The values, with those that differ in size by rounding alone made equal: 0.3 − 0.1 and 0.7 − 0.5 are.

    What stands alone stays as it is, to the last bit; what is 0 but for rounding becomes 0.
    """
    if scale == 0:
        return values
    rounded = np.round(values, int(min(DIGITS - np.ceil(np.log10(scale)), 300))).ravel()
    sizes, first, place = np.unique(np.abs(rounded), return_index=True, return_inverse=True)
    kept = np.where(sizes == 0, 0.0, np.abs(values.ravel())[first])
    equal: Floats = (np.sign(rounded) * kept[place.ravel()] + 0.0).reshape(values.shape)
    return equal


def wins_ties_losses(difference: Floats) -> WinsTiesLosses:
    """How many differences are above 0, at 0 and below it.

    >>> wins_ties_losses(differences([0.3, 0.5, 0.1], [0.1, 0.5, 0.2]))
    WinsTiesLosses(wins=1, ties=1, losses=1)
    """
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    return WinsTiesLosses(wins, len(difference) - wins - losses, losses)
