"""Means of what people would say, from a few human labels and many of a machine: prediction-powered inference."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from judged.errors import BadSample, UnknownName
from judged.stats.interval import checked_level
from judged.stats.paired import Floats, Values
from judged.stats.rows import Cell, as_row
from judged.stats.sample import checked

__all__ = ["PoweredMean", "prediction_powered_mean"]

Trust: TypeAlias = Literal["tuned", "full", "none"]
"""How far the machine is relied on: as far as it helps (PPI++), fully (PPI), not at all (classical)."""
METHODS = {"tuned": "PPI++", "full": "PPI", "none": "classical"}


@dataclass(frozen=True, slots=True)
class PoweredMean:
    """A mean of human values with its interval, estimated with the help of a machine's."""

    method: str
    """`PPI++`, `PPI` or `classical`; with ` by cluster` where items are not independent."""
    mean: float
    error: float
    """The standard error of the mean."""
    low: float
    high: float
    level: float
    weight: float
    """λ, how far the machine's values are relied on: 0 not at all, 1 fully."""
    human: int
    """How many items have a value of both."""
    machine: int
    """How many more have the machine's alone."""

    def rows(self) -> list[dict[str, Cell]]:
        """One dict."""
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
    r"""The mean of human values over a population of which people saw a random sample, and a machine all.

    $$\hat\theta = \bar{y} + \lambda (\bar{f}_N - \bar{f}_n), \qquad
      \hat{s}^2 = \frac{\widehat{var}(y - \lambda f)}{n} + \lambda^2 \frac{\widehat{var}(f_N)}{N}$$

    with $y$ (`human`) and $f$ (`machine`) the values of the $n$ items in the sample, $f_N$ (`others`) the machine's of the
    $N$ items outside it, and λ (`trust`) chosen to make the interval narrow (`tuned`: PPI++), 1 (`full`: PPI), 0 (`none`: the
    classical interval, of the human values alone), or a number. The machine may be biased in any way; what must hold is
    that the sample is a random one of the population that is meant. An interval of the machine's labels alone has no
    such claim, however narrow it is.

    `clusters` names the cluster of each item in the sample, and of each other item: sessions, or topics. Then clusters, not
    items, are taken as independent draws, and the interval is of Student's t with as many degrees of freedom as there
    are clusters less one. It speaks of items of further clusters, where the other speaks of further items of these.

    Without other items, or where the machine says the same of all, λ is 0. Values without any spread have an interval of
    width 0. Two human values are the least; the normal quantile wants thirty or more.

    Example:
        >>> human, machine = [1, 0, 1, 1, 0, 0, 1, 0], [1, 0, 1, 1, 1, 0, 1, 0]
        >>> found = prediction_powered_mean(human, machine, [1, 0, 1, 0] * 25)
        >>> round(found.mean, 4), round(found.weight, 4), round(found.low, 4), round(found.high, 4)
        (0.414, 0.6883, 0.1816, 0.6463)

    References:
        Angelopoulos, Duchi and Zrnic. PPI++: Efficient prediction-powered inference. 2023. arXiv:2311.01453
    """
    checked_level(level)
    y, f = checked(human, name="human"), checked(machine, name="machine")
    rest = checked(others, name="others") if len(others) else np.zeros(0)
    _refuse(y, f)
    weight = _weight(y, f, rest, trust)
    mean = _mean(y) + weight * (_mean(rest) - _mean(f)) if weight else _mean(y)
    method = METHODS.get(str(trust), "PPI")
    if clusters is None:
        error, quantile = _error(y, f, rest, weight), _normal(level)
    else:
        method += " by cluster"
        error, quantile = _clustered(y - weight * f, weight * rest, clusters, level)
    margin = quantile * error
    return PoweredMean(method, mean, error, mean - margin, mean + margin, level, weight, len(y), len(rest))


def _refuse(human: Floats, machine: Floats) -> None:
    if len(human) != len(machine):
        msg = f"{len(human):,} human values and {len(machine):,} of the machine were given, expected one of each for an item"
        raise BadSample(msg, hint="the machine's values of items that nobody saw are `others`")
    if len(human) < 2:
        msg = "there is 1 human value, expected two or more to tell how far they spread"
        raise BadSample(msg)


def _weight(human: Floats, machine: Floats, others: Floats, trust: Trust | float) -> float:
    """λ; the one that makes the interval narrowest is known from the covariance, and lies between 0 and 1."""
    if isinstance(trust, str) and trust not in METHODS:
        raise UnknownName("trust in the machine", trust, list(METHODS))
    if len(others) == 0 or trust == "none":
        return 0.0
    if trust == "full":
        return 1.0
    if not isinstance(trust, str):
        return _given(trust)
    spread = float(np.concatenate([machine, others]).var(ddof=1))
    if spread == 0:
        return 0.0
    shared = float(((human - human.mean()) * (machine - machine.mean())).mean())
    return min(max(shared / ((1 + len(human) / len(others)) * spread), 0.0), 1.0)


def _given(weight: float) -> float:
    if not 0 <= weight <= 1:
        msg = f"the trust in the machine is {weight}, expected a number from 0 to 1"
        raise BadSample(msg, hint='`trust="tuned"` finds it')
    return float(weight)


def _error(human: Floats, machine: Floats, others: Floats, weight: float) -> float:
    variance = _variance(human - weight * machine) / len(human)
    if weight:
        variance += weight**2 * _variance(others) / len(others)
    return math.sqrt(variance)


def _clustered(
    left: Floats, others: Floats, clusters: tuple[Sequence[Hashable], Sequence[Hashable]], level: float
) -> tuple[float, float]:
    """The standard error from what each cluster adds to the estimate, and the quantile that goes with it.

    A cluster may have items on both sides, which then vary together.
    """
    of_sample, of_others = clusters
    if len(of_sample) != len(left) or (len(others) and len(of_others) != len(others)):
        msg = f"`clusters` names those of {len(of_sample):,} and {len(of_others):,} items, expected {len(left):,} and {len(others):,}"
        raise BadSample(msg, hint="give two sequences: for the sample, and for the other items")
    names = [*of_sample, *(of_others if len(others) else ())]
    number = {name: at for at, name in enumerate(dict.fromkeys(names))}
    if len(number) < 2:
        msg = "all items are of one cluster, expected two or more to tell how far they spread"
        raise BadSample(msg, hint="without `clusters` each item stands for itself")
    from scipy.special import stdtrit

    parts = [(each - _mean(each)) / len(each) for each in (left, others) if len(each)]
    added = np.bincount([number[name] for name in names], weights=np.concatenate(parts))
    error = math.sqrt(len(number) / (len(number) - 1) * float((added**2).sum()))
    return error, float(stdtrit(len(number) - 1, (1 + level) / 2))


def _normal(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


def _mean(values: Floats) -> float:
    """The mean; of equal values the value itself, whatever rounding would make of it."""
    return float(values[0]) if (values == values[0]).all() else float(values.mean())


def _variance(values: Floats) -> float:
    return 0.0 if (values == values[0]).all() else float(values.var())
