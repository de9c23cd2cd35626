"""Power, corrections, effect sizes and equivalence, against statsmodels 0.15.0 and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import ttost_paired

from judged.errors import BadSample
from judged.stats.corrections import CORRECTIONS
from judged.stats.effects import (
    detectable_difference,
    hedges,
    probability_of_superiority,
    queries_needed,
    standardised_difference,
    t_test_power,
)
from judged.stats.margin import Equivalence, equivalence_test
from judged.stats.outcome import Undefined

DIFFERENCES = np.random.default_rng(9).normal(0.02, 0.1, size=50)
PS = [0.01, 0.6, 0.04, 0.001, 0.04, 0.03]


@pytest.mark.parametrize(
    ("effect", "size"), [(0.5, 34), (0.1, 20), (0.01, 1000), (2.0, 5), (3.0, 50), (5.0, 2)]
)
def test_power_agrees_with_statsmodels(effect: float, size: int) -> None:
    """`TTestPower().power`."""
    assert t_test_power(effect, size) == pytest.approx(TTestPower().power(effect, size, 0.05), abs=1e-7)


def test_the_smallest_detectable_difference_agrees_with_statsmodels() -> None:
    """`TTestPower().solve_power(nobs=50)`, times the spread."""
    effect = TTestPower().solve_power(nobs=50, alpha=0.05, power=0.8)

    assert detectable_difference(DIFFERENCES) == pytest.approx(effect * DIFFERENCES.std(ddof=1), rel=1e-6)


@pytest.mark.parametrize("wanted", [0.05, 0.01, -0.02])
def test_the_queries_needed_agree_with_statsmodels(wanted: float) -> None:
    """`TTestPower().solve_power(effect_size=…)`, rounded up."""
    effect = abs(wanted) / DIFFERENCES.std(ddof=1)

    assert queries_needed(DIFFERENCES, wanted) == math.ceil(
        TTestPower().solve_power(effect_size=effect, alpha=0.05, power=0.8)
    )


def test_what_has_no_power_says_why() -> None:
    """One query, no spread, more queries than anyone has."""
    assert detectable_difference(np.array([0.1])) == Undefined("one query")
    assert queries_needed(np.array([0.1, 0.1]), 0.1) == Undefined("no spread")
    assert queries_needed(DIFFERENCES, 1e-9) == Undefined("more than 10,000,000 queries")
    with pytest.raises(BadSample, match="not 0"):
        queries_needed(DIFFERENCES, 0)
    with pytest.raises(BadSample, match="`power` is 80"):
        detectable_difference(DIFFERENCES, power=80)


@pytest.mark.parametrize(
    ("ours", "theirs"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh")]
)
def test_corrections_agree_with_statsmodels(ours: str, theirs: str) -> None:
    """`multipletests`; comparisons without a p-value count for nothing and stay without."""
    expected = multipletests(PS, method=theirs)[1]

    assert CORRECTIONS[ours](PS) == pytest.approx(expected)
    assert CORRECTIONS[ours]([None, *PS]) == [None, *CORRECTIONS[ours](PS)]
    assert CORRECTIONS[ours]([]) == []


@pytest.mark.parametrize("margin", [0.01, 0.03, 0.2])
def test_equivalence_agrees_with_statsmodels(margin: float) -> None:
    """`ttost_paired`."""
    p, lower, upper = ttost_paired(DIFFERENCES, np.zeros(50), -margin, margin)
    result = equivalence_test(DIFFERENCES, margin=margin)

    assert isinstance(result, Equivalence)
    assert (result.p, result.p_not_worse, result.p_not_better) == pytest.approx((p, lower[1], upper[1]))


def test_equivalence_without_spread_or_margin() -> None:
    """Says why not."""
    assert equivalence_test(np.array([0.1, 0.1]), margin=0.2) == Undefined("no spread")
    with pytest.raises(BadSample, match="above 0"):
        equivalence_test(DIFFERENCES, margin=0)


def test_hedges_takes_the_bias_away() -> None:
    """The mean of g over 20,000 samples of 6 from N(1, 1) is 1; that of d is above, by 1 / J(5) = 1.1894.

    J(m) = Γ(m/2) / (√(m/2) Γ((m−1)/2)); four standard errors are allowed.
    """
    draws = np.random.default_rng(2).normal(1.0, 1.0, size=(20_000, 6))
    g = np.array([hedges(row) for row in draws], dtype=float)
    d = np.array([standardised_difference(row) for row in draws], dtype=float)

    assert g.mean() == pytest.approx(1.0, abs=4 * g.std() / math.sqrt(len(g)))
    assert d.mean() == pytest.approx(1.1894, abs=4 * d.std() / math.sqrt(len(d)))


def test_effects_without_spread_say_so() -> None:
    """Constant differences, one query; no difference at all is an effect of 0 and even chances."""
    assert hedges(np.array([0.1, 0.1])) == Undefined("no spread")
    assert hedges(np.array([0.1])) == Undefined("one query")
    assert hedges(np.zeros(3)) == 0.0
    assert probability_of_superiority(np.zeros(3)) == 0.5
