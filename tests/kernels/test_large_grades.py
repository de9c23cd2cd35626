"""Grades beyond the exponents of floating-point numbers: ratios are computed, the rest is refused, nothing is NaN."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import judged
from judged.errors import BadMeasure, JudgedError
from judged.kernels.ranked.gains import gain_ratio, grade_gains
from judged.measures.groups import MEASURES
from support.strategies import variants

QRELS = {"q1": {"a": 1100, "b": 3}, "q2": {"c": 1}}
RUN = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"x": 2.0, "c": 1.0}}


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("ERR@20", {"q1": 1.0, "q2": 0.0}),
        ("nERR@20", {"q1": 1.0, "q2": 0.5}),
        ('nDCG(gain="exp")@10', {"q1": 1.0, "q2": 1 / math.log2(3)}),
        ('nDCG_JK(gain="exp")@10', {"q1": 1.0, "q2": 1.0}),
    ],
)
def test_ratios_of_gains_exist_for_any_grade(measure: str, expected: dict[str, float]) -> None:
    """A grade of 1,100 leaves the other queries as they are."""
    found = judged.evaluate(QRELS, RUN, [measure]).per_query().by_query(measure)

    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("grade", [1.0, 7.0, 900.0, 1_000.0])
def test_scaled_gains_give_the_same_ndcg(grade: float) -> None:
    """Grades raised by the same amount, so that gains are beyond all numbers, have nearly the same ratio."""
    low, high = (
        judged.evaluate(
            {"q": {"a": base + grade, "b": base + grade + 1, "c": base + grade + 2}},
            {"q": {"a": 3.0, "b": 2.0, "c": 1.0}},
            ['nDCG(gain="exp")'],
        ).mean()['nDCG(gain="exp")']
        for base in (200.0 if grade < 700 else 0.0, 2_000.0)
    )

    assert low == pytest.approx(high, rel=1e-9)


@pytest.mark.parametrize("measure", ['DCG(gain="exp")@10', 'Q(gain="exp")'])
def test_gains_too_large_to_compute_are_refused(measure: str) -> None:
    """The error says which grades are possible."""
    with pytest.raises(BadMeasure, match="up to 1,000"):
        judged.evaluate(QRELS, RUN, [measure])


def test_tiny_grades_keep_their_digits() -> None:
    """2^g − 1 of a tiny grade is g · ln 2, not a difference of two numbers near 1."""
    truth = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    for unit in (1e-10, 1e-17, 1e-300):
        qrels = {"q": {"a": unit, "b": 3 * unit}}
        found = judged.evaluate(qrels, {"q": {"a": 2.0, "b": 1.0}}, ['nDCG(gain="exp")'])

        assert found['nDCG(gain="exp")'] == pytest.approx(truth, rel=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.floats(0, 60), st.floats(0, 60))
def test_ratios_agree_with_those_of_the_gains(grade: float, top: float) -> None:
    """Up to where gains can be computed, the ratio is theirs."""
    found = float(gain_ratio(np.array([grade]), np.array(top), "exp")[0])
    kept, most = (float(grade_gains(np.array([value]), "exp")[0]) for value in (min(grade, top), top))

    assert found == pytest.approx(kept / most if most else 0.0)


NUMBERS = [name for name in MEASURES if not MEASURES[name].text and MEASURES[name].needs != "intents"]


@pytest.mark.parametrize("name", NUMBERS)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_no_value_is_nan_whatever_the_grades(name: str, data: st.DataObject) -> None:
    """Every measure has a finite value or a worded error, and so has its JSON."""
    measure = data.draw(variants(MEASURES[name]))
    grade = st.sampled_from([0, 1, 3, 50.5, 999, 1023, 1024, 1100, 5000, 1e15, 1e300])
    grades = data.draw(st.lists(grade, min_size=1, max_size=4))
    qrels = {"q": dict(zip("abcd", grades, strict=False))}
    try:
        found = judged.evaluate(qrels, {"q": {"b": 4.0, "x": 3.0, "a": 2.0, "d": 1.0}}, [measure])
    except JudgedError:
        return

    assert math.isfinite(found[measure])
    json.dumps(found.to_dict(), allow_nan=False, default=str)
