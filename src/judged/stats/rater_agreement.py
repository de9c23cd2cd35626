"""Agreement of judges on labels: Cohen's κ with its interval, Krippendorff's α, confusion of labels, bias of grades.

None and NaN are missing labels.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np

from judged.arrays import Floats, Ints
from judged.errors import BadSample, UnknownName
from judged.stats.bootstrap import draw_resamples
from judged.stats.intervals import Interval
from judged.stats.outcome import Cell, Undefined, as_row
from judged.stats.paired import check_level

Label: TypeAlias = Hashable
Weights: TypeAlias = Literal["equal", "linear", "quadratic"]
Distance: TypeAlias = Literal["nominal", "ordinal", "interval"]

NO_ITEMS = Undefined("no item has labels from two judges")


@dataclass(frozen=True, slots=True)
class Confusion:
    """The number of items for each label of the first judge and each of the second."""

    labels: tuple[Any, ...]
    counts: Ints
    """A row for each label of the first judge, a column for each of the second."""
    missing: int
    """The number of items that lack the label of one judge or both, and are not counted."""

    @property
    def items(self) -> int:
        """The number of items with labels from both judges."""
        return int(self.counts.sum())

    def rows(self) -> list[dict[str, Cell]]:
        """Return a dict for each label of the first judge: the label, and the count of each label of the second."""
        names = [str(label) for label in self.labels]
        return [
            {"label": name, **dict(zip(names, counts.tolist(), strict=True))}
            for name, counts in zip(names, self.counts, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's κ of two judges."""

    weights: Weights
    value: float | Undefined
    """1 for full agreement, 0 for agreement by chance, below 0 for less."""
    observed: float | Undefined
    """The share of items on which the labels are the same."""
    items: int
    missing: int

    def rows(self) -> list[dict[str, Cell]]:
        """Return one dict, an undefined number as its text."""
        return [as_row(self)]


@dataclass(frozen=True, slots=True)
class Bias:
    """The grades of one judge where the reference has a certain grade."""

    grade: float
    items: int
    agreed: float
    """The share of them with the same grade."""
    mean: float
    """The mean of the judge's grades."""
    bias: float
    """The mean less the grade: above 0 is lenient."""


@dataclass(frozen=True, slots=True)
class GradeBias:
    """Leniency of a judge, over all items and for each grade of the reference."""

    bias: float | Undefined
    """The mean of the judge's grades less the mean of the reference's."""
    grades: tuple[Bias, ...]
    items: int
    missing: int

    def rows(self) -> list[dict[str, Cell]]:
        """Return a dict for each grade of the reference."""
        return [as_row(bias) for bias in self.grades]


def cohen_kappa(first: Sequence[Label], second: Sequence[Label], *, weights: Weights = "equal") -> Kappa:
    r"""Return Cohen's κ of two judges on the same items.

    $$\kappa = 1 - \frac{\sum_{jk} w_{jk} o_{jk}}{\sum_{jk} w_{jk} e_{jk}}$$

    with $o$ the counts of pairs of labels, $e$ those expected if each judge gave their own labels at random, and $w$ the
    weight of a disagreement: 1 for any two labels (`equal`), $|j - k|$ (`linear`) or $(j - k)^2$ (`quadratic`) of the
    grades themselves, so that a grade nobody gave still counts as a step. None and NaN are missing labels; items
    without both labels are left out and counted. κ is undefined if both judges gave one and the same label throughout:
    chance would agree as well.

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


def confusion_matrix(first: Sequence[Label], second: Sequence[Label]) -> Confusion:
    """Count each pair of labels over the items that both judges labelled.

    >>> confusion_matrix(["good", "bad", "good"], ["good", "good", None]).rows()
    [{'label': 'bad', 'bad': 0, 'good': 1}, {'label': 'good', 'bad': 0, 'good': 1}]
    """
    pairs, lacking = _label_pairs(first, second)
    labels = sort_labels(label for pair in pairs for label in pair)
    place = {label: at for at, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for one, other in pairs:
        counts[place[one], place[other]] += 1
    return Confusion(tuple(labels), counts, lacking)


def grade_bias(reference: Sequence[Label], judge: Sequence[Label]) -> GradeBias:
    """Return, for each grade of the reference, the judge's mean grade and the share of equal grades.

    >>> [(bias.grade, bias.items, bias.bias) for bias in grade_bias([0, 0, 2, 2], [0, 1, 2, 1]).grades]
    [(0.0, 2, 0.5), (2.0, 2, -0.5)]
    """
    pairs, lacking = _label_pairs(reference, judge)
    if not pairs:
        return GradeBias(NO_ITEMS, (), 0, lacking)
    truth, given = (_as_grades([pair[side] for pair in pairs]) for side in (0, 1))
    by_grade = tuple(_bias(grade, given[truth == grade]) for grade in np.unique(truth).tolist())
    return GradeBias(float((given - truth).mean()), by_grade, len(pairs), lacking)


def _bias(grade: float, given: Floats) -> Bias:
    mean = float(given.mean())
    return Bias(grade, len(given), float((given == grade).mean()), mean, mean - grade)


def _kappa(table: Confusion, weights: Weights) -> float | Undefined:
    disagreement = _disagreements(table.labels, weights)
    expected = np.outer(table.counts.sum(axis=1), table.counts.sum(axis=0)) / table.items
    chance = float((disagreement * expected).sum())
    if chance == 0:
        return Undefined(f"no spread: both judges gave only `{table.labels[0]}`")
    return 1 - float((disagreement * table.counts).sum()) / chance


def _disagreements(labels: tuple[Label, ...], weights: Weights) -> Floats:
    """Return the weight of giving one label for another, a row and a column for each."""
    if weights == "equal":
        return 1 - np.eye(len(labels))
    values = _as_grades(labels)
    apart: Floats = np.abs(values[:, None] - values)
    return apart if weights == "linear" else apart**2


def _label_pairs(first: Sequence[Label], second: Sequence[Label]) -> tuple[list[tuple[Label, Label]], int]:
    """Return the pairs of labels of items that both judges labelled, and the number of other items."""
    if len(first) != len(second):
        msg = (
            f"the judges gave {len(first):,} and {len(second):,} labels, expected one of each for every item"
        )
        raise BadSample(msg, hint="None stands for a label that is missing")
    pairs = [(_plain(one), _plain(other)) for one, other in zip(first, second, strict=True)]
    kept = [pair for pair in pairs if not any(map(_is_missing, pair))]
    return kept, len(pairs) - len(kept)


def kappa_interval(
    first: Sequence[Label],
    second: Sequence[Label],
    clusters: Sequence[Hashable],
    *,
    weights: Weights = "equal",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval | Undefined:
    """Return Cohen's κ with its percentile interval from resamples of whole clusters, such as the topics of a collection.

    Judges err alike on the items of one topic, so topics are independent draws and items are not. Items without both
    labels are left out. The interval is undefined for one cluster, and where a resample has one label only.

    Example:
        >>> human, model = [0, 1, 1, 0, 1, 0, 0, 1], [0, 1, 0, 0, 1, 1, 0, 1]
        >>> interval = kappa_interval(human, model, ["a", "a", "a", "b", "b", "b", "c", "c"], resamples=1000)
        >>> interval.mean, interval.low <= 0.5 <= interval.high
        (0.5, True)
    """
    check_level(level)
    if not len(first) == len(second) == len(clusters):
        msg = f"{len(first):,} and {len(second):,} labels of {len(clusters):,} items were given, expected as many of each"
        raise BadSample(msg)
    observed = cohen_kappa(first, second, weights=weights).value
    if isinstance(observed, Undefined):
        return observed
    counts, apart = _count_by_cluster(first, second, clusters, weights)
    if len(counts) == 1:
        return Undefined("one cluster")
    blocks = draw_resamples(len(counts), resamples=resamples, seed=seed)
    drawn = np.concatenate([_kappas(_multiplicities(places) @ counts, apart) for places in blocks])
    empty = int(np.isnan(drawn).sum())
    if empty:
        return Undefined(f"{empty:,} of {resamples:,} resamples have one label only")
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return Interval(observed, low, high, level, "percentile")


def _count_by_cluster(
    first: Sequence[Label], second: Sequence[Label], clusters: Sequence[Hashable], weights: Weights
) -> tuple[Floats, Floats]:
    """Return the counts of each pair of labels, a row for each cluster; and the weights of disagreements."""
    whole = confusion_matrix(first, second)
    place = {label: at for at, label in enumerate(whole.labels)}
    number: dict[Hashable, int] = {}
    cells, size = [], len(whole.labels)
    for one, other, cluster in zip(first, second, clusters, strict=True):
        if not _is_missing(one) and not _is_missing(other):
            row = number.setdefault(cluster, len(number))
            cells.append((row * size + place[one]) * size + place[other])
    counts = np.bincount(cells, minlength=len(number) * size**2).astype(np.float64)
    return counts.reshape(len(number), size**2), _disagreements(whole.labels, weights)


def _multiplicities(places: Ints) -> Floats:
    """Return how often each cluster was drawn, in each resample."""
    rows, size = places.shape
    flat = (places + np.arange(rows)[:, None] * size).ravel()
    return np.bincount(flat, minlength=rows * size).reshape(rows, size).astype(np.float64)


def _kappas(counts: Floats, apart: Floats) -> Floats:
    """Return κ of each row of counts; NaN where chance would agree as well."""
    table = counts.reshape(-1, *apart.shape)
    items = table.sum(axis=(1, 2))
    expected = table.sum(axis=2)[:, :, None] * table.sum(axis=1)[:, None, :] / items[:, None, None]
    chance = (expected * apart).sum(axis=(1, 2))
    ratio: Floats = np.full(len(table), np.nan)
    np.divide((table * apart).sum(axis=(1, 2)), chance, out=ratio, where=chance > 0)
    return 1 - ratio


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's α of several judges."""

    distance: Distance
    value: float | Undefined
    """1 for full agreement, 0 for agreement by chance, below 0 for less."""
    items: int
    """The number of items with labels from two judges or more, which can be compared."""
    alone: int
    """The number of items with a label from one judge or none, which say nothing about agreement."""
    labels: int
    """The number of labels of the items that can be compared."""

    def rows(self) -> list[dict[str, Cell]]:
        """Return one dict, an undefined number as its text."""
        return [as_row(self)]


def krippendorff_alpha(judges: Sequence[Sequence[Label]], *, distance: Distance = "nominal") -> Alpha:
    r"""Return Krippendorff's α of the labels of several judges, a sequence for each judge, in the same order of items.

    $$\alpha = 1 - \frac{D_o}{D_e}, \qquad D_o = \frac{1}{n} \sum_{ck} o_{ck} \delta_{ck}, \qquad
      D_e = \frac{1}{n (n - 1)} \sum_{ck} n_c n_k \delta_{ck}$$

    with $o_{ck}$ the coincidences of labels $c$ and $k$ on one item, an item of $m$ labels weighing $1 / (m - 1)$ for each
    pair, and $n_c$ their sums. $\delta$ is 1 (`nominal`), the square of the number of labels between (`ordinal`), or of the
    difference of the grades (`interval`). None and NaN are missing labels. α is undefined if all labels that can be
    compared are the same: nothing could have disagreed.

    Example:
        >>> alpha = krippendorff_alpha([[1, 2, 3, None], [1, 2, 2, 3], [1, 3, 3, None]], distance="interval")
        >>> round(alpha.value, 4), alpha.items, alpha.alone
        (0.7037, 3, 1)

    References:
        Krippendorff. Computing Krippendorff's alpha-reliability. University of Pennsylvania, 2011.
    """
    if distance not in get_args(Distance):
        raise UnknownName("distance of labels", distance, get_args(Distance))
    items = _count_labels(judges)
    shared = [item for item in items if item.total() > 1]
    labels = sort_labels(label for item in shared for label in item)
    value = _alpha(shared, labels, distance) if shared else NO_ITEMS
    return Alpha(distance, value, len(shared), len(items) - len(shared), sum(item.total() for item in shared))


def _count_labels(judges: Sequence[Sequence[Label]]) -> list[Counter[Label]]:
    """Return, for each item, how often each label was given to it."""
    if len(judges) < 2:
        msg = f"labels of {len(judges)} judge were given, expected two or more"
        raise BadSample(msg, hint="give a sequence of labels for each judge, all of the same items")
    sizes = sorted({len(labels) for labels in judges})
    if len(sizes) > 1:
        msg = f"the judges gave {sizes[0]:,} and {sizes[-1]:,} labels, expected one of each for every item"
        raise BadSample(msg, hint="None stands for a label that is missing")
    plain = [[_plain(label) for label in labels] for labels in judges]
    return [Counter(label for label in item if not _is_missing(label)) for item in zip(*plain, strict=True)]


def _alpha(items: list[Counter[Label]], labels: list[Label], distance: Distance) -> float | Undefined:
    together = _coincidences(items, labels)
    given = together.sum(axis=1)
    apart = _squared_distances(labels, given, distance)
    chance = float((np.outer(given, given) * apart).sum())
    if chance == 0:
        return Undefined(f"no spread: every label is `{labels[0]}`")
    return 1 - (float(given.sum()) - 1) * float((together * apart).sum()) / chance


def _coincidences(items: list[Counter[Label]], labels: list[Label]) -> Floats:
    """Count each pair of labels on an item; an item weighs as much as it has labels."""
    counts = np.array([[item[label] for label in labels] for item in items], dtype=np.float64)
    size = counts.sum(axis=1)
    weighted = counts / (size - 1)[:, None]
    # no judge's label is paired with itself
    pairs: Floats = counts.T @ weighted - np.diag(weighted.sum(axis=0))
    return pairs


def _squared_distances(labels: list[Label], given: Floats, distance: Distance) -> Floats:
    if distance == "nominal":
        return 1 - np.eye(len(labels))
    grades = _as_grades(labels)
    # ordinal: from the middle of one label's share of all labels to the middle of another's
    place = grades if distance == "interval" else np.cumsum(given) - given / 2
    squared: Floats = (place[:, None] - place) ** 2
    return squared


def _plain(label: Label) -> Label:
    """Convert a NumPy scalar to Python's own number or text, so that labels of arrays and lists are equal.

    >>> _plain(np.int64(2)), _plain("good")
    (2, 'good')
    """
    return cast("Label", label.item()) if isinstance(label, np.generic) else label


def _is_missing(label: Label) -> bool:
    """Return whether a label is None or NaN.

    >>> [_is_missing(label) for label in (None, math.nan, 0, "")]
    [True, True, False, False]
    """
    return label is None or (isinstance(label, float) and math.isnan(label))


def sort_labels(labels: Iterable[Label]) -> list[Label]:
    """Return the distinct labels in their own order; labels of several types, which have none, by type and text.

    >>> sort_labels([3, 1, 1]), sort_labels(["b", 2])
    ([1, 3], [2, 'b'])
    """
    distinct = set(labels)
    try:
        return sorted(distinct)  # type: ignore[type-var]
    except TypeError:
        return sorted(distinct, key=lambda label: (type(label).__name__, str(label)))


def _as_grades(labels: Collection[Label]) -> Floats:
    """Return the labels as numbers; raise BadSample for text, which has no distance.

    >>> _as_grades([0, 2.5]).tolist()
    [0.0, 2.5]
    """
    for label in labels:
        if not isinstance(label, int | float) or math.isinf(label):
            msg = f"the label {label!r} is not a grade, expected finite numbers where their distance counts"
            raise BadSample(msg, hint="labels that are words have nominal agreement only")
    return np.array([float(cast("float", label)) for label in labels])
