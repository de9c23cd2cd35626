"""`no_relevant="one"`: queries without anything to find score 1, wherever the number shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from judged import Protocol, evaluate, explain
from judged.errors import BadMeasure

ONE = Protocol(no_relevant="one")
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 0}, "q3": {"a": 0}}
RUN = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"a": 2.0, "b": 1.0}}


def test_only_measures_from_0_to_1_are_concerned() -> None:
    """Gains and counts keep their 0; a judged query that the run misses had nothing to find either."""
    scored = evaluate(QRELS, RUN, "RR DCG NumRel Judged@2", protocol=ONE)

    assert scored.per_query()["RR"].tolist() == [0.5, 1.0, 1.0]
    assert scored.per_query()["DCG"].tolist()[1:] == [0.0, 0.0]
    assert scored.per_query()["NumRel"].tolist() == [1.0, 0.0, 0.0]
    assert scored.per_query()["Judged@2"].tolist() == [1.0, 1.0, 0.0]


def test_what_there_is_to_find_depends_on_the_measure() -> None:
    """Grade 1 has a gain, and is not relevant from grade 2 on."""
    scored = evaluate({"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}, "nDCG AP(rel=2) AP", protocol=ONE)

    assert scored.mean() == {"nDCG": pytest.approx(0.6309, abs=1e-4), "AP(rel=2)": 1.0, "AP": 0.5}


def test_queries_that_were_never_judged_have_a_convention_of_their_own() -> None:
    """`unjudged_queries="zero"` still gives them 0."""
    protocol = ONE.replace(unjudged_queries="zero")
    scored = evaluate(QRELS, {**RUN, "q9": {"a": 1.0}}, "RR", protocol=protocol)

    assert scored.per_query().by_query("RR")["q9"] == 0.0


def test_ranges_over_ties_and_unjudged_results_contain_the_value() -> None:
    """A complete list has one value; an unjudged result could be relevant, and missed."""
    run = {"q1": {"b": 2.0, "a": 2.0}, "q2": {"a": 2.0, "b": 2.0}, "q3": {"x": 1.0, "a": 1.0}}
    scored = evaluate(QRELS, run, "RR", protocol=ONE)

    assert scored.tie_ranges("RR")["q2"] == (1.0, 1.0)
    assert scored.unjudged_ranges("RR")["q2"] == (1.0, 1.0)
    low, high = scored.unjudged_ranges("RR")["q3"]
    assert low <= scored.per_query().by_query("RR")["q3"] <= high == 1.0


def test_bounds_over_unjudged_results_need_an_order_that_does_not_depend_on_grades() -> None:
    """With ties by grade there is none."""
    with pytest.raises(BadMeasure, match="that of tied ones depends on the grades here"):
        evaluate(QRELS, RUN, "RR", protocol=Protocol(ties="pessimistic")).unjudged_range("RR")


def test_streams_have_the_same_numbers(tmp_path: Path) -> None:
    """Blocks of a file, under conventions that are applied after the scan."""
    lines = [f"{q} Q0 {d} 1 {s} t\n" for q, docs in RUN.items() for d, s in docs.items()]
    (tmp_path / "x.run").write_text("".join(lines))
    for protocol in (
        ONE,
        Protocol(ties="pessimistic"),
        Protocol(ties="optimistic", no_relevant="one", depth=1),
    ):
        whole = evaluate(QRELS, RUN, "nDCG@3 AP", protocol=protocol)
        streamed = evaluate(QRELS, tmp_path / "x.run", "nDCG@3 AP", protocol=protocol, backend="streaming")

        assert streamed.mean() == whole.mean()
        assert [note.code for note in streamed.notes] == [note.code for note in whole.notes]


def test_an_explanation_says_why_a_hopeless_query_scores_1() -> None:
    """The formula would be 0 / 0."""
    explained = explain(QRELS, RUN, "nDCG@3", query="q2", protocol=ONE)

    assert explained.value == 1.0
    assert "has no relevant document, and scores 1" in explained.notes[0].message


def test_an_explanation_shows_tied_results_by_grade() -> None:
    """In the order that was scored, and its terms add up."""
    tied = {"q1": {"a": 1.0, "x": 1.0, "b": 1.0, "c": 1.0}}
    qrels = {"q1": {"a": 2, "b": 0, "c": 1}}
    worst = explain(qrels, tied, "nDCG", query="q1", protocol=Protocol(ties="pessimistic"))
    best = explain(qrels, tied, "nDCG", query="q1", protocol=Protocol(ties="optimistic"))

    assert [row["document"] for row in worst.rows()] == ["x", "b", "c", "a"]
    assert [row["document"] for row in best.rows()] == ["a", "c", "b"]  # what is below adds nothing
    assert not worst.notes
    assert best.value == 1.0
