"""The mean of human values when people saw some items of each label that a machine gave."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from judged.errors import BadSample
from judged.stats.interval import checked_level
from judged.stats.labels import in_order
from judged.stats.paired import Values
from judged.stats.rows import Cell, as_row
from judged.stats.sample import checked
from judged.stats.undefined import Undefined

__all__ = ["StratifiedMean", "stratified_mean"]


@dataclass(frozen=True, slots=True)
class StratifiedMean:
    """A mean of human values with its interval, each stratum weighing as much as there is of it."""

    mean: float
    error: float
    """The standard error of the mean."""
    low: float
    high: float
    level: float
    strata: int
    human: int
    """How many items have a human value."""

    def rows(self) -> list[dict[str, Cell]]:
        """One dict."""
        return [as_row(self)]


def stratified_mean(
    human: Values, strata: Sequence[Hashable], others: Sequence[Hashable], *, level: float = 0.95
) -> StratifiedMean | Undefined:
    r"""The mean of human values over all items, of which people saw a random sample within each stratum.

    $$\hat\theta = \sum_g W_g \bar{y}_g, \qquad
      \hat{s}^2 = \sum_g W_g^2 \frac{s_g^2}{n_g} + \frac{1}{N} \sum_g W_g (\bar{y}_g - \hat\theta)^2$$

    with $W_g$ the share of stratum $g$ among all $N$ items; the last sum is there because these are a sample themselves.
    `strata` are the labels that the machine gave to the items people saw, `others` those of all other items. Use it where
    labels decided which items people saw, a fixed number of each, say: there `prediction_powered_mean`, which wants a
    random sample of the whole, is biased. A stratum with fewer than two human values leaves it undefined.

    Example:
        >>> found = stratified_mean([0, 1, 1, 1], ["bad", "bad", "good", "good"], ["bad"] * 94 + ["good"] * 2)
        >>> found.mean, round(found.error, 2)
        (0.52, 0.48)
    """
    checked_level(level)
    values = checked(human, name="human")
    if len(values) != len(strata):
        msg = f"{len(values):,} human values of {len(strata):,} items were given, expected one of each"
        raise BadSample(msg)
    from scipy.special import ndtri

    size = Counter(strata) + Counter(others)
    seen = {stratum: values[[each == stratum for each in strata]] for stratum in in_order(size)}
    for stratum, each in seen.items():
        if len(each) < 2:
            return Undefined(f"`{stratum}` has {len(each)} human values, expected two or more of each label")
    share = np.array([size[stratum] for stratum in seen]) / size.total()
    means = np.array([each.mean() for each in seen.values()])
    mean = float((share * means).sum())
    within = share**2 * [np.var(each, ddof=1) / len(each) for each in seen.values()]
    error = math.sqrt(float(within.sum() + (share * (means - mean) ** 2).sum() / size.total()))
    margin = float(ndtri((1 + level) / 2)) * error
    return StratifiedMean(mean, error, mean - margin, mean + margin, level, len(size), len(values))
