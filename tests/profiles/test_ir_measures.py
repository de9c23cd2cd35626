"""The profile `ir_measures` says what ir_measures says, whichever tool computes a measure for it."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from profiles.inputs import Case, agrees, cases

ir_measures: Any = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
# ir_measures' own, from Python 3.12 on
pytestmark = pytest.mark.filterwarnings(r"ignore:.* deprecated .* Python 3\.14:DeprecationWarning")

NAMES = [
    "P@5", "P(rel=2)@3", "P(judged_only=True)@3", "R@3", "R(rel=2)@3", "AP", "AP@3", "AP(rel=2)", "RR", "MRR",
    "RR(rel=2)", "RR@3", "RR(rel=2)@10", "nDCG", "nDCG@3", "nDCG(dcg='log2')@3", "nDCG(gains={1:3,2:9})@5",
    "nDCG(judged_only=True)@3", "Rprec", "Success@1", "Success(rel=2)@3", "IPrec@0.3", "Bpref", "Bpref(rel=2)",
    "infAP", "Judged@3", "Judged", "SetP", "SetP(relative=True)", "SetR", "SetF", "SetF(beta=2.0)", "SetAP",
    "NumRet", "NumRet(rel=1)", "NumRelRet", "NumRel", "NumQ",
]  # fmt: skip
CWL = [
    "RBP(rel=1)", "RBP(rel=2,p=0.5)", "BPM(max_rel=4)@5", "SDCG(max_rel=4)@5", "NERR8(max_rel=4)@5",
    "NERR9(max_rel=4)@5", "NERR10(max_rel=4)", "NERR11(max_rel=4)", "INST(max_rel=4)", "INSQ(max_rel=4,T=2.0)",
]  # fmt: skip
GDEVAL = ["ERR@5", "nDCG(dcg='exp-log2')@5"]


def compare(case: Case, name: str) -> None:
    """Assert that judged and ir_measures agree on every query of the judgments, and on the aggregate."""
    measure = ir_measures.parse_measure(name)
    # Of documents that are tied in grade and score, the ideal list of `Compat` has the order of the judgments.
    qrels = {query: dict(sorted(grades.items())) for query, grades in case.qrels.items()}
    total, found = ir_measures.calc([measure], qrels, case.run)
    queries = {metric.query_id: metric.value for metric in found}

    agrees(case, "ir_measures", name, queries, total[measure])


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10)
@given(case=cases())
def test_says_what_the_tool_says(name: str, case: Case) -> None:
    """Ties by id descending or ascending, missing queries, counts and thresholds."""
    compare(case, name)


@pytest.mark.parametrize("name", ["Judged@3", "RR@3", "Compat", "AP", "nDCG@5"])
@settings(max_examples=10)
@given(case=cases(grades=(-1, 0, 1, 2), relevant=True))
def test_says_what_the_tool_says_of_negative_grades(name: str, case: Case) -> None:
    """`Judged` takes them for judgments, the others do not."""
    compare(case, name)


@pytest.mark.parametrize("name", ["Compat", "Compat(p=0.8)", "Compat(p=0.8,normalize=False)"])
@settings(max_examples=10)
@given(case=cases())
def test_says_what_the_tool_says_of_compatibility(name: str, case: Case) -> None:
    """Each query as deep as the longer of its two lists, ties by ascending id."""
    compare(case, name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CWL)
@settings(max_examples=10)
@given(case=cases())
def test_says_what_the_tool_says_of_browsing(name: str, case: Case) -> None:
    """cwl_eval is given ties in the order of the input."""
    pytest.importorskip("cwl", reason="cwl-eval is not installed")
    compare(case, name)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval.pl needs perl")
@pytest.mark.parametrize("name", GDEVAL)
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_says_what_the_tool_says_of_exponential_gain(name: str, case: Case) -> None:
    """gdeval.pl prints five decimals, and ir_measures reads those."""
    compare(case, name)
