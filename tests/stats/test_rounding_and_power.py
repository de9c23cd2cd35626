"""What rounding alone does not show, and what few queries cannot: limits of the tests of two systems."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings, strategies as st

from judged.functional import statistical_significance_test
from judged.stats.effects import least_shift, t_test_power
from judged.stats.paired_tests import TESTS, TTest, difference_test, independent_t, paired_t, welch_t
from judged.stats.risk import trisk

FIRST, SECOND = [0.1 + 0.2] * 10, [0.3] * 10


@pytest.mark.parametrize("test", [paired_t, independent_t, welch_t])
def test_a_difference_of_rounding_alone_is_none(test: Callable[..., TTest]) -> None:
    """0.1 + 0.2 and 0.3 are the same score, however often they occur."""
    found = test(FIRST, SECOND)

    assert (found.difference, found.statistic, found.p, found.effect) == (0.0, 0.0, 1.0, 0.0)


def test_no_public_test_finds_rounding_significant() -> None:
    """The functional interface, risk and every named test agree."""
    found = statistical_significance_test(FIRST, SECOND)
    risk = trisk(FIRST, SECOND)

    assert (found["p_value"], found["significant"]) == (1.0, False)
    assert (risk.urisk, risk.trisk, risk.p, risk.wins, risk.ties) == (0.0, 0.0, 1.0, 0, 10)
    assert {getattr(difference_test(FIRST, SECOND, name), "p", 1.0) for name in TESTS} == {1.0}


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 9).map(lambda tenths: tenths / 10), min_size=2, max_size=12))
def test_sums_in_another_order_are_the_same_scores(scores: list[float]) -> None:
    """Adding and taking away 0.1 leaves at most rounding, which no test sees."""
    again = [score + 0.1 - 0.1 for score in scores]

    assert paired_t(scores, again).p == 1.0
    assert trisk(scores, again).p == 1.0


@pytest.mark.parametrize(
    ("effect", "size", "alpha", "expected"),
    [  # by numerical integration of the noncentral t distribution with 50 digits
        (18, 2, 0.05, 0.9542011549),
        (25, 2, 0.05, 0.9944619459),
        (26, 3, 0.001, 0.8683997684),
        (20, 4, 0.0001, 0.8934666662),
        (12, 5, 0.001, 0.9999998212),
    ],
)
def test_few_queries_have_little_power(effect: float, size: int, alpha: float, expected: float) -> None:
    """With two to four queries even effects of many deviations may be missed."""
    assert t_test_power(effect, size, alpha=alpha) == pytest.approx(expected, abs=1e-9)


def test_the_least_effect_of_two_queries() -> None:
    """Of so large a shift only the spread is random: Φ⁻¹(0.9) · 636.62 / √2, t's critical value being 636.62."""
    assert least_shift(1, 0.8, 0.001) / 2**0.5 == pytest.approx(
        1.2815515655 * 636.6192487688 / 2**0.5, rel=1e-5
    )
    assert t_test_power(least_shift(1, 0.8, 0.001) / 2**0.5, 2, alpha=0.001) == pytest.approx(0.8)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 40), st.floats(0.1, 60), st.sampled_from([0.05, 0.01, 0.001]))
def test_power_grows_with_the_effect(size: int, effect: float, alpha: float) -> None:
    """Also where one way to compute it ends and the other begins."""
    powers = [t_test_power(effect * factor, size, alpha=alpha) for factor in (1, 1.001, 1.1, 2)]

    assert powers == sorted(powers) or max(powers) - powers[0] < 1e-9
    assert powers[1] - powers[0] < 0.01
