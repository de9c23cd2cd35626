"""Ties: means and ranges over all orders of tied results, worked by hand, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from math import log2

import pytest

from judged import Protocol, evaluate
from judged.errors import BadMeasure, BadProtocol

SIX = {"q": {f"d{i}": 1.0 for i in range(1, 7)}}
"""Six documents with one score: the crafted case on which tools differ most."""
EXPECTED = Protocol(ties="expected")


def test_one_relevant_document_among_six_tied_ones_is_at_every_rank_equally_often() -> None:
    """Each rank from 1 to 6 has a chance of 1/6."""
    scored = evaluate({"q": {"d3": 1}}, SIX, ["RR", "P@5", "Success@1", "nDCG@10"], protocol=EXPECTED)

    assert scored["RR"] == pytest.approx(float(sum(Fraction(1, i) for i in range(1, 7)) / 6))
    assert scored["P@5"] == pytest.approx(1 / 6)
    assert scored["Success@1"] == pytest.approx(1 / 6)
    assert scored["nDCG@10"] == pytest.approx(sum(1 / log2(i + 1) for i in range(1, 7)) / 6)


def test_average_precision_of_two_among_three_is_the_mean_of_three_orders() -> None:
    """Ranks 1 and 2 give 1, ranks 1 and 3 give 5/6, ranks 2 and 3 give 7/12; together 29/36."""
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
    scored = evaluate({"q": {"a": 1, "b": 1}}, run, ["AP"], protocol=EXPECTED)

    assert scored["AP"] == pytest.approx(float(Fraction(29, 36)))


def test_documents_tied_across_the_depth_are_within_it_by_chance() -> None:
    """Of four tied results two are looked at, so the one relevant document is seen in half of the orders."""
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}}
    scored = evaluate({"q": {"a": 1}}, run, ["SetR"], protocol=EXPECTED.replace(depth=2))

    assert scored["SetR"] == pytest.approx(1 / 2)


def test_ranges_go_from_the_worst_order_to_the_best() -> None:
    """The relevant document stands last or first; the second query has no ties and does not move."""
    run = {**SIX, "r": {"x": 2.0, "y": 1.0}}
    scored = evaluate({"q": {"d3": 1}, "r": {"y": 1}}, run, ["RR"])

    assert scored.tie_range("RR") == pytest.approx(((1 / 6 + 1 / 2) / 2, (1 + 1 / 2) / 2))
    assert scored.tie_ranges("RR") == {"q": (pytest.approx(1 / 6), 1.0), "r": (0.5, 0.5)}


def test_a_query_missing_from_the_run_stays_zero_over_all_orders() -> None:
    """Whatever a measure says of an empty list, a missing query scores 0."""
    scored = evaluate({"q": {"d3": 1}, "z": {"a": 1}}, SIX, ["yaap"])

    assert scored.tie_ranges("yaap")["z"] == (0.0, 0.0)


def test_too_many_orders_are_refused_with_their_number() -> None:
    """Interpolated precision has to be looked at order by order: 40 over 20 of them are too many."""
    run = {"q": {f"d{i}": 1.0 for i in range(40)}}
    qrels = {"q": {f"d{i}": 1 for i in range(20)}}

    with pytest.raises(BadMeasure, match=r"IPrec@0.5 .* query `q` has 137,846,528,820 different ones"):
        evaluate(qrels, run, ["IPrec@0.5"], protocol=EXPECTED)


def test_texts_have_no_mean_over_orders() -> None:
    """A string of grades is of one order."""
    with pytest.raises(BadMeasure, match="relstring is a text"):
        evaluate({"q": {"d3": 1}}, SIX, ["relstring"], protocol=EXPECTED)


def test_a_depth_before_unjudged_results_are_removed_is_refused() -> None:
    """Which unjudged results lie within the depth depends on the order of ties."""
    with pytest.raises(BadProtocol, match="expected at most two of them"):
        Protocol(ties="expected", unjudged="removed", depth=10)


def test_condensed_lists_have_their_own_ties() -> None:
    """Without the unjudged ones two judged results are tied, so the relevant one is first in half of the orders."""
    run = {"q": {"a": 1.0, "b": 1.0, "u": 1.0, "v": 1.0}}
    scored = evaluate({"q": {"a": 1, "b": 0}}, run, ["RR"], protocol=EXPECTED.replace(unjudged="removed"))

    assert scored["RR"] == pytest.approx((1 + 1 / 2) / 2)


@pytest.mark.parametrize("tie_rule", ["document-descending", "document-ascending", "input-order"])
def test_the_value_under_every_rule_lies_within_the_range(tie_rule: str) -> None:
    """Each rule chooses one of the orders."""
    scored = evaluate({"q": {"d3": 1}}, SIX, ["AP"], protocol=Protocol(ties=tie_rule))  # type: ignore[arg-type]
    low, high = scored.tie_range("AP")

    assert low <= scored["AP"] <= high
