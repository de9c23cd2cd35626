"""What people write becomes the measure they mean, or an error that says what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

import judged
from judged.errors import BadMeasure, JudgedError, UnknownName
from judged.measures.groups import MEASURES
from judged.measures.parse import parse_measure, parse_measures
from judged.measures.ranked import RANKED


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        # judged's own, in any case
        ("nDCG@10", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        ("p(REL=2)@5", "P(rel=2)@5"),
        ("  AP ", "AP"),
        ("P(rel = 2, over = 'retrieved') @5".replace(" @", "@"), 'P(rel=2, over="retrieved")@5'),
        # trec_eval's
        ("map", "AP"),
        ("map_cut_100", "AP@100"),
        ("map_cut.100", "AP@100"),
        ("recip_rank", "RR"),
        ("P_10", "P@10"),
        ("P.10", "P@10"),
        ("recall_1000", "R@1000"),
        ("ndcg", "nDCG"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.5", "nDCG@5"),
        ("ndcg.1=3,2=9", "nDCG(gains={1: 3, 2: 9})"),
        ("iprec_at_recall_0.10", "IPrec@0.1"),
        ("iprec_at_recall_0.00", "IPrec@0"),
        ("11pt_avg", "AP11"),
        ("Rprec_mult_1.20", "Rprec(multiple=1.2)"),
        ("rprec_mult@1.2", "Rprec(multiple=1.2)"),
        ("relative_P_5", 'R(over="cutoff")@5'),
        ("set_F", "SetF"),
        ("set_F_4", "SetF(weight=4)"),
        ("set_F.4", "SetF(weight=4)"),
        ("utility.1,-1,0,0", "Utility(a=1, b=-1, c=0, d=0)"),
        ("unj_10", "Unjudged@10"),
        ("rbp_resid.p=0.9", 'RBP_residual(p=0.9, tail="unjudged")'),
        ("num_nonrel_judged_ret", "NumNonrelJudgedRet"),
        ("relstring_20", "relstring@20"),
        ("gm_map", "gm_AP"),
        # the source documents'
        ("hit@3", "Success@3"),
        ("mrr", "RR"),
        ("map@10", "AP@10"),
        ("recall@20", "R@20"),
        ("precision@5", "P@5"),
        ("dr@20", "DR@20"),
        # ir_measures'
        ("nDCG(dcg='exp-log2')@10", 'nDCG(gain="exp")@10'),
        ("nDCG(dcg='log2')@10", 'nDCG(gain="linear")@10'),
        ("nDCG(gains={1:3})@10", "nDCG(gains={1: 3})@10"),
        ("IPrec@0.1", "IPrec@0.1"),
        ("RBP(rel=1,p=0.9)", "RBP(p=0.9, rel=1)"),
        ("SetF(beta=2.)", "SetF(beta=2)"),
        ("NumRet(rel=1)", "NumRelRet(rel=1)"),
        ("Judged@10", "Judged@10"),
        ("AP(judged_only=False)", "AP"),
        ("BPM(T=2.0, max_rel=1)@10", "BPM(T=2, max_grade=1)@10"),
        ("INST(T=1.0, min_rel=0, max_rel=3)", "INST(T=1, max_grade=3)"),
        ("INSQ(max_rel=1)", "INSQ(max_grade=1)"),
        ("SDCG(dcg='log2', max_rel=1)@10", 'SDCG(gain="linear", max_grade=1)@10'),
        ("NERR8(max_rel=1)@10", "NERR8(max_grade=1)@10"),
        ("NERR10(p=0.8, max_rel=1)", "NERR10(p=0.8, max_grade=1)"),
        ("Compat(p=0.95)", "Compat(p=0.95)"),
        ("Compat(normalize=False)", 'Compat(over="everything")'),
        ("alpha_nDCG@20", "alpha_nDCG@20"),
        ("alpha_DCG(alpha=0.8)@20", "alpha_DCG(alpha=0.8)@20"),
        ("α_nDCG@5", "alpha_nDCG@5"),
        ("ERR_IA@20", "ERR_IA@20"),
        ("nERR_IA(rel=2)@20", "nERR_IA(rel=2)@20"),
        ("NRBP(alpha=0.5, beta=0.8)", "NRBP(alpha=0.5, beta=0.8)"),
        ("AP_IA(judged_only=False)", "AP_IA"),
        ("MAP_IA", "AP_IA"),
        ("StRecall@20", "StRecall@20"),
        # ndeval's
        ("alpha-nDCG@20", "alpha_nDCG@20"),
        ("alpha-DCG@20", "alpha_DCG@20"),
        ("ERR-IA@20", "ERR_IA@20"),
        ("nERR-IA@5", "nERR_IA@5"),
        ("MAP-IA", "AP_IA"),
        ("P-IA@5", "P_IA@5"),
        ("strec@10", "StRecall@10"),
        ("nNRBP", "nNRBP"),
        # the mean over intents of any other
        ("nDCG_IA@10", 'IA(of="nDCG@10")'),
        ("NDCG-IA@10", 'IA(of="nDCG@10")'),
        ("MRR_IA", 'IA(of="RR")'),
        ("nDCG_IA(gain='exp')@10", """IA(of='nDCG(gain="exp")@10')"""),
        ("IA(of='ndcg_cut_10')", 'IA(of="nDCG@10")'),
        # NTCIREVAL's and pyNTCIREVAL's
        ("Q-measure", "Q"),
        ("QMeasure@10", "Q@10"),
        ("P-plus", "P_plus"),
        ("P-measure", "P_measure"),
        ("OMeasure", "O"),
        ("NCUguP", 'NCU(stop="graded", beta=0)'),
        ("NCUrbBR", 'NCU(stop="biased")'),
        ("MSnDCG@1000", "nDCG@1000"),
        # ranx', BEIR's and MTEB's
        ("ndcg_burges@10", 'nDCG(gain="exp")@10'),
        ("map@100-l2", "AP(rel=2)@100"),
        ("rbp.95", "RBP(p=0.95)"),
        ("rbp.8", "RBP(p=0.8)"),
        ("r-precision", "Rprec"),
        ("hit_rate@5", "Success@5"),
        ("R_cap@100", 'R(over="cutoff")@100'),
        ("ndcg_at_10", "nDCG@10"),
        ("mrr_at_10", "RR@10"),
    ],
)
def test_every_spelling_is_understood(text: str, measure: str) -> None:
    """Names of this and of other tools, with their ways to write parameters."""
    assert str(parse_measure(text)) == measure


@pytest.mark.parametrize("name", list(RANKED.aliases))
def test_every_alias_names_a_measure(name: str) -> None:
    """No alias leads nowhere, and none hides a measure's own name."""
    alias = RANKED.aliases[name]
    text = f"{name}.{alias.explicit}={alias.parameters[alias.explicit]}" if alias.explicit else name

    assert parse_measure(text).name == alias.measure
    assert name.lower() not in {known.lower() for known in MEASURES}


@pytest.mark.parametrize(
    ("text", "measures"),
    [
        ("nDCG(gains={1: 3})@10 AP", ["nDCG(gains={1: 3})@10", "AP"]),
        ("AP, RR,P_5,10 ,  11pt_avg", ["AP", "RR", "P@5", "P@10", "AP11"]),
        ("P@5,10, AP", ["P@5", "P@10", "AP"]),
        ("nDCG(gain = 'exp', cutoff = 5)", ['nDCG(gain="exp")@5']),
        (["P_5,10", "ndcg_cut.5,10"], ["P@5", "P@10", "nDCG@5", "nDCG@10"]),
        (["AP", "map", MEASURES["AP"]], ["AP"]),
        (MEASURES["AP"], ["AP"]),
        ("RBP RBP(p=0.8)", ["RBP", "RBP(p=0.8)"]),
        (
            "set",
            ["NumQ", "NumRet", "NumRel", "NumRelRet", "Utility", "SetP", "SetRelP", "SetR", "SetAP", "SetF"],
        ),
    ],
)
def test_several_measures_are_distinguished(text: object, measures: list[str]) -> None:
    """A string may name several; each is kept once, in the order first named."""
    assert [str(measure) for measure in parse_measures(text)] == measures  # type: ignore[arg-type]


def test_nicknames_name_what_trec_eval_prints() -> None:
    """`official` and `all_trec` in any case, alone or among others."""
    assert [str(measure) for measure in parse_measures("Official")][:7] == [
        "NumQ",
        "NumRet",
        "NumRel",
        "NumRelRet",
        "AP",
        "gm_AP",
        "Rprec",
    ]
    assert parse_measures(["nDCG@10", "all_trec"])[0] == MEASURES["nDCG"] @ 10


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("nDGC@5", UnknownName, "did you mean `nDCG@5`?"),
        ("nDGC(gain='exp')@5", UnknownName, "did you mean `nDCG(gain='exp')@5`?"),
        ("hits@5", UnknownName, "did you mean `hit@5`?"),
        ("xyz", UnknownName, "`judged measures` lists them all"),
        ("nDCG@ten", BadMeasure, "`@ten` of `nDCG@ten` is not a positive whole number"),
        ("P@0", BadMeasure, "`cutoff` of P must be a whole number from 1 to 1,000,000,000, not 0"),
        ("P@1.5", BadMeasure, "`cutoff` of P must be a whole number from 1 to 1,000,000,000, not 1.5"),
        ("P@5,10", BadMeasure, "names 2 measures where one is wanted"),
        ("official", BadMeasure, "names 29 measures where one is wanted"),
        ("Rprec@10", BadMeasure, "Rprec takes no `@`"),
        ("nDCG(rel=2)@10", UnknownName, "no parameter of nDCG is called `rel`"),
        ("NumQ(rel=2)", UnknownName, "NumQ takes none"),
        ("nDCG(gain='cubic')", BadMeasure, "`gain` of nDCG must be `linear` or `exp`, not 'cubic'"),
        ("P(over='relevant')@5", BadMeasure, "`over` of P must be `cutoff` or `retrieved`"),
        ("RBP(p=1)", BadMeasure, "`p` of RBP must be a number between 0 and 1, not 1"),
        ("RBP(max_grade='collection')", BadMeasure, "must be `query` or a number above 0"),
        ("IPrec@1.5", BadMeasure, "`recall` of IPrec must be a number from 0 to 1"),
        ("nDCG(gains={})", BadMeasure, "`gains` of nDCG must be a table"),
        ("nDCG(gains={-1: 2})", BadMeasure, "`gains` of nDCG must be a table"),
        ("P(2)@5", BadMeasure, "write them as `name=value`"),
        ("P(rel=1, rel=2)@5", BadMeasure, "cannot be read"),
        ("P(rel=x)@5", BadMeasure, "cannot be read"),
        ("P(rel=2", BadMeasure, "`P(rel=2` is not a measure"),
        ("", BadMeasure, "write it as `nDCG@10`"),
        ("AP(judged_only=True)", BadMeasure, 'use a protocol with `unjudged="removed"`'),
        ("INST(min_rel=1)", UnknownName, "no parameter of INST is called `min_rel`"),
        ("quality.1=2", UnknownName, "no measure of trec_eval 10 is called `quality`"),
    ],
)
def test_a_bad_name_is_explained(text: str, error: type[JudgedError], message: str) -> None:
    """The error names what was written and what would be right."""
    with pytest.raises(error) as caught:
        parse_measure(text)

    assert message in str(caught.value)


def test_no_measure_at_all_is_an_error() -> None:
    """An empty list or string names nothing."""
    for nothing in ([], "", " , "):
        with pytest.raises(BadMeasure, match="no measure was named"):
            parse_measures(nothing)


def test_what_is_no_text_is_an_error() -> None:
    """A number is no measure."""
    with pytest.raises(BadMeasure, match="must be a Measure or a string, not 10"):
        parse_measures([10])  # type: ignore[list-item]


@pytest.mark.parametrize("protocol", ["trec_eval-9", "lightgbm"])
@pytest.mark.parametrize("several", [True, False])
def test_a_function_is_no_measure_until_it_is_defined(protocol: str, several: bool) -> None:
    """Whatever conventions are asked for, the hint says how to make a measure of it."""
    measures: Any = [len] if several else len
    with pytest.raises(
        BadMeasure, match=r'(?s)not an object of type `builtin.*judged.define\("Name", function\)'
    ):
        judged.evaluate({"q": {"a": 1}}, {"q": ["a"]}, measures, protocol=protocol)
