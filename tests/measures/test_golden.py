"""Numbers that others computed, by other tools or by hand, each with where it comes from."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from judged.kernels.examples import make_ranking
from judged.measures.parse import parse_measure

Score = Callable[..., dict[str, Any]]


def one(measure: str, *grades: float | None, missed: tuple[float, ...] = ()) -> float:
    """The value of one ranked list."""
    return float(parse_measure(measure).per_query(make_ranking(grades, missed=[missed]))[0])


SMALL_QRELS = {"0": {"D0": 0, "D1": 1, "D2": 1, "D3": 2, "D4": 0}, "1": {"D0": 1, "D3": 2, "D5": 2}}
SMALL_RUN = {
    "0": {"D0": 0.8, "D2": 0.7, "D1": 0.3, "D3": 0.4, "D4": 0.1},
    "1": {"D1": 0.8, "D3": 0.7, "D4": 0.3, "D2": 0.4},
}


@pytest.mark.parametrize(
    ("measure", "first", "second"),
    [
        ("nDCG(dcg='exp-log2')@20", 0.62010, 0.35099),
        ("nDCG(dcg='exp-log2')@2", 0.17377, 0.38685),
        ("ERR(max_grade=4)@20", 0.10175, 0.09375),
        ("ERR(max_grade=4)@2", 0.03125, 0.09375),
    ],
)
def test_agrees_with_gdeval(score: Score, measure: str, first: float, second: float) -> None:
    """gdeval.pl 1.3 by way of ir_measures' test_gdeval.py, five decimals."""
    assert score(SMALL_QRELS, SMALL_RUN, measure) == {
        "0": pytest.approx(first, abs=1.1e-5),
        "1": pytest.approx(second, abs=1.1e-5),
    }


@pytest.mark.parametrize(
    ("cutoff", "second"),
    [(1000, Fraction(1, 4)), (10, Fraction(1, 4)), (3, Fraction(1, 3)), (1, Fraction(0))],
)
def test_judged_agrees_with_ir_measures(score: Score, cutoff: int, second: Fraction) -> None:
    """ir_measures' test_judged.py."""
    assert score(SMALL_QRELS, SMALL_RUN, f"Judged@{cutoff}") == {"0": 1.0, "1": pytest.approx(float(second))}


@pytest.mark.parametrize(
    ("measure", "values"),
    [
        ("AP", (0.7087, 0.7438, 0.3068)),
        ("P@5", (0.6, 0.6, 0.0)),
        ("P@20", (0.25, 0.3, 0.2)),
        ("RBP(p=0.9, rel=1)", (0.3501, 0.3996, 0.1988)),
        ("RR", (1.0, 1.0, 0.1667)),
    ],
)
def test_agrees_with_cwl_eval(score: Score, measure: str, values: tuple[float, ...]) -> None:
    """cwl-eval, run by hand for ir_measures' test_cwl_eval.py: ten results, four decimals."""
    relevant = {"T1": (1, 3, 4, 7, 9), "T2": (1, 2, 5, 7, 8, 9), "T3": (6, 7, 8, 10)}
    qrels = {query: {f"D{number}": 1 for number in numbers} for query, numbers in relevant.items()}
    run = {query: {f"D{number}": 5.0 - number / 10 for number in range(1, 11)} for query in relevant}

    assert tuple(score(qrels, run, measure).values()) == pytest.approx(values, abs=1e-4)


@pytest.mark.parametrize(
    ("measure", "value"),
    [("ERR", 0.4062), ("nERR@1000", 0.4710), ("RR", 0.5), ("Success@1000", 1.0), ("P@1000", 0.002)],
)
def test_agrees_with_ntcireval(measure: str, value: float) -> None:
    """NTCIREVAL by way of pyNTCIREVAL's sample: L0, L3, unjudged, L2 of 3 L3, 3 L2, 4 L1; gains 1:2:3.

    NTCIREVAL's chance of stopping is the gain over the highest gain plus one: that of the grade log₂(1 + gain).
    """
    l1, l2, l3 = math.log2(2), math.log2(3), math.log2(4)

    assert one(measure, 0, l3, None, l2, missed=(l3, l3, l2, l2, l1, l1, l1, l1)) == pytest.approx(
        value, abs=5e-5
    )


def test_linear_ndcg_agrees_with_ntcireval() -> None:
    """The same sample's MSnDCG@1000, whose discount is log₂(rank + 1): 0.2760."""
    value = one("nDCG@1000", 0, 3, None, 2, missed=(3, 3, 2, 2, 1, 1, 1, 1))

    assert value == pytest.approx(0.2760, abs=5e-5)


@pytest.mark.parametrize(
    ("measure", "grades", "value"),
    [
        # Chapelle et al. 2009, section 4, by hand: stops are 3/4, 1/4 and 0 on a scale to 2.
        ("ERR(max_grade=2)", (2, 1, 0), Fraction(3, 4) + Fraction(1, 2) * Fraction(1, 4) * Fraction(1, 4)),
        (
            "ERR(max_grade=2)",
            (0, 1, 2),
            Fraction(1, 2) * Fraction(1, 4) + Fraction(1, 3) * Fraction(3, 4) ** 2,
        ),
        ("ERR(max_grade=2)@2", (0, 1, 2), Fraction(1, 8)),
        ("ERR(max_grade=4)", (1,), Fraction(1, 16)),
        ("ERR(max_grade=1)", (3,), Fraction(1, 2)),
        ("nERR(max_grade=2)@1", (1, 2), Fraction(1, 3)),
        # Moffat and Zobel 2008, by hand: (1 - p) times the sum of p^(rank - 1) over relevant ranks.
        ("RBP(p=0.5)", (1, 0, 0, 1), Fraction(1, 2) * (1 + Fraction(1, 8))),
        ("RBP(p=0.5)@3", (1, 0, 0, 1), Fraction(1, 2)),
        (
            'RBP(p=0.5, gain="linear", max_grade=4)',
            (2, 4),
            Fraction(1, 2) * (Fraction(1, 2) + Fraction(1, 2)),
        ),
        ('RBP(p=0.5, gain="exp", max_grade=2)', (1, 2), Fraction(1, 2) * (Fraction(1, 3) + Fraction(1, 2))),
        ('RBP(p=0.5, gain="linear", max_grade="query")', (1, 2), Fraction(1, 2)),
        ('RBP(p=0.5, gain="linear", max_grade="query")', (1, 0.5), Fraction(1, 2) * (1 + Fraction(1, 4))),
        ("RBP_residual(p=0.5)", (1, None, 0), Fraction(1, 4) + Fraction(1, 8)),
        ("RBP_residual(p=0.5)", (1, 0), Fraction(1, 4)),
        ('RBP_residual(p=0.5, tail="unjudged")', (1, 0), Fraction(0)),
        ('RBP_residual(p=0.5, tail="unjudged")', (1, -1), Fraction(1, 4) + Fraction(1, 4)),
    ],
)
def test_is_what_the_paper_says(measure: str, grades: tuple[float | None, ...], value: Fraction) -> None:
    """Exact fractions, computed by hand from the definitions of the papers."""
    assert one(measure, *grades) == pytest.approx(float(value), abs=1e-15)


@pytest.mark.parametrize(
    ("measure", "value"),
    [("rbp.p=0.9", 0.0995), ("rbp_resid.p=0.9", 0.7871), ("unj_5", 0.6), ("unj_10", 0.3), ("unj_20", 0.15)],
)
def test_agrees_with_trec_eval_10_on_unjudged_results(measure: str, value: float) -> None:
    """trec_eval 10.0-rc3 `-m all_trec` on two unjudged results, grade 1, 0, unjudged, 2; another 0 missed."""
    assert one(measure, None, None, 1, 0, None, 2, missed=(0,)) == pytest.approx(value, abs=5e-5)


@pytest.mark.parametrize(
    ("measure", "grades", "missed", "value"),
    [
        # Worked examples of the source document 004, with the corrections that the specification makes.
        ("hit@3", (0, 1, 0), (1, 1), 1.0),
        ("DCG@4", (3, 0, 2, 1), (), 4.4307),
        ("IDCG@4", (3, 0, 2, 1), (), 4.7619),
        ("ndcg@4", (3, 0, 2, 1), (), 0.9305),
        ("map@5", (1, 0, 1, 0, 1), (), 0.7556),
        ("ndcg@2", (1, 1, None, None), (), 1.0),
        ("ndcg@10", (None, None, None, None), (1, 1), 0.0),
        ("ndcg@4", (None, 1, None, 1), (1,), 0.4982),
        ("mrr", (None, 1, None, 1), (1,), 0.5),
        ("hit@1", (None, 1, None, 1), (1,), 0.0),
    ],
)
def test_is_what_the_specification_says(
    measure: str, grades: tuple[float | None, ...], missed: tuple[float, ...], value: float
) -> None:
    """The worked examples come out as they should have."""
    assert one(measure, *grades, missed=missed) == pytest.approx(value, abs=5e-5)


def test_the_mean_of_reciprocal_ranks_is_the_specification_s() -> None:
    """First, third and nowhere: (1 + 1/3 + 0) / 3 = 0.444."""
    values = parse_measure("mrr").per_query(make_ranking([1], [0, 0, 1], [0]))

    assert values.mean() == pytest.approx(0.4444, abs=5e-5)


def test_targets_are_counted_once() -> None:
    """Four relevant documents answer three targets; the first three results answer two of them, by hand."""
    view = make_ranking([1, 1, 0, 1], missed=[[1]], targets=[[7, 7, 8, 9, 10]])

    assert parse_measure("DR@3").per_query(view) == pytest.approx([1 / 3])
    assert parse_measure("DR@4").per_query(view) == pytest.approx([2 / 3])
    assert parse_measure("DiversityCount").per_query(view) == pytest.approx([2.0])


def test_a_target_of_one_query_is_not_that_of_another() -> None:
    """Two queries with the same target each find it once."""
    view = make_ranking([1], [1], targets=[[7], [7]])

    assert parse_measure("DR@20").per_query(view).tolist() == [1.0, 1.0]


def test_a_target_of_only_irrelevant_documents_does_not_count() -> None:
    """Neither found nor to be found."""
    view = make_ranking([0, 1], targets=[[7, 8]])

    assert parse_measure("DR@20").per_query(view).tolist() == [1.0]
    assert parse_measure("DiversityCount").per_query(view).tolist() == [1.0]


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("P@10", 0.2),
        ('P(over="retrieved")@10', 0.5),
        ('P(over="retrieved")@2', 0.5),
        ("R@10", 2 / 3),
        ('R(over="cutoff")@2', 0.5),
        ("AP@3", (1 + 2 / 3) / 3),
        ('AP(over="cutoff")@2', 0.5),
        ('AP(over="cutoff")', (1 + 2 / 3) / 3),
        ("FallOut@2", 0.5),
        ("FallOut(collection=13)@4", 0.2),
        ("F1@3", 2 * 2 / (3 + 3)),
    ],
)
def test_denominators_are_what_they_say(measure: str, value: float) -> None:
    """Results: relevant, not relevant, relevant, unjudged; one relevant and one other document missed."""
    assert one(measure, 1, 0, 1, None, missed=(1, 0)) == pytest.approx(value)


@pytest.mark.parametrize(("points", "value"), [("truncated", 0.5), ("rounded", 1.0)])
def test_recall_points_follow_the_protocol(score: Score, points: str, value: float) -> None:
    """A fifth of six relevant documents is ⌊1.2 + 0.9⌋ = 2 in trec_eval 9 and round(1.2) = 1 in 10."""
    qrels = {"q": {f"d{number}": 1 for number in range(6)}}
    run = {"q": {"d0": 9.0, "x": 8.0, "y": 7.0, "d1": 6.0}}

    assert score(qrels, run, "IPrec@0.2", recall_points=points) == {"q": value}


def test_half_a_document_rounds_up() -> None:
    """Half of one relevant document is one document under `rounded`, as C's lround has it."""
    view = make_ranking([0, 1])
    rounded = type(view)(**{**view.__dict__, "recall_points": "rounded", "_cache": {}})

    assert parse_measure("IPrec@0.5").per_query(rounded).tolist() == [0.5]


def test_the_best_order_is_by_gain() -> None:
    """Where grade 1 is worth more than grade 2, the best order puts it first; gains below 1 count too."""
    assert one("nDCG(gains={1: 9, 2: 3})", 1, 2) == pytest.approx(1.0)
    assert one("nDCG(gains={1: 0.7, 2: 0.5})", 1, 2) == pytest.approx(1.0)
    assert one("nDCG(gains={1: 9, 2: 3})", 2, 1) == pytest.approx(
        (3 + 9 / math.log2(3)) / (9 + 3 / math.log2(3))
    )


def test_a_gain_below_zero_costs() -> None:
    """A spam grade may cost; the best order leaves it out."""
    value = one("nDCG(gains={0: -1})", 0, 1)

    assert value == pytest.approx(-1 + 1 / math.log2(3))


def test_a_relevance_string_shows_what_trec_eval_shows() -> None:
    """Digits, `>` above 9, `-` outside the judgments, `.` for a negative grade; a fraction by its whole part."""
    view = make_ranking([3, None, -1, 12, 0.5, 9], [], [None] * 12)

    assert parse_measure("relstring").per_query(view).tolist() == ["3-.>09", "", "-" * 10]
    assert parse_measure("relstring@2").per_query(view).tolist() == ["3-", "", "--"]


def test_counts_are_summed_and_geometric_means_are_geometric() -> None:
    """The measure says how values of queries become one."""
    assert {parse_measure(name).aggregate for name in ("NumQ", "NumRet", "NumRel", "NumRelRet")} == {"sum"}
    assert {parse_measure(name).aggregate for name in ("gm_AP", "gm_Bpref")} == {"geometric"}
    assert parse_measure("nDCG").aggregate == "mean"
