"""The Friedman test and Nemenyi's: Demšar's paper, scipy, scikit-posthocs, laws, and what has no outcome."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from judged.stats import Undefined, friedman_test
from stats.sakai import SAKAI

# Demšar, JMLR 7 (2006), table 6: AUC of C4.5 and its variants +m, +cf, +m+cf on 14 data sets. The paper ranks `voting`
# by more digits than it prints (its third system before its fourth), hence 0.9751.
AUC = [
    [0.763, 0.768, 0.771, 0.798],
    [0.599, 0.591, 0.590, 0.569],
    [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657],
    [0.882, 0.888, 0.886, 0.898],
    [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685],
    [0.583, 0.583, 0.563, 0.625],
    [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000],
    [0.940, 0.962, 0.965, 0.962],
    [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975],
    [0.957, 0.978, 0.946, 0.970],
]
tables = st.tuples(st.integers(2, 8), st.integers(3, 5)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(0, 5).map(lambda x: x / 10), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


def test_ranks_and_statistic_are_those_of_the_paper() -> None:
    """Average ranks 3.143, 2.000, 2.893, 1.964; from them χ² = 9.28, which the paper does not correct for ties."""
    ranks = np.array(list(friedman_test(AUC).ranks.values()))
    uncorrected = 12 * 14 / (4 * 5) * ((ranks**2).sum() - 4 * 5**2 / 4)

    assert ranks.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    assert uncorrected == pytest.approx(9.28, abs=0.005)


@pytest.mark.parametrize(
    ("systems", "five", "ten"),
    [
        (2, 1.960, 1.645),
        (3, 2.343, 2.052),
        (4, 2.569, 2.291),
        (5, 2.728, 2.459),
        (6, 2.850, 2.589),
        (7, 2.949, 2.693),
        (8, 3.031, 2.780),
        (9, 3.102, 2.855),
        (10, 3.164, 2.920),
    ],
)
def test_critical_values_are_those_of_the_paper(systems: int, five: float, ten: float) -> None:
    """Demšar 2006, table 5(a): the critical difference is q √(m (m + 1) / 6n)."""
    scores = np.random.default_rng(0).random((24, systems))
    unit = np.sqrt(systems * (systems + 1) / (6 * 24))

    assert friedman_test(scores).critical_difference / unit == pytest.approx(five, abs=0.001)
    assert friedman_test(scores, level=0.9).critical_difference / unit == pytest.approx(ten, abs=0.001)


def test_pairs_agree_with_scikit_posthocs() -> None:
    """scikit-posthocs 0.17.1: `posthoc_nemenyi_friedman` of the table with `voting` tied as it is printed."""
    printed = [*AUC[:12], [0.972, 0.981, 0.975, 0.975], AUC[13]]
    found = [pair.p for pair in friedman_test(printed).pairs]

    expected = [0.08867271, 0.97168647, 0.06168326, 0.22669689, 0.99888234, 0.17005164]
    assert found == pytest.approx(expected, abs=1e-8)


@given(table=tables)
def test_agrees_with_scipy(table: list[list[float]]) -> None:
    """`friedmanchisquare`, ties corrected."""
    from scipy.stats import friedmanchisquare

    found = friedman_test(table)
    if isinstance(found.statistic, Undefined):
        assert all(len(set(row)) == 1 for row in table)
        return
    expected = friedmanchisquare(*np.array(table).T)
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-9)


@given(table=tables)
def test_only_the_order_within_queries_matters(table: list[list[float]]) -> None:
    """Any growing function of each query's scores gives the same; the ranks' mean is (m + 1) / 2."""
    values = np.array(table)
    bent = np.exp(3 * values) + np.arange(len(values))[:, None]
    found = friedman_test(values)

    assert friedman_test(bent).ranks == found.ranks
    assert np.mean(list(found.ranks.values())) == pytest.approx((values.shape[1] + 1) / 2)


def test_iman_davenports_f_follows_from_the_statistic() -> None:
    """F = (n − 1) χ² / (n (m − 1) − χ²); its p by scipy's F with m − 1 and (m − 1)(n − 1) degrees."""
    from scipy.stats import f as distribution

    found = friedman_test(SAKAI)
    expected = 19 * found.statistic / (40 - found.statistic)  # type: ignore[operator]

    assert found.f == pytest.approx(expected)
    assert found.f_p == pytest.approx(distribution.sf(expected, 2, 38))


def test_cliques_are_the_longest_stretches_without_significant_differences() -> None:
    """Ranks 1 to 4 on 12 queries, all alike: CD is 1.354, so that only neighbours do not differ significantly."""
    found = friedman_test([[0.4, 0.3, 0.2, 0.1]] * 12, systems=["a", "b", "c", "d"])

    assert found.critical_difference == pytest.approx(2.569 * np.sqrt(20 / 72), abs=0.001)
    assert found.cliques == (("a", "b"), ("b", "c"), ("c", "d"))
    assert [pair.p < 0.05 for pair in found.pairs] == [False, True, True, False, True, False]


@given(table=tables)
def test_cliques_say_what_the_p_values_say(table: list[list[float]]) -> None:
    """Two systems share a clique just where Nemenyi's p is at least 0.05."""
    found = friedman_test(table)
    for pair in found.pairs:
        together = any({pair.first, pair.second} <= set(clique) for clique in found.cliques)
        assert together == (pair.p >= 0.05)


@pytest.mark.parametrize(
    ("scores", "statistic", "f"),
    [
        ([[0.1, 0.2, 0.3]], "one query", "one query"),
        ([[0.5, 0.5], [0.1, 0.1]], "tie on every query", "tie on every query"),
        ([[0.1, 0.3, 0.2], [0.4, 0.9, 0.8]], None, "ranks the systems alike"),
    ],
)
def test_an_undefined_friedman_test_says_why(
    scores: list[list[float]], statistic: str | None, f: str
) -> None:
    """One query, ties throughout, one order throughout: the reason stands in place of the number."""
    found = friedman_test(scores)

    assert f in str(found.f)
    assert f in str(found.f_p)
    assert statistic is None or statistic in str(found.statistic)
    assert all(isinstance(pair.p, float) for pair in found.pairs)


def test_scores_that_differ_by_rounding_are_tied() -> None:
    """0.1 + 0.2 is 0.3."""
    assert friedman_test([[0.1 + 0.2, 0.3], [0.5, 0.5]]).ranks == {"1": 1.5, "2": 1.5}
