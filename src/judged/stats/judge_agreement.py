"""How far judges agree on grades: Cohen's κ, the confusion of grades, and the bias of each grade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadSample, UnknownName
from judged.stats.labels import NO_ITEMS, as_grades, in_order, missing, plain
from judged.stats.layout import Floats
from judged.stats.rows import Cell, as_row
from judged.stats.undefined import Undefined

__all__ = [
    "Bias",
    "Confusion",
    "GradeBias",
    "Kappa",
    "Weights",
    "cohen_kappa",
    "confusion_matrix",
    "distances",
    "grade_bias",
]

Weights: TypeAlias = Literal["equal", "linear", "quadratic"]


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often the first judge gave one label and the second another."""

    labels: tuple[Any, ...]
    counts: NDArray[np.int64]
    """A row for each label of the first judge, a column for each of the second."""
    missing: int
    """How many items lack the label of one judge or both, and are not counted."""

    @property
    def items(self) -> int:
        """How many items have labels from both judges."""
        return int(self.counts.sum())

    def rows(self) -> list[dict[str, Cell]]:
        """A dict for each label of the first judge: the label, and the count of each label of the second."""
        names = [str(label) for label in self.labels]
        return [
            {"label": name, **dict(zip(names, counts.tolist(), strict=True))}
            for name, counts in zip(names, self.counts, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's κ of two judges, with what it is made of."""

    weights: Weights
    value: float | Undefined
    """1 for full agreement, 0 for what chance would give, below 0 for less."""
    observed: float | Undefined
    """The share of items on which the labels are the same."""
    items: int
    missing: int

    def rows(self) -> list[dict[str, Cell]]:
        """One dict; what is undefined as its words."""
        return [as_row(self)]


@dataclass(frozen=True, slots=True)
class Bias:
    """What one judge gave where the reference gave a certain grade."""

    grade: float
    items: int
    agreed: float
    """The share of them that were given the same grade."""
    mean: float
    """The mean of the grades given."""
    bias: float
    """The mean less the grade: above 0 is lenient."""


@dataclass(frozen=True, slots=True)
class GradeBias:
    """How lenient or strict a judge is, over all items and for each grade of the reference."""

    bias: float | Undefined
    """The mean of the grades given less the mean of the reference's."""
    grades: tuple[Bias, ...]
    items: int
    missing: int

    def rows(self) -> list[dict[str, Cell]]:
        """A dict for each grade of the reference."""
        return [as_row(each) for each in self.grades]


def cohen_kappa(first: Sequence[Any], second: Sequence[Any], *, weights: Weights = "equal") -> Kappa:
    r"""Cohen's κ of two judges on the same items.

    $$\kappa = 1 - \frac{\sum_{jk} w_{jk} o_{jk}}{\sum_{jk} w_{jk} e_{jk}}$$

    with $o$ the counts of pairs of labels, $e$ those expected if each judge gave their own labels at random, and $w$ how
    bad it is to disagree: 1 for any two labels (`equal`), $|j - k|$ (`linear`) or $(j - k)^2$ (`quadratic`) of the grades
    themselves, so that a grade nobody gave still counts as a step. None and NaN are missing labels; items without both
    are left out and counted. Where both judges gave one and the same label throughout, chance would agree as well and
    κ is undefined.

    Example:
        >>> kappa = cohen_kappa([0, 0, 1, 1, 2, None], [0, 1, 1, 1, 2, 2])
        >>> round(kappa.value, 4), kappa.observed, kappa.items, kappa.missing
        (0.6875, 0.8, 5, 1)

    References:
        Cohen. Weighted kappa. Psychological Bulletin 70(4), 1968. doi:10.1037/h0026256
    """
    if weights not in get_args(Weights):
        raise UnknownName("weighting of κ", weights, get_args(Weights))
    table = confusion_matrix(first, second)
    if table.items == 0:
        return Kappa(weights, NO_ITEMS, NO_ITEMS, 0, table.missing)
    observed = float(np.trace(table.counts)) / table.items
    return Kappa(weights, _kappa(table, weights), observed, table.items, table.missing)


def confusion_matrix(first: Sequence[Any], second: Sequence[Any]) -> Confusion:
    """How often each label of the first judge met each of the second, over the items that both labelled.

    >>> confusion_matrix(["good", "bad", "good"], ["good", "good", None]).rows()
    [{'label': 'bad', 'bad': 0, 'good': 1}, {'label': 'good', 'bad': 0, 'good': 1}]
    """
    pairs, lacking = _both(first, second)
    labels = in_order({label for pair in pairs for label in pair})
    place = {label: at for at, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for one, other in pairs:
        counts[place[one], place[other]] += 1
    return Confusion(tuple(labels), counts, lacking)


def grade_bias(reference: Sequence[Any], judge: Sequence[Any]) -> GradeBias:
    """Of each grade of the reference, what the judge gave on average, and how often the same.

    >>> [(each.grade, each.items, each.bias) for each in grade_bias([0, 0, 2, 2], [0, 1, 2, 1]).grades]
    [(0.0, 2, 0.5), (2.0, 2, -0.5)]
    """
    pairs, lacking = _both(reference, judge)
    if not pairs:
        return GradeBias(NO_ITEMS, (), 0, lacking)
    truth, given = as_grades([one for one, _ in pairs]), as_grades([other for _, other in pairs])
    found = tuple(_bias(grade, given[truth == grade]) for grade in np.unique(truth).tolist())
    return GradeBias(float((given - truth).mean()), found, len(pairs), lacking)


def _bias(grade: float, given: Floats) -> Bias:
    mean = float(given.mean())
    return Bias(grade, len(given), float((given == grade).mean()), mean, mean - grade)


def _kappa(table: Confusion, weights: Weights) -> float | Undefined:
    disagreement = distances(table.labels, weights)
    expected = np.outer(table.counts.sum(axis=1), table.counts.sum(axis=0)) / table.items
    chance = float((disagreement * expected).sum())
    if chance == 0:
        return Undefined(f"no spread: both judges gave only `{table.labels[0]}`")
    return 1 - float((disagreement * table.counts).sum()) / chance


def distances(labels: tuple[Any, ...], weights: Weights) -> Floats:
    """How bad it is to give one label for another, a row and a column for each."""
    if weights == "equal":
        return 1 - np.eye(len(labels))
    values = as_grades(labels)
    apart: Floats = np.abs(values[:, None] - values)
    return apart if weights == "linear" else apart**2


def _both(first: Sequence[Any], second: Sequence[Any]) -> tuple[list[tuple[Any, Any]], int]:
    """The pairs of labels of items that both judges labelled, and how many items they did not."""
    if len(first) != len(second):
        msg = (
            f"the judges gave {len(first):,} and {len(second):,} labels, expected one of each for every item"
        )
        raise BadSample(msg, hint="None stands for a label that is missing")
    pairs = [(plain(one), plain(other)) for one, other in zip(first, second, strict=True)]
    kept = [pair for pair in pairs if not any(map(missing, pair))]
    return kept, len(pairs) - len(kept)
