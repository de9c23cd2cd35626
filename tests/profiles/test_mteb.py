"""The profile `mteb` says what MTEB's retrieval tasks report."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings

from profiles.inputs import Case, agrees, cases

NAMES = ["ndcg_at_3", "map_at_3", "recall_at_3", "precision_at_3", "hit_rate_at_3", "mrr_at_3", "accuracy"]


@pytest.fixture(scope="module")
def metrics() -> Any:
    """MTEB's module of measures, alone: the whole package would load torch."""
    pytest.importorskip("pytrec_eval", reason="pytrec_eval-terrier is not installed")
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    pytest.importorskip("pandas", reason="pandas is not installed")
    try:
        found = distribution("mteb").locate_file("mteb/_evaluators/retrieval_metrics.py")
    except PackageNotFoundError:
        pytest.skip("mteb is not installed")
    spec = spec_from_file_location("mteb_retrieval_metrics", Path(str(found)))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    types = ModuleType("mteb.types")
    types.__dict__["RetrievalEvaluationResult"] = SimpleNamespace
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "mteb", ModuleType("mteb"))
        patch.setitem(sys.modules, "mteb.types", types)
        spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=40)
@given(case=cases(extra=False))
def test_says_what_the_tool_says(metrics: Any, case: Case) -> None:
    """Missing queries are left out of all means; ties go by id, descending."""
    scores = metrics.calculate_retrieval_scores(case.run, case.qrels, [1, 3])
    score = metrics.make_score_dict(
        ndcg=scores.ndcg, _map=scores.map, recall=scores.recall, precision=scores.precision, mrr=scores.mrr,
        naucs={}, naucs_mrr={}, hit_rate=scores.hit_rate, task_scores={},
    )  # fmt: skip

    for name in NAMES:
        agrees(case, "mteb", name, None, score[name])
