"""Measurements repeated in rounds, each in a fresh process: intervals of times and ratios, of means, and of percentiles.

Times of one process vary less from query to query than from process to process, so the round is the unit. Times and
sizes are compared as ratios, on the logarithmic scale, where a factor is a difference.
"""

from __future__ import annotations

import math

import numpy as np

from judged.arrays import Floats
from judged.errors import BadSample
from judged.stats.clusters import SampleMean, estimate_error
from judged.stats.intervals import Interval, student_interval
from judged.stats.outcome import Undefined
from judged.stats.paired import Values, check_level, check_values, summarise
from judged.stats.prediction_powered import satterthwaite_freedom

ONE_ROUND = Undefined("one round")


def geometric_interval(values: Values, *, level: float = 0.95) -> Interval | Undefined:
    r"""Return the geometric mean of values above 0, one for each round, with Student's interval of their logarithms.

    $$\exp\left(\bar{y} \pm t_{R-1,\,(1+\mathrm{level})/2} \; s_y / \sqrt{R}\right), \quad y_r = \ln x_r$$

    Ratios of two systems that were measured in the same rounds are values of this kind: the interval is paired then.
    One round has no interval.

    >>> found = geometric_interval([1.0, 2.0, 4.0])
    >>> round(found.mean, 4), round(found.low, 4), round(found.high, 4)
    (2.0, 0.3575, 11.19)
    """
    array = check_values(values, name="the rounds")
    if (array <= 0).any():
        msg = f"a round has the value {array.min():g}, expected numbers above 0"
        raise BadSample(msg)
    if len(array) < 2:
        return ONE_ROUND
    logs = student_interval(np.log(array), level=level)
    return Interval(math.exp(logs.mean), math.exp(logs.low), math.exp(logs.high), level, "log student")


def crossed_mean(by_query: Values, *by_round: Values) -> SampleMean:
    r"""Return the mean of values of every query in every round, with an error over both.

    `by_query` has the mean of each query over the rounds, `by_round` that of each round over the queries:

    $$SE^2 = s_q^2 / n + s_r^2 / R$$

    which counts the noise of single measurements twice, and so is never too small on average. Degrees of freedom are
    Satterthwaite's. With one round the spread between rounds is not known, and not in it. The difference of two systems
    with rounds of their own has the rounds of both.

    >>> crossed_mean([0.0, 1.0, 2.0], [1.0, 1.0]).error == estimate_error([0.0, 1.0, 2.0]).error
    True
    """
    queries = estimate_error(by_query)
    rounds = [summarise(values, name="the rounds") for values in by_round]
    spread = [of for of in rounds if of.deviation > 0]
    if not spread:
        return queries
    variances = np.array([queries.error**2, *(of.deviation**2 / of.size for of in spread)])
    freedom = satterthwaite_freedom(variances, np.array([queries.freedom, *(of.size - 1.0 for of in spread)]))
    draws = max(queries.draws, 2)  # one query in several rounds has a spread
    return SampleMean(queries.mean, math.sqrt(variances.sum()), freedom, draws)


def welch_mean(first: Values, second: Values) -> SampleMean:
    """Return the difference of the means of two independent samples, each with its own spread, as Welch's t-test has it.

    >>> of = welch_mean([0.5, 0.6, 0.9], [0.4, 0.6])
    >>> round(of.mean / of.error, 4)
    1.066
    """
    a, b = summarise(first, name="the first rounds"), summarise(second, name="the second rounds")
    draws = min(a.size, b.size)
    if draws == 1:
        return SampleMean(a.mean - b.mean, 0.0, 0.0, 1)
    variances = np.array([a.deviation**2 / a.size, b.deviation**2 / b.size])
    freedom = satterthwaite_freedom(variances, np.array([a.size - 1.0, b.size - 1.0]))
    return SampleMean(a.mean - b.mean, math.sqrt(variances.sum()), freedom, draws)


def welch_ratio(first: Values, second: Values, *, level: float = 0.95) -> Interval | Undefined:
    """Return how many times the first values are the second, by geometric means, with Welch's interval.

    >>> found = welch_ratio([2.0, 2.2, 1.8], [1.0, 1.1, 0.9])
    >>> round(found.mean, 4), round(found.low, 3), round(found.high, 3)
    (2.0, 1.593, 2.511)
    """
    check_level(level)
    of = welch_mean(np.log(check_values(first)), np.log(check_values(second)))
    if of.draws < 2:
        return ONE_ROUND
    from scipy.special import stdtrit

    reach = float(stdtrit(of.freedom, (1 + level) / 2)) * of.error if of.error else 0.0
    ends = math.exp(of.mean - reach), math.exp(of.mean + reach)
    return Interval(math.exp(of.mean), *ends, level, "log welch")


def percentile_interval(values: Values, share: float, *, level: float = 0.95) -> Interval:
    r"""Return a percentile with the interval between two of the values, whatever their distribution.

    The number of values below the true percentile is binomial: the interval goes from the $l$-th to the $u$-th least
    value with $P(B < l) \le (1 - \mathrm{level}) / 2$ and $P(B \ge u) \le (1 - \mathrm{level}) / 2$. Where there are too
    few values for a bound it is infinite: the 99th percentile of 100 values has no upper one.

    >>> found = percentile_interval(np.arange(1.0, 101.0), 0.5)
    >>> found.mean, found.low, found.high
    (50.5, 40.0, 61.0)
    >>> percentile_interval(np.arange(100.0), 0.99).high
    inf
    """
    from scipy.special import bdtr

    check_level(level)
    ordered = np.sort(check_values(values, name="the samples"))
    size, tail = len(ordered), (1 - level) / 2
    # at[i] is the probability that at most i values lie below the percentile
    at: Floats = bdtr(np.arange(size, dtype=float), size, share)
    low = int(np.searchsorted(at, tail, side="right")) - 1
    high = int(np.searchsorted(at, 1 - tail, side="left"))
    return Interval(
        float(np.quantile(ordered, share)),
        float(ordered[low]) if low >= 0 else -math.inf,
        float(ordered[high]) if high < size else math.inf,
        level,
        "order statistics",
    )
