"""Experiment trackers: a study as runs of MLflow or Weights & Biases, one for each system."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

from judged._optional import need
from judged.studies.result import Study

_BAD = re.compile(r"[^\w\-. /:]")


def need_tracker(tracker: str) -> ModuleType:
    """Return the library of a tracker; raise `MissingExtra` if it is not installed."""
    return need(tracker, extra=tracker, needed_by=f"`--log {tracker}`")


def log_study(study: Study, folder: Path, tracker: str) -> None:
    """Log the settings, measures and times of every system, and the folder, to a tracker."""
    TRACKERS[tracker](study, folder)


def _name(metric: str) -> str:
    """Return the name of a metric as trackers allow it.

    >>> _name("nDCG@10"), _name("RR(rel=3)")
    ('nDCG_at_10', 'RR_rel_3_')
    """
    return _BAD.sub("_", metric.replace("@", "_at_"))


def _list_metrics(row: Mapping[str, object]) -> dict[str, float]:
    return {
        _name(name): float(value)
        for name, value in row.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _log_to_mlflow(study: Study, folder: Path) -> None:
    mlflow = need_tracker("mlflow")
    mlflow.set_experiment(study.name)
    with mlflow.start_run(run_name=study.name):
        facts = ("collection", "documents", "queries", "training", "repeats")
        mlflow.log_params({name: getattr(study, name) for name in facts})
        mlflow.set_tag("answer", study.answer())
        for row in study.to_arrow("systems").to_pylist():
            with mlflow.start_run(run_name=row["system"], nested=True):
                mlflow.log_params({"stages": row["stages"], "untrained": row["untrained"]})
                mlflow.log_metrics(_list_metrics(row))
                if row["failure"]:
                    mlflow.set_tag("failure", row["failure"])
        mlflow.log_artifacts(str(folder))


def _log_to_wandb(study: Study, folder: Path) -> None:
    wandb = need_tracker("wandb")
    for row in study.to_arrow("systems").to_pylist():
        with wandb.init(
            project="judged",
            group=study.name,
            name=row["system"],
            config={"collection": study.collection, "stages": row["stages"], "untrained": row["untrained"]},
            reinit="finish_previous",
        ) as run:
            run.summary.update(_list_metrics(row))
    with wandb.init(project="judged", group=study.name, name=study.name, reinit="finish_previous") as run:
        artifact = wandb.Artifact(_BAD.sub("_", study.name).replace(" ", "-"), type="study")
        artifact.add_dir(str(folder))
        run.log_artifact(artifact)


TRACKERS: dict[str, Callable[[Study, Path], None]] = {"mlflow": _log_to_mlflow, "wandb": _log_to_wandb}
"""The trackers by the names that users write."""
