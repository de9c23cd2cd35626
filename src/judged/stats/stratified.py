r"""Paired differences in several strata, such as collections, each of which counts the same whatever its size.

$$D = \frac{1}{C} \sum_{c=1}^{C} \bar{d}_c, \qquad \mathrm{SE}^2 = \frac{1}{C^2} \sum_{c=1}^{C} \frac{s_c^2}{n_c}$$

for $C$ strata with $n_c$ differences of mean $\bar{d}_c$ and standard deviation $s_c$; the degrees of freedom are those of
Welch and Satterthwaite. The statement is about these strata, with other queries: not about other strata.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judged.arrays import Floats
from judged.errors import BadSample
from judged.stats.intervals import Interval
from judged.stats.paired import check_level, summarise


@dataclass(frozen=True, slots=True)
class StratifiedMean:
    """The mean over strata, its standard error, and the degrees of freedom of that."""

    mean: float
    error: float
    freedom: float

    @property
    def p(self) -> float:
        """The two-sided p-value of Student's test that the mean is 0; 1 without any difference, NaN without an error."""
        if math.isnan(self.error):
            return math.nan
        if self.error == 0:
            return 1.0 if self.mean == 0 else 0.0
        from scipy.special import stdtr

        return float(2 * stdtr(self.freedom, -abs(self.mean / self.error)))

    def interval(self, level: float = 0.95) -> Interval:
        """Return Student's interval of the mean; its bounds are NaN without an error."""
        check_level(level)
        if math.isnan(self.error):
            return Interval(self.mean, math.nan, math.nan, level)
        if self.error == 0:
            return Interval(self.mean, self.mean, self.mean, level)
        from scipy.special import stdtrit

        reach = float(stdtrit(self.freedom, (1 + level) / 2)) * self.error
        return Interval(self.mean, self.mean - reach, self.mean + reach, level)


def stratified_mean(strata: Sequence[Sequence[float] | Floats]) -> StratifiedMean:
    """Return the mean over strata of their means; its error is NaN if a stratum has a single value, which shows no spread.

    Two strata of two differences: 0.1 and 0.3, then 0.2 and 0.2; so D is (0.2 + 0.2) / 2, and the first alone adds to
    the error, 0.1 / 2:

    >>> found = stratified_mean([[0.1, 0.3], [0.2, 0.2]])
    >>> round(found.mean, 6), round(found.error, 6), round(found.freedom, 6)
    (0.2, 0.05, 1.0)
    """
    if not strata:
        raise BadSample("there are no strata, expected one or more")
    found = [summarise(values) for values in strata]
    count = len(found)
    mean = math.fsum(sample.mean for sample in found) / count
    if any(sample.size < 2 for sample in found):
        return StratifiedMean(mean, math.nan, math.nan)
    variances = [sample.deviation**2 / sample.size / count**2 for sample in found]
    variance = math.fsum(variances)
    parts = math.fsum(part**2 / (sample.size - 1) for part, sample in zip(variances, found, strict=True))
    return StratifiedMean(mean, math.sqrt(variance), variance**2 / parts if parts > 0 else math.inf)


def weigh_strata(sizes: Sequence[int]) -> Floats:
    """Return the weight of each value, by which the mean of weighted values is that over strata.

    >>> weigh_strata([1, 3]).tolist()
    [2.0, 0.6666666666666666, 0.6666666666666666, 0.6666666666666666]
    """
    total = sum(sizes)
    weights: Floats = np.repeat([total / (len(sizes) * size) for size in sizes], sizes)
    return weights
