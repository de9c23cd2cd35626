"""Input that could be read in two ways is read in one, or refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

import judged
from judged import Protocol
from judged.errors import BadInput, BadMeasure
from judged.measures.parse import parse_measure


@pytest.mark.parametrize("no_relevant", ["zero", "skip"])
def test_grades_count_alike_for_measures_and_for_queries_without_relevant_documents(no_relevant: str) -> None:
    """With `negative="nonrelevant"` a negative grade is 0, which `rel=0` makes relevant: in both places."""
    qrels = {"q1": {"a": -1, "b": -1}, "q2": {"c": 1}}
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}}
    protocol = Protocol(rel=0, negative="nonrelevant", no_relevant=no_relevant)
    found = judged.evaluate(qrels, run, ["P@2", "NumRel"], protocol=protocol)

    assert found.per_query().by_query("P@2") == {"q1": 1.0, "q2": 0.5}
    assert found["NumRel"] == 3.0


def test_trec_evals_persistence_must_be_written() -> None:
    """`rbp` is RBP with p=0.8, so trec_eval's `rbp_resid` with its 0.9 needs the number."""
    with pytest.raises(BadMeasure, match=r"p=0\.9 in trec_eval") as caught:
        parse_measure("rbp_resid")

    assert "rbp_resid.p=0.9" in str(caught.value)
    assert str(parse_measure("rbp_resid.p=0.9")) == 'RBP_residual(p=0.9, tail="unjudged")'
    assert parse_measure("rbp") == parse_measure("RBP")


@pytest.mark.parametrize("text", ["query, doc ,grade\nq1, d1 ,1\n", "query, doc, grade\n q1 ,d1,1\n"])
def test_blanks_around_ids_and_names_of_columns_are_ignored(tmp_path: Path, text: str) -> None:
    """Blanks around names in the header are layout, and so are those around ids below it."""
    (tmp_path / "q.csv").write_text(text)
    (tmp_path / "r.csv").write_text("query,doc,score\nq1,d1,2\n")

    assert judged.evaluate(tmp_path / "q.csv", tmp_path / "r.csv", "RR")["RR"] == 1.0


@pytest.mark.parametrize("compiled", ["1", "0"])
@pytest.mark.parametrize("score", [10**400, None, "1", b"1", float("nan"), [1], object()])
def test_scores_that_are_no_numbers_are_named(
    score: object, compiled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever they are: the error names the query and the document."""
    monkeypatch.setenv("JUDGED_COMPILED", compiled)
    for qrels, run in (
        ({"q": {"a": 1}}, {"q": {"a": score, "b": 1}}),
        ({"q": {"a": 1}}, {"q": {"b": score, "a": 1}}),
        ({"q": {"a": score}}, {"q": {"a": 1}}),
    ):
        with pytest.raises(BadInput, match=r"query `q`, document `[ab]`"):
            judged.evaluate(qrels, run, ["RR"])
