"""Human values from a few human labels and many of a machine: prediction-powered means, stratified means, corrected rates."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from judged.arrays import Floats
from judged.errors import BadSample, UnknownName
from judged.stats.intervals import is_binary
from judged.stats.outcome import Cell, Undefined, as_row
from judged.stats.paired import Values, check_level, check_values
from judged.stats.rater_agreement import sort_labels

__all__ = [
    "CorrectedRate",
    "PoweredMean",
    "StratifiedMean",
    "normal_quantile",
    "prediction_powered_mean",
    "rogan_gladen_rate",
    "stratified_mean",
]

Trust: TypeAlias = Literal["tuned", "full", "none"]
"""How far to rely on the machine: as far as it helps (PPI++), fully (PPI), not at all (classical)."""
METHODS = {"tuned": "PPI++", "full": "PPI", "none": "classical"}


@dataclass(frozen=True, slots=True)
class PoweredMean:
    """A mean of human values with its interval, estimated with the help of a machine's values."""

    method: str
    """`PPI++`, `PPI` or `classical`; with ` by cluster` if items are not independent."""
    mean: float
    error: float
    """The standard error of the mean."""
    low: float
    high: float
    level: float
    weight: float
    """λ, how far the estimate relies on the machine: 0 not at all, 1 fully."""
    human: int
    """The number of items with values of both."""
    machine: int
    """The number of items with a value of the machine only."""

    def rows(self) -> list[dict[str, Cell]]:
        """Return one dict."""
        return [as_row(self)]


def prediction_powered_mean(
    human: Values,
    machine: Values,
    others: Values = (),
    *,
    trust: Trust | float = "tuned",
    clusters: tuple[Sequence[Hashable], Sequence[Hashable]] | None = None,
    level: float = 0.95,
) -> PoweredMean:
    r"""Return the mean of human values over a population, of which people saw a random sample and a machine all items.

    $$\hat\theta = \bar{y} + \lambda (\bar{f}_N - \bar{f}_n), \qquad
      \hat{s}^2 = \frac{\widehat{var}(y - \lambda f)}{n} + \lambda^2 \frac{\widehat{var}(f_N)}{N}$$

    with $y$ (`human`) and $f$ (`machine`) the values of the $n$ items in the sample, $f_N$ (`others`) the machine's of the
    $N$ items outside it, and λ (`trust`) chosen to make the interval narrow (`tuned`: PPI++), 1 (`full`: PPI), 0 (`none`: the
    classical interval, of the human values alone), or a number. The machine may be biased in any way, but the sample
    must be a random sample of the population. An interval of the machine's labels alone has no such guarantee, however
    narrow it is.

    `clusters` names the cluster of each item in the sample, and of each other item: sessions, or topics. Then clusters, not
    items, are independent draws, and the interval is of Student's t with one degree of freedom less than there are
    clusters. It generalises to new clusters; without `clusters`, the interval generalises to new items of the same ones.

    Without other items, or if the machine gives the same value to all, λ is 0. Values without any spread have an interval
    of width 0. At least two human values are required; the normal quantile is accurate from about thirty.

    Example:
        >>> human, machine = [1, 0, 1, 1, 0, 0, 1, 0], [1, 0, 1, 1, 1, 0, 1, 0]
        >>> found = prediction_powered_mean(human, machine, [1, 0, 1, 0] * 25)
        >>> round(found.mean, 4), round(found.weight, 4), round(found.low, 4), round(found.high, 4)
        (0.414, 0.6883, 0.1816, 0.6463)

    References:
        Angelopoulos, Duchi and Zrnic. PPI++: Efficient prediction-powered inference. 2023. arXiv:2311.01453
    """
    check_level(level)
    y, f = check_values(human, name="human"), check_values(machine, name="machine")
    rest = check_values(others, name="others") if len(others) else np.zeros(0)
    _check_same_items(y, f)
    if len(y) < 2:
        msg = "there is 1 human value, expected two or more to estimate their spread"
        raise BadSample(msg)
    weight = _choose_weight(y, f, rest, trust)
    mean = _mean(y) + weight * (_mean(rest) - _mean(f)) if weight else _mean(y)
    method = METHODS.get(str(trust), "PPI")
    if clusters is None:
        error, quantile = _error(y, f, rest, weight), normal_quantile(level)
    else:
        method += " by cluster"
        error, quantile = _clustered_error(y - weight * f, weight * rest, clusters, level)
    margin = quantile * error
    return PoweredMean(method, mean, error, mean - margin, mean + margin, level, weight, len(y), len(rest))


def _check_same_items(human: Floats, machine: Floats) -> None:
    if len(human) != len(machine):
        msg = f"{len(human):,} human values and {len(machine):,} of the machine were given, expected one of each for an item"
        raise BadSample(msg, hint="the machine's values of items that nobody saw are `others`")


def _choose_weight(human: Floats, machine: Floats, others: Floats, trust: Trust | float) -> float:
    """Return λ; the one that makes the interval narrowest follows from the covariance, and lies between 0 and 1."""
    if isinstance(trust, str) and trust not in METHODS:
        raise UnknownName("trust in the machine", trust, list(METHODS))
    if len(others) == 0 or trust == "none":
        return 0.0
    if trust == "full":
        return 1.0
    if not isinstance(trust, str):
        if not 0 <= trust <= 1:
            msg = f"the trust in the machine is {trust}, expected a number from 0 to 1"
            raise BadSample(msg, hint='`trust="tuned"` finds it')
        return float(trust)
    spread = float(np.concatenate([machine, others]).var(ddof=1))
    if spread == 0:
        return 0.0
    shared = float(((human - human.mean()) * (machine - machine.mean())).mean())
    return min(max(shared / ((1 + len(human) / len(others)) * spread), 0.0), 1.0)


def _error(human: Floats, machine: Floats, others: Floats, weight: float) -> float:
    variance = _variance(human - weight * machine) / len(human)
    if weight:
        variance += weight**2 * _variance(others) / len(others)
    return math.sqrt(variance)


def _clustered_error(
    left: Floats, others: Floats, clusters: tuple[Sequence[Hashable], Sequence[Hashable]], level: float
) -> tuple[float, float]:
    """Return the standard error from each cluster's part of the estimate, and the quantile that belongs to it.

    A cluster may have items on both sides, which then vary together.
    """
    of_sample, of_others = clusters
    if len(of_sample) != len(left) or (len(others) and len(of_others) != len(others)):
        msg = f"`clusters` names those of {len(of_sample):,} and {len(of_others):,} items, expected {len(left):,} and {len(others):,}"
        raise BadSample(msg, hint="give two sequences: for the sample, and for the other items")
    names = [*of_sample, *(of_others if len(others) else ())]
    number = {name: at for at, name in enumerate(dict.fromkeys(names))}
    if len(number) < 2:
        msg = "all items are of one cluster, expected two or more to estimate their spread"
        raise BadSample(msg, hint="without `clusters` every item is an independent draw")
    from scipy.special import stdtrit

    parts = [(values - _mean(values)) / len(values) for values in (left, others) if len(values)]
    added = np.bincount([number[name] for name in names], weights=np.concatenate(parts))
    error = math.sqrt(len(number) / (len(number) - 1) * float((added**2).sum()))
    return error, float(stdtrit(len(number) - 1, (1 + level) / 2))


def normal_quantile(level: float) -> float:
    """Return how many standard errors an interval of this level extends to either side."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


def _mean(values: Floats) -> float:
    """Return the mean; of equal values the value itself, free of rounding."""
    return float(values[0]) if (values == values[0]).all() else float(values.mean())


def _variance(values: Floats) -> float:
    return 0.0 if (values == values[0]).all() else float(values.var())


@dataclass(frozen=True, slots=True)
class StratifiedMean:
    """A mean of human values with its interval, each stratum weighted by its size."""

    mean: float
    error: float
    """The standard error of the mean."""
    low: float
    high: float
    level: float
    strata: int
    human: int
    """The number of items with a human value."""

    def rows(self) -> list[dict[str, Cell]]:
        """Return one dict."""
        return [as_row(self)]


def stratified_mean(
    human: Values, strata: Sequence[Hashable], others: Sequence[Hashable], *, level: float = 0.95
) -> StratifiedMean | Undefined:
    r"""Return the mean of human values over all items, of which people saw a random sample within each stratum.

    $$\hat\theta = \sum_g W_g \bar{y}_g, \qquad
      \hat{s}^2 = \sum_g W_g^2 \frac{s_g^2}{n_g} + \frac{1}{N} \sum_g W_g (\bar{y}_g - \hat\theta)^2$$

    with $W_g$ the share of stratum $g$ among all $N$ items; the last sum accounts for these being a sample themselves.
    `strata` are the labels that the machine gave to the items people saw, `others` those of all other items. Use it if
    labels decided which items people saw, for instance a fixed number of each: `prediction_powered_mean`, which needs a
    random sample of all items, is then biased. It is undefined if a stratum has fewer than two human values.

    Example:
        >>> found = stratified_mean([0, 1, 1, 1], ["bad", "bad", "good", "good"], ["bad"] * 94 + ["good"] * 2)
        >>> found.mean, round(found.error, 2)
        (0.52, 0.48)
    """
    check_level(level)
    values = check_values(human, name="human")
    if len(values) != len(strata):
        msg = f"{len(values):,} human values of {len(strata):,} items were given, expected one of each"
        raise BadSample(msg)
    size = Counter(strata) + Counter(others)
    seen = {name: values[[stratum == name for stratum in strata]] for name in sort_labels(size)}
    for name, found in seen.items():
        if len(found) < 2:
            return Undefined(f"`{name}` has {len(found)} human values, expected two or more of each label")
    share = np.array([size[name] for name in seen]) / size.total()
    means = np.array([found.mean() for found in seen.values()])
    mean = float((share * means).sum())
    within = share**2 * [np.var(found, ddof=1) / len(found) for found in seen.values()]
    error = math.sqrt(float(within.sum() + (share * (means - mean) ** 2).sum() / size.total()))
    margin = normal_quantile(level) * error
    return StratifiedMean(mean, error, mean - margin, mean + margin, level, len(size), len(values))


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """A rate as a judge reports it, and corrected for the judge's known mistakes."""

    value: float | Undefined
    """The corrected rate, from 0 to 1."""
    apparent: float
    """The rate that the judge reports, over all items."""
    sensitivity: float | Undefined
    """The share of good items that the judge calls good."""
    specificity: float | Undefined
    """The share of other items that the judge does not call good."""

    def rows(self) -> list[dict[str, Cell]]:
        """Return one dict, an undefined number as its text."""
        return [as_row(self)]


def rogan_gladen_rate(human: Values, machine: Values, others: Values = ()) -> CorrectedRate:
    r"""Correct a machine's rate of good items by its sensitivity and specificity on the items that people judged.

    $$p = \frac{q + sp - 1}{se + sp - 1}$$

    with $q$ the rate that the machine reports over all items. Values are 0 or 1: `human` and `machine` of the sample,
    `others` the machine's of the rest. It is a point estimate without an interval, a check of `prediction_powered_mean`,
    clipped to 0 and 1. It is undefined for a machine whose labels are unrelated to people's.

    Example:
        >>> found = rogan_gladen_rate([1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 0] * 5)
        >>> round(found.value, 4), round(found.sensitivity, 4), found.specificity
        (0.7, 0.6667, 1.0)

    References:
        Rogan and Gladen. Estimating prevalence from the results of a screening test. American Journal of
        Epidemiology 107(1), 1978. doi:10.1093/oxfordjournals.aje.a112510
    """
    truth, given = _check_rates(human, "human"), _check_rates(machine, "machine")
    _check_same_items(truth, given)
    every = np.concatenate([given, _check_rates(others, "others")]) if len(others) else given
    apparent = float(every.mean())
    sensitivity = _share(given[truth == 1], "no item of the sample is good")
    specificity = _share(1 - given[truth == 0], "every item of the sample is good")
    return CorrectedRate(
        _correct_rate(apparent, sensitivity, specificity), apparent, sensitivity, specificity
    )


def _correct_rate(
    apparent: float, sensitivity: float | Undefined, specificity: float | Undefined
) -> float | Undefined:
    if isinstance(sensitivity, Undefined):
        return sensitivity
    if isinstance(specificity, Undefined):
        return specificity
    information = sensitivity + specificity - 1
    if abs(information) < 1e-12:
        return Undefined("the machine calls good items good as often as others")
    return min(max((apparent + specificity - 1) / information, 0.0), 1.0)


def _check_rates(values: Values, name: str) -> Floats:
    array = check_values(values, name=name)
    if not is_binary(array):
        msg = f"`{name}` holds other values than 0 and 1, expected whether each item is good"
        raise BadSample(msg)
    return array


def _share(values: Floats, none: str) -> float | Undefined:
    return float(np.mean(values)) if len(values) else Undefined(none)
