"""Labels that judges give: which are missing, their order, and their grades as numbers."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from judged.errors import BadSample
from judged.stats.layout import Floats
from judged.stats.undefined import Undefined

__all__ = ["NO_ITEMS", "as_grades", "in_order", "missing", "plain"]

NO_ITEMS = Undefined("no item has labels from two judges")


def plain(label: Any) -> Any:
    """The label as Python's own number or text, so that those of arrays and lists are the same.

    >>> plain(np.int64(2)), plain("good")
    (2, 'good')
    """
    return label.item() if isinstance(label, np.generic) else label


def missing(label: Any) -> bool:
    """Whether a label is None or NaN, which stand for none.

    >>> [missing(label) for label in (None, math.nan, 0, "")]
    [True, True, False, False]
    """
    return label is None or (isinstance(label, float) and math.isnan(label))


def in_order(labels: Iterable[Any]) -> list[Any]:
    """The distinct labels in their own order; those of several kinds, which have none, by kind and text.

    >>> in_order([3, 1, 1]), in_order(["b", 2])
    ([1, 3], [2, 'b'])
    """
    distinct = set(labels)
    try:
        return sorted(distinct)
    except TypeError:
        return sorted(distinct, key=lambda label: (type(label).__name__, str(label)))


def as_grades(labels: Collection[Any]) -> Floats:
    """The labels as numbers; text has no distance and is refused.

    >>> as_grades([0, 2.5]).tolist()
    [0.0, 2.5]
    """
    for label in labels:
        if not isinstance(label, int | float) or math.isinf(label):
            msg = f"the label {label!r} is no grade, expected finite numbers where their distance counts"
            raise BadSample(msg, hint="labels that are words have nominal agreement alone")
    return np.array([float(label) for label in labels])
