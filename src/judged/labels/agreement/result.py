"""Agreement of labels with human grades of the same results: its numbers, its tables, and what people see of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING, ClassVar, TypeAlias, TypeVar

import numpy as np

from judged.arrays import Flags, Floats
from judged.blocks import Block, Display, Estimate, Figure, Notes, Table, Value
from judged.errors import BadSample
from judged.figures import draw_heat_map
from judged.labels.agreement.grades import Grade
from judged.labels.agreement.system_order import RankedSystems
from judged.problem import Note
from judged.result import Provenance, Result, name_rows, tabulate
from judged.stats.intervals import Interval, defined_student_interval, wilson_interval
from judged.stats.outcome import Undefined
from judged.stats.prediction_powered import (
    CorrectedRate,
    PoweredMean,
    StratifiedMean,
    Trust,
    prediction_powered_mean,
    rogan_gladen_rate,
    stratified_mean,
)
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

if TYPE_CHECKING:
    import pyarrow as pa

Number: TypeAlias = int | float | Estimate | Undefined
Cell: TypeAlias = Number | str | None
Row: TypeAlias = Mapping[str, Cell]

WEIGHTS: tuple[Weights, ...] = ("equal", "linear", "quadratic")
Powered = TypeVar("Powered", bound=PoweredMean | StratifiedMean | Undefined)
DISTANCES: tuple[Distance, ...] = ("nominal", "ordinal", "interval")


@dataclass(frozen=True, slots=True)
class MeanEstimates:
    """A mean of human values over all labelled results, in every way that it can be estimated."""

    name: str
    human: PoweredMean | Undefined
    """From the human grades alone."""
    powered: PoweredMean | Undefined
    """PPI++, for results like these."""
    by_task: PoweredMean | Undefined
    """PPI++, for results of other tasks."""
    stratified: StratifiedMean | Undefined
    """Human grades weighted by label, for samples that were chosen by label."""
    labels: PoweredMean | Undefined
    """From the labels alone; its interval ignores their mistakes."""
    rate: CorrectedRate | None = None
    """Rogan and Gladen's estimate of a rate."""

    def estimates(self) -> dict[str, PoweredMean | StratifiedMean | Undefined]:
        """Return every estimate that has an interval, by its name."""
        return {
            "human grades alone": self.human,
            "PPI++": self.powered,
            "PPI++ by task": self.by_task,
            "human grades, weighted by label": self.stratified,
            "labels alone": self.labels,
        }

    def rows(self) -> Iterator[Row]:
        """Yield a row for each estimate: its value and interval, standard error, and reliance on labels."""
        for name, estimate in self.estimates().items():
            row: Row = {"mean": self.name, "estimate": name}
            if isinstance(estimate, Undefined):
                yield {**row, "value": estimate, "error": None, "weight": None}
            else:
                powered = isinstance(estimate, PoweredMean) and estimate is not self.labels
                weight = getattr(estimate, "weight", None) if powered else None
                yield {**row, **_show_interval(estimate), "weight": weight}
        if self.rate is not None:
            rate = {"value": self.rate.value, "error": None, "weight": None}
            yield {"mean": self.name, "estimate": "Rogan–Gladen", **rate}


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The human grades of all results with one label."""

    label: Grade
    results: int
    mean: float
    interval: Interval | Undefined
    """Of the mean, by Student's t."""


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """Labels against human grades of the same results: agreement, bias, and means estimated from both."""

    kind: ClassVar[str] = "agreement"
    pages: ClassVar[tuple[str, ...]] = ("agreement",)
    detail: ClassVar[str] = "tasks"

    labels: str
    human: str
    truth: Floats
    """Human grade of each result that both graded."""
    given: Floats
    """Label of each of these results."""
    tasks: tuple[str | None, ...]
    """Task of each of these results."""
    others: Floats
    """Labels of results without a human grade."""
    other_tasks: tuple[str | None, ...]
    only_human: int
    """Number of results with a human grade but no label."""
    panel: Mapping[str, tuple[Grade | None, ...]]
    """Grades of every judge on the results that people graded, people first."""
    systems: tuple[RankedSystems, ...] = ()
    """Systems ranked under both, for each measure."""
    threshold: float = 2
    """The grade from which a result is good."""
    level: float = 0.95
    resamples: int = 10_000
    seed: int = 0
    notes: tuple[Note, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def items(self) -> int:
        """Number of results that both graded."""
        return len(self.truth)

    @property
    def only_labels(self) -> int:
        """Number of results with a label but no human grade."""
        return len(self.others)

    @property
    def coverage(self) -> float:
        """Share of the results with a human grade that have a label."""
        return self.items / (self.items + self.only_human)

    @property
    def exact(self) -> float:
        """Share of results with the same grade from both."""
        return float((self.given == self.truth).mean())

    @property
    def within_one(self) -> float:
        """Share of results whose grades differ by at most 1."""
        return float((np.abs(self.given - self.truth) <= 1).mean())

    @property
    def mean_absolute_error(self) -> float:
        """Mean absolute difference of the grades."""
        return float(np.abs(self.given - self.truth).mean())

    @property
    def bias(self) -> float:
        """Mean label minus mean human grade: positive if labels are lenient."""
        return float((self.given - self.truth).mean())

    @property
    def precision(self) -> float | Undefined:
        """Share of good results by human grades among those that are good by labels."""
        return _share(self._good(self.truth)[self._good(self.given)], "no label is good")

    @property
    def recall(self) -> float | Undefined:
        """Share of good results by labels among those that are good by human grades."""
        return _share(self._good(self.given)[self._good(self.truth)], "no human grade is good")

    @property
    def warnings(self) -> list[str]:
        """Reasons not to rely on the labels."""
        return [note.message for note in self.notes if note.severity == "warning"]

    @cached_property
    def confusion(self) -> Confusion:
        """Number of results by human grade (row) and label (column)."""
        return confusion_matrix(_to_grades(self.truth), _to_grades(self.given))

    @cached_property
    def grade_bias(self) -> GradeBias:
        """Mean label of each human grade."""
        return grade_bias(_to_grades(self.truth), _to_grades(self.given))

    @cached_property
    def calibration(self) -> tuple[Calibrated, ...]:
        """Mean human grade of the results with each label: labels that mean what they say are equal to it."""
        return tuple(
            Calibrated(
                _to_grade(label),
                len(own),
                float(own.mean()),
                defined_student_interval(own, level=self.level),
            )
            for label in np.unique(self.given).tolist()
            for own in [self.truth[self.given == label]]
        )

    def kappa(self, weights: Weights = "equal") -> Kappa:
        """Return Cohen's κ of the grades."""
        return cohen_kappa(_to_grades(self.truth), _to_grades(self.given), weights=weights)

    def kappa_at(self, threshold: float) -> Kappa:
        """Return Cohen's κ of whether a result has at least the grade `threshold`."""
        return cohen_kappa((self.truth >= threshold).tolist(), (self.given >= threshold).tolist())

    @property
    def thresholds(self) -> list[Grade]:
        """Every grade that divides the results in two, and the one from which they are good."""
        return sorted({*self.confusion.labels[1:], _to_grade(self.threshold)})

    @cached_property
    def kappa_interval(self) -> Interval | Undefined:
        """Interval of κ at the threshold, from resamples of whole tasks."""
        return kappa_interval(
            self._good(self.truth).tolist(),
            self._good(self.given).tolist(),
            self.tasks,
            level=self.level,
            resamples=self.resamples,
            seed=self.seed,
        )

    def alpha(self, distance: Distance = "nominal") -> Alpha:
        """Return Krippendorff's α of all judges, on the results that people graded."""
        return krippendorff_alpha(list(self.panel.values()), distance=distance)

    @cached_property
    def task_kappas(self) -> dict[str | None, Kappa]:
        """κ at the threshold within each task."""
        rows: dict[str | None, list[int]] = {}
        for row, task in enumerate(self.tasks):
            rows.setdefault(task, []).append(row)
        truth, given = self._good(self.truth), self._good(self.given)
        return {task: cohen_kappa(truth[own].tolist(), given[own].tolist()) for task, own in rows.items()}

    @cached_property
    def good_rate(self) -> MeanEstimates:
        """Share of good results among the labelled ones, in every way that it can be estimated."""
        truth, given, others = (
            self._good(grades).astype(np.float64) for grades in (self.truth, self.given, self.others)
        )
        found = self._estimate_mean(f"good rate (≥{self.threshold:g})", truth, given, others)
        return replace(
            found,
            human=_bound_share(found.human, truth),
            powered=_bound_rate(found.powered),
            by_task=_bound_rate(found.by_task),
            stratified=_bound_rate(found.stratified),
            labels=_bound_share(found.labels, np.concatenate([given, others])),
        )

    @cached_property
    def mean_gain(self) -> MeanEstimates:
        """Mean grade of the labelled results, in every way that it can be estimated."""
        return self._estimate_mean("mean gain", self.truth, self.given, self.others)

    @cached_property
    def pairs(self) -> dict[tuple[str, str], tuple[Kappa, Kappa]]:
        """κ at the threshold and quadratic κ of every two judges."""
        good = {
            name: [None if grade is None else grade >= self.threshold for grade in grades]
            for name, grades in self.panel.items()
        }
        return {
            (judge, other): (
                cohen_kappa(good[judge], good[other]),
                cohen_kappa(self.panel[judge], self.panel[other], weights="quadratic"),
            )
            for judge, other in combinations(self.panel, 2)
        }

    def _good(self, grades: Floats) -> Flags:
        return grades >= self.threshold

    def _estimate_mean(self, name: str, human: Floats, labels: Floats, others: Floats) -> MeanEstimates:
        """Estimate the mean of human values over all labelled results, of which people graded a sample."""
        tasks: tuple[Sequence[Hashable], Sequence[Hashable]] = (self.tasks, self.other_tasks)
        every = np.concatenate([labels, others])
        binary = all(((values == 0) | (values == 1)).all() for values in (human, every))
        return MeanEstimates(
            name,
            _power_mean(human, labels, others, trust="none", level=self.level),
            _power_mean(human, labels, others, level=self.level),
            _power_mean(human, labels, others, clusters=tasks, level=self.level),
            stratified_mean(human, _to_grades(self.given), _to_grades(self.others), level=self.level),
            _power_mean(every, every, trust="none", level=self.level),
            rogan_gladen_rate(human, labels, others) if binary else None,
        )

    # Tables and blocks

    def figures(self) -> Iterator[tuple[str, Number]]:
        """Yield every number of the whole sample with its name."""
        good = f"≥{self.threshold:g}"
        yield "results with both", self.items
        yield "with a label only", self.only_labels
        yield "with a human grade only", self.only_human
        yield "same grade", self.exact
        yield "at most 1 apart", self.within_one
        yield "mean absolute error", self.mean_absolute_error
        yield "bias (labels − human)", self.bias
        for weights in WEIGHTS:
            yield "κ" if weights == "equal" else f"κ, {weights} weights", self.kappa(weights).value
        for cut in self.thresholds:
            yield f"κ at ≥{cut}", self._kappa_at_cut(cut)
        yield f"precision at {good}", self.precision
        yield f"recall at {good}", self.recall
        for distance in DISTANCES:
            yield f"α, {distance}", self.alpha(distance).value
        kappas = [kappa.value for kappa in self.task_kappas.values()]
        defined = [value for value in kappas if not isinstance(value, Undefined)]
        yield "tasks", len(kappas)
        if len(defined) < len(kappas):
            yield f"tasks without κ at {good}", len(kappas) - len(defined)
        if defined:
            yield f"κ at {good} of a task, minimum", min(defined)
            yield f"κ at {good} of a task, median", median(defined)
            yield f"κ at {good} of a task, maximum", max(defined)

    def _kappa_at_cut(self, cut: Grade) -> Number:
        kappa, interval = self.kappa_at(cut).value, self.kappa_interval
        if cut != self.threshold or isinstance(kappa, Undefined):
            return kappa
        if isinstance(interval, Undefined):
            return Estimate(kappa, reason=str(interval))
        return Estimate(kappa, interval.low, interval.high)

    def summary(self) -> Mapping[str, object]:
        """Return who is compared, and the threshold."""
        return {"labels": self.labels, "human": self.human, "threshold": self.threshold, "level": self.level}

    @cached_property
    def _subjects(self) -> Mapping[str, list[Row]]:
        """Rows of every table apart from the main one."""
        grades = self.confusion.labels
        ranked = [(systems.measure, pair) for systems in self.systems for pair in systems.coefficients()]
        return {
            "confusion": [
                {"human": human, "label": label, "count": count}
                for human, counts in zip(grades, self.confusion.counts.tolist(), strict=True)
                for label, count in zip(grades, counts, strict=True)
            ],
            "grades": [
                {
                    "grade": _to_grade(row.grade),
                    "results": row.items,
                    "same": row.agreed,
                    "mean": row.mean,
                    "bias": row.bias,
                }
                for row in self.grade_bias.grades
            ],
            "calibration": [
                {
                    "label": row.label,
                    "results": row.results,
                    "mean": row.mean
                    if isinstance(row.interval, Undefined)
                    else Estimate(row.mean, row.interval.low, row.interval.high),
                }
                for row in self.calibration
            ],
            "tasks": [
                {"task": task or "any", "results": kappa.items, "kappa": kappa.value}
                for task, kappa in self.task_kappas.items()
            ],
            "means": [*self.good_rate.rows(), *self.mean_gain.rows()],
            "judges": [
                {
                    "judge": judge,
                    "other": other,
                    "results": kappa.items,
                    "kappa": kappa.value,
                    "quadratic_kappa": quadratic.value,
                }
                for (judge, other), (kappa, quadratic) in self.pairs.items()
            ],
            "rankings": [
                {"measure": measure, "coefficient": name, "value": value} for measure, (name, value) in ranked
            ],
            "systems": [row for systems in self.systems for row in systems.rows()],
        }

    def tables(self) -> Mapping[str, pa.Table]:
        """Return all numbers in one long table, and the tables by subject."""
        subjects = self._subjects
        parts: list[tuple[Cell, Cell, Cell]] = [
            *(("figures", name, value) for name, value in self.figures()),
            *(
                ("confusion", f"human {row['human']}, label {row['label']}", row["count"])
                for row in subjects["confusion"]
            ),
            *(("bias", f"human {row['grade']}", row["bias"]) for row in subjects["grades"]),
            *(("task", row["task"], row["kappa"]) for row in subjects["tasks"]),
            *((row["mean"], row["estimate"], row["value"]) for row in subjects["means"]),
            *((row["measure"], row["coefficient"], row["value"]) for row in subjects["rankings"]),
        ]
        empty: Row = dict.fromkeys(("value", "low", "high", "undefined"))
        figures = [
            _flatten({"part": part, "name": name, **empty, "value": value}) for part, name, value in parts
        ]
        names = {ranked.measure: ranked.canonical or ranked.measure for ranked in self.systems}
        return {
            "figures": tabulate(figures),
            **{
                name: name_rows(tabulate([_flatten(row) for row in rows]), names)
                for name, rows in subjects.items()
            },
        }

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return the numbers, the confusion of grades, the means, and the order of systems if there are any."""
        title = display.title or f"{self.labels} against {self.human}"
        cut = f"κ at ≥{self.threshold:g}"
        figures = tuple((name, _to_value(value)) for name, value in self.figures())
        yield Table(("figure", "value"), figures, title=title)
        yield self._confusion_block()
        yield self.figure()
        columns = ["human grade", "results", "same label", "mean label", "bias"]
        yield self._subject_block("grades", columns, "Bias by grade")
        if display.per_query:
            yield self._subject_block("tasks", ["task", "results", cut], "By task")
        columns = ["mean", "estimate", f"value [{self.level:.0%} interval]", "error", "λ"]
        title = f"Means of human grades, estimated from {self.items:,} of them"
        yield self._subject_block("means", columns, title)
        if len(self.panel) > 2:
            columns = ["judge", "other", "results", cut, "κ, quadratic weights"]
            yield self._subject_block("judges", columns, "Pairs of judges")
        if self.systems:
            title = "Do labels rank systems as people do?"
            yield self._subject_block("rankings", ["measure", "rank correlation", "value"], title)
            columns = ["measure", "system", "human", "labels", "place by human", "place by labels"]
            yield self._subject_block("systems", columns, "Systems under human grades and labels")
        if display.notes and self.notes:
            yield Notes(self.notes)

    def _subject_block(self, name: str, columns: Sequence[str], title: str) -> Table:
        rows = tuple(tuple(map(_to_value, row.values())) for row in self._subjects[name])
        return Table(tuple(columns), rows, title=title)

    def figure(self) -> Figure:
        """Return the confusion of grades as a heat map."""
        kappa = self.kappa("quadratic").value
        quality = f"κ {kappa}" if isinstance(kappa, Undefined) else f"κ (quadratic) {kappa:.3f}"
        return draw_heat_map(
            self.confusion.counts.tolist(),
            [str(label) for label in self.confusion.labels],
            name="confusion",
            title=f"{self.labels} against {self.human}",
            x="labels",
            y="human",
            note=f"{self.items:,} results, {quality}; shade and percentage: share of the row",
        )

    def _confusion_block(self) -> Table:
        counts, names = self.confusion.counts, [str(label) for label in self.confusion.labels]
        rows: list[tuple[Value, ...]] = [
            (f"human {name}", *line, sum(line)) for name, line in zip(names, counts.tolist(), strict=True)
        ]
        rows.append(("all", *counts.sum(axis=0).tolist(), self.items))
        columns = ("grade", *(f"label {name}" for name in names), "all")
        return Table(columns, tuple(rows), title="Results by human grade and label", foot=1)


def _show_interval(estimate: PoweredMean | StratifiedMean) -> Row:
    """Return the cells of an estimate's value and standard error; the reason in place of an interval that does not exist."""
    low, high, error = estimate.low, estimate.high, estimate.error
    if isinstance(low, Undefined) or isinstance(high, Undefined):
        return {"value": Estimate(estimate.mean, reason=str(low)), "error": None}
    return {
        "value": Estimate(estimate.mean, low, high),
        "error": None if isinstance(error, Undefined) else error,
    }


def _bound_share(estimate: PoweredMean | Undefined, values: Floats) -> PoweredMean | Undefined:
    """Return the share of values that are 0 or 1 with Wilson's interval, which needs no spread."""
    if isinstance(estimate, Undefined):
        return estimate
    interval = wilson_interval(values, level=estimate.level)
    return replace(estimate, low=interval.low, high=interval.high)


def _bound_rate(estimate: Powered) -> Powered:
    """Return an estimate of a rate that is not below 0 or above 1, nor are the ends of its interval."""
    if isinstance(estimate, Undefined):
        return estimate
    low, high = (
        end if isinstance(end, Undefined) else min(max(end, 0.0), 1.0)
        for end in (estimate.low, estimate.high)
    )
    return replace(estimate, mean=min(max(estimate.mean, 0.0), 1.0), low=low, high=high)


def _power_mean(
    *values: Floats,
    trust: Trust = "tuned",
    clusters: tuple[Sequence[Hashable], Sequence[Hashable]] | None = None,
    level: float,
) -> PoweredMean | Undefined:
    """Return the mean, or the reason why these values have no interval."""
    try:
        return prediction_powered_mean(*values, trust=trust, clusters=clusters, level=level)
    except BadSample as error:
        return Undefined(error.message)


def _flatten(row: Row) -> dict[str, Value]:
    """Return a row as plain data: an estimate with its bounds, an undefined number as None and the reason."""
    flat: dict[str, Value] = {}
    for name, cell in row.items():
        if isinstance(cell, Estimate):
            flat |= {name: cell.value, "low": cell.low, "high": cell.high, "undefined": cell.reason or None}
        elif isinstance(cell, Undefined):
            flat |= {name: None, "undefined": cell.reason}
        else:
            flat.setdefault(name, cell)
    return flat


def _to_value(cell: Cell) -> Value:
    return str(cell) if isinstance(cell, Undefined) else cell


def _share(values: Flags, reason: str) -> float | Undefined:
    return float(values.mean()) if len(values) else Undefined(reason)


def _to_grades(grades: Floats) -> list[Grade]:
    return [_to_grade(grade) for grade in grades.tolist()]


def _to_grade(grade: float) -> Grade:
    """Return a grade as people write it: whole numbers as int."""
    return int(grade) if float(grade).is_integer() else grade
