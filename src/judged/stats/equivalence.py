"""Equivalence: whether a difference is small enough not to matter, by two one-sided t-tests."""

from __future__ import annotations

import math
from dataclasses import dataclass

from judged.errors import BadSample
from judged.stats.paired import Floats
from judged.stats.sample import sample
from judged.stats.undefined import NO_SPREAD, ONE_QUERY, Undefined

__all__ = ["Equivalence", "equivalence_test"]


@dataclass(frozen=True, slots=True)
class Equivalence:
    """What the two one-sided tests say of a mean difference and a margin around 0."""

    margin: float
    p_not_worse: float
    """Of the claim that the true difference is above −margin: "no worse than"."""
    p_not_better: float
    """Of the claim that it is below the margin."""

    @property
    def p(self) -> float:
        """Of the claim that it lies within the margin, either way."""
        return max(self.p_not_worse, self.p_not_better)


def equivalence_test(difference: Floats, *, margin: float) -> Equivalence | Undefined:
    """The two one-sided paired t-tests (TOST) of a mean difference against −margin and margin.

    A small p speaks *for* equivalence: the difference lies within the margin. The p-value of "no worse than" alone is
    `p_not_worse`.

    Example:
        >>> import numpy as np
        >>> result = equivalence_test(np.array([0.01, -0.01, 0.02, -0.02, 0.0]), margin=0.03)
        >>> round(result.p, 4)
        0.0066

    References:
        Schuirmann. A comparison of the two one-sided tests procedure and the power approach. Journal of
        Pharmacokinetics and Biopharmaceutics 15, 1987. doi:10.1007/BF01068419
    """
    from scipy.special import stdtr

    if not (math.isfinite(margin) and margin > 0):
        msg = f"the margin is {margin}, expected a number above 0"
        raise BadSample(msg)
    of = sample(difference, name="the differences")
    if of.size == 1:
        return ONE_QUERY
    if of.deviation == 0:
        return NO_SPREAD
    error = of.deviation / math.sqrt(of.size)
    above, below = (of.mean + margin) / error, (of.mean - margin) / error
    return Equivalence(margin, float(stdtr(of.size - 1, -above)), float(stdtr(of.size - 1, below)))
