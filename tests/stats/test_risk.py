"""Risk: hand-computed values, laws, published numbers, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import judged
from judged.errors import BadSample
from judged.stats.paired_tests import paired_t
from judged.stats.risk import georisk, trisk, urisk, zrisk

scores = st.lists(st.integers(0, 100), min_size=1, max_size=12).map(lambda values: [x / 100 for x in values])
pairs = scores.flatmap(
    lambda a: st.tuples(
        st.just(a), st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=len(a), max_size=len(a))
    )
)
tables = st.integers(1, 8).flatmap(
    lambda n: st.lists(
        st.lists(st.integers(0, 100).map(lambda x: x / 100), min_size=n, max_size=n), min_size=2, max_size=5
    )
)


@pytest.mark.parametrize(("alpha", "expected"), [(0, 0.05), (1, 0.0), (5, -0.2), (10, -0.45)])
def test_losses_count_one_plus_alpha_times(alpha: float, expected: float) -> None:
    """Differences 0.3, −0.2, 0, 0.1: (0.4 − 0.2(1 + α)) / 4."""
    risk = trisk([0.8, 0.1, 0.5, 0.6], [0.5, 0.3, 0.5, 0.5], alpha=alpha)

    assert risk.urisk == pytest.approx(expected, abs=1e-15)
    assert (risk.wins, risk.losses, risk.ties) == (2, 1, 1)
    assert risk.difference == pytest.approx(0.05)


def test_published_numbers_are_a_line_in_alpha() -> None:
    """TREC 2013 Web, run UJS13LCRAd1, nDCG of gdeval: −0.02416 at α = 0, −0.09604 at 1, −0.74289 at 10 (NIST).

    A run with the first as its wins and losses has the others: the losses' mean is 0.07188 up to rounding.
    """
    losses = 0.09604 - 0.02416
    wins = losses - 0.02416

    assert urisk([wins, 0.0], [0.0, losses], alpha=10) * 2 == pytest.approx(-0.74289, abs=2e-4)


@given(pair=pairs)
def test_without_weight_it_is_the_mean_difference_and_the_paired_test(
    pair: tuple[list[float], list[float]],
) -> None:
    """At α = 0, URisk is the mean difference and TRisk Student's t of pairs."""
    first, second = pair
    risk, test = trisk(first, second, alpha=0), paired_t(first, second)

    assert risk.urisk == pytest.approx(np.mean(first) - np.mean(second), abs=1e-12)
    assert risk.trisk == pytest.approx(test.statistic, rel=1e-9)
    assert risk.p == pytest.approx(test.p, rel=1e-9)


@given(pair=pairs, alpha=st.floats(0, 20))
def test_more_weight_on_losses_never_helps(pair: tuple[list[float], list[float]], alpha: float) -> None:
    """URisk falls as α grows, by the mean loss; a system against itself has none."""
    first, second = pair
    losses = np.minimum(np.array(first) - np.array(second), 0).mean()

    assert urisk(first, second, alpha=alpha) == pytest.approx(
        urisk(first, second, alpha=0) + alpha * losses, abs=1e-9
    )
    assert trisk(first, first, alpha=alpha).trisk == 0.0


def test_trisk_is_in_standard_errors() -> None:
    """Weighed differences 0.3, −0.4, 0 have mean −1/30 and deviation √0.37/3; so T is −0.1/√0.37."""
    risk = trisk([0.8, 0.1, 0.6], [0.5, 0.3, 0.6], alpha=1)

    assert risk.trisk == pytest.approx(-0.1 / math.sqrt(0.37), abs=1e-12)


def test_no_spread_is_no_crash() -> None:
    """The same loss everywhere is endless in standard errors; one query is evidence of nothing."""
    assert trisk([0.1, 0.1], [0.2, 0.2]).trisk == -math.inf
    assert (trisk([0.1], [0.2]).trisk, trisk([0.1], [0.2]).p) == (0.0, 1.0)


def test_expected_scores_share_the_success_of_system_and_query() -> None:
    """Two systems, each right on one query: e is 1/2 throughout, z is ±1/√2; at α = 1, Z is −1/√2."""
    risks = georisk({"a": [1, 0], "b": [0, 1]}, alpha=1)

    assert zrisk({"a": [1, 0], "b": [0, 1]}, alpha=1) == {name: risk.zrisk for name, risk in risks.items()}
    assert risks["a"].zrisk == pytest.approx(-1 / math.sqrt(2))
    assert risks["a"].georisk == pytest.approx(
        math.sqrt(0.5 * (1 + math.erf(-1 / math.sqrt(2) / 2 / math.sqrt(2))) / 2)
    )


def test_a_system_that_fails_somewhere_has_less() -> None:
    """Row sums 1 and 1, column sums 1.4 and 0.6: e is 0.7 and 0.3, so z is ∓0.2/√0.7 and ±0.2/√0.3."""
    risks = georisk({"even": [0.5, 0.5], "uneven": [0.9, 0.1]}, alpha=5)

    assert risks["even"].zrisk == pytest.approx(0.2 / math.sqrt(0.3) - 6 * 0.2 / math.sqrt(0.7))
    assert risks["uneven"].zrisk == pytest.approx(0.2 / math.sqrt(0.7) - 6 * 0.2 / math.sqrt(0.3))
    assert risks["uneven"].georisk < risks["even"].georisk


@given(table=tables, alpha=st.floats(0, 20))
def test_georisk_lies_between_nothing_and_the_root_of_the_mean(
    table: list[list[float]], alpha: float
) -> None:
    """Φ is a probability; at α = 0 no departure weighs more than another."""
    systems = {f"s{i}": values for i, values in enumerate(table)}

    for risk in georisk(systems, alpha=alpha).values():
        assert 0.0 <= risk.georisk <= math.sqrt(risk.mean) + 1e-12


@given(values=scores, alpha=st.floats(0, 20))
def test_systems_that_are_the_same_run_no_risk(values: list[float], alpha: float) -> None:
    """Every score is the expected one: Z is 0, and GeoRisk the root of half the mean."""
    for risk in georisk({"a": values, "b": values, "c": values}, alpha=alpha).values():
        assert risk.zrisk == pytest.approx(0.0, abs=1e-9)
        assert risk.georisk == pytest.approx(math.sqrt(risk.mean / 2), abs=1e-6)


def test_nothing_expected_is_no_departure() -> None:
    """A query nobody answers, and a system that answers nothing, bring 0 and not NaN."""
    risks = georisk({"a": [0.5, 0.0], "b": [0.5, 0.0], "lost": [0.0, 0.0]}, alpha=1)

    assert risks["a"].zrisk == pytest.approx(0.0)
    assert (risks["lost"].zrisk, risks["lost"].georisk) == (0.0, 0.0)
    assert georisk({"a": [0.0], "b": [0.0]})["a"].georisk == 0.0


def test_scores_are_paired_by_query() -> None:
    """Tables of scores and dicts meet by query, whatever their order."""
    qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    good = judged.evaluate(qrels, {"q1": ["d1"], "q2": ["d2", "d1"]}, "RR").per_query()
    bad = judged.evaluate(qrels, {"q1": ["d2", "d1"], "q2": ["d1"]}, ["RR", "AP"]).per_query()

    assert urisk(good, good) == 0.0
    assert urisk(good, bad, alpha=1, measure="RR") == pytest.approx((0.5 - 2 * 0.5) / 2)
    assert urisk({"q2": 0.5, "q1": 1.0}, bad, alpha=1, measure="RR") == pytest.approx(-0.25)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: urisk([0.1], [0.2, 0.3]), "`scores` and `baseline` have scores of different queries"),
        (lambda: urisk({"q1": 0.1}, {"q2": 0.2}), "q1, q2 in one only"),
        (lambda: urisk([math.nan], [0.2]), "`scores` holds nan, expected finite numbers"),
        (lambda: urisk([0.1], [math.inf]), "`baseline` holds inf"),
        (lambda: urisk([], []), "holds no values"),
        (lambda: urisk(["x"], [0.1]), "`scores` holds a value that is not a number"),
        (lambda: urisk([0.1], [0.1], alpha=-1), "`alpha` is -1, expected a number from 0"),
        (lambda: trisk([0.1], [0.1], alpha=math.nan), "`alpha` is nan"),
        (lambda: georisk({"a": [0.1]}), "1 was given, expected two or more"),
        (lambda: zrisk({}), "0 was given, expected two or more"),
        (lambda: georisk({"a": [0.1], "b": [-0.1]}), "need scores from 0, and one is -0.1"),
        (lambda: georisk({"a": [0.1, 0.2], "b": [0.1]}), "`a` and `b` have scores of different queries"),
        (
            lambda: urisk(judged.evaluate({"q": {"d": 1}}, {"q": ["d"]}, "AP RR").per_query(), [1.0]),
            "the scores of `scores` hold 2 measures: AP, RR",
        ),
    ],
)
def test_what_no_risk_can_be_made_of_is_refused_in_words(call: object, message: str) -> None:
    """What, whose, and what was expected."""
    with pytest.raises(BadSample) as caught:
        call()  # type: ignore[operator]

    assert message in str(caught.value)
