"""The distribution of values: the quantiles that an empirical distribution function is drawn from."""

from __future__ import annotations

import numpy as np

from judged.arrays import Floats
from judged.stats.paired import Values

SHARES = tuple(np.linspace(0, 1, 101).round(2).tolist())
"""The shares at which quantiles are taken, from the least value to the greatest."""


def find_quantiles(values: Values, shares: Values = SHARES) -> Floats:
    """Return the least value that at least each share of the values does not exceed; NaN for no values.

    These are values that occur, so that a step function through them is the empirical distribution function.

    >>> find_quantiles([0.1, 0.4, 0.2, 0.3], [0, 0.5, 1]).tolist()
    [0.1, 0.2, 0.4]
    """
    array = np.asarray(values, dtype=np.float64)
    there = array[~np.isnan(array)]
    if not len(there):
        return np.full(len(shares), np.nan)
    found: Floats = np.quantile(there, shares, method="inverted_cdf")
    return found
