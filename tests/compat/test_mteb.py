"""The scores of every query of a task of MTEB, from the predictions that it saved."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from judged.compat.mteb import evaluate_task, read_predictions
from judged.errors import UnknownName

JUDGMENTS = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d4": 1}}
RUN = {"q1": {"d1": 0.5, "d2": 0.7, "d3": 0.1}, "q2": {"d4": 0.2, "d1": 0.3}}
PREDICTIONS = {"mteb_model_meta": {"model_name": "some/model", "revision": "1"}, "default": {"test": RUN}}
TASK = SimpleNamespace(dataset={"default": {"test": {"relevant_docs": JUDGMENTS}}})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file in the form that mteb 2.26 writes, `abstasks/abstask.py`."""
    path = tmp_path / "Task_predictions.json"
    path.write_text(json.dumps(PREDICTIONS))
    return path


def test_every_query_has_a_value(path: Path) -> None:
    """By hand: d1 at rank 2; d4 at rank 2; nDCG 1 / log2(3) of the second."""
    evaluation = evaluate_task(TASK, path, ["mrr_at_10", "ndcg_at_10"])

    assert evaluation.system == "some/model"
    assert evaluation.per_query().by_query("RR@10") == {"q1": 0.5, "q2": 0.5}
    assert evaluation.per_query().by_query("nDCG@10")["q2"] == pytest.approx(0.6309297535714575)


def test_means_are_those_that_mteb_reports(path: Path) -> None:
    """By its own function."""
    mteb = pytest.importorskip("mteb", reason="MTEB is not installed")
    from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores

    scores: Any = calculate_retrieval_scores(RUN, JUDGMENTS, [10])
    evaluation = evaluate_task(TASK, path, ["ndcg_at_10", "map_at_10", "recall_at_10", "precision_at_10"])

    assert mteb
    assert evaluation["nDCG@10"] == pytest.approx(scores.ndcg["NDCG@10"], abs=1e-5)
    assert evaluation["AP@10"] == pytest.approx(scores.map["MAP@10"], abs=1e-5)
    assert evaluation["R@10"] == pytest.approx(scores.recall["Recall@10"], abs=1e-5)


def test_a_task_of_version_1_is_read(path: Path) -> None:
    """Which keeps its judgments by split."""
    assert (
        evaluate_task(SimpleNamespace(relevant_docs={"test": JUDGMENTS}), path, "mrr_at_10")["RR@10"] == 0.5
    )


def test_a_task_without_data_is_refused(path: Path) -> None:
    """With what to do."""
    with pytest.raises(ValueError, match="load_data"):
        evaluate_task(SimpleNamespace(dataset=None), path)


@pytest.mark.parametrize("choice", [{"subset": "en"}, {"split": "dev"}])
def test_what_is_not_in_the_file_is_refused(path: Path, choice: dict[str, str]) -> None:
    """With the names that there are."""
    with pytest.raises(UnknownName, match=r"known|did you mean"):
        read_predictions(path, **choice)


@pytest.mark.parametrize("text", ["[]", "{", '{"task": 1}'])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    """In words."""
    path = tmp_path / "other.json"
    path.write_text(text)

    with pytest.raises((ValueError, OSError), match=r"other\.json"):
        read_predictions(path)
