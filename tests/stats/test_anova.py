"""Two-way analysis of variance: statsmodels, the paired t-test, laws, and what has no outcome."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from judged.errors import BadSample
from judged.stats import Undefined, two_way_anova
from judged.stats.paired_tests import paired_t
from stats.sakai import SAKAI

tables = st.tuples(st.integers(2, 8), st.integers(2, 5)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(0, 100).map(lambda x: x / 100), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


def long_form(values: np.ndarray[Any, Any]) -> Any:
    """The table as a frame with a row for each score."""
    import pandas as pd

    queries, systems = np.indices(values.shape)
    return pd.DataFrame({"score": values.ravel(), "query": queries.ravel(), "system": systems.ravel()})


@pytest.mark.parametrize("shape", [(20, 3), (7, 2), (5, 12)])
def test_agrees_with_statsmodels(shape: tuple[int, int]) -> None:
    """Every number of the table is that of `anova_lm` on `score ~ C(system) + C(query)`."""
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    values = np.random.default_rng(7).random(shape)
    expected = anova_lm(ols("score ~ C(system) + C(query)", long_form(values)).fit())
    table = two_way_anova(values)

    for source, name in ((table.systems, "C(system)"), (table.queries, "C(query)")):
        row = expected.loc[name]
        got = (source.squares, source.freedom, source.mean_square, source.f, source.p)
        assert got == pytest.approx((row.sum_sq, row.df, row.mean_sq, row.F, row["PR(>F)"]), rel=1e-9)
    residual = expected.loc["Residual"]
    assert (table.residual.squares, table.residual.freedom) == pytest.approx((residual.sum_sq, residual.df))


def test_agrees_with_repeated_measures_of_statsmodels() -> None:
    """`AnovaRM`, with queries as subjects, tests the systems likewise."""
    from statsmodels.stats.anova import AnovaRM

    values = np.array(list(SAKAI.values())).T
    expected = AnovaRM(long_form(values), "score", "query", within=["system"]).fit().anova_table.iloc[0]
    systems = two_way_anova(SAKAI).systems

    assert (systems.f, systems.p) == pytest.approx((expected["F Value"], expected["Pr > F"]), rel=1e-9)


def test_the_textbook_table() -> None:
    """By hand: means 0.32, 0.245, 0.22 of 20 topics give 20 · 0.00541667 = 0.108333 between systems.

    The residual mean square is that of the printed effect sizes: (0.075 / 0.5070)² = 0.02188.
    """
    table = two_way_anova(SAKAI)

    assert table.systems.squares == pytest.approx(0.108333, abs=1e-6)
    assert table.residual.mean_square == pytest.approx(0.02188, abs=1e-5)


@given(table=tables)
def test_squares_add_up_and_order_does_not_matter(table: list[list[float]]) -> None:
    """Systems, queries and residual share all variance; exchanging queries or adding a number changes nothing."""
    values = np.array(table)
    found, other = two_way_anova(values), two_way_anova(values[::-1] + 3.0)
    total = ((values - values.mean()) ** 2).sum()

    parts = found.systems.squares + found.queries.squares + found.residual.squares
    assert parts == pytest.approx(total, abs=1e-9)
    assert other.residual.squares == pytest.approx(found.residual.squares, abs=1e-9)


@given(table=tables)
def test_two_systems_are_the_paired_test(table: list[list[float]]) -> None:
    """F is t², and p the same."""
    values = np.array(table)[:, :2]
    found = two_way_anova(values).systems
    if not isinstance(found.f, Undefined):
        test = paired_t(values[:, 0], values[:, 1])
        assert (found.f, found.p) == pytest.approx((test.statistic**2, test.p), rel=1e-6, abs=1e-9)


def test_partial_omega_squared_is_that_of_the_sums_of_squares() -> None:
    """(SS − df · MS_e) / (SS + (N − df) · MS_e), the definition by sums of squares."""
    table = two_way_anova(SAKAI)
    error = table.residual.mean_square

    for source in (table.systems, table.queries):
        expected = (source.squares - source.freedom * error) / (
            source.squares + (60 - source.freedom) * error
        )
        assert source.omega == pytest.approx(expected)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[0.1, 0.2]], "undefined: one query"),
        ([[0.1, 0.2], [0.3, 0.4]], "undefined: no spread"),
        ([[0.3, 0.1], [0.7, 0.5]], "undefined: no spread"),
        ([[0.5, 0.5], [0.5, 0.5]], "undefined: no spread"),
        ([[0.0, 0.0], [0.0, 0.0]], "undefined: no spread"),
    ],
)
def test_an_undefined_test_says_why(scores: list[list[float]], message: str) -> None:
    """One query, or the same difference on every query (but for rounding): the reason stands in the table."""
    row = two_way_anova(scores).rows()[0]

    assert (row["f"], row["p"], row["omega"]) == (message, message, message)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.1, 0.2], "1 dimensions, expected 2"),
        ([[0.1], [0.2]], "of 1 system, expected two or more"),
        (np.zeros((0, 3)), "expected those of at least one query"),
        ([[0.1, float("nan")], [0.2, 0.3]], "query 1, system 2 is nan"),
        ([[0.1, 0.2], [0.3]], "must be a 2-D array"),
        ({"a": [0.1, 0.2], "b": [0.1]}, "different queries"),
        ({"a": [0.1, 0.2]}, "of 1 system"),
        ({"a": [0.1, float("inf")], "b": [0.1, 0.2]}, "`a` holds inf"),
    ],
)
def test_what_is_no_table_is_refused_in_words(scores: object, message: str) -> None:
    """Shape, emptiness and strange numbers, each with what was expected."""
    with pytest.raises(BadSample) as caught:
        two_way_anova(scores)

    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("names", "message"), [(["a"], "1 names were given for 2"), (["a", "a"], "called `a`")]
)
def test_names_must_be_as_many_as_systems_and_distinct(names: list[str], message: str) -> None:
    """Columns without a name, or two with the same, are refused."""
    with pytest.raises(BadSample) as caught:
        two_way_anova([[0.1, 0.2]], systems=names)

    assert message in str(caught.value)
