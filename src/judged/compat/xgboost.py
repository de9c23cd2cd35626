"""XGBoost: judged's measures as `custom_metric`, so that training reports and stops on the number of the evaluation.

    custom_metric = judged.compat.xgboost.metric("nDCG@10")
    xgboost.train(params, data, evals=[(valid, "valid")], custom_metric=custom_metric,
                  callbacks=[judged.compat.xgboost.early_stopping(custom_metric, rounds=20)])

XGBoost passes the value on as text with six decimals, on which it stops.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from judged.compat.training import TrainingMeasure, refuse_ungrouped
from judged.errors import BadInput
from judged.measures.measure import Measure
from judged.problem import Problem
from judged.profiles.profile import Profile
from judged.protocol import Protocol
from judged.tables.scored_rows import ArrayLike

WORKERS = "XGBoost takes the mean of the workers' values"


@dataclass(frozen=True, eq=False)
class CustomMetric:
    """A function of predictions and a matrix with groups, with its direction."""

    measured: TrainingMeasure

    @property
    def __name__(self) -> str:
        """The name that XGBoost shows."""
        return self.measured.name

    @property
    def higher_is_better(self) -> bool:
        """The direction, which XGBoost would take from the name: `early_stopping` tells it."""
        return self.measured.higher_is_better

    def __call__(self, predictions: ArrayLike, data: Any) -> tuple[str, float]:
        """Return name and value for the predictions of a `DMatrix`."""
        if not hasattr(data, "get_uint_info"):
            kind = type(data).__name__
            message = f"of type `{kind}`, expected a `DMatrix` with groups"
            hint = "`XGBRanker` calls `eval_metric` without groups: use `xgboost.train(…, custom_metric=…)`"
            raise BadInput("the data set", [Problem.error("no-groups", "data", message)], hint=hint)
        cuts = data.get_uint_info("group_ptr")
        if len(cuts) == 0:
            raise refuse_ungrouped(
                self.measured.name, "give groups: `DMatrix(…, qid=ids)`, or `set_group(sizes)`"
            )
        sizes = np.diff(cuts.astype(np.int64))
        value = self.measured.compute(predictions, data.get_label(), group_sizes=sizes)
        self.measured.warn_of_weights(data.get_weight())
        self.measured.warn_of_worker(_count_workers(), WORKERS)
        return self.measured.name, value


def metric(
    measure: Measure | str,
    *,
    protocol: Protocol | Profile | Mapping[str, object] | str = "xgboost",
    name: str | None = None,
) -> CustomMetric:
    """Return the function that `xgboost.train` and `xgboost.cv` take as `custom_metric`.

    It returns the name, and the mean of `measure` over the groups of the matrix. Under the default protocol, the
    profile `xgboost`, `nDCG@10` is the library's own `ndcg@10`. Predictions must be finite.
    """
    return CustomMetric(TrainingMeasure.read(measure, protocol, name))


def early_stopping(custom_metric: CustomMetric, rounds: int, **settings: object) -> Any:
    """Return XGBoost's callback that stops on the metric, in its direction.

    `early_stopping_rounds=` would minimise every metric whose name it does not know. `settings` are those of
    `xgboost.callback.EarlyStopping`.
    """
    from xgboost.callback import EarlyStopping

    own = {"metric_name": custom_metric.measured.name, "maximize": custom_metric.higher_is_better}
    return EarlyStopping(rounds=rounds, **{**own, **settings})


def _count_workers() -> int:
    """Return the number of workers that train together."""
    library = sys.modules.get("xgboost.collective")
    return int(library.get_world_size()) if library is not None else 1
