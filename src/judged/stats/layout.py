"""The two-way layout: the scores of several systems on the same queries, a row for each query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadSample
from judged.stats.by_query import same_queries

__all__ = ["Floats", "Layout", "check_level", "layout"]

Floats: TypeAlias = NDArray[np.float64]

ROUNDING = 1e-12
"""What is smaller than this share of the largest score is the rounding of float64."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Checked scores: finite, a row for each query, a column for each of two systems or more."""

    values: Floats
    systems: tuple[str, ...]

    @property
    def queries(self) -> int:
        """How many queries there are."""
        return len(self.values)

    @property
    def means(self) -> Floats:
        """The mean score of each system."""
        mean: Floats = self.values.mean(axis=0)
        return mean

    @property
    def rounding(self) -> float:
        """The size below which a difference of these scores is none."""
        return ROUNDING * float(np.abs(self.values).max())

    @property
    def residuals(self) -> Floats:
        """What neither the query nor the system explains of each score; rounding counts as nothing."""
        centred = self.values - self.values.mean()
        left = centred - centred.mean(axis=1, keepdims=True) - centred.mean(axis=0)
        kept: Floats = np.where(np.abs(left) <= self.rounding, 0.0, left)
        return kept


def layout(scores: Any, *, systems: Sequence[str] | None = None, measure: object = None) -> Layout:
    """The scores of several systems, checked.

    `scores` is an array with a row for each query and a column for each system, whose names are `systems` (without
    them, their numbers from 1); or a mapping from names to scores: sequences in one order of the queries, dicts from
    query to score, or `Scores`, of which `measure` names the one to take.

    >>> layout({"a": {"q1": 0.5, "q2": 1}, "b": {"q2": 0, "q1": 0.25}}).values.tolist()
    [[0.5, 0.25], [1.0, 0.0]]
    """
    if isinstance(scores, Mapping):
        _several(len(scores))
        values = np.stack(list(same_queries(scores, measure).values()), axis=1)
        return Layout(values, tuple(map(str, scores)))
    values = _matrix(scores)
    return Layout(values, _names(systems, values.shape[1]))


def check_level(level: float) -> None:
    """Refuse a confidence level that is none."""
    if not 0 < level < 1:
        msg = f"the confidence level is {level}, expected a number between 0 and 1"
        raise BadSample(msg, hint="95 % is written 0.95")


def _matrix(scores: Any) -> Floats:
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        msg = "the scores are no table of numbers, expected a row for each query and a column for each system"
        raise BadSample(msg) from None
    if values.ndim != 2:
        msg = f"the scores have {values.ndim} dimensions, expected 2: a row for each query, a column for each system"
        raise BadSample(msg)
    if len(values) == 0:
        msg = "the scores are of no query, expected at least one"
        raise BadSample(msg)
    _several(values.shape[1])
    _refuse_strange(values)
    return values


def _several(count: int) -> None:
    if count < 2:
        msg = f"the scores are of {count} system, expected two or more to compare"
        raise BadSample(msg, hint="a row holds one query's scores, a column those of one system")


def _refuse_strange(values: Floats) -> None:
    strange = np.argwhere(~np.isfinite(values))
    if len(strange):
        query, system = strange[0]
        msg = (
            f"the score of query {query + 1}, system {system + 1} is {values[query, system]}, expected a finite "
            f"number ({len(strange):,} such in all)"
        )
        raise BadSample(
            msg, hint="leave out the queries that not every system has a score for, or score them 0"
        )


def _names(systems: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if systems is None:
        return tuple(str(number) for number in range(1, count + 1))
    names = tuple(map(str, systems))
    if len(names) != count:
        msg = f"{len(names)} names were given for {count} systems"
        raise BadSample(msg, hint="a row holds one query's scores, a column those of one system")
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        msg = f"two systems are called `{twice[0]}`"
        raise BadSample(msg)
    return names
