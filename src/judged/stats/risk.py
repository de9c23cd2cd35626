"""Risk: how much a system may lose on single queries, against a baseline or among several systems."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from judged.arrays import Floats
from judged.errors import BadSample
from judged.stats.paired import SystemValues, differences, pair_scores, summarise, wins_ties_losses
from judged.stats.paired_tests import t_of_mean


@dataclass(frozen=True, slots=True)
class BaselineRisk:
    """The risk of a system against a baseline, over all queries."""

    alpha: float
    urisk: float
    """The mean difference, losses counted 1 + alpha times."""
    trisk: float
    """The same in standard errors; ±∞ if all weighted differences are the same, 0 if they are 0."""
    p: float
    """The two-sided p-value of `trisk` by Student's t with n − 1 degrees of freedom."""
    difference: float
    """The mean difference, unweighted."""
    wins: int
    losses: int
    ties: int


@dataclass(frozen=True, slots=True)
class SystemRisk:
    """The risk of one of several systems, relative to the scores of all of them on each query."""

    alpha: float
    mean: float
    """The system's mean score."""
    zrisk: float
    georisk: float


def urisk(
    scores: SystemValues, baseline: SystemValues, *, alpha: float = 1.0, measure: object = None
) -> float:
    r"""Return the mean difference from a baseline, with losses counted 1 + α times.

    $$U_{\mathrm{risk}} = \frac{1}{n} \sum_{q} \delta_q \,(1 + \alpha [\delta_q < 0]),
      \qquad \delta_q = x_q - b_q$$

    `scores` and `baseline` are the values of the same queries in the same order, dicts from query to value, or
    `Scores`, of which `measure` names the one to take. With α = 0 it is the mean difference. gdeval (1.3) and ndeval
    print it for their own measures with `-riskAlpha` and `-baseline`.

    Example:
        One query won by 0.3 and one lost by 0.2, which counts twice: (0.3 − 0.4) / 2

        >>> round(urisk([0.8, 0.1], [0.5, 0.3], alpha=1), 4)
        -0.05

    References:
        Wang, Bennett and Collins-Thompson. Robust ranking models via risk-sensitive optimization. SIGIR 2012.
        doi:10.1145/2348283.2348385
    """
    return trisk(scores, baseline, alpha=alpha, measure=measure).urisk


def trisk(
    scores: SystemValues, baseline: SystemValues, *, alpha: float = 1.0, measure: object = None
) -> BaselineRisk:
    r"""Return the risk against a baseline in standard errors, with its p-value and counts.

    $$T_{\mathrm{risk}} = \frac{U_{\mathrm{risk}}}{s / \sqrt{n}}$$

    where $s$ is the standard deviation of the weighted differences $\delta_q (1 + \alpha [\delta_q < 0])$ of `urisk`.
    Below about −2, a loss against the baseline is more than chance. A single query, or differences that are all
    the same, are treated as in `judged.stats.paired_tests.paired_t`.

    Example:
        >>> risk = trisk([0.8, 0.1, 0.6], [0.5, 0.3, 0.6], alpha=1)
        >>> risk.wins, risk.losses, round(risk.urisk, 4), round(risk.trisk, 4)
        (1, 1, -0.0333, -0.1644)

    References:
        Dinçer, Macdonald and Ounis. Hypothesis testing for the risk-sensitive evaluation of retrieval systems.
        SIGIR 2014. doi:10.1145/2600428.2609625
    """
    _check_alpha(alpha)
    paired = pair_scores({"scores": scores, "baseline": baseline}, measure=measure)
    difference = differences(*paired.values.T)
    weighted = np.where(difference < 0, (1 + alpha) * difference, difference)
    of = summarise(weighted, name="the weighted differences")
    statistic, p = t_of_mean(of.mean, of.deviation, of.size)
    count = wins_ties_losses(difference)
    return BaselineRisk(
        alpha=float(alpha),
        urisk=of.mean,
        trisk=statistic,
        p=p,
        difference=float(difference.mean()),
        wins=count.wins,
        losses=count.losses,
        ties=count.ties,
    )


def zrisk(
    systems: Mapping[str, SystemValues], *, alpha: float = 1.0, measure: object = None
) -> dict[str, float]:
    r"""Return, for each of several systems, how its scores depart from those expected, shortfalls counted 1 + α times.

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
    systems: Mapping[str, SystemValues], *, alpha: float = 1.0, measure: object = None
) -> dict[str, SystemRisk]:
    r"""Return, for each of several systems, its effectiveness and its risk in one number: their geometric mean.

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
    from scipy.special import ndtr

    _check_alpha(alpha)
    if len(systems) < 2:
        msg = f"GeoRisk and ZRisk compare systems with one another, and {len(systems)} was given, expected two or more"
        raise BadSample(msg, hint="`trisk` compares one system with a baseline")
    values = pair_scores(systems, measure=measure).values.T
    if (values < 0).any():
        msg = f"GeoRisk and ZRisk need scores from 0, and one is {values.min():g}"
        raise BadSample(msg, hint="take a measure whose values are never negative")
    mean, departure = values.mean(axis=1), _departure(values, alpha)
    chance = np.asarray(ndtr(departure / values.shape[1]))
    return {
        name: SystemRisk(float(alpha), float(mean[i]), float(departure[i]), math.sqrt(mean[i] * chance[i]))
        for i, name in enumerate(systems)
    }


def _departure(values: Floats, alpha: float) -> Floats:
    """Return the ZRisk of every system."""
    total = values.sum()
    expected = np.outer(values.sum(axis=1), values.sum(axis=0)) / total if total else np.zeros_like(values)
    z = np.zeros_like(values)
    np.divide(values - expected, np.sqrt(expected), out=z, where=expected > 0)
    weighted: Floats = np.where(z < 0, (1 + alpha) * z, z).sum(axis=1)
    return weighted


def _check_alpha(alpha: float) -> None:
    if not (math.isfinite(alpha) and alpha >= 0):
        msg = f"`alpha` is {alpha}, expected a number from 0"
        raise BadSample(msg)
