"""Tests of two systems, against scipy 1.17.1 and against exact counts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from scipy import stats

from judged.errors import BadSample, UnknownName
from judged.stats.outcome import Outcome
from judged.stats.paired_tests import TESTS, difference_test

RNG = np.random.default_rng(7)
FIRST, SECOND = RNG.random(30), RNG.random(30)
LONG_FIRST, LONG_SECOND = RNG.integers(0, 8, 200) / 8, RNG.integers(0, 8, 200) / 8  # ties, exact in binary


def p_of(*arguments: object, **settings: object) -> float:
    """The p-value, where there is one."""
    outcome = difference_test(*arguments, **settings)  # type: ignore[arg-type]
    assert isinstance(outcome, Outcome)
    return outcome.p


def test_t_agrees_with_scipy() -> None:
    """`ttest_rel`."""
    expected = stats.ttest_rel(FIRST, SECOND)
    outcome = difference_test(FIRST, SECOND, "t")

    assert isinstance(outcome, Outcome)
    assert (outcome.statistic, outcome.p) == pytest.approx((expected.statistic, expected.pvalue))


def test_welch_agrees_with_scipy() -> None:
    """`ttest_ind(equal_var=False)`, samples of different sizes."""
    assert p_of(FIRST, SECOND[:20], "welch") == pytest.approx(
        stats.ttest_ind(FIRST, SECOND[:20], equal_var=False).pvalue
    )


def test_wilcoxon_agrees_with_scipy_where_nothing_ties() -> None:
    """`wilcoxon(method="exact")`."""
    assert p_of(FIRST, SECOND, "wilcoxon") == pytest.approx(
        stats.wilcoxon(FIRST, SECOND, method="exact").pvalue
    )


def test_wilcoxon_agrees_with_scipy_on_many_tied_queries() -> None:
    """`wilcoxon(method="approx", correction=False)`, zero differences left out."""
    assert p_of(LONG_FIRST, LONG_SECOND, "wilcoxon") == pytest.approx(
        stats.wilcoxon(LONG_FIRST, LONG_SECOND, method="approx", correction=False).pvalue
    )


def test_sign_agrees_with_scipy() -> None:
    """`binomtest` of the wins among the queries that differ."""
    wins, losses = int((LONG_FIRST > LONG_SECOND).sum()), int((LONG_FIRST < LONG_SECOND).sum())

    assert p_of(LONG_FIRST, LONG_SECOND, "sign") == pytest.approx(stats.binomtest(wins, wins + losses).pvalue)


def test_randomisation_agrees_with_scipy() -> None:
    """`permutation_test(permutation_type="samples")` goes through all 2^12 signs; so does ours."""
    expected = stats.permutation_test(
        (FIRST[:12], SECOND[:12]),
        lambda a, b, axis: (a - b).mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )

    assert p_of(FIRST[:12], SECOND[:12]) == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("test", ["randomisation", "bootstrap"])
def test_tests_that_draw_are_near_t_on_many_queries(test: str) -> None:
    """With 200 queries all three mean much the same: within four standard errors of the draw, and some."""
    expected = stats.ttest_rel(LONG_FIRST, LONG_SECOND).pvalue
    error = 4 * np.sqrt(expected * (1 - expected) / 10_000)

    assert p_of(LONG_FIRST, LONG_SECOND, test) == pytest.approx(expected, abs=error + 0.01)


@pytest.mark.parametrize("test", ["randomisation", "bootstrap"])
def test_p_is_never_0(test: str) -> None:
    """Even where no draw comes near, p is 1 / (B + 1)."""
    first = np.linspace(1, 2, 40)

    assert p_of(first, np.zeros(40), test, resamples=999) == 1 / 1000


@pytest.mark.parametrize("test", sorted(TESTS))
@pytest.mark.parametrize(
    ("first", "second"),
    [([0.5], [0.4]), ([0.5] * 4, [0.4] * 4), ([0.5, 0.1, 0.3], [0.5, 0.1, 0.3]), ([0.0], [0.0])],
    ids=["one query", "the same difference", "no difference", "one query, no difference"],
)
def test_every_test_has_a_stated_outcome(test: str, first: list[float], second: list[float]) -> None:
    """One query, constant differences and none at all: a p-value from 0 to 1, or the reason why there is none."""
    outcome = difference_test(first, second, test)

    if isinstance(outcome, Outcome):
        assert 0 < outcome.p <= 1
    else:
        assert str(outcome).startswith("undefined: ")


@pytest.mark.parametrize("test", sorted(TESTS))
def test_nan_is_refused_in_words(test: str) -> None:
    """NaN is no score."""
    with pytest.raises(BadSample, match="holds nan"):
        difference_test([0.5, float("nan")], [0.1, 0.2], test)


def test_an_unknown_test_is_refused_with_the_nearest() -> None:
    """The message names what was meant."""
    with pytest.raises(UnknownName, match="did you mean `wilcoxon`"):
        difference_test([0.5], [0.4], "wilcoxen")


@pytest.mark.parametrize("test", ["randomisation", "t", "wilcoxon", "sign"])
def test_p_is_uniform_where_nothing_differs(test: str) -> None:
    """Of 2,000 draws of 25 queries without a difference, the share below each level is that level or less.

    Four standard errors are allowed; discrete tests may reject less often, never more.
    """
    rng = np.random.default_rng(11)
    draws = rng.normal(size=(2_000 if test != "randomisation" else 400, 25, 2))
    ps = np.array([p_of(draw[:, 0], draw[:, 1], test, resamples=399) for draw in draws])

    for level in (0.01, 0.05, 0.2, 0.5):
        error = 4 * np.sqrt(level * (1 - level) / len(ps))
        assert (ps <= level).mean() <= level + error
        if test in {"t", "randomisation"}:
            assert (ps <= level).mean() >= level - error


SCORES = st.floats(-1e9, 1e9) | st.sampled_from([0.0, 0.1, 0.2, 0.30000000000000004, 1.0, 1e-300])


@pytest.mark.parametrize("test", sorted(TESTS))
@given(pairs=st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=25))
@example(pairs=[(0.0, 0.0), (0.0, 2.5e-160)])  # squares of variances underflow
@settings(max_examples=30)
def test_any_scores_have_a_p_or_a_reason(test: str, pairs: list[tuple[float, float]]) -> None:
    """Whatever the scores: a probability, or words; exchanging the systems changes neither."""
    first, second = map(list, zip(*pairs, strict=True))
    outcome, mirrored = (
        difference_test(*both, test, resamples=99) for both in ((first, second), (second, first))
    )

    if isinstance(outcome, Outcome):
        assert isinstance(mirrored, Outcome)
        assert 0 <= outcome.p <= 1
        assert math.isfinite(outcome.statistic)
        assert outcome.p == pytest.approx(mirrored.p)
    else:
        assert outcome == mirrored
