"""`explain` shows the arithmetic that a hand would do, and marks what a reader should know of every rank."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import judged
from judged.blocks import Display, Table
from judged.errors import BadInput, BadMeasure, MissingQueries, UnknownName
from judged.kernels.segments import segment_max
from judged.result import load

QRELS = {
    "q1": {"a": 3, "b": 0, "c": 2, "d": 1},
    "q2": {"a": 1, "e": 1, "f": 0, "g": -1},
    "q3": {"x": 1},
    "q4": {"y": 0},
}
RUN = {
    "q1": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0},
    "q2": {"f": 5.0, "u": 5.0, "a": 4.0, "g": 3.0, "v": 2.0},
    "q4": {"y": 1.0},
    "q9": {"a": 1.0},
}


def column(result: judged.Explanation, name: str) -> list[Any]:
    """One column of the ranking."""
    return [row[name] for row in result.rows()]


def explained(measure: str, query: str = "q1", **settings: Any) -> judged.Explanation:
    """The explanation of one of the queries above."""
    return judged.explain(QRELS, RUN, measure, query=query, **settings)


def test_discounted_gain_is_shown_term_by_term() -> None:
    """Grades 3, 0, 2, 1 give 4.4307 of 4.7619, by hand: 3 + 2/2 + 1/log₂5 over 3 + 2/log₂3 + 1/2."""
    result = explained("nDCG@4")

    assert column(result, "document") == ["a", "b", "c", "d"]
    assert column(result, "gain") == [3, 0, 2, 1]
    assert column(result, "discount") == pytest.approx([1, math.log2(3), 2, math.log2(5)])
    assert column(result, "term") == pytest.approx([3, 0, 1, 0.430677], abs=1e-6)
    assert column(result, "total") == pytest.approx([3, 3, 4, 4.430677], abs=1e-6)
    assert column(result, "adds") == pytest.approx(
        [3 / 4.761860, 0, 1 / 4.761860, 0.430677 / 4.761860], abs=1e-6
    )
    assert result.formula is not None
    assert result.formula.text() == "DCG@4 / ideal DCG@4 = 4.4307 / 4.7619 = 0.9305"


@pytest.mark.parametrize("against", ["lightgbm", "gain=exp", judged.PROFILES["lightgbm"]], ids=str)
def test_other_conventions_are_explained_as_by_the_function_for_them(against: Any) -> None:
    """A profile, or what it changes, is not a file of values that does not exist."""
    result = judged.explain(QRELS, RUN, "nDCG@4", against=against)

    assert result.summary() == judged.explain_difference(QRELS, RUN, "nDCG@4", against=against).summary()
    with pytest.raises(UnknownName, match="did you mean `lightgbm`"):
        judged.explain(QRELS, RUN, "nDCG@4", against="lightgb")


def test_the_best_order_is_shown_beside_the_ranking() -> None:
    """Each document of it with its term, and with the rank that it really has."""
    ideal = explained("nDCG@10").to_arrow("ideal").to_pydict()

    assert ideal["document"] == ["a", "c", "d"]
    assert ideal["term"] == pytest.approx([3, 1.261860, 0.5], abs=1e-6)
    assert ideal["total"] == pytest.approx([3, 4.261860, 4.761860], abs=1e-6)
    assert ideal["actual rank"] == [1, 3, 4]


def test_a_table_of_gains_may_overturn_the_best_order() -> None:
    """With a gain of 9 for grade 1, `d` comes before `a` (3) and `c` (2)."""
    ideal = explained("nDCG(gains={1: 9})@10").to_arrow("ideal").to_pydict()

    assert (ideal["document"], ideal["gain"]) == (["d", "a", "c"], [9, 3, 2])


@pytest.mark.parametrize(
    ("measure", "columns", "formula"),
    [
        (  # hits at 1, 3, 4: 1/1 + 2/3 + 3/4
            "AP",
            {
                "found": [1, 1, 2, 3],
                "precision": [1, 1 / 2, 2 / 3, 3 / 4],
                "term": [1, 0, 2 / 3, 3 / 4],
                "total": [1, 1, 5 / 3, 29 / 12],
                "adds": [1 / 3, 0, 2 / 9, 1 / 4],
            },
            "sum of the terms / relevant = 2.4167 / 3 = 0.8056",
        ),
        ("P@3", {"found": [1, 1, 2], "adds": [1 / 3, 0, 1 / 3]}, "found / 3 = 2 / 3 = 0.6667"),
        ('P(over="retrieved")@8', {"found": [1, 1, 2, 3]}, "found / min(8, retrieved) = 3 / 4 = 0.7500"),
        ("R@3", {"adds": [1 / 3, 0, 1 / 3]}, "found / relevant = 2 / 3 = 0.6667"),
        ('R(over="cutoff")@1', {"adds": [1]}, "found / min(1, relevant) = 1 / 1 = 1.0000"),
        (
            "RR",
            {"found": [1, 1, 2, 3], "1 / rank": [1, 1 / 2, 1 / 3, 1 / 4], "adds": [1, 0, 0, 0]},
            "1 / rank of the first relevant result = 1 / 1 = 1.0000",
        ),
        ("F1@2", {"found": [1, 1]}, "2 × found / (k + relevant) = 2 × 1 / (2 + 3) = 0.4000"),
        ("Rprec", {"found": [1, 1, 2, 3]}, "found among the first 3 / 3 = 2 / 3 = 0.6667"),
        (  # grades to 3: stops with 7/8, 0, 3/8, 1/8; 7/8 + 1/8·3/8/3 + 1/8·5/8·1/8/4
            "ERR",
            {
                "reached": [1, 1 / 8, 1 / 8, 5 / 64],
                "stops": [7 / 8, 0, 3 / 8, 1 / 8],
                "term": [7 / 8, 0, 1 / 64, 5 / 2048],
            },
            "the sum of the terms = 0.8750 + 0.0156 + 0.0024 = 0.8931",
        ),
        (  # (1 − 1/2)(1 + 1/4 + 1/8)
            "RBP(p=0.5)",
            {"gain": [1, 0, 1, 1], "weight": [1, 1 / 2, 1 / 4, 1 / 8], "adds": [1 / 2, 0, 1 / 8, 1 / 16]},
            "(1 − p) × the sum of the terms = (1 − 0.5000) × 1.3750 = 0.6875",
        ),
        (  # ideal gains 3, 2, 1: (1+3)/(1+3), (2+5)/(3+6), (3+6)/(4+6)
            "Q",
            {
                "found": [1, 1, 2, 3],
                "gained": [3, 3, 5, 6],
                "ideal": [3, 5, 6, 6],
                "ratio": [1, 0, 7 / 9, 9 / 10],
                "total": [1, 1, 16 / 9, 241 / 90],
            },
            "sum of the ratios / relevant = 2.6778 / 3 = 0.8926",
        ),
        (  # one judged non-relevant document, below `a` and above `c` and `d`
            "Bpref",
            {"non-relevant above": [0, 1, 1, 1], "kept": [1, 0, 0, 0]},
            "sum of what is kept / relevant = 1.0000 / 3 = 0.3333",
        ),
        (  # shares of the highest grade 3, weights 1 and 1/log₂3
            "SDCG@2",
            {"gain": [1, 0], "reached": [1, 1 / math.log2(3)]},
            "expected gain / expected results viewed = 1.0000 / 1.6309 = 0.6131",
        ),
        ("SetP", {"found": [1, 1, 2, 3]}, "found / retrieved = 3 / 4 = 0.7500"),
        (  # ideal a, c: overlaps 1 and 1/2 of 1 and 1, weighted 1 and 1/2
            "Compat(p=0.5, depth=2)",
            {"adds": [(1 + 1 / 4) / (1 + 1 / 2), 0, 0]},
            "the sum of what the ranks add = 0.8333",
        ),
    ],
)
def test_every_family_shows_its_own_arithmetic(
    measure: str, columns: dict[str, list[float]], formula: str
) -> None:
    """Columns and formula as a hand computes them from grades 3, 0, 2, 1, of which all are retrieved."""
    result = explained(measure)

    for name, expected in columns.items():
        assert column(result, name)[: len(expected)] == pytest.approx(expected), name
    assert result.formula is not None
    assert result.formula.text() == formula


def test_unjudged_and_tied_results_are_marked() -> None:
    """Ties stand by id, descending; a negative grade is no judgment, and says so."""
    result = explained("AP", "q2")

    assert column(result, "document") == ["u", "f", "a", "g"]
    assert column(result, "note") == ["unjudged, tied with 1", "tied with 1", None, "not assessed"]
    assert column(result, "grade") == [None, 0, 1, -1]
    assert result.beyond == 1
    assert (result.tied, result.unjudged) == (2, 1)
    assert str(result).splitlines()[-2:] == [
        "2 of these results share their score with others; the tie rule decided their order",
        "1 of these results is unjudged",
    ]


def test_what_was_missed_is_shown() -> None:
    """Relevant documents outside the ranking, by the threshold of the measure."""
    assert explained("AP", "q2").missed.rows == (("e", 1),)
    assert explained("AP(rel=2)", "q2").missed.rows == ()
    assert explained("nDCG@10", "q2", protocol=judged.Protocol(depth=2)).missed.rows == (("a", 1), ("e", 1))


def test_the_protocol_decides_what_the_ranking_is() -> None:
    """Ascending ids exchange the tied two; condensed lists lose unjudged results."""
    ascending = explained("AP", "q2", protocol=judged.Protocol(ties="document-ascending"))
    condensed = explained("AP", "q2", protocol=judged.Protocol(unjudged="removed"))

    assert column(ascending, "document") == ["f", "u", "a", "g"]
    assert (column(condensed, "rank"), column(condensed, "document")) == ([1, 2], ["f", "a"])
    assert condensed.value == pytest.approx(0.25)


def test_a_profile_reads_the_measure_in_its_own_way() -> None:
    """The `ndcg_burges` of ranx has exponential gains: 7, 0, 3, 1."""
    result = judged.explain(QRELS, RUN, "ndcg_burges@10", query="q1", protocol="ranx")

    assert column(result, "gain") == [7, 0, 3, 1]


def test_a_query_without_results_scores_0_and_says_why() -> None:
    """The row is empty, the missed documents are named."""
    result = explained("nDCG@10", "q3")

    assert (result.value, result.rows(), result.missed.rows) == (0.0, [], (("x", 1),))
    assert "the run has no results for this query" in str(result)


def test_a_query_that_the_protocol_leaves_out_has_no_value() -> None:
    """Under `skip` there is nothing to explain; the hint says what would be."""
    with pytest.raises(MissingQueries, match="query `q3` has no results, and is left out") as missing:
        explained("AP", "q3", protocol="pytrec_eval")
    with pytest.raises(MissingQueries, match="query `q4` has no relevant document, and is left out"):
        explained("AP", "q4", protocol=judged.Protocol(no_relevant="skip"))

    assert missing.value.hint == 'with `missing="zero"` it scores 0'


def test_a_query_that_is_not_known_is_refused_with_a_hint() -> None:
    """A misspelt query is distinguished from an unjudged one."""
    with pytest.raises(UnknownName, match="did you mean `q1`"):
        explained("AP", "q11")
    with pytest.raises(BadInput, match="query `q9`: has results and no judgments"):
        explained("AP", "q9")
    with pytest.raises(UnknownName, match="there are 30, the first is `t0`"):
        judged.explain({f"t{i}": {"a": 1} for i in range(30)}, RUN, "AP", query="something")


def test_text_is_explained_without_arithmetic() -> None:
    """A string has no terms; the ranking stands all the same."""
    result = explained("relstring")

    assert (result.value, result.formula) == ("3021", None)
    assert result.ranking.columns == ("rank", "document", "score", "grade", "note")


def test_a_measure_that_looks_at_no_grades_is_refused() -> None:
    """Preferences have no rank to be cut at."""
    measure = judged.Measure("Preferred", lambda view: view, family="preference")
    with pytest.raises(BadMeasure, match="Preferred uses preferences, not grades"):
        judged.explain(QRELS, RUN, measure, query="q1")


def test_a_measure_of_ones_own_is_explained_by_what_each_rank_adds() -> None:
    """No column but `adds`, and their sum as the formula."""
    judged.define("TopGrade", lambda ranking: segment_max(ranking.grade, ranking.offset) / 4)
    result = explained("TopGrade")

    assert column(result, "adds") == [0.75, 0, 0, 0]
    assert result.formula is not None
    assert result.formula.text() == "the sum of what the ranks add = 0.7500"


def test_the_value_of_an_empty_list_is_shown() -> None:
    """`RBP_residual` begins at 1 and falls; the ranks and the beginning sum up."""
    result = explained("RBP_residual(p=0.5)")

    assert (result.empty, result.value) == (1.0, 0.0625)
    assert sum(column(result, "adds")) == pytest.approx(-0.9375)
    assert "an empty list would score 1.0000" in str(result)


def test_long_lists_show_what_matters() -> None:
    """A hundred results, relevant ones at 1, 30 and 60: the first twenty, and what adds something."""
    run = {"q": {f"d{i:03}": float(-i) for i in range(1, 101)}}
    result = judged.explain({"q": {"d001": 1, "d030": 1, "d060": 1}}, run, "AP", query="q")
    shown = next(block for block in result.blocks(Display()) if isinstance(block, Table))

    assert (len(result.rows()), result.beyond) == (60, 40)
    assert [row[0] for row in shown.rows] == [*range(1, 21), 30, 60]
    assert str(result).splitlines()[-3:-1] == [
        "38 more ranks that add nothing",
        "40 more results below, which add nothing",
    ]


def test_all_ways_to_hold_a_run_are_explained_alike() -> None:
    """TREC text, a dict and a table have the same ranks, scores and marks."""
    lines = "".join(f"{q} Q0 {d} 1 {s} t\n" for q, own in RUN.items() for d, s in own.items())
    table = judged.read_run(RUN).to_arrow()
    rows = [judged.explain(QRELS, run, "AP", query="q2").ranking.rows for run in (RUN, lines.encode(), table)]

    assert rows[0] == rows[1] == rows[2]


def test_a_byte_order_mark_and_indented_lines_hide_no_results() -> None:
    """The lines of a query are found as the scanner finds them."""
    result = judged.explain(
        QRELS, b"\xef\xbb\xbfq1 Q0 a 1 2 t\n \tq1\tQ0\tc 2 1 t\nq11 Q0 d 1 1 t\n", "AP", query="q1"
    )

    assert column(result, "document") == ["a", "c"]


def test_explanations_become_frames_and_plain_data() -> None:
    """The main table is the ranking; infinite scores are text in JSON, which has no infinity."""
    result = judged.explain({"q": {"a": 1}}, {"q": {"a": math.inf}}, "AP", query="q")

    assert result.to_pandas()["document"].tolist() == ["a"]
    assert result.to_polars("missed").height == 0
    assert result.to_dict()["tables"]["ranking"][0]["score"] == "Infinity"
    assert str(result) == repr(result)


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "relstring", "RBP_residual(p=0.5)"])
def test_an_explanation_is_saved_and_loaded(measure: str, tmp_path: Path) -> None:
    """What comes back prints the same, digit for digit."""
    result = explained(measure)
    result.save(tmp_path / "explanation.json")
    loaded = load(tmp_path / "explanation.json")

    assert isinstance(loaded, judged.Explanation)
    assert str(loaded) == str(result)
    assert loaded.to_dict() == result.to_dict()
