"""Student's t-tests."""

from __future__ import annotations

import math

import pytest

from judged.errors import BadSample
from judged.stats.corrections import holm
from judged.stats.outcome import stars
from judged.stats.paired_tests import independent_t, paired_t

FIRST, SECOND = [0.5, 0.6, 0.9], [0.4, 0.6, 0.6]


def test_paired_agrees_with_scipy() -> None:
    """Statistic and p are those of scipy 1.17.1: `ttest_rel(FIRST, SECOND)`."""
    test = paired_t(FIRST, SECOND)

    assert test.statistic == pytest.approx(1.5118578920369086)
    assert test.p == pytest.approx(0.26970325665977857)
    assert test.difference == pytest.approx(0.4 / 3)


def test_paired_effect_is_the_mean_difference_in_standard_deviations() -> None:
    """The effect size times the root of n is t, so 1.5118578920369086 / √3."""
    test = paired_t(FIRST, SECOND)

    assert test.effect == pytest.approx(1.5118578920369086 / math.sqrt(3))


def test_independent_agrees_with_scipy() -> None:
    """Statistic and p are those of scipy 1.17.1: `ttest_ind(FIRST, [0.4, 0.6])`."""
    test = independent_t(FIRST, [0.4, 0.6])

    assert test.statistic == pytest.approx(0.968245836551854)
    assert test.p == pytest.approx(0.4043420061080662)


@pytest.mark.parametrize("test", [paired_t, independent_t])
def test_scores_that_do_not_differ_give_no_evidence(test: object) -> None:
    """Equal samples without spread have t = 0 and p = 1."""
    result = test([0.5, 0.5], [0.5, 0.5])  # type: ignore[operator]

    assert (result.statistic, result.p, result.effect) == (0.0, 1.0, 0.0)


@pytest.mark.parametrize("test", [paired_t, independent_t])
def test_a_constant_difference_is_the_limit_of_ever_stronger_evidence(test: object) -> None:
    """The same difference everywhere has t = ±∞ and p = 0, never nan."""
    result = test([0.25, 0.25], [0.75, 0.75])  # type: ignore[operator]

    assert (result.statistic, result.p) == (-math.inf, 0.0)


@pytest.mark.parametrize("test", [paired_t, independent_t])
def test_single_scores_are_evidence_of_nothing(test: object) -> None:
    """One score on each side gives t = 0 and p = 1, whatever the difference."""
    result = test([0.9], [0.1])  # type: ignore[operator]

    assert (result.statistic, result.p) == (0.0, 1.0)
    assert result.difference == pytest.approx(0.8)


def test_pairs_must_match() -> None:
    """A paired test of samples of different sizes is refused, with the way out."""
    with pytest.raises(BadSample, match="3 and 2 scores") as caught:
        paired_t(FIRST, [0.4, 0.6])

    assert "independent" in str(caught.value)


def test_holm_corrects_as_published() -> None:
    """Holm's own rule on 0.01, 0.04, 0.03: 3 × 0.01; then 2 × 0.03; then no less than that."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize(
    ("p", "expected"),
    [(0.0009, "***"), (0.001, "**"), (0.009, "**"), (0.01, "*"), (0.049, "*"), (0.05, "ns")],
)
def test_stars_mark_p_values_below_their_thresholds(p: float, expected: str) -> None:
    """Below 0.001, 0.01 and 0.05; the threshold itself belongs to the weaker side."""
    assert stars(p) == expected
