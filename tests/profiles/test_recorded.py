"""Crafted cases with what each tool printed for them, so that profiles are held to it where no tool is installed.

Recorded with pytrec_eval-terrier 0.5.11 (`RelevanceEvaluator(qrels, {name}).evaluate(run)`), ir_measures 0.4.3
(`calc_aggregate`), ranx 0.3.21 (`evaluate(Qrels(qrels), Run(run), name, make_comparable=True)`), trectools 0.0.50
(`TrecEval(TrecRun(run), TrecQrel(qrels)).get_…`), beir 2.2.0 (`EvaluateRetrieval.evaluate`, `.evaluate_custom`),
mteb 2.26.24 (`calculate_retrieval_scores`), gdeval.pl 1.2 (`gdeval.pl qrels run 10`) and ms_marco_eval.py at 28b3693
(`ms_marco_eval.py qrels candidates`), to four decimals.
"""

from __future__ import annotations

from typing import Any

import pytest

from conformance.rankers import RANKERS
from judged import evaluate

Tables = tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]

TIED = {"1": {"d3": 1, "d1": 0, "d6": 0}}
CASES: dict[str, Tables] = {
    "B1: six tied": (TIED, {"1": {f"d{i}": 1.0 for i in range(1, 7)}}),
    "B2: six tied, rows reversed": (TIED, {"1": {f"d{i}": 1.0 for i in range(6, 0, -1)}}),
    "B3: forty tied": (
        {"1": {"d05": 1, "d01": 0, "d06": 0}},
        {"1": {f"d{i:02}": 1.0 for i in range(1, 41)}},
    ),
    "C1: a query without results": (
        {"1": {"a": 1, "b": 0}, "2": {"a": 1}},
        {"1": {"a": 2.0, "b": 1.0}},
    ),
    "C2: a query without judgments": (
        {"1": {"a": 1, "b": 0}},
        {"1": {"a": 2.0, "b": 1.0}, "9": {"a": 2.0}},
    ),
    "C3: a query with nothing relevant": (
        {"1": {"a": 1, "b": 0}, "2": {"a": 0, "b": 0}},
        {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 2.0, "b": 1.0}},
    ),
    "M: a query whose only result is itself": (
        {"1": {"a": 1, "b": 0}, "2": {"a": 1}},
        {"1": {"a": 2.0, "b": 1.0}, "2": {"2": 3.0}},
    ),
    "N: a query with an empty list": (
        {"1": {"a": 1, "b": 0}, "2": {"a": 1}},
        {"1": {"a": 2.0, "b": 1.0}, "2": {}},
    ),
    "D: unjudged above": (
        {"1": {"r1": 1, "n1": 0, "r2": 2, "n2": 0}},
        {"1": {"u1": 9.0, "u2": 8.0, "r1": 7.0, "n1": 6.0, "u3": 5.0, "r2": 4.0}},
    ),
    "E: negative grades": (
        {"1": {"r1": 2, "n1": 0, "p1": -1, "s1": -2, "r2": 1}},
        {"1": {"s1": 9.0, "p1": 8.0, "r1": 7.0, "n1": 6.0, "u1": 5.0, "r2": 4.0}},
    ),
    "F: three results": (
        {"1": {f"r{i}": 1 for i in range(5)}},
        {"1": {"r0": 3.0, "r1": 2.0, "r2": 1.0}},
    ),
    "I: grades to six": (
        {"1": {"a": 6, "b": 3, "c": 1, "d": 0}},
        {"1": {"b": 4.0, "a": 3.0, "d": 2.0, "c": 1.0}},
    ),
}
RECORDED: list[tuple[str, str, str, float]] = [
    ("B1", "pytrec_eval", "ndcg_cut_10", 0.4307),
    ("B1", "pytrec_eval", "recip_rank", 0.2500),
    ("B1", "ir_measures", "nDCG@10", 0.4307),
    ("B1", "ir_measures", "RR", 0.2500),
    ("B1", "ir_measures", "RR@10", 0.3333),
    ("B1", "ir_measures", "RBP(rel=1)", 0.1280),
    ("B1", "ir_measures", "Judged@10", 0.5000),
    ("B1", "ranx", "ndcg@10", 0.5000),
    ("B1", "ranx", "mrr", 0.3333),
    ("B1", "ranx", "rbp.80", 0.1280),
    ("B1", "trectools", "NDCG@10", 0.5000),
    ("B1", "trectools", "recip_rank", 0.2500),
    ("B1", "beir", "NDCG@10", 0.4307),
    ("B1", "beir", "MRR@10", 0.3333),
    ("B1", "mteb", "ndcg_at_10", 0.4307),
    ("B1", "mteb", "mrr_at_10", 0.2500),
    ("B1", "gdeval", "ndcg@10", 0.4307),
    ("B1", "msmarco", "MRR@10", 1.0000),
    ("B2", "ir_measures", "RBP(rel=1)", 0.1024),
    ("B2", "ranx", "ndcg@10", 0.4307),
    ("B2", "trectools", "NDCG@10", 0.5000),
    ("B3", "pytrec_eval", "map", 0.0278),
    ("B3", "ir_measures", "nDCG@10", 0.0000),
    ("B3", "ir_measures", "RR@10", 0.2000),
    ("B3", "trectools", "NDCG@10", 0.3869),
    ("B3", "trectools", "MAP", 0.0278),
    ("C1", "pytrec_eval", "map", 1.0000),
    ("C1", "ir_measures", "AP", 0.5000),
    ("C1", "ranx", "map", 0.5000),
    ("C1", "trectools", "MAP", 1.0000),
    ("C1", "beir", "NDCG@10", 1.0000),
    ("C1", "beir", "MRR@10", 0.5000),
    ("C1", "mteb", "ndcg_at_10", 1.0000),
    ("C1", "mteb", "mrr_at_10", 1.0000),
    ("C1", "gdeval", "ndcg@10", 1.0000),
    ("C1", "msmarco", "MRR@10", 0.5000),
    ("C2", "pytrec_eval", "ndcg_cut_10", 1.0000),
    ("C2", "ir_measures", "nDCG@10", 1.0000),
    ("C2", "ranx", "ndcg@10", 1.0000),
    ("C2", "trectools", "NDCG@10", 0.5000),
    ("C3", "pytrec_eval", "map", 0.5000),
    ("C3", "ranx", "map", 0.5000),
    ("C3", "trectools", "MAP", 0.5000),
    ("C3", "gdeval", "ndcg@10", 1.0000),
    ("C3", "msmarco", "MRR@10", 1.0000),
    ("C3", "beir", "NDCG@10", 0.5000),
    ("M", "beir", "NDCG@3", 0.5000),
    ("M", "beir", "P@3", 0.1667),
    ("N", "beir", "NDCG@3", 0.5000),
    ("N", "pytrec_eval", "map", 0.5000),
    ("D", "ir_measures", "RBP(rel=1)", 0.1935),
    ("D", "ranx", "rbp.80", 0.2591),
    ("E", "pytrec_eval", "bpref", 0.5000),
    ("E", "pytrec_eval", "infAP", 0.5833),
    ("E", "ir_measures", "Judged@10", 0.8333),
    ("E", "ranx", "bpref", 0.0000),
    ("E", "gdeval", "ndcg@10", 0.5112),
    ("E", "gdeval", "err@10", 0.0710),
    ("E", "beir", "NDCG@10", 0.5155),
    ("F", "pytrec_eval", "bpref", 0.6000),
    ("F", "pytrec_eval", "P_10", 0.3000),
    ("F", "ir_measures", "ERR@20", 0.1101),
    ("I", "ir_measures", "RBP(rel=1)", 0.4624),
    ("I", "ranx", "ndcg_burges@10", 0.6947),
    ("I", "ranx", "rbp.80", 1.6624),
    ("I", "trectools", "NDCG(trec_eval=False)@10", 0.6947),
]


def tables(letter: str) -> Tables:
    """The case that begins so."""
    return next(case for name, case in CASES.items() if name.startswith(f"{letter}:"))


@pytest.mark.parametrize(("letter", "profile", "name", "expected"), RECORDED)
def test_says_what_the_tool_printed(letter: str, profile: str, name: str, expected: float) -> None:
    """A profile makes of the case what its tool made of it."""
    qrels, run = tables(letter)

    assert evaluate(qrels, run, name, protocol=profile)[name] == pytest.approx(expected, abs=5.1e-5)


def test_every_profile_of_a_tool_has_recorded_values() -> None:
    """None is forgotten; trec_eval has its own golden tests, the source documents are no program, and one is a server.

    VSE++ measures models, not runs: `tests/index/test_embeddings.py` restates its loops.
    Libraries that score arrays have the worked example of `tests/scoring/test_arrays.py` and `test_rankers.py`.
    """
    from judged import PROFILES

    held = {profile for _, profile, _, _ in RECORDED} | set(RANKERS)

    assert set(PROFILES) - held == {
        *("trec_eval-9", "trec_eval-10", "sources"),
        *("elasticsearch", "cross-modal"),
    }


def test_a_document_with_the_id_of_its_query_is_taken_out_for_beir() -> None:
    """By beir 2.2.0, `EvaluateRetrieval.evaluate(…, [10])`: NDCG@10 1.0; pytrec_eval-terrier 0.5.11: 0.6309."""
    qrels: Any = {"7": {"a": 1}}
    run = {"7": {"7": 2.0, "a": 1.0}}

    assert evaluate(qrels, run, "NDCG@10", protocol="beir")["NDCG@10"] == 1.0
    assert evaluate(qrels, run, "ndcg_cut_10", protocol="pytrec_eval")["ndcg_cut_10"] == pytest.approx(
        0.6309, abs=5e-5
    )
