"""Tukey's test: the textbook, scipy where there are no blocks, enumeration, calibration, laws, outcomes."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judged.errors import BadSample
from judged.stats import multiple, randomised_tukey_hsd, tukey_hsd
from judged.stats.multiple import _range_p_values
from judged.stats.paired import pair_scores
from judged.stats.paired_tests import paired_t
from stats.sakai import EFFECTS, SAKAI

small = st.tuples(st.integers(1, 3), st.integers(2, 3)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(0, 4).map(lambda x: x / 10), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


@pytest.mark.parametrize("test", [tukey_hsd, randomised_tukey_hsd])
def test_effect_sizes_are_those_of_the_textbook(test: object) -> None:
    """Sakai 2018, table 5.1: 0.5070, 0.6760, 0.1690."""
    pairs = test(SAKAI).pairs  # type: ignore[operator]

    assert {(pair.first, pair.second): round(pair.effect, 4) for pair in pairs} == EFFECTS


def test_agrees_with_scipy_where_queries_explain_nothing() -> None:
    """The `tukey_hsd` of scipy knows no blocks; with equal query means it differs in the degrees of freedom alone.

    So the intervals are in the ratio of the margins √(SS / df) · q(df), with scipy's own critical values.
    """
    from scipy.stats import studentized_range, tukey_hsd as one_way

    values = np.random.default_rng(5).random((15, 4))
    values -= values.mean(axis=1, keepdims=True)
    expected = one_way(*values.T).confidence_interval(0.9)
    ours = tukey_hsd(values, level=0.9).pairs[0]
    ratio = np.sqrt(56 / 42) * studentized_range.isf(0.1, 4, 42) / studentized_range.isf(0.1, 4, 56)

    assert ours.difference == pytest.approx((expected.low[0, 1] + expected.high[0, 1]) / 2)
    assert ours.high - ours.low == pytest.approx((expected.high[0, 1] - expected.low[0, 1]) * ratio, rel=1e-9)  # type: ignore[operator]


def test_p_values_are_those_of_scipys_distribution() -> None:
    """The range is |difference| / √(V_E / n), with V_E = 0.831667 / 38 by hand, looked up in scipy."""
    from scipy.stats import studentized_range

    for pair in tukey_hsd(SAKAI).pairs:
        q = abs(pair.difference) / np.sqrt(0.8316666666666666 / 38 / 20)
        assert pair.p == pytest.approx(studentized_range.sf(q, 3, 38), rel=1e-9)


def test_two_systems_are_the_paired_test() -> None:
    """The p-value is that of Student's t."""
    (pair,) = tukey_hsd({name: SAKAI[name] for name in "XY"}).pairs

    assert pair.p == pytest.approx(paired_t(SAKAI["X"], SAKAI["Y"]).p, rel=1e-9)
    assert round(pair.p, 3) == 0.048  # as printed in the book


def test_an_interval_that_reaches_zero_has_the_p_value_of_its_level() -> None:
    """At the level 1 − p, an interval ends at 0."""
    pair = tukey_hsd(SAKAI).pairs[0]
    same = tukey_hsd(SAKAI, level=1 - pair.p).pairs[0]  # type: ignore[operator]

    assert same.low == pytest.approx(0, abs=1e-9)


def enumerated(values: np.ndarray) -> list[float]:  # type: ignore[type-arg]
    """The p-values by looking at every arrangement of every query, one by one."""
    n, m = values.shape
    gaps = [abs(values[:, i].mean() - values[:, j].mean()) for i in range(m) for j in range(i + 1, m)]
    orders = list(permutations(range(m)))
    ranges = [
        np.ptp(sum(values[q, list(order)] for q, order in enumerate(chosen)) / n)
        for chosen in product(orders, repeat=n)
    ]
    return [float(np.mean([found >= gap - 1e-9 for found in ranges])) for gap in gaps]


@settings(max_examples=40)
@given(table=small)
def test_few_arrangements_are_all_looked_at(table: list[list[float]]) -> None:
    """The p-value is the exact share over all (m!)ⁿ arrangements, ties counted as ties."""
    found = randomised_tukey_hsd(table)

    assert found.method == "exact randomisation"
    assert [pair.p for pair in found.pairs] == pytest.approx(enumerated(np.array(table)), abs=1e-12)


def test_drawn_arrangements_come_near_the_exact_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within four standard errors, with (k + 1) / (B + 1)."""
    values = np.random.default_rng(3).random((5, 3)) + np.array([0.0, 0.1, 0.2])
    exact = [pair.p for pair in randomised_tukey_hsd(values).pairs]
    monkeypatch.setattr(multiple, "EXACT_ARRANGEMENTS", 0)
    drawn = randomised_tukey_hsd(values, resamples=20_000)

    assert (drawn.method, drawn.arrangements) == ("randomisation", 20_000)
    assert [pair.p for pair in drawn.pairs] == pytest.approx(exact, abs=4 * 0.5 / np.sqrt(20_000))


def test_one_seed_gives_one_result_whatever_the_blocks() -> None:
    """The numbers drawn are the same however many are permuted at a time; another seed gives others."""
    of = pair_scores(np.random.default_rng(1).random((30, 4)))
    gaps = np.array([0.01, 0.05, 0.1])
    found = [
        _range_p_values(of, gaps, resamples=500, seed=9, block=block)[0] for block in (1, 700, 5000, 10**6)
    ]

    assert all((values == found[0]).all() for values in found)
    assert (_range_p_values(of, gaps, resamples=500, seed=10)[0] != found[0]).any()


def test_exact_shares_do_not_depend_on_the_blocks() -> None:
    """All arrangements are looked at, in pieces of any size."""
    of = pair_scores(np.random.default_rng(1).random((4, 3)))
    gaps = np.array([0.05, 0.2])
    found = [_range_p_values(of, gaps, resamples=1, seed=0, block=block)[0] for block in (1, 100, 10**6)]

    assert all((values == found[0]).all() for values in found)


def test_drawn_p_values_are_never_zero() -> None:
    """However far apart two systems are, the arrangement at hand is one of all."""
    values = np.random.default_rng(1).random((40, 2)) + np.array([0, 100])

    assert randomised_tukey_hsd(values, resamples=99).pairs[0].p == 0.01


def test_under_the_null_the_least_p_value_is_uniform() -> None:
    """400 tables of equal, skewed systems: 5 % have a pair at 0.05 or less, within Monte Carlo error.

    The least p-value of a table takes the values 1/100 … 1 with equal probability, so that its mean is 0.505.
    """
    rng = np.random.default_rng(20)
    least = [
        min(pair.p for pair in randomised_tukey_hsd(table, resamples=99, seed=at).pairs)  # type: ignore[type-var]
        for at, table in enumerate(rng.beta(0.6, 2, size=(400, 12, 3)))
    ]
    rejected = np.mean(np.array(least) <= 0.05)

    assert rejected == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 400))  # type: ignore[operator]
    assert np.mean(least) == pytest.approx(0.505, abs=3 * 0.289 / 20)  # type: ignore[arg-type]


@given(table=small)
def test_exchanging_systems_turns_signs_and_keeps_p_values(table: list[list[float]]) -> None:
    """Columns in reverse order give the same pairs in reverse."""
    there, back = randomised_tukey_hsd(table).pairs, randomised_tukey_hsd([row[::-1] for row in table]).pairs

    assert [pair.p for pair in there] == pytest.approx([pair.p for pair in reversed(back)])
    assert [pair.difference for pair in there] == pytest.approx([-pair.difference for pair in reversed(back)])


@pytest.mark.parametrize(
    ("scores", "message", "p"),
    [([[0.1, 0.2]], "undefined: one query", 1.0), ([[0.3, 0.1], [0.7, 0.5]], "undefined: no spread", 0.5)],
)
def test_no_spread_is_reported_and_randomisation_still_answers(
    scores: list[list[float]], message: str, p: float
) -> None:
    """Interval, p and effect are undefined with the reason; exchanging labels needs no spread.

    With two queries that agree, two of four arrangements have as great a range.
    """
    (row,) = tukey_hsd(scores).rows()
    (other,) = randomised_tukey_hsd(scores).pairs

    assert [row[name] for name in ("low", "high", "p", "effect")] == [message] * 4
    assert other.p == p
    assert (other.low, other.high) == (None, None)


def test_levels_and_resamples_that_make_no_sense_are_refused() -> None:
    """A level of 95, and no resample at all."""
    with pytest.raises(BadSample, match=r"95 % is written 0\.95"):
        tukey_hsd(SAKAI, level=95)
    with pytest.raises(BadSample, match="`resamples` is 0"):
        randomised_tukey_hsd(SAKAI, resamples=0)
