"""What goes wrong in other tools, one by one, and what judged does instead.

The letters are those of the list of reproduced bugs that this project keeps of its peers: trec_eval 10.0-rc3 and 9.0.4
(a to e), pytrec_eval-terrier 0.5.11 (f to k), ir_measures 0.4.3 (n to s), ranx 0.3.21 (t, z). Left out are those about
diversity (l, m) and about statistics and reports of several runs (u to y).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judged
from judged import evaluate
from judged.errors import BadInput


def test_a_a_missing_query_is_no_fault() -> None:
    """trec_eval 10 without `-c` ends with exit code 4; here the query scores 0, or is left out if asked."""
    qrels, run = {"1": {"a": 1}, "302": {"a": 1}}, {"1": {"a": 1.0}}
    skipping = judged.PROFILES["trec_eval-10"].replace(missing="skip")

    assert evaluate(qrels, run, "AP", protocol="trec_eval-10")["AP"] == 0.5
    assert evaluate(qrels, run, "AP", protocol=skipping)["AP"] == 1.0


def test_b_graded_rbp_reads_nothing_but_its_input() -> None:
    """trec_eval 10's `rbp` depends on uncleared memory; 0.1 · (2/2 + 0.9 · 1/2) = 0.145, every time."""
    qrels, run = {"1": {"a": 2, "b": 1}}, {"1": {"a": 2.0, "b": 1.0}}
    values = {evaluate(qrels, run, "rbp", protocol="trec_eval-10").mean().popitem()[1] for _ in range(5)}
    graded = evaluate(qrels, run, 'RBP(p=0.9, gain="linear", max_grade="query")')

    assert len(values) == 1
    assert graded.mean().popitem()[1] == pytest.approx(0.145)


@pytest.mark.parametrize("text", ["1 0 a 1\n\n1 0 b 0\n", "1 0 a 1\n1 0 b 0\n\n"])
def test_c_a_blank_line_is_passed_over(tmp_path: Path, text: str) -> None:
    """trec_eval 10 calls the first line malformed, or ends by a segmentation fault."""
    (tmp_path / "qrels").write_text(text)
    (tmp_path / "run").write_text("1 Q0 a 1 1.0 tag\n")

    assert evaluate(tmp_path / "qrels", tmp_path / "run", "AP")["AP"] == 1.0


def test_d_a_fraction_is_a_grade_and_a_word_is_no_score(tmp_path: Path) -> None:
    """trec_eval reads the grade 0.9 and the score `abc` as 0, and says nothing."""
    (tmp_path / "qrels").write_text("1 0 a 0.9\n")
    (tmp_path / "run").write_text("1 Q0 a 1 abc tag\n")

    assert evaluate({"1": {"a": 0.9}}, {"1": {"a": 1.0}}, "DCG@1")["DCG@1"] == 0.9
    with pytest.raises(BadInput, match=r"run:1: score is `abc`"):
        evaluate(tmp_path / "qrels", tmp_path / "run", "AP")


@pytest.mark.parametrize("measures", [["AP"], ["AP", "Bpref"]])
def test_e_f_s_a_query_with_negative_grades_only_scores_zero(measures: list[str]) -> None:
    """trec_eval aborts the file; pytrec_eval, and ir_measures through it, end the interpreter on the pair."""
    scored = evaluate({"1": {"a": -2}, "2": {"a": 1}}, {"1": {"a": 1.0}, "2": {"a": 1.0}}, measures)

    assert all(scored.per_query().by_query(name) == {"1": 0.0, "2": 1.0} for name in measures)


def test_g_gains_of_grades_are_a_parameter() -> None:
    """pytrec_eval aborts on `ndcg.1=3,2=9`; here (3 + 9/log2 3) / (9 + 3/log2 3)."""
    scored = evaluate({"1": {"a": 1, "b": 2}}, {"1": {"a": 2.0, "b": 1.0}}, ["ndcg.1=3,2=9"])
    expected = (3 + 9 / np.log2(3)) / (9 + 3 / np.log2(3))

    assert scored.mean().popitem()[1] == pytest.approx(expected)


def test_h_numbers_of_any_kind_are_numbers() -> None:
    """pytrec_eval refuses float32 scores, int64 grades and whole-number ids with a TypeError."""
    qrels: Any = {1: {10: np.int64(1)}}
    run: Any = {1: {10: np.float32(2.5), 11: np.float32(3.5)}}

    assert evaluate(qrels, run, "RR")["RR"] == 0.5


def test_i_an_empty_list_scores_zero() -> None:
    """pytrec_eval gives NaN for interpolated precision."""
    scored = evaluate({"1": {"a": 1}}, {"1": {}}, ["IPrec@0.5", "AP11"])

    assert scored.mean() == {"IPrec@0.5": 0.0, "AP11": 0.0}


def test_j_ids_may_hold_any_character() -> None:
    """pytrec_eval cuts ids at a NUL, so that two documents become one."""
    assert evaluate({"1": {"a\0x": 1}}, {"1": {"a\0y": 2.0, "a\0x": 1.0}}, "RR")["RR"] == 0.5


def test_k_beta_is_squared_and_the_weight_of_trec_eval_has_its_own_name() -> None:
    """P = 1/2, R = 2/3: F₂ is 5·PR/(4P + R) = 0.625; trec_eval's `set_F.2` is 3·PR/(2P + R) = 0.6."""
    qrels, run = {"1": {"a": 1, "b": 1, "c": 1}}, {"1": {"a": 4.0, "b": 3.0, "x": 2.0, "y": 1.0}}

    assert evaluate(qrels, run, "SetF(beta=2)")["SetF(beta=2)"] == pytest.approx(0.625)
    assert evaluate(qrels, run, "set_F.2")["SetF(weight=2)"] == pytest.approx(0.6)
    assert evaluate(qrels, run, "SetF(beta=2.0)", protocol="ir_measures")["SetF(beta=2.0)"] == pytest.approx(
        0.6
    )


def test_n_judgments_can_be_used_twice() -> None:
    """ir_measures scores 0.0 the second time a generator is passed; tables are read once and kept."""
    judgments = judged.read_judgments({"1": {"a": 1}})

    assert [evaluate(judgments, {"1": {"a": 1.0}}, "AP")["AP"] for _ in range(2)] == [1.0, 1.0]


def test_o_query_ids_are_compared_whole() -> None:
    """gdeval.pl takes `10-1` and `20-1` for one topic `1`; the ideal reader stops at 15/16 of the highest grade."""
    qrels, run = {"10-1": {"a": 4}, "20-1": {"b": 4}}, {"10-1": {"a": 1.0}, "20-1": {"b": 1.0}}
    values = evaluate(qrels, run, "ERR@10", protocol="ir_measures").per_query()

    assert values.by_query("ERR(max_grade=4)@10") == {"10-1": 0.9375, "20-1": 0.9375}


@pytest.mark.parametrize(
    ("name", "expected"),
    [("RBP", 0.2), ("RBP@10", 0.2), ("NumRel(rel=2)", 0.0), ("ERR", 0.5), ('nDCG(gain="exp")', 1.0)],
)
def test_p_a_measure_needs_no_parameter_that_has_a_natural_default(name: str, expected: float) -> None:
    """ir_measures calls these unsupported or fails."""
    assert evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, name)[name] == pytest.approx(expected)


def test_q_nothing_but_relevant_results_is_no_division_by_zero() -> None:
    """ir_measures' `Accuracy` fails there; precision over what was retrieved is 1."""
    assert evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, 'P(over="retrieved")@5').mean().popitem()[1] == 1.0


def test_r_a_star_import_brings_no_names_of_other_packages() -> None:
    """`from ir_measures import *` rebinds `ranx`, `pytrec_eval` and `trectools`."""
    assert not {"ranx", "pytrec_eval", "trectools", "cwl_eval"} & set(judged.__all__)


def test_t_the_order_of_a_dict_pairs_nothing() -> None:
    """With dicts ranx pairs by position, and scores the wrong queries."""
    qrels = {"1": {"a": 1}, "2": {"b": 1}}
    run = {"2": {"b": 1.0}, "1": {"a": 1.0}}

    assert evaluate(qrels, run, "AP")["AP"] == 1.0
    assert evaluate(qrels, run, "map", protocol="ranx")["map"] == 1.0


def test_z_fractional_grades_lists_and_file_names_are_taken_as_they_are(tmp_path: Path) -> None:
    """In ranx the grade .5 is 0, a list of one gives a scalar, and a file must be called `.trec` or `.txt`."""
    (tmp_path / "any.name").write_text("1 Q0 a 1 1.0 tag\n\n")
    half = evaluate({"1": {"a": 0.5}}, tmp_path / "any.name", ["DCG@1"])

    assert half.mean() == {"DCG@1": 0.5}
