"""The profile `ranx` says what ranx says, of up to 15 results a query, where its sort keeps the order of ties."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from profiles.inputs import Case, agrees, cases, scored

ranx: Any = pytest.importorskip("ranx", reason="ranx is not installed")

NAMES = [
    "precision@3", "precision", "recall@3", "recall", "hit_rate@3", "f1@3", "r-precision", "mrr", "mrr@3", "map",
    "map@3", "ndcg", "ndcg@3", "ndcg_burges@3", "dcg@3", "dcg_burges", "rbp.80", "precision@3-l2", "map-l2",
    "ndcg@3-l2", "ndcg_burges-l3", "rbp.50-l2", "r-precision-l2",
]  # fmt: skip


def compare(case: Case, name: str) -> None:
    """Assert that judged and ranx agree, query by query and in the mean."""
    run = ranx.Run(case.run)
    mean = ranx.evaluate(ranx.Qrels(case.qrels), run, name, make_comparable=True)

    agrees(
        case, "ranx", name, {query: float(score) for query, score in run.scores[name].items()}, float(mean)
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_says_what_the_tool_says(name: str, case: Case) -> None:
    """Ties as in the input, grades as weights, levels that take gain away."""
    compare(case, name)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(case=cases(grades=(-1, 0, 1, 2)))
def test_says_what_the_tool_says_of_bpref(case: Case) -> None:
    """Negative grades are judged not relevant; one query without any spoils the values of others there."""
    assume(all(len({grade > 0 for grade in grades.values()}) == 2 for grades in case.qrels.values()))
    run = ranx.Run(case.run)
    ranx.evaluate(ranx.Qrels(case.qrels), run, "bpref", make_comparable=True)
    theirs = {query: float(score) for query, score in run.scores["bpref"].items()}
    ours, _ = scored(case, "ranx", "bpref")

    assert ours == pytest.approx(theirs, abs=1e-9)
