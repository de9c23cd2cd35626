"""Two rankings of systems, given by scores: paired by system, with equal scores made equal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadSample
from judged.stats.sample import sample

__all__ = ["Ints", "level_of", "levels_of_both", "named_scores"]

Ints: TypeAlias = NDArray[np.int64]

ROUNDING = 1e-12
"""Scores that differ by less than this share of the largest are tied: means of the same numbers, added in another order."""


def levels_of_both(first: Any, second: Any) -> tuple[Ints, Ints]:
    """The level of each system in both rankings, from 0 for the lowest score up; tied systems share one.

    Mappings are paired by name and must have the same systems; sequences are in one order.

    >>> levels_of_both({"a": 0.1, "b": 0.5, "c": 0.5}, {"b": 0.2, "a": 0.3, "c": 0.4})
    (array([0, 1, 1]), array([1, 0, 2]))
    """
    a, b = named_scores(first, "the first ranking"), named_scores(second, "the second ranking")
    strange = sorted(map(str, set(a) ^ set(b)))
    if strange:
        shown = ", ".join(strange[:3])
        msg = f"the rankings have {len(a):,} and {len(b):,} systems, expected the same in both: {shown} in one only"
        raise BadSample(msg, hint="`rank_biased_overlap` compares rankings of different systems")
    return level_of([a[name] for name in a]), level_of([b[name] for name in a])


def named_scores(scores: Any, name: str) -> dict[Any, float]:
    """The score of each system by its name, or by its number from 1 where there are no names."""
    try:
        pairs = scores.items() if isinstance(scores, Mapping) else enumerate(scores, start=1)
        found = {system: float(score) for system, score in pairs}
    except (TypeError, ValueError):
        msg = f"{name} holds what is no number, expected the score of each system"
        raise BadSample(msg) from None
    sample(found.values(), name=name)  # refuses what is empty or not finite
    return found


def level_of(scores: Any) -> Ints:
    """The level of each score, from 0 for the lowest; scores that differ by rounding alone share one."""
    values = np.asarray(scores, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    gaps = np.diff(values[order]) > ROUNDING * np.abs(values).max()
    levels = np.empty(len(values), dtype=np.int64)
    levels[order] = np.concatenate([[0], np.cumsum(gaps)])
    return levels
