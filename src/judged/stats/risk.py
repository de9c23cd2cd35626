"""Risk: what a system may lose on single queries, against a baseline or among several systems."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadSample
from judged.stats.by_query import same_queries
from judged.stats.sample import sample

__all__ = ["BaselineRisk", "SystemRisk", "georisk", "trisk", "urisk", "zrisk"]

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BaselineRisk:
    """What a system risks against a baseline, over all queries."""

    alpha: float
    urisk: float
    """The mean difference, losses counted 1 + alpha times."""
    trisk: float
    """The same in standard errors; ±∞ where all weighed differences are the same, 0 where they are 0."""
    p: float
    """The two-sided p-value of `trisk` by Student's t with n − 1 degrees of freedom."""
    difference: float
    """The mean difference, unweighed."""
    wins: int
    losses: int
    ties: int


@dataclass(frozen=True, slots=True)
class SystemRisk:
    """What one of several systems risks, where each query's scores of all of them say what is usual."""

    alpha: float
    mean: float
    """The system's mean score."""
    zrisk: float
    georisk: float


def urisk(scores: Any, baseline: Any, *, alpha: float = 1.0, measure: object = None) -> float:
    r"""The mean difference from a baseline, with losses counted 1 + α times.

    $$U_{\mathrm{risk}} = \frac{1}{n} \sum_{q} \delta_q \,(1 + \alpha [\delta_q < 0]),
      \qquad \delta_q = x_q - b_q$$

    `scores` and `baseline` are the values of the same queries in the same order, dicts from query to value, or
    `Scores`, of which `measure` names the one to take. With α = 0 it is the mean difference. What gdeval (1.3) and
    ndeval print with `-riskAlpha` and `-baseline` is this, of their own measures.

    Example:
        One query won by 0.3 and one lost by 0.2, which counts twice: (0.3 − 0.4) / 2

        >>> round(urisk([0.8, 0.1], [0.5, 0.3], alpha=1), 4)
        -0.05

    References:
        Wang, Bennett and Collins-Thompson. Robust ranking models via risk-sensitive optimization. SIGIR 2012.
        doi:10.1145/2348283.2348385
    """
    return trisk(scores, baseline, alpha=alpha, measure=measure).urisk


def trisk(scores: Any, baseline: Any, *, alpha: float = 1.0, measure: object = None) -> BaselineRisk:
    r"""The risk against a baseline in standard errors, with everything that belongs to it.

    $$T_{\mathrm{risk}} = \frac{U_{\mathrm{risk}}}{s / \sqrt{n}}$$

    where $s$ is the standard deviation of the weighed differences $\delta_q (1 + \alpha [\delta_q < 0])$ of `urisk`.
    Below −2 or so, a loss against the baseline is more than chance. A single query, or differences that are all
    the same, are treated as in `judged.stats.t_test.paired_t`.

    Example:
        >>> risk = trisk([0.8, 0.1, 0.6], [0.5, 0.3, 0.6], alpha=1)
        >>> risk.wins, risk.losses, round(risk.urisk, 4), round(risk.trisk, 4)
        (1, 1, -0.0333, -0.1644)

    References:
        Dinçer, Macdonald and Ounis. Hypothesis testing for the risk-sensitive evaluation of retrieval systems.
        SIGIR 2014. doi:10.1145/2600428.2609625
    """
    _check_alpha(alpha)
    first, second = same_queries({"scores": scores, "baseline": baseline}, measure).values()
    difference = first - second
    weighed = np.where(difference < 0, (1 + alpha) * difference, difference)
    of = sample(weighed, name="the weighed differences")
    statistic, p = _student(of.mean, of.deviation, of.size)
    return BaselineRisk(
        alpha=float(alpha),
        urisk=of.mean,
        trisk=statistic,
        p=p,
        difference=float(difference.mean()),
        wins=int((difference > 0).sum()),
        losses=int((difference < 0).sum()),
        ties=int((difference == 0).sum()),
    )


def zrisk(systems: Mapping[str, Any], *, alpha: float = 1.0, measure: object = None) -> dict[str, float]:
    r"""For each of several systems, how its scores depart from those expected, shortfalls counted 1 + α times.

    $$Z_{\mathrm{risk}}(i) = \sum_q z_{iq} \,(1 + \alpha [z_{iq} < 0]), \quad
      z_{iq} = \frac{x_{iq} - e_{iq}}{\sqrt{e_{iq}}}, \quad
      e_{iq} = \frac{\sum_{q'} x_{iq'} \, \sum_{i'} x_{i'q}}{\sum_{i' q'} x_{i'q'}}$$

    A score is expected to share its system's and its query's success; where nothing is expected, because the
    system or the query has no success at all, $z$ is 0. `systems` goes from name to scores, as in `urisk`;
    scores must not be negative.

    Example:
        Each is bad where the other is good, and so departs from what is expected by as much:

        >>> {name: round(value, 4) for name, value in zrisk({"a": [1, 0], "b": [0, 1]}, alpha=1).items()}
        {'a': -0.7071, 'b': -0.7071}

    References:
        Dinçer, Macdonald and Ounis. Risk-sensitive evaluation and learning to rank using multiple baselines.
        SIGIR 2016. doi:10.1145/2911451.2911511
    """
    return {name: risk.zrisk for name, risk in georisk(systems, alpha=alpha, measure=measure).items()}


def georisk(
    systems: Mapping[str, Any], *, alpha: float = 1.0, measure: object = None
) -> dict[str, SystemRisk]:
    r"""For each of several systems, its effectiveness and its risk in one number: their geometric mean.

    $$\mathrm{GeoRisk}(i) = \sqrt{\bar{x}_i \; \Phi(Z_{\mathrm{risk}}(i) / n)}$$

    where $\bar{x}_i$ is the mean score of system $i$ over $n$ queries, $Z_{\mathrm{risk}}$ as in `zrisk`, and $\Phi$ the
    standard normal distribution. It lies between 0 and the root of the mean score. Systems are
    compared with one another: another set of systems gives other values.

    Example:
        The second is as good on average, but fails on one query:

        >>> risks = georisk({"even": [0.5, 0.5], "uneven": [0.9, 0.1]}, alpha=5)
        >>> [(name, round(risk.mean, 4), round(risk.georisk, 4)) for name, risk in risks.items()]
        [('even', 0.5, 0.385), ('uneven', 0.5, 0.2868)]

    References:
        Dinçer, Macdonald and Ounis. Risk-sensitive evaluation and learning to rank using multiple baselines.
        SIGIR 2016. doi:10.1145/2911451.2911511
    """
    _check_alpha(alpha)
    if len(systems) < 2:
        msg = f"GeoRisk and ZRisk compare systems with one another, and {len(systems)} was given, expected two or more"
        raise BadSample(msg, hint="`trisk` compares one system with a baseline")
    values = np.stack(list(same_queries(systems, measure).values()))
    if (values < 0).any():
        msg = f"GeoRisk and ZRisk need scores from 0, and one is {values.min():g}"
        raise BadSample(msg, hint="take a measure whose values are never negative")
    mean, departure = values.mean(axis=1), _departure(values, alpha)
    chance = _normal(departure / values.shape[1])
    return {
        name: SystemRisk(float(alpha), float(mean[i]), float(departure[i]), math.sqrt(mean[i] * chance[i]))
        for i, name in enumerate(systems)
    }


def _departure(values: Floats, alpha: float) -> Floats:
    """ZRisk of every system."""
    total = values.sum()
    expected = np.outer(values.sum(axis=1), values.sum(axis=0)) / total if total else np.zeros_like(values)
    z = np.zeros_like(values)
    np.divide(values - expected, np.sqrt(expected), out=z, where=expected > 0)
    weighed: Floats = np.where(z < 0, (1 + alpha) * z, z).sum(axis=1)
    return weighed


def _normal(values: Floats) -> Floats:
    from scipy.special import ndtr

    return np.asarray(ndtr(values), dtype=np.float64)


def _student(mean: float, deviation: float, size: int) -> tuple[float, float]:
    """The statistic of a mean, and its two-sided p-value."""
    from scipy.special import stdtr

    if deviation == 0:
        if mean == 0 or size < 2:
            return 0.0, 1.0
        return math.copysign(math.inf, mean), 0.0
    statistic = mean * math.sqrt(size) / deviation
    return statistic, float(2 * stdtr(size - 1, -abs(statistic)))


def _check_alpha(alpha: float) -> None:
    if not (math.isfinite(alpha) and alpha >= 0):
        msg = f"`alpha` is {alpha}, expected a number from 0"
        raise BadSample(msg)
