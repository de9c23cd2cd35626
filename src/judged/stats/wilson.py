"""Wilson's interval: the share of successes among values that are 0 or 1."""

from __future__ import annotations

import math

import numpy as np

from judged.errors import BadSample
from judged.stats.interval import Interval, checked_level
from judged.stats.paired import Values
from judged.stats.sample import sample

__all__ = ["wilson_interval", "zero_or_one"]


def zero_or_one(values: Values) -> bool:
    """Whether every value is 0 or 1."""
    array = np.asarray(values, dtype=np.float64)
    return bool(((array == 0) | (array == 1)).all())


def wilson_interval(values: Values, *, level: float = 0.95) -> Interval:
    r"""The interval of Wilson's score around the share of ones; it never leaves 0 to 1, nor has it width 0.

    $$\frac{\hat{p} + z^2/2n}{1 + z^2/n} \pm \frac{z}{1 + z^2/n} \sqrt{\frac{\hat{p}(1-\hat{p})}{n} + \frac{z^2}{4n^2}}$$

    Example:
        >>> interval = wilson_interval([1, 1, 1, 0])
        >>> round(interval.low, 4), round(interval.high, 4)
        (0.3006, 0.9544)
    """
    from scipy.special import ndtri

    checked_level(level)
    of = sample(values)
    if not zero_or_one(values):
        msg = "Wilson's interval is of values that are 0 or 1, and there are others"
        raise BadSample(msg, hint="Student's t is for all values")
    z2 = float(ndtri((1 + level) / 2)) ** 2
    centre = (of.mean + z2 / (2 * of.size)) / (1 + z2 / of.size)
    spread = math.sqrt(z2 * (of.mean * (1 - of.mean) / of.size + z2 / (4 * of.size**2)))
    margin = spread / (1 + z2 / of.size)
    low, high = max(0.0, centre - margin), min(1.0, centre + margin)
    return Interval(of.mean, low if of.mean else 0.0, high if of.mean < 1 else 1.0, level, "wilson")
