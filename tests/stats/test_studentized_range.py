"""The studentized range: printed tables, scipy, Student's t, and its laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from judged.stats import studentized_range as module
from judged.stats.studentized_range import range_quantile, range_tail


@pytest.mark.parametrize(
    ("tail", "groups", "freedom", "printed"),
    [
        (0.05, 3, 20, 3.58),
        (0.05, 5, 10, 4.65),
        (0.01, 5, 10, 6.14),
        (0.05, 10, math.inf, 4.47),
        (0.01, 3, 60, 4.28),
        (0.05, 2, 1, 17.97),
    ],
)
def test_critical_values_are_those_of_printed_tables(
    tail: float, groups: int, freedom: float, printed: float
) -> None:
    """Pearson and Hartley's table, as statistics books print it."""
    assert range_quantile(tail, groups=groups, freedom=freedom) == pytest.approx(printed, abs=0.005)


@pytest.mark.parametrize(
    ("groups", "freedom"), [(2, 5), (3, 38), (5, 10), (10, 100), (50, 4851), (7, math.inf)]
)
def test_agrees_with_scipy(groups: int, freedom: float) -> None:
    """The `studentized_range.sf` of scipy is accurate to about 1e-11 here."""
    from scipy.stats import studentized_range

    q = np.array([0.1, 1.0, 2.5, 4.0, 6.0])

    assert range_tail(q, groups=groups, freedom=freedom) == pytest.approx(
        studentized_range.sf(q, groups, freedom), abs=2e-11
    )


@pytest.mark.parametrize("freedom", [1, 2, 7, 60, 5000])
def test_two_groups_are_student_t(freedom: int) -> None:
    """The range of two is √2 times |t|, in the far tail too, where 1 − P has no digits left."""
    from scipy.special import stdtr

    q = np.array([0.5, 2.0, 5.0, 12.0])

    assert range_tail(q, groups=2, freedom=freedom) == pytest.approx(
        2 * stdtr(freedom, -q / math.sqrt(2)), rel=1e-9
    )


@given(q=st.floats(0, 30), groups=st.integers(2, 60), freedom=st.sampled_from([1, 3, 20, 500, math.inf]))
def test_is_a_probability_that_grows_with_groups_and_falls_with_the_range(
    q: float, groups: int, freedom: float
) -> None:
    """More groups lie further apart; a greater range is rarer."""
    here, further = range_tail([q, q + 0.1], groups=groups, freedom=freedom)  # type: ignore[arg-type]

    assert 0 <= further <= here + 1e-12
    assert here <= 1
    assert here <= range_tail(q, groups=groups + 1, freedom=freedom)[0] + 1e-12


@given(tail=st.floats(0.0005, 0.9995), groups=st.integers(2, 50), freedom=st.integers(1, 3000))
def test_the_quantile_is_the_inverse_of_the_tail(tail: float, groups: int, freedom: int) -> None:
    """What is exceeded with a probability is exceeded with that probability."""
    q = range_quantile(tail, groups=groups, freedom=freedom)

    assert range_tail(q, groups=groups, freedom=freedom)[0] == pytest.approx(tail, rel=1e-9)


@pytest.mark.parametrize(("groups", "freedom"), [(2, 1), (50, 3), (100, 1), (200, 500), (1000, math.inf)])
def test_finer_steps_change_nothing(groups: int, freedom: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of a third leave every probability where it is, to 1e-12."""
    q = np.array([0.5, 2.0, 4.0, 8.0, 15.0])
    coarse = range_tail(q, groups=groups, freedom=freedom)
    monkeypatch.setattr(module, "STEP", module.STEP / 3)
    monkeypatch.setattr(module, "WIDEST", module.WIDEST / 3)

    assert range_tail(q, groups=groups, freedom=freedom) == pytest.approx(coarse, abs=1e-12)
