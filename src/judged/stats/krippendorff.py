"""Krippendorff's α: the agreement of any number of judges, with labels missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from judged.errors import BadSample, UnknownName
from judged.stats.labels import NO_ITEMS, as_grades, in_order, missing, plain
from judged.stats.layout import Floats
from judged.stats.rows import Cell, as_row
from judged.stats.undefined import Undefined

__all__ = ["Alpha", "krippendorff_alpha"]

Distance: TypeAlias = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's α of several judges, with what it is made of."""

    distance: Distance
    value: float | Undefined
    """1 for full agreement, 0 for what chance would give, below 0 for less."""
    items: int
    """How many items have labels from two judges or more, and so can be compared."""
    alone: int
    """How many items have a label from one judge or none, and say nothing of agreement."""
    labels: int
    """How many labels the items that can be compared have."""

    def rows(self) -> list[dict[str, Cell]]:
        """One dict; what is undefined as its words."""
        return [as_row(self)]


def krippendorff_alpha(judges: Sequence[Sequence[Any]], *, distance: Distance = "nominal") -> Alpha:
    r"""Krippendorff's α of the labels of several judges, a sequence for each judge, in one order of the items.

    $$\alpha = 1 - \frac{D_o}{D_e}, \qquad D_o = \frac{1}{n} \sum_{ck} o_{ck} \delta_{ck}, \qquad
      D_e = \frac{1}{n (n - 1)} \sum_{ck} n_c n_k \delta_{ck}$$

    with $o_{ck}$ the coincidences of labels $c$ and $k$ on one item, an item of $m$ labels weighing $1 / (m - 1)$ for each
    pair, and $n_c$ their sums. $\delta$ is 1 (`nominal`), the square of how many labels lie between (`ordinal`), or of the
    difference of the grades (`interval`). None and NaN are missing labels. Where all labels that can be compared are
    the same, nothing could have disagreed and α is undefined.

    Example:
        >>> alpha = krippendorff_alpha([[1, 2, 3, None], [1, 2, 2, 3], [1, 3, 3, None]], distance="interval")
        >>> round(alpha.value, 4), alpha.items, alpha.alone
        (0.7037, 3, 1)

    References:
        Krippendorff. Computing Krippendorff's alpha-reliability. University of Pennsylvania, 2011.
    """
    if distance not in get_args(Distance):
        raise UnknownName("distance of labels", distance, get_args(Distance))
    items = _items(judges)
    shared = [item for item in items if item.total() > 1]
    labels = in_order(label for item in shared for label in item)
    value = _alpha(shared, labels, distance) if shared else NO_ITEMS
    return Alpha(distance, value, len(shared), len(items) - len(shared), sum(item.total() for item in shared))


def _items(judges: Sequence[Sequence[Any]]) -> list[Counter[Any]]:
    """Of each item, how often each label was given to it."""
    if len(judges) < 2:
        msg = f"labels of {len(judges)} judge were given, expected two or more"
        raise BadSample(msg, hint="give a sequence of labels for each judge, all of the same items")
    sizes = sorted({len(each) for each in judges})
    if len(sizes) > 1:
        msg = f"the judges gave {sizes[0]:,} and {sizes[-1]:,} labels, expected one of each for every item"
        raise BadSample(msg, hint="None stands for a label that is missing")
    labels = [[plain(label) for label in each] for each in judges]
    return [Counter(label for label in item if not missing(label)) for item in zip(*labels, strict=True)]


def _alpha(items: list[Counter[Any]], labels: list[Any], distance: Distance) -> float | Undefined:
    together = _coincidences(items, labels)
    given = together.sum(axis=1)
    apart = _distances(labels, given, distance)
    chance = float((np.outer(given, given) * apart).sum())
    if chance == 0:
        return Undefined(f"no spread: every label is `{labels[0]}`")
    return 1 - (float(given.sum()) - 1) * float((together * apart).sum()) / chance


def _coincidences(items: list[Counter[Any]], labels: list[Any]) -> Floats:
    """How often two labels met on an item, each item weighing as much as it has labels."""
    counts = np.array([[item[label] for label in labels] for item in items], dtype=np.float64)
    size = counts.sum(axis=1)
    weighed = counts / (size - 1)[:, None]
    found: Floats = counts.T @ weighed - np.diag(weighed.sum(axis=0))
    return found


def _distances(labels: list[Any], given: Floats, distance: Distance) -> Floats:
    if distance == "nominal":
        return 1 - np.eye(len(labels))
    grades = as_grades(labels)
    # ordinal: from the middle of one label's share of all labels to the middle of another's
    place = grades if distance == "interval" else np.cumsum(given) - given / 2
    squared: Floats = (place[:, None] - place) ** 2
    return squared
