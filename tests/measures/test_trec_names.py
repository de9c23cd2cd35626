"""trec_eval's names expand to the lines trec_eval prints, in its order."""

from __future__ import annotations

import pytest

from judged.errors import BadMeasure, UnknownName
from judged.kernels.examples import make_ranking
from judged.measures.ranked.sets import SetF
from judged.measures.trec_eval import TrecMeasure, Version, expand, list_names

DEPTHS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


def lines(version: Version, *requests: str) -> dict[str, str]:
    """Return the measure of every printed name."""
    return {found.name: str(found.measure) for found in expand(version, requests)}


def test_all_trec_is_printed_in_the_order_of_trec_eval_9() -> None:
    """The names of `trec_eval -q -m all_trec` (9.0.4), as its expected output `out.test.aq` has them."""
    expected = [
        "runid",
        "num_q",
        "num_ret",
        "num_rel",
        "num_rel_ret",
        "map",
        "gm_map",
        "Rprec",
        "bpref",
        "recip_rank",
    ]
    expected += [f"iprec_at_recall_{tenth / 10:.2f}" for tenth in range(11)]
    expected += [f"P_{depth}" for depth in DEPTHS]
    expected += ["relstring"]
    expected += [f"recall_{depth}" for depth in DEPTHS]
    expected += ["infAP", "gm_bpref"]
    expected += [f"Rprec_mult_{fifth / 5:.2f}" for fifth in range(1, 11)]
    expected += ["utility", "11pt_avg", "binG", "G", "ndcg", "ndcg_rel", "Rndcg"]
    expected += [f"{name}_{depth}" for name in ("ndcg_cut", "map_cut", "relative_P") for depth in DEPTHS]
    expected += ["success_1", "success_5", "success_10"]
    expected += ["set_P", "set_relative_P", "set_recall", "set_map", "set_F", "num_nonrel_judged_ret"]

    assert list(lines(9, "all_trec")) == expected
    assert list(lines(10, "all_trec")) == [*expected, "rbp", "rbp_resid", "unj_5", "unj_10", "unj_20"]


def test_names_are_those_of_measures_c() -> None:
    """trec_eval 10 has five names more than 9; none is listed in `all_trec` that is not known."""
    new = [name for name in list_names(10) if name not in list_names(9)]

    assert new == ["dcg", "ideal_dcg", "rbp", "rbp_resid", "unj"]
    assert "yaap" in list_names(9)


def test_official_is_the_default() -> None:
    """No `-m` at all means `official`."""
    assert expand(9, []) == expand(9, ["official"])
    assert list(lines(9))[:6] == ["runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map"]
    assert list(lines(9))[-1] == "P_1000"


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("P.10,5", {"P_5": "P@5", "P_10": "P@10"}),
        ("ndcg", {"ndcg": "nDCG"}),
        ("ndcg.1=3,2=9", {"ndcg_1=3,2=9": "nDCG(gains={1: 3, 2: 9})"}),
        ("Rndcg.1=3.5", {"Rndcg_1=3.5": "Rndcg(gains={1: 3.5})"}),
        ("set_F", {"set_F": "SetF"}),
        ("set_F.4", {"set_F_4": "SetF(weight=4)"}),
        ("utility.1,-1,0.5,0", {"utility_1,-1,0.5,0": "Utility(a=1, b=-1, c=0.5, d=0)"}),
        ("relstring.20", {"relstring_20": "relstring@20"}),
        ("11pt_avg.0.2,0.5", {"11pt_avg_0.2,0.5": "AP11(points=[0.2, 0.5])"}),
        ("iprec_at_recall..5,0", {"iprec_at_recall_0.00": "IPrec@0", "iprec_at_recall_0.50": "IPrec@0.5"}),
        ("Rprec_mult.0.333", {"Rprec_mult_0.33": "Rprec(multiple=0.333)"}),
        ("relative_P.5", {"relative_P_5": 'R(over="cutoff")@5'}),
        ("map.7", {"map": "AP"}),
        ("rbp", {"rbp": 'RBP(p=0.9, gain="linear", max_grade="query")'}),
        ("rbp.p=0.8", {"rbp_p=0.8": 'RBP(p=0.8, gain="linear", max_grade="query")'}),
        ("rbp_resid.p=0.5", {"rbp_resid_p=0.5": 'RBP_residual(p=0.5, tail="unjudged")'}),
        ("ideal_dcg.2=4", {"ideal_dcg_2=4": "IDCG(gains={2: 4})"}),
    ],
)
def test_parameters_are_read_and_printed_as_trec_eval_does(request_: str, expected: dict[str, str]) -> None:
    """Checked against trec_eval 9.0.4 and 10.0-rc3: cutoffs sorted, other parameters printed as written."""
    assert lines(10, request_) == expected


def test_a_weight_of_trec_eval_is_the_square_of_beta() -> None:
    """`set_F.4` is (4 + 1)PR / (R + 4P), which is F of beta 2: 5/6 of P = 1/2 and R = 1."""
    (found,) = expand(9, ["set_F.4"])
    view = make_ranking([1, 0])

    assert found.measure is not None
    assert found.measure.per_query(view) == pytest.approx([5 / 6])
    assert SetF(beta=2).per_query(view) == pytest.approx([5 / 6])


def test_the_first_parameters_of_a_name_hold() -> None:
    """As in trec_eval, whether or not the name is asked for otherwise too."""
    assert list(lines(9, "P.5", "P.10", "P")) == ["P_5"]
    assert list(lines(9, "success.3", "official"))[-1] == "success_3"


def test_how_a_line_is_printed() -> None:
    """Counts are integers; some lines are only for queries, some only for the summary."""
    kinds = {found.name: (found.kind, found.per_query, found.summary) for found in expand(9, ["all_trec"])}

    assert kinds["runid"] == ("runid", False, True)
    assert kinds["num_q"] == ("integer", False, True)
    assert kinds["num_ret"] == ("integer", True, True)
    assert kinds["gm_map"] == ("float", False, True)
    assert kinds["gm_bpref"] == ("float", False, True)
    assert kinds["relstring"] == ("string", True, False)
    assert kinds["map"] == ("float", True, True)


def test_the_sum_of_relevant_documents_forgets_the_level_under_c() -> None:
    """trec_eval counts every grade above 0 in the line `all` of `num_rel -c -l 2`."""
    (found,) = expand(9, ["num_rel"])

    assert isinstance(found, TrecMeasure)
    assert str(found.measure) == "NumRel"
    assert str(found.complete) == "NumRel(rel=1)"


@pytest.mark.parametrize(
    ("request_", "error", "message"),
    [
        ("mpa", UnknownName, "did you mean `map`?"),
        ("dcg", UnknownName, "no measure of trec_eval 9 is called `dcg`"),
        ("P.", BadMeasure, "has a full stop but no parameters"),
        ("P.0", BadMeasure, "must be whole numbers from 1"),
        ("P.5,5", BadMeasure, "name a number twice"),
        ("P.five", BadMeasure, "must be numbers with commas between, not `five`"),
        ("ndcg.3", BadMeasure, "must be pairs such as `1=3,2=9`, not `3`"),
        ("utility.1", BadMeasure, "takes four numbers, not `1`"),
        ("prefs_simp", BadMeasure, "needs judgments of another kind"),
        ("map_avgjg", BadMeasure, "needs judgments of another kind"),
    ],
)
def test_what_trec_eval_would_refuse_is_refused(request_: str, error: type[Exception], message: str) -> None:
    """With words that say what is wrong."""
    with pytest.raises(error) as caught:
        expand(9, [request_])

    assert message in str(caught.value)


def test_gains_of_rbp_are_refused() -> None:
    """trec_eval 10 reads memory that it did not clear, so there is no value to agree with."""
    with pytest.raises(BadMeasure, match="has no defined value"):
        expand(10, ["rbp.1=3"])
