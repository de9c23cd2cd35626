"""The profile `trectools` says what trectools says of files."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from profiles.inputs import Case, agrees, cases

trectools: Any = pytest.importorskip("trectools", reason="trectools is not installed")

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "MAP": ("get_map", {}),
    "MAP@3": ("get_map", {"depth": 3}),
    "recip_rank@3": ("get_reciprocal_rank", {"depth": 3}),
    "P@3": ("get_precision", {"depth": 3}),
    "P(removeUnjudged=True)@3": ("get_precision", {"depth": 3, "removeUnjudged": True}),
    "R@3": ("get_recall", {"depth": 3}),
    "NDCG@3": ("get_ndcg", {"depth": 3}),
    "NDCG(trec_eval=False)@3": ("get_ndcg", {"depth": 3, "trec_eval": False}),
    "NDCG(removeUnjudged=True)@3": ("get_ndcg", {"depth": 3, "removeUnjudged": True}),
}


def evaluator(case: Case) -> Any:
    """The tool, having read the case from files."""
    with TemporaryDirectory() as folder:
        qrels, run = case.write(Path(folder))
        return trectools.TrecEval(trectools.TrecRun(str(run)), trectools.TrecQrel(str(qrels)))


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases(grades=(-1, 0, 0, 1, 2, 3)))
def test_says_what_the_tool_says(case: Case) -> None:
    """A mean over the queries of the run, judged or not; ties up for nDCG, down for the others."""
    tool = evaluator(case)

    for name, (method, given_as) in CALLS.items():
        agrees(case, "trectools", name, None, float(getattr(tool, method)(**given_as)))


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases(grades=(0, 0, 1, 2)))
def test_says_what_the_tool_says_of_bpref(case: Case) -> None:
    """Where every judged query of the run has a document that is judged not relevant."""
    if any(query in case.run and 0 not in grades.values() for query, grades in case.qrels.items()):
        return

    agrees(case, "trectools", "Bpref", None, float(evaluator(case).get_bpref()))


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_says_what_the_tool_says_of_rbp(case: Case) -> None:
    """Where no scores are tied, also from one query to the next."""
    apart = {
        q: {d: 9.0 * i - j for j, d in enumerate(scores)} for i, (q, scores) in enumerate(case.run.items())
    }
    case = Case(
        case.qrels, {query: {d: s + 0.25 for d, s in scores.items()} for query, scores in apart.items()}
    )
    expected = evaluator(case).get_rbp(p=0.5, depth=3)[0]

    agrees(case, "trectools", "RBP(p=0.5)@3", None, 0.0 if expected != expected else float(expected))  # noqa: PLR0124


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_says_what_the_tool_says_of_rbp_with_ties(case: Case) -> None:
    """Tied results share the mean of their weights; no score is that of another query."""
    apart = {
        query: {document: score + 1000 * i for document, score in scores.items()}
        for i, (query, scores) in enumerate(sorted(case.run.items(), reverse=True))
    }
    case = Case(case.qrels, apart)
    expected = evaluator(case).get_rbp(p=0.5)[0]

    agrees(case, "trectools", "RBP(p=0.5)", None, 0.0 if expected != expected else float(expected))  # noqa: PLR0124
