"""Effect sizes of paired differences: how large a difference is, apart from how sure."""

from __future__ import annotations

import math

from judged.stats.paired import Floats, wins_ties_losses
from judged.stats.sample import sample
from judged.stats.undefined import NO_SPREAD, ONE_QUERY, Undefined

__all__ = ["hedges", "probability_of_superiority", "standardised_difference"]


def standardised_difference(difference: Floats) -> float | Undefined:
    r"""The mean difference in standard deviations of the differences.

    $$d = \bar{d} / s_d$$

    No difference at all is 0; the same difference on every query has no spread to be measured by.

    >>> import numpy as np
    >>> standardised_difference(np.array([0.0, 0.5, 1.0])), str(standardised_difference(np.array([0.2, 0.2])))
    (1.0, 'undefined: no spread')
    """
    of = sample(difference, name="the differences")
    if of.size == 1:
        return ONE_QUERY
    if of.deviation == 0:
        return NO_SPREAD if of.mean else 0.0
    return of.mean / of.deviation


def hedges(difference: Floats) -> float | Undefined:
    r"""The standardised difference without its bias in small samples (Hedges' g).

    $$g = d \; \frac{\Gamma(m/2)}{\sqrt{m/2}\;\Gamma((m-1)/2)}, \quad m = n - 1$$

    References:
        Hedges. Distribution theory for Glass's estimator of effect size and related estimators. Journal of
        Educational Statistics 6(2), 1981. doi:10.3102/10769986006002107
    """
    raw = standardised_difference(difference)
    freedom = len(difference) - 1
    if isinstance(raw, Undefined):
        return raw
    if freedom < 2:
        return Undefined("two queries") if raw else 0.0
    factor = math.exp(math.lgamma(freedom / 2) - math.lgamma((freedom - 1) / 2)) / math.sqrt(freedom / 2)
    return raw * factor


def probability_of_superiority(difference: Floats) -> float:
    """The share of queries on which the first system is better, ties counted half.

    >>> import numpy as np
    >>> probability_of_superiority(np.array([0.1, 0.0, 0.2, -0.1]))
    0.625
    """
    count = wins_ties_losses(difference)
    return (count.wins + count.ties / 2) / len(difference)
