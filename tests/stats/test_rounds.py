"""Intervals over rounds: equal to SciPy's, and as wide as they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judged.errors import BadSample
from judged.stats.intervals import Interval
from judged.stats.margin import margin_of_mean
from judged.stats.outcome import Undefined
from judged.stats.rounds import (
    crossed_mean,
    geometric_interval,
    percentile_interval,
    welch_mean,
    welch_ratio,
)

FIRST, SECOND = [2.0, 2.2, 1.7, 2.4, 1.9], [1.0, 1.3, 0.8, 1.1]


def test_a_geometric_interval_is_that_of_the_logarithms() -> None:
    """SciPy's t-interval of the logarithms, taken back (scipy.stats.t.interval)."""
    logs = np.log(FIRST)
    low, high = stats.t.interval(0.9, 4, logs.mean(), stats.sem(logs))
    found = geometric_interval(FIRST, level=0.9)

    assert isinstance(found, Interval)
    assert (found.mean, found.low, found.high) == pytest.approx(
        (stats.gmean(FIRST), np.exp(low), np.exp(high))
    )


def test_welchs_ratio_and_margin_are_those_of_scipy() -> None:
    """The interval of `scipy.stats.ttest_ind(equal_var=False)` on logarithms, and its one-sided p-value."""
    result = stats.ttest_ind(np.log(FIRST), np.log(SECOND), equal_var=False)
    bounds = result.confidence_interval(0.95)
    found = welch_ratio(FIRST, SECOND)
    above = stats.ttest_ind(FIRST, SECOND, equal_var=False, alternative="greater").pvalue
    margin = margin_of_mean(welch_mean(FIRST, SECOND), margin=0.0, alpha=0.05, test="welch", size=4)

    assert isinstance(found, Interval)
    assert (found.low, found.high) == pytest.approx((np.exp(bounds.low), np.exp(bounds.high)))
    assert margin.p_above == pytest.approx(above)


def test_one_round_has_no_interval_and_shows_nothing() -> None:
    """Neither alone nor against others; times of 0 are no times."""
    assert isinstance(geometric_interval([2.0]), Undefined)
    assert isinstance(welch_ratio([2.0], FIRST), Undefined)
    of = welch_mean([9.0], FIRST)
    assert margin_of_mean(of, margin=0.0, alpha=0.05, test="welch", size=1).verdict == "inconclusive"
    with pytest.raises(BadSample, match="a round has the value 0"):
        geometric_interval([0.0, 1.0])


def test_a_percentile_is_within_its_ranks_as_often_as_it_says() -> None:
    """Over 1,000 samples of 200 exponential values the 90th percentile, ln 10, is inside 95 % of the time or more."""
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(1000):
        found = percentile_interval(rng.exponential(size=200), 0.9)
        inside += found.low <= np.log(10) <= found.high

    assert inside >= 950 - 14  # two standard errors


def test_a_mean_over_queries_and_rounds_covers_both() -> None:
    """Queries and builds vary: over 1,000 samples, 95 % of the intervals contain the mean (at least 93 %)."""
    rng = np.random.default_rng(2)
    inside = 0
    for _ in range(1000):
        values = (
            rng.normal(size=(1, 60))
            + rng.normal(scale=0.2, size=(5, 1))
            + rng.normal(scale=0.5, size=(5, 60))
        )
        of = crossed_mean(values.mean(axis=0), values.mean(axis=1))
        inside += abs(of.mean) <= stats.t.ppf(0.975, of.freedom) * of.error

    assert 930 <= inside <= 990
