"""MTEB: the scores of every query of a retrieval task, from the predictions that MTEB saved.

mteb.evaluate(model, tasks=[task], prediction_folder="predictions")
evaluation = judged.compat.mteb.evaluate_task(task, "predictions/SciFact_predictions.json")
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judged.errors import BadInput, UnknownName, Unreadable
from judged.problem import Problem
from judged.profiles.profile import Profile
from judged.protocol import Protocol
from judged.scoring.evaluate import evaluate
from judged.scoring.evaluation import Evaluation
from judged.scoring.family import Measures

__all__ = ["evaluate_task", "read_predictions"]

META = "mteb_model_meta"
"""The key of a file of predictions that names the model."""


def evaluate_task(
    task: Any,
    predictions: str | os.PathLike[str] | Mapping[str, Any],
    measures: Measures | None = None,
    *,
    subset: str = "default",
    split: str = "test",
    protocol: Profile | Protocol | str = "mteb",
    name: str | None = None,
) -> Evaluation:
    """Return the evaluation of a model on a task of MTEB: its means are those that MTEB reports, and each query has a value.

    `predictions` is the file that `prediction_folder` keeps of the task, or what it holds. The task must hold its data
    (`task.load_data()`).
    """
    content = predictions if isinstance(predictions, Mapping) else _load(predictions)
    run = read_predictions(content, subset=subset, split=split)
    judgments = _find_judgments(task, subset, split)
    model = content.get(META, {}).get("model_name")
    # MTEB stops at a query of the run that has no judgments; results of others are scored
    return evaluate(judgments, run, measures, protocol=protocol, name=name or model)


def read_predictions(
    predictions: str | os.PathLike[str] | Mapping[str, Any], *, subset: str = "default", split: str = "test"
) -> dict[str, dict[str, float]]:
    """Return the run of a subset and a split in a file of predictions: scores by query and document.

    >>> read_predictions({"mteb_model_meta": {}, "default": {"test": {"q1": {"d1": 0.5}}}})
    {'q1': {'d1': 0.5}}
    """
    content = predictions if isinstance(predictions, Mapping) else _load(predictions)
    by_split = _choose(
        "subset of these predictions", subset, {key: content[key] for key in content if key != META}
    )
    run: dict[str, dict[str, float]] = _choose("split of these predictions", split, by_split)
    return run


def _load(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        msg = f"the predictions `{os.fspath(path)}` cannot be read: {error}"
        raise Unreadable(msg) from error
    if not isinstance(content, dict) or META not in content:
        message = f"has no `{META}`, expected a file that MTEB saved in its `prediction_folder`"
        raise BadInput(os.fspath(path), [Problem.error("no-predictions", "the file", message)])
    return content


def _find_judgments(task: Any, subset: str, split: str) -> Any:
    """Return the relevant documents of a task, which version 2 of MTEB keeps in its data set."""
    data = getattr(task, "dataset", None)
    if data:
        return _choose("split of the task", split, _choose("subset of the task", subset, data))[
            "relevant_docs"
        ]
    older = getattr(task, "relevant_docs", None)
    if not older:
        msg = "the task holds no judgments"
        raise BadInput(
            type(task).__name__,
            [Problem.error("no-judgments", "the task", "its data are not loaded")],
            hint="call `task.load_data()` first",
        ) from LookupError(msg)
    return _choose("split of the task", split, older.get(subset, older))


def _choose(kind: str, name: str, known: Mapping[str, Any]) -> Any:
    if name not in known:
        raise UnknownName(kind, name, list(known))
    return known[name]
