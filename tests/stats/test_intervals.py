"""Intervals of a mean."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judged.errors import BadSample
from judged.stats.intervals import Interval, mean_interval, student_interval, wilson_interval
from judged.stats.outcome import NO_SPREAD


@pytest.mark.parametrize(
    ("level", "low", "high"),
    [
        (0.90, 0.062829, 0.737171),
        (0.95, -0.096828, 0.896828),
        (0.99, -0.746022, 1.546022),
    ],
)
def test_agrees_with_scipy_at_any_level(level: float, low: float, high: float) -> None:
    """The bounds are those of scipy 1.17.1: `t.interval(level, 2, 0.4, 0.2 / 3**0.5)`."""
    interval = student_interval([0.2, 0.4, 0.6], level=level)

    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-6)
    assert interval.mean == pytest.approx(0.4)


@pytest.mark.parametrize("values", [[0.3], [0.1, 0.1, 0.1], [0.0, 0.0]])
def test_no_spread_is_an_interval_of_width_zero(values: list[float]) -> None:
    """One value, or equal values, give their own value as both bounds."""
    interval = student_interval(values)

    assert interval.low == interval.high == values[0]


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, -0.5, float("nan")])
def test_a_level_outside_zero_and_one_is_refused(level: float) -> None:
    """A level that is no probability is an error that says so."""
    with pytest.raises(BadSample, match="expected a number between 0 and 1"):
        student_interval([0.1, 0.2], level=level)


@pytest.mark.parametrize(("values", "message"), [([], "no values"), ([0.1, float("nan")], "holds nan")])
def test_values_that_are_none_or_not_finite_are_refused(values: list[float], message: str) -> None:
    """Nothing, or what is not a number, has no interval."""
    with pytest.raises(BadSample, match=message):
        student_interval(values)


def test_the_interval_of_a_mean_stays_on_its_scale() -> None:
    """0.7 ± 12.7062 · 0.2 is cut to the scale; Wilson's of 4 in 5 by statsmodels 0.15.0 `proportion_confint`."""
    plain = mean_interval([0.5, 0.9])
    cut = mean_interval([0.5, 0.9], scale=(0.0, 1.0))
    share = mean_interval([1, 1, 0, 1, 1], binary=True)
    several = mean_interval([1, 0.5, 1], binary=True, scale=(0.0, 1.0))

    assert isinstance(plain, Interval)
    assert (plain.low, plain.high) == pytest.approx((-1.8412409, 3.2412409))
    assert cut == replace(plain, low=0.0, high=1.0)
    assert share == wilson_interval([1, 1, 0, 1, 1])
    assert isinstance(several, Interval)
    assert (several.method, several.high) == ("student", 1.0)
    assert mean_interval([0.5, 0.5], scale=(0.0, 1.0)) == NO_SPREAD
