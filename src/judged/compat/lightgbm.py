"""LightGBM: judged's measures as `feval`, so that training reports and stops on the number of the evaluation.

feval = judged.compat.lightgbm.metric("nDCG@10")
lightgbm.train(params | {"metric": "None"}, data, valid_sets=[valid], feval=feval,
               callbacks=[lightgbm.early_stopping(20)])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from judged.compat.training import TrainingMeasure, refuse_ungrouped
from judged.measures.measure import Measure
from judged.profiles.profile import Profile
from judged.protocol import Protocol
from judged.tables.scored_rows import ArrayLike

WORKERS = "LightGBM stops each worker by the value of its own groups"


def metric(
    measure: Measure | str,
    *,
    protocol: Protocol | Profile | Mapping[str, object] | str = "lightgbm",
    name: str | None = None,
) -> Callable[[Any, Any], tuple[str, float, bool]]:
    """Return the function that `lightgbm.train` and `lightgbm.cv` take as `feval`.

    It returns the name, the mean of `measure` over the groups of the data set, and whether higher is better. Under the
    default protocol, the profile `lightgbm`, `nDCG@10` is the library's own `ndcg@10`. Predictions must be finite.
    """
    measured = TrainingMeasure.read(measure, protocol, name)

    def feval(predictions: ArrayLike, data: Any) -> tuple[str, float, bool]:
        """Return name, value and direction for the predictions of a data set."""
        if not hasattr(data, "get_group"):
            raise refuse_ungrouped(
                measured.name, "`LGBMRanker.fit` passes groups to `eval_metric=ranker_metric(…)`"
            )
        sizes = data.get_group()
        if sizes is None:
            raise refuse_ungrouped(
                measured.name, "give the sizes of groups: `lightgbm.Dataset(…, group=sizes)`"
            )
        value = measured.compute(predictions, data.get_label(), group_sizes=sizes)
        measured.warn_of_weights(data.get_weight())
        measured.warn_of_worker(_count_workers(data), WORKERS)
        return measured.name, value, measured.higher_is_better

    return feval


def ranker_metric(
    measure: Measure | str,
    *,
    protocol: Protocol | Profile | Mapping[str, object] | str = "lightgbm",
    name: str | None = None,
) -> Callable[[Any, Any, Any, Any], tuple[str, float, bool]]:
    """Return the function that `lightgbm.LGBMRanker.fit` takes as `eval_metric`."""
    measured = TrainingMeasure.read(measure, protocol, name)

    # LightGBM passes groups to functions of four arguments only
    def eval_metric(
        grades: ArrayLike, predictions: ArrayLike, weight: ArrayLike, group: ArrayLike
    ) -> tuple[str, float, bool]:
        """Return name, value and direction for predictions."""
        if group is None:
            raise refuse_ungrouped(measured.name, "give the sizes of groups: `fit(…, eval_group=[sizes])`")
        value = measured.compute(predictions, grades, group_sizes=group)
        measured.warn_of_weights(weight)
        return measured.name, value, measured.higher_is_better

    return eval_metric


def _count_workers(data: Any) -> int:
    """Return the number of machines that train together."""
    settings = getattr(data, "params", None) or {}
    machines = str(settings.get("machines", "")).count(",") + 1
    return max(machines, int(settings.get("num_machines", 1)))
