"""The profile `beir` says what BEIR says: by pytrec_eval for some measures, by its own code for others."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from profiles.inputs import Case, agrees, cases

evaluation: Any = pytest.importorskip("beir.retrieval.evaluation", reason="beir is not installed")

FOUR = ["NDCG@3", "MAP@3", "Recall@3", "P@3"]
OWN = {"MRR@3": "mrr", "R_cap@3": "r_cap", "Accuracy@3": "acc"}


def with_own_id(case: Case, query: str, score: float) -> Case:
    """The case with a result that has the id of its query."""
    run = {name: dict(scores) for name, scores in case.run.items()}
    if query in case.qrels:
        run[query] = {query: score, **run.get(query, {})}
    return Case(case.qrels, run)


@pytest.mark.parametrize("name", FOUR)
@settings(max_examples=25)
@given(
    case=cases(extra=False, empty=True), query=st.sampled_from("1234"), score=st.sampled_from([0.5, 2.0, 9.0])
)
def test_says_what_the_tool_says(name: str, case: Case, query: str, score: float) -> None:
    """Missing queries are left out, and a document with the id of its query is taken out first."""
    case = with_own_id(case, query, score)
    expected = evaluation.EvaluateRetrieval.evaluate(case.qrels, deepcopy(case.run), [3])

    agrees(case, "beir", name, None, {key: value for group in expected for key, value in group.items()}[name])


@pytest.mark.parametrize("name", OWN)
@settings(max_examples=25)
@given(case=cases(extra=False, relevant=True))
def test_says_what_the_tool_says_of_its_own_measures(name: str, case: Case) -> None:
    """Ties stay as in the input, and missing queries count as 0."""
    expected = evaluation.EvaluateRetrieval.evaluate_custom(case.qrels, case.run, [3], OWN[name])

    agrees(case, "beir", name, None, expected[name])
