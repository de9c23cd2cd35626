"""A measure of predictions by group, as callbacks of training libraries compute it: the number that judged reports."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from judged.arrays import Floats
from judged.errors import BadInput, BadMeasure
from judged.problem import Problem, Problems
from judged.profiles.profile import Profile, Reading, as_profile
from judged.protocol import Protocol
from judged.scoring.arrays import evaluate_rows
from judged.tables.scored_rows import ArrayLike, ScoredRows, to_array
from judged.wording import counted


@dataclass(eq=False)
class TrainingMeasure:
    """One measure under one protocol, and what it was computed on last."""

    reading: Reading
    name: str
    """The name that the library shows."""
    groups: int = 0
    """Number of groups in the last call."""
    rows: int = 0
    """Number of rows in the last call."""
    _warned: set[str] = field(default_factory=set)

    @classmethod
    def read(
        cls, measure: Any, protocol: Protocol | Profile | Mapping[str, object] | str, name: str | None
    ) -> TrainingMeasure:
        """Return the measure as the tool of a profile means it, or under a protocol."""
        reading = as_profile(protocol).read(measure)
        if reading.measure.text or reading.measure.higher_is_better is None or reading.measure.needs:
            msg = f"{reading.measure} cannot guide training: it has no direction, or needs more than grades"
            raise BadMeasure(msg, hint="for example `nDCG@10`, `AP` or `RR@10`")
        return cls(reading, name or (measure if isinstance(measure, str) else reading.name))

    @property
    def higher_is_better(self) -> bool:
        """The direction of the measure."""
        return bool(self.reading.measure.higher_is_better)

    def compute(self, predictions: ArrayLike, grades: ArrayLike, **groups: ArrayLike) -> float:
        """Return the mean over groups, given as `group_ids` or `group_sizes`; predictions must be finite."""
        scores = to_array(predictions, "predictions")
        if scores.ndim != 1:
            message = f"{' × '.join(map(str, scores.shape))} predictions, expected one for each row"
            raise BadInput("the predictions", [Problem.error("dimensions", "shape", message)])
        check_finite(scores)
        rows = ScoredRows.from_arrays(scores, grades, **groups)
        self.groups, self.rows = len(rows.offset) - 1, len(scores)
        evaluation = evaluate_rows(rows, [self.reading.measure], protocol=self.reading.protocol)
        return float(evaluation[self.reading.measure])

    def warn_of_worker(self, workers: int, what: str) -> None:
        """Warn once that only the groups of one of several workers were seen."""
        if workers > 1:
            seen = f"{counted(self.groups, 'group')} ({counted(self.rows, 'row')})"
            self._warn("worker", f"{self.name} is of the {seen} of one worker of {workers}; {what}")

    def warn_of_weights(self, weights: ArrayLike) -> None:
        """Warn once that weights of rows or groups are not used."""
        if weights is not None and len(weights) and (np.asarray(weights) != np.asarray(weights)[0]).any():
            self._warn(
                "weights", f"{self.name} does not use weights: it is the mean over groups, each counted once"
            )

    def _warn(self, code: str, message: str) -> None:
        if code not in self._warned:
            self._warned.add(code)
            warnings.warn(message, stacklevel=3)


def check_finite(scores: Floats) -> None:
    """Raise `BadInput` for predictions that are NaN or infinite: training has diverged."""
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        problems = Problems("the predictions")
        problems.add_rows(
            "not-finite", bad, lambda row: f"prediction is {scores[row]}, expected a finite number"
        )
        problems.raise_if_any(
            hint="training has diverged: lower the learning rate, or look for NaN in the features"
        )


def refuse_ungrouped(name: str, hint: str) -> BadInput:
    """Return the error for data without groups."""
    message = f"has no groups, and {name} is a mean over groups"
    return BadInput("the data set", [Problem.error("no-groups", "groups", message)], hint=hint)
