"""`explain_difference` names the convention that makes two numbers differ, and shares that sum up.

The values of the crafted cases are those that the tools print: trec_eval 9.0.4 `-c`, pytrec_eval-terrier 0.5.11,
ranx 0.3.21, ir_measures 0.4.3, trectools 0.0.50.
"""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import judged
from judged.errors import BadInput, BadMeasure, BadProtocol, UnknownName
from judged.explanation.difference import shapley
from judged.profiles.profile import PROFILES
from judged.result import load

TIED = {"q1": {f"d{i}": 1.0 for i in range(1, 7)}}
"""Six documents tied, in the order d1 … d6."""
ONE_MISSING = {"q1": {"a": 1}, "q2": {"b": 1}}


@pytest.mark.parametrize(
    ("case", "qrels", "run", "measure", "against", "values", "cause"),
    [
        ("B1", {"q1": {"d3": 1}}, TIED, "nDCG@10", "ranx", (0.4307, 0.5000), "ties"),
        ("B1", {"q1": {"d3": 1}}, TIED, "RR@10", "ir_measures", (0.2500, 0.3333), "ties"),
        ("C1", ONE_MISSING, {"q1": {"a": 1.0}}, "nDCG@10", "pytrec_eval", (0.5, 1.0), "missing"),
        ("C1", ONE_MISSING, {"q1": {"a": 1.0}}, "AP", "pytrec_eval", (0.5, 1.0), "missing"),
        (
            "C2",
            {"q1": {"a": 1}},
            {"q1": {"a": 1.0}, "q9": {"b": 1.0}},
            "nDCG@10",
            "trectools",
            (1.0, 0.5),
            "unjudged_queries",
        ),
        (
            "E",
            {"q1": {"a": -1, "b": 1, "c": 0}},
            {"q1": {"a": 2.0, "b": 1.0}},
            "Bpref",
            "ranx",
            (1.0, 0.0),
            "negative",
        ),
    ],
)
def test_crafted_cases_have_the_right_cause(
    case: str, qrels: Any, run: Any, measure: str, against: str, values: tuple[float, float], cause: str
) -> None:
    """The whole difference comes from one convention, and that comes first."""
    result = judged.explain_difference(qrels, run, measure, against=against)

    assert result.values == pytest.approx(values, abs=5e-5), case
    assert result.rows()[0]["cause"] == cause
    assert result.rows()[0]["share"] == pytest.approx(result.difference)
    assert all(row["share"] == 0 for row in result.rows()[1:])
    assert result.rows()[0]["queries"] == 1


def test_a_gain_may_be_the_cause() -> None:
    """By hand: grades 1, 3 give (1 + 3/log₂3)/(3 + 1/log₂3) and (1 + 7/log₂3)/(7 + 1/log₂3)."""
    result = judged.explain_difference(
        {"q": {"a": 1, "b": 3}}, {"q": {"a": 2.0, "b": 1.0}}, "nDCG@10", against="gain=exp"
    )

    assert result.values == pytest.approx((0.796708, 0.709810), abs=1e-6)
    assert [(row["cause"], row["first"], row["second"]) for row in result.rows()] == [
        ("gain", "linear", "exp")
    ]
    assert result.queries.rows[0][-1] == "grade 3 is worth 3 or 7"


def test_a_denominator_may_be_the_cause() -> None:
    """One of two relevant documents among the first: 1/2, or 1 of the one that there is room for."""
    result = judged.explain_difference(
        {"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0}}, "R@1", against="over=cutoff"
    )

    assert (result.values, result.rows()[0]["cause"]) == ((0.5, 1.0), "over")


def test_the_precision_of_scores_may_be_the_cause() -> None:
    """16.0000001 and 16 are equal to trec_eval 9, and are then ordered by id; version 10 distinguishes them."""
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 16.0000001, "b": 16.0}}
    result = judged.explain_difference(qrels, run, "RR", against="trec_eval-10")

    assert result.values == (0.5, 1.0)
    assert result.rows()[0]["cause"] == "precision"
    assert result.queries.rows[0][-1] == (
        "`a` (grade 1) at rank 2 or 1; 16.0000001 and 16.0 are equal as 32-bit floats"
    )


def test_shares_are_averaged_over_the_orders_of_exchange() -> None:
    """By hand: q1 scores 1/2 or 1 by its tie, q2 is missing. Ties first: +1/4, +1/2; missing first: +1/4, +1/2."""
    run = {"q1": {"a": 1.0, "b": 1.0}}
    result = judged.explain_difference(ONE_MISSING, run, "RR", against="missing=skip,ties=input-order")

    assert result.values == (0.25, 1.0)
    assert {row["cause"]: row["share"] for row in result.rows()} == {"missing": 0.375, "ties": 0.375}
    assert [row["percent"] for row in result.rows()] == [50.0, 50.0]
    assert (result.first.queries, result.second.queries) == (2, 1)


def test_evidence_names_documents_ranks_and_scores() -> None:
    """Queries most affected first: q1 loses half, q2 a sixth; then what ties there."""
    qrels = {"q1": {"a": 1}, "q2": {"a": 1, "z": 0}, "q3": {"n": 1}}
    run = {"q1": {"a": 2.5, "b": 2.5}, "q2": {"x": 9.0, "a": 2.5, "z": 2.5}, "q3": {"n": 1.0}}
    result = judged.explain_difference(qrels, run, "RR", against="ties=document-ascending")

    assert [row[:5] for row in result.queries.rows] == [
        ("q1", 0.5, 1.0, 0.5, "ties"),
        ("q2", 1 / 3, 0.5, pytest.approx(1 / 6), "ties"),
    ]
    assert result.queries.rows[0][5] == "`a` (grade 1) at rank 2 or 1; 2 results share the score 2.5"
    assert result.queries.rows[1][5] == (
        "`a` (grade 1) at rank 3 or 2, `z` (grade 0) at rank 2 or 3; 2 results share the score 2.5"
    )


def test_queries_that_one_side_leaves_out_are_listed() -> None:
    """They have one value and no difference."""
    result = judged.explain_difference(ONE_MISSING, {"q1": {"a": 1.0}}, "AP", against="pytrec_eval")

    assert result.queries.rows == (("q2", 0.0, None, None, "missing", "no results"),)
    assert "trec_eval-9 is over 2 queries, pytrec_eval over 1" in str(result)


def test_either_side_may_be_a_protocol_a_profile_or_changes() -> None:
    """The same comparison, written in several ways; changes alone are changes to the other side."""
    run, settings_ = {"q": {"a": 1.0, "b": 1.0}}, {"measure": "RR"}
    ways: list[dict[str, Any]] = [
        {"protocol": "ranx", "against": "ties=document-descending"},
        {"protocol": judged.PROFILES["ranx"], "against": judged.Protocol(precision="float64")},
        {"protocol": "ranx,missing=skip", "against": "ranx,missing=skip,ties=document-descending"},
        {"protocol": "ties=input-order", "against": "ties=document-descending"},
    ]
    results = [judged.explain_difference({"q": {"a": 1}}, run, **settings_, **sides) for sides in ways]

    assert [result.values for result in results] == [(1.0, 0.5)] * 4
    assert [result.rows()[0]["cause"] for result in results] == ["ties"] * 4


def test_the_same_conventions_differ_in_nothing() -> None:
    """No cause, no query, and a sentence that says so."""
    result = judged.explain_difference(ONE_MISSING, TIED, "AP", against="trec_eval-9")

    assert (result.causes.rows, result.queries.rows, result.difference) == ((), (), 0.0)
    assert "both have the same conventions for this measure" in str(result)


def test_conventions_that_change_nothing_here_have_no_share() -> None:
    """They differ, their share is 0, and no query is affected."""
    result = judged.explain_difference({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, "AP", against="ranx")

    assert [(row["cause"], row["share"], row["queries"]) for row in result.rows()] == [
        ("ties", 0, 0),
        ("precision", 0, 0),
    ]
    assert "no query of this run is affected" in str(result)


def test_a_document_retrieved_twice_is_refused_with_its_line() -> None:
    """Case G: no convention gives it a meaning, so there is nothing to compare."""
    run = b"q1 Q0 a 1 9.0 t\nq1 Q0 b 2 5.0 t\nq1 Q0 a 3 1.0 t\n"
    with pytest.raises(BadInput, match="3: document `a` is retrieved again"):
        judged.explain_difference({"q1": {"a": 1}}, run, "nDCG@10", against="ranx")


@pytest.mark.parametrize(
    ("against", "error", "message"),
    [
        ("rnax", UnknownName, "did you mean `ranx`"),
        ("tise=input-order", UnknownName, "did you mean `ties`"),
        ("ranx,skip", BadProtocol, "`skip` changes no convention"),
        ("ties=random", BadProtocol, "`ties` of a protocol is `random`"),
        ("gain=cubic", BadMeasure, "cubic"),
    ],
)
def test_conventions_that_are_not_known_are_refused(
    against: str, error: type[Exception], message: str
) -> None:
    """With what was probably meant."""
    with pytest.raises(error, match=message):
        judged.explain_difference(ONE_MISSING, TIED, "nDCG@10", against=against)


def test_text_has_no_difference() -> None:
    """A string of grades is no number."""
    with pytest.raises(BadMeasure, match="relstring is text"):
        judged.explain_difference(ONE_MISSING, TIED, "relstring", against="ties=input-order")


@given(values=st.lists(st.floats(-10, 10), min_size=8, max_size=8))
def test_shapley_values_are_the_mean_over_all_orders(values: list[float]) -> None:
    """Against the definition: the mean change of every cause over all orders of three causes."""
    table = np.array(values)
    orders = list(permutations(range(3)))
    expected = np.zeros(3)
    for order in orders:
        for place, cause in enumerate(order):
            before = sum(1 << other for other in order[:place])
            expected[cause] += (table[before | 1 << cause] - table[before]) / len(orders)

    assert shapley(table) == pytest.approx(expected, abs=1e-9)
    assert shapley(table).sum() == pytest.approx(table[-1] - table[0], abs=1e-9)


def test_a_cause_that_changes_nothing_has_no_share() -> None:
    """Whatever the other does."""
    assert shapley(np.array([1.0, 1.0, 5.0, 5.0])).tolist() == [0.0, 4.0]


documents = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([1.0, 2.0, 2.00000001]), max_size=8)
grades = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([-1, 0, 1, 2, 3]), min_size=1)


@settings(max_examples=60)
@given(
    qrels=st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), grades, min_size=1),
    run=st.dictionaries(st.sampled_from(["q1", "q2", "q3", "q4"]), documents),
    sides=st.tuples(*[st.sampled_from(sorted(PROFILES))] * 2),
)
def test_shares_sum_up_between_any_two_profiles(qrels: Any, run: Any, sides: tuple[str, str]) -> None:
    """Over all profiles that have the measure: shares sum up, and both ends are what `evaluate` gives."""
    assume(not qrels.keys().isdisjoint(run))
    try:
        ends = [judged.evaluate(qrels, run, ["nDCG@10"], protocol=side) for side in sides]
    except BadMeasure:
        return
    result = judged.explain_difference(qrels, run, "nDCG@10", protocol=sides[0], against=sides[1])

    assert result.values == pytest.approx([next(iter(end.mean().values())) for end in ends])
    assert sum(row["share"] for row in result.rows()) == pytest.approx(result.difference, abs=1e-9)


def test_it_is_saved_and_loaded(tmp_path: Path) -> None:
    """What comes back prints the same."""
    result = judged.explain_difference(ONE_MISSING, {"q1": {"a": 1.0}}, "AP", against="pytrec_eval")
    result.save(tmp_path / "result.json")
    loaded = load(tmp_path / "result.json")

    assert isinstance(loaded, judged.explanation.difference.Difference)
    assert (str(loaded), loaded.to_dict()) == (str(result), result.to_dict())


def test_an_average_over_orders_names_the_documents_that_share_a_score() -> None:
    """No document moves where orders are averaged; below a tie without different grades, the first with some counts."""
    qrels = {"q": {"a": 1, "b": 1, "d1": 3, "d2": 1}}
    run = {"q": {"a": 0.9, "b": 0.9, "d1": 0.8, "d2": 0.8, "x": 0.8, "y": 0.8}}
    result = judged.explain_difference(qrels, run, "nDCG@10", against="sklearn")

    assert (
        result.queries.rows[0][-1]
        == "`d1` (grade 3), `d2` (grade 1), `y` (grade 0), and 1 more share the score 0.8"
    )


def test_causes_that_matter_are_described() -> None:
    """In words, by the declaration of the convention or the parameter; what changes nothing here is not mentioned."""
    qrels = {"a": {"d1": 3, "d2": 1}, "b": {"d3": 0}}
    run = {"a": {"d1": 0.5, "d2": 0.5}, "b": {"d3": 1.0}}
    text = str(judged.explain_difference(qrels, run, "nDCG@10", against="lightgbm"))
    text = " ".join(text.split())

    assert "no_relevant: score of a query without any relevant document; scored as 0, or scored as 1" in text
    assert (
        "ties: order of documents with equal scores; ordered by document id, descending, or ordered as in"
        in text
    )
    assert "gain: what a grade is worth: itself (`linear`), or 2^grade − 1 (`exp`)" in text
    assert "precision:" not in text
