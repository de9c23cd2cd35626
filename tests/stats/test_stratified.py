"""Differences in strata that count the same: arithmetic by hand, one stratum as without strata, coverage in simulation."""

from __future__ import annotations

import numpy as np
import pytest

from judged.errors import BadSample
from judged.stats.intervals import student_interval
from judged.stats.paired_tests import paired_t
from judged.stats.stratified import stratified_mean, weigh_strata


def test_one_stratum_is_the_paired_t_test() -> None:
    """The same interval and p-value as without strata."""
    differences = [0.1, -0.05, 0.2, 0.15, 0.0]
    found, plain = stratified_mean([differences]), student_interval(differences)

    assert found.interval().low == pytest.approx(plain.low)
    assert found.interval().high == pytest.approx(plain.high)
    assert found.p == pytest.approx(paired_t(differences, [0.0] * 5).p)


def test_two_strata_by_hand() -> None:
    """Means 0.2 and 0.6; s² = 0.02 and 0.08, n = 2 and 2: SE² = (0.01 + 0.04) / 4; Welch's freedom 25 / 17."""
    found = stratified_mean([[0.1, 0.3], [0.4, 0.8]])

    assert found.mean == pytest.approx(0.4)
    assert found.error == pytest.approx((0.05 / 4) ** 0.5)
    assert found.freedom == pytest.approx(25 / 17)


def test_the_size_of_a_stratum_does_not_weigh() -> None:
    """A hundred queries without a difference, and ten with one: half of it."""
    found = stratified_mean([[0.0] * 100, [0.2] * 10])

    assert (found.mean, found.error, found.p) == (0.1, 0.0, 0.0)
    weights = weigh_strata([100, 10])
    assert float(np.mean(weights * np.repeat([0.0, 0.2], [100, 10]))) == pytest.approx(0.1)


def test_what_has_no_spread_is_refused() -> None:
    """No strata are refused; a stratum of one query has a mean and no spread."""
    with pytest.raises(BadSample, match="there are no strata"):
        stratified_mean([])
    lonely = stratified_mean([[0.1, 0.2], [0.1]])

    assert lonely.mean == pytest.approx(0.125)
    assert np.isnan([lonely.error, lonely.p, lonely.interval().low, lonely.interval().high]).all()


def test_intervals_cover_the_mean_over_strata() -> None:
    """2,000 draws of three strata of unequal size and spread: 95 % of intervals, within three standard errors (1.5 %)."""
    rng = np.random.default_rng(3)
    means, spreads, sizes = [0.0, 0.1, 0.3], [0.1, 0.4, 0.2], [8, 30, 15]
    covered = 0
    for _ in range(2_000):
        strata = [rng.normal(*one) for one in zip(means, spreads, sizes, strict=True)]
        interval = stratified_mean(strata).interval()
        covered += interval.low <= np.mean(means) <= interval.high

    assert abs(covered / 2_000 - 0.95) < 0.015
