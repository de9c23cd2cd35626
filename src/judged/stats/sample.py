"""A sample: the values of one system over queries, checked once, with its mean and spread."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadSample

__all__ = ["Sample", "checked", "sample"]


@dataclass(frozen=True, slots=True)
class Sample:
    """How many values there are, their mean, and their standard deviation (0 if all are equal)."""

    size: int
    mean: float
    deviation: float


def sample(values: Iterable[float] | NDArray[np.float64], *, name: str = "scores") -> Sample:
    """The size, mean and standard deviation of `values`.

    Equal values have no spread at all, whatever rounding makes of their mean:

    >>> sample([0.1, 0.1, 0.1])
    Sample(size=3, mean=0.1, deviation=0.0)
    """
    array = checked(values, name=name)
    if (array == array[0]).all():
        return Sample(len(array), float(array[0]), 0.0)
    return Sample(len(array), float(array.mean()), float(array.std(ddof=1)))


def checked(values: Iterable[float] | NDArray[np.float64], *, name: str = "scores") -> NDArray[np.float64]:
    """The values as an array; none at all, and such as are not finite, are refused."""
    array = np.asarray(values if isinstance(values, np.ndarray) else list(values), dtype=np.float64)
    if array.ndim != 1 or len(array) == 0:
        msg = f"`{name}` holds no values, expected at least one"
        raise BadSample(msg)
    if not np.isfinite(array).all():
        msg = f"`{name}` holds {array[~np.isfinite(array)][0]}, expected finite numbers"
        raise BadSample(msg)
    return array
