"""Judgment holes: bounds over what nobody has judged, worked by hand, and what is refused."""

from __future__ import annotations

from math import log2

import pytest

from judged import Protocol, evaluate
from judged.errors import BadMeasure

RUN = {"q": {"known": 3.0, "open": 2.0, "below": 1.0}}


def test_recall_counts_what_is_found_and_what_is_missed() -> None:
    """At 2: found with the second result 2 of 3; with the third relevant too, which lies below, 1 of 3."""
    scored = evaluate({"q": {"known": 1, "missed": 1}}, RUN, ["R@2"])

    assert scored["R@2"] == 1 / 2
    assert scored.unjudged_range("R@2") == (pytest.approx(1 / 3), pytest.approx(2 / 3))


def test_the_highest_ndcg_may_lie_at_a_middle_grade() -> None:
    """A grade of 3 raises the best order more than what is gained; a grade of 1 brings most."""
    run = {"q": {"known": 2.0, "open": 1.0}}
    qrels = {"q": {"known": 1, "missed": 1}, "r": {"x": 3}}
    low, high = evaluate(qrels, run, ["nDCG"]).unjudged_ranges("nDCG")["q"]

    assert low == pytest.approx(1 / (1 + 1 / log2(3)))
    assert high == pytest.approx((1 + 1 / log2(3)) / (1 + 1 / log2(3) + 1 / 2))


def test_precision_goes_from_none_to_all_of_the_unjudged() -> None:
    """One of three is relevant, and two are unjudged."""
    scored = evaluate({"q": {"known": 1}}, RUN, ["P@3"])

    assert scored.unjudged_range("P@3") == (pytest.approx(1 / 3), 1.0)
    assert scored.judged_share("P@3") == pytest.approx(1 / 3)


def test_negative_grades_are_holes_too() -> None:
    """A pooled document that was not assessed could be anything."""
    scored = evaluate({"q": {"known": 1, "open": -1, "below": 0}}, RUN, ["P@3"])

    assert scored.unjudged_range("P@3") == (pytest.approx(1 / 3), pytest.approx(2 / 3))


def test_a_query_missing_from_the_run_has_no_holes() -> None:
    """It scores 0 whatever is judged."""
    scored = evaluate({"q": {"known": 1}, "z": {"a": 1}}, RUN, ["P@3"])

    assert scored.unjudged_ranges("P@3")["z"] == (0.0, 0.0)


def test_gains_must_rise_with_grades() -> None:
    """Else neither all nor none of the unjudged being relevant would be a bound."""
    scored = evaluate({"q": {"known": 2, "below": 1}}, RUN, ["nDCG(gains={1: 5})"])

    with pytest.raises(BadMeasure, match="a higher grade has less of `gains`"):
        scored.unjudged_range("nDCG(gains={1: 5})")


def test_texts_and_averaged_ties_have_no_bounds() -> None:
    """A string has no order, and bounds hold for one order of ties."""
    tied = {"q": {"known": 1.0, "open": 1.0}}

    with pytest.raises(BadMeasure, match="relstring is a text"):
        evaluate({"q": {"known": 1}}, RUN, ["relstring"]).unjudged_range("relstring")
    with pytest.raises(BadMeasure, match="one order of the results"):
        evaluate({"q": {"known": 1}}, tied, ["AP"], protocol=Protocol(ties="expected")).unjudged_range("AP")


def test_bounds_of_preferences_are_refused() -> None:
    """Nobody is missing who could judge."""
    scored = evaluate({"q": {"ann": {"known": 1, "below": 0}}}, RUN, ["prefs_simp"])

    with pytest.raises(BadMeasure, match="prefs_simp has no range"):
        scored.unjudged_range("prefs_simp")
