"""CatBoost: judged's measures as an object for `eval_metric`, which is given groups that CatBoost does not pass on.

metric = judged.compat.catboost.Metric("nDCG@10", pools=[train, valid])
CatBoost({"loss_function": "YetiRank", "eval_metric": metric, "boosting_type": "Plain"}).fit(train, eval_set=valid)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judged.arrays import Floats
from judged.compat.training import TrainingMeasure
from judged.errors import BadInput, WrongKind
from judged.measures.measure import Measure
from judged.problem import Problem
from judged.profiles.profile import Profile
from judged.protocol import Protocol
from judged.tables.scored_rows import ArrayLike, ScoredRows, to_array


@dataclass(frozen=True, eq=False)
class _Data:
    """The grades of one data set in the order of its rows, and the id of each row's group."""

    grades: Floats
    ids: ArrayLike

    @classmethod
    def of(cls, grades: ArrayLike, ids: ArrayLike) -> _Data:
        graded = to_array(grades, "grades").reshape(-1)
        ScoredRows.from_arrays(graded, graded, group_ids=ids)  # raises for lengths that differ
        return cls(
            graded.astype(np.float32).astype(np.float64), ids
        )  # CatBoost holds grades in single precision


class Metric:
    """A measure of grouped predictions, as CatBoost's `eval_metric`.

    CatBoost passes neither groups nor which data set it evaluates. Both are recognised by the grades, so all data sets
    of the training are needed: `pools`, or `group_id` and `grades` of each (a list for several). Rows in another order
    than given are refused: `boosting_type="Ordered"` shuffles those of the training set.
    """

    def __init__(
        self,
        measure: Measure | str,
        *,
        pools: Sequence[Any] = (),
        group_id: ArrayLike = None,
        grades: ArrayLike = None,
        protocol: Protocol | Profile | Mapping[str, object] | str = "catboost",
        name: str | None = None,
    ) -> None:
        """Read the measure as the tool of a profile means it, and the groups of every data set."""
        self.measured = TrainingMeasure.read(measure, protocol, name)
        self._data = [_Data.of(pool.get_label(), pool.get_group_id_hash()) for pool in _as_list(pools)]
        if (group_id is None) != (grades is None):
            msg = "`group_id` and `grades` belong together: data sets are recognised by their grades"
            raise WrongKind(msg, hint="or give `pools=[train, valid]`")
        if group_id is not None:
            self._data += [_Data.of(*pair) for pair in _pair(grades, group_id)]
        if not self._data:
            msg = "no groups are given, and CatBoost passes none to a metric"
            raise WrongKind(msg, hint='for example `Metric("nDCG@10", pools=[train, valid])`')
        self._refuse_twins()

    def __str__(self) -> str:
        return self.measured.name

    def is_max_optimal(self) -> bool:
        """Return the direction."""
        return self.measured.higher_is_better

    def get_final_error(self, error: float, weight: float) -> float:
        """Return the value."""
        return error / weight

    def evaluate(
        self, approxes: Sequence[ArrayLike], target: ArrayLike, weight: ArrayLike
    ) -> tuple[float, float]:
        """Return the value of predictions, and 1."""
        if len(approxes) != 1:
            message = f"{len(approxes)} predictions for each row, expected one"
            raise BadInput("the predictions", [Problem.error("dimensions", "approxes", message)])
        data = self._find(np.asarray(target, dtype=np.float32).astype(np.float64))
        self.measured.warn_of_weights(weight)
        return self.measured.compute(approxes[0], data.grades, group_ids=data.ids), 1.0

    def _find(self, target: Floats) -> _Data:
        """Return the data set that has these grades in this order."""
        for data in self._data:
            if np.array_equal(data.grades, target):
                return data
        lengths = " or ".join(f"{len(data.grades):,}" for data in self._data)
        problem, hint = (
            f"{len(target):,} rows, expected {lengths}",
            "give the groups of all data sets: train and valid",
        )
        if any(np.array_equal(np.sort(data.grades), np.sort(target)) for data in self._data):
            problem = (
                f"{len(target):,} rows in another order than they were given in, so their groups are unknown"
            )
            hint = '`boosting_type="Plain"` keeps the order of the training set'
        elif len(target) in {len(data.grades) for data in self._data}:
            problem = f"{len(target):,} rows with other grades than were given"
        raise BadInput("the data set", [Problem.error("unknown-data", "rows", problem)], hint=hint)

    def _refuse_twins(self) -> None:
        """Raise `BadInput` for two data sets with the same grades in different groups, which look alike here."""
        for place, one in enumerate(self._data):
            for other in self._data[:place]:
                same = np.array_equal(one.grades, other.grades)
                if same and not np.array_equal(np.asarray(one.ids), np.asarray(other.ids)):
                    message = (
                        "two of them have the same grades and different groups, and cannot be distinguished"
                    )
                    raise BadInput("the data sets", [Problem.error("ambiguous-data", "grades", message)])


def _as_list(pools: Any) -> list[Any]:
    return list(pools) if isinstance(pools, (list, tuple)) else [pools]


def _pair(grades: ArrayLike, group_id: ArrayLike) -> list[tuple[Any, Any]]:
    """Return grades and group ids of each data set, for one or for several."""
    several = isinstance(group_id, (list, tuple)) and len(group_id) > 0 and hasattr(group_id[0], "__len__")
    if not several or isinstance(group_id[0], str):
        return [(grades, group_id)]
    if len(grades) != len(group_id):
        msg = f"`group_id` holds {len(group_id)} data sets and `grades` {len(grades)}, expected as many"
        raise WrongKind(msg)
    return list(zip(grades, group_id, strict=True))
