"""What is to be said of labels and human grades of the same results, as values and as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Literal

import numpy as np

from judged.agreements.corrected import Corrected, corrected_mean
from judged.agreements.grades import Grade
from judged.agreements.system_order import RankedSystems
from judged.arrays import Floats
from judged.blocks import Table
from judged.stats.intervals import Interval
from judged.stats.outcome import Undefined
from judged.stats.rater_agreement import (
    Alpha,
    Confusion,
    Distance,
    GradeBias,
    Kappa,
    Weights,
    cohen_kappa,
    confusion_matrix,
    grade_bias,
    kappa_interval,
    krippendorff_alpha,
)

__all__ = ["ENOUGH", "FAIR", "FEW", "Agreement", "Part"]

Part = Literal["figures", "confusion", "grades", "tasks", "means", "systems", "judges"]
FAIR = 0.4
"""Below this, κ at the threshold is told as a warning."""
ENOUGH = 0.95
"""Labels that cover a smaller share of the results that people graded are told as a warning."""
FEW = 30
"""Fewer human grades than this make intervals rough."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """Labels against human grades of the same results: agreement, bias, and means corrected by both.

    It prints as tables; `table` gives one of them with every number in full, `to_dict` everything.
    """

    labels: str
    human: str
    truth: Floats
    """The human grade of each result that both have."""
    given: Floats
    """The label of each."""
    tasks: tuple[str | None, ...]
    """The task of each."""
    others: Floats
    """The labels of results that no human graded."""
    other_tasks: tuple[str | None, ...]
    only_human: int
    """How many results people graded that have no label."""
    panel: Mapping[str, tuple[Grade | None, ...]]
    """The grades of every judge on the results that people graded, people first."""
    systems: tuple[RankedSystems, ...] = ()
    """Systems ranked under both, for each measure."""
    threshold: float = 2
    """The grade from which a result is good."""
    level: float = 0.95
    resamples: int = 10_000
    seed: int = 0
    notes: tuple[str, ...] = ()

    @property
    def items(self) -> int:
        """How many results have both."""
        return len(self.truth)

    @property
    def only_labels(self) -> int:
        """How many results have a label, and no human grade."""
        return len(self.others)

    @property
    def coverage(self) -> float:
        """The share of the results that people graded which have a label."""
        return self.items / (self.items + self.only_human)

    @property
    def exact(self) -> float:
        """The share of results with the same grade from both."""
        return float((self.given == self.truth).mean())

    @property
    def within_one(self) -> float:
        """The share of results whose grades are at most 1 apart."""
        return float((np.abs(self.given - self.truth) <= 1).mean())

    @property
    def mean_absolute_error(self) -> float:
        """How far apart the grades are on average."""
        return float(np.abs(self.given - self.truth).mean())

    @property
    def bias(self) -> float:
        """The mean label less the mean human grade: above 0 is lenient."""
        return float((self.given - self.truth).mean())

    @property
    def precision(self) -> float | Undefined:
        """Of the results that labels call good, the share that people do."""
        return _share(self._good(self.truth)[self._good(self.given)], "no label is good")

    @property
    def recall(self) -> float | Undefined:
        """Of the results that people call good, the share that labels do."""
        return _share(self._good(self.given)[self._good(self.truth)], "no human grade is good")

    @cached_property
    def confusion(self) -> Confusion:
        """How often a human grade (row) met a label (column)."""
        return confusion_matrix(_plain(self.truth), _plain(self.given))

    @cached_property
    def grade_bias(self) -> GradeBias:
        """Of each human grade, what the labels were on average."""
        return grade_bias(_plain(self.truth), _plain(self.given))

    def kappa(self, weights: Weights = "equal") -> Kappa:
        """Cohen's κ of the grades."""
        return cohen_kappa(_plain(self.truth), _plain(self.given), weights=weights)

    def kappa_at(self, threshold: float) -> Kappa:
        """Cohen's κ of whether a result has at least the grade `threshold`."""
        return cohen_kappa((self.truth >= threshold).tolist(), (self.given >= threshold).tolist())

    @property
    def thresholds(self) -> list[Grade]:
        """Every grade that divides the results in two, and the one from which they are good."""
        given = [*self.confusion.labels[1:], _number(self.threshold)]
        return sorted(set(given))

    @cached_property
    def kappa_interval(self) -> Interval | Undefined:
        """κ at the threshold with its interval, from resamples of whole tasks."""
        return kappa_interval(
            self._good(self.truth).tolist(),
            self._good(self.given).tolist(),
            self.tasks,
            level=self.level,
            resamples=self.resamples,
            seed=self.seed,
        )

    def alpha(self, distance: Distance = "nominal") -> Alpha:
        """Krippendorff's α of all judges, on the results that people graded."""
        return krippendorff_alpha(list(self.panel.values()), distance=distance)

    @cached_property
    def task_kappas(self) -> dict[str | None, Kappa]:
        """κ at the threshold within each task."""
        rows: dict[str | None, list[int]] = {}
        for at, task in enumerate(self.tasks):
            rows.setdefault(task, []).append(at)
        truth, given = self._good(self.truth), self._good(self.given)
        return {task: cohen_kappa(truth[each].tolist(), given[each].tolist()) for task, each in rows.items()}

    @cached_property
    def good_rate(self) -> Corrected:
        """The share of good results among such as have a label, in every way that it can be estimated."""
        truth, given, others = (
            self._good(each).astype(np.float64) for each in (self.truth, self.given, self.others)
        )
        name = f"good rate (≥{self.threshold:g})"
        return corrected_mean(name, truth, given, others, *self._clusters, level=self.level)

    @cached_property
    def mean_gain(self) -> Corrected:
        """The mean grade of such results as have a label, in every way that it can be estimated."""
        return corrected_mean(
            "mean gain", self.truth, self.given, self.others, *self._clusters, level=self.level
        )

    @cached_property
    def pairs(self) -> dict[tuple[str, str], tuple[Kappa, Kappa]]:
        """Of every two judges, κ at the threshold and quadratic κ."""
        return {
            (one, other): (
                cohen_kappa(*(self._good_or_none(self.panel[name]) for name in (one, other))),
                cohen_kappa(self.panel[one], self.panel[other], weights="quadratic"),
            )
            for one, other in combinations(self.panel, 2)
        }

    @property
    def warnings(self) -> list[str]:
        """Why labels like these should not be relied on, if there is a reason."""
        told, kappa = [], self.kappa_at(self.threshold).value
        cut = f"κ at ≥{self.threshold:g}"
        if isinstance(kappa, Undefined):
            told.append(f"{cut} is {kappa}")
        elif kappa < FAIR:
            told.append(f"{cut} is {kappa:.3f}, below {FAIR}: who is called good is little more than chance")
        if self.coverage < ENOUGH:
            told.append(
                f"{self.coverage:.1%} of the results that people graded have a label, below {ENOUGH:.0%}: what failed"
                " may be unlike the rest"
            )
        if self.items < FEW:
            results = "result has" if self.items == 1 else "results have"
            told.append(f"{self.items} {results} both grades, fewer than {FEW}: intervals are rough")
        return told

    def table(self, part: Part = "figures") -> Table:
        """One of the tables, every number in full."""
        from judged.agreements.tables import table_of

        return table_of(self, part)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, as it is written in JSON."""
        from judged.agreements.tables import document_of

        return document_of(self)

    def picture(self) -> str:
        """The confusion of grades as a heat map: an SVG."""
        from judged.agreements.tables import picture_of

        return picture_of(self)

    def __repr__(self) -> str:
        from judged.agreements.tables import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from judged.agreements.tables import as_html

        return as_html(self)

    @property
    def _clusters(self) -> tuple[Any, Any]:
        """The tasks, and the labels, of the results that people graded and of the others."""
        return (self.tasks, self.other_tasks), (_plain(self.given), _plain(self.others))

    def _good(self, grades: Floats) -> Any:
        return grades >= self.threshold

    def _good_or_none(self, grades: tuple[Grade | None, ...]) -> list[bool | None]:
        return [None if grade is None else grade >= self.threshold for grade in grades]


def _share(values: Any, none: str) -> float | Undefined:
    return float(values.mean()) if len(values) else Undefined(none)


def _plain(grades: Floats) -> list[Grade]:
    """The grades as people write them: whole ones as whole numbers."""
    return [_number(grade) for grade in grades.tolist()]


def _number(grade: float) -> Grade:
    return int(grade) if float(grade).is_integer() else grade
