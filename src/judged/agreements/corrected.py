"""Means of human grades, estimated from people alone, from people and a machine, and from the machine alone."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judged.arrays import Floats
from judged.errors import BadSample
from judged.stats.outcome import Undefined
from judged.stats.prediction_powered import (
    CorrectedRate,
    PoweredMean,
    StratifiedMean,
    prediction_powered_mean,
    rogan_gladen_rate,
    stratified_mean,
)

__all__ = ["Corrected", "corrected_mean"]


@dataclass(frozen=True, slots=True)
class Corrected:
    """One mean, such as the rate of good results, in every way that it can be estimated."""

    name: str
    human: PoweredMean | Undefined
    """From the human grades alone."""
    powered: PoweredMean | Undefined
    """PPI++, of results like these."""
    by_task: PoweredMean | Undefined
    """The same, of results of further tasks."""
    stratified: StratifiedMean | Undefined
    """Human grades weighed by label, where labels decided which results people saw."""
    labels: PoweredMean | Undefined
    """From the labels alone, whose interval does not know of their mistakes."""
    rate: CorrectedRate | None = None
    """Rogan and Gladen's, of a rate."""

    def estimates(self) -> dict[str, PoweredMean | StratifiedMean | Undefined]:
        """Every estimate by the words for it."""
        return {
            "human grades alone": self.human,
            "PPI++": self.powered,
            "PPI++ by task": self.by_task,
            "human grades, weighed by label": self.stratified,
            "labels alone": self.labels,
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything by name, for JSON; what is undefined as its words."""
        told = {
            name: str(each) if isinstance(each, Undefined) else each.rows()[0]
            for name, each in self.estimates().items()
        }
        more = {} if self.rate is None else {"Rogan–Gladen": self.rate.rows()[0]}
        return {"name": self.name, **told, **more}


def corrected_mean(
    name: str,
    human: Floats,
    labels: Floats,
    others: Floats,
    tasks: tuple[Sequence[Hashable], Sequence[Hashable]],
    strata: tuple[Sequence[Hashable], Sequence[Hashable]],
    *,
    level: float,
) -> Corrected:
    """The mean of human values over all labelled items, of which people have seen a sample.

    `tasks` and `strata` are the tasks and the labels of the items in the sample, and of the others.
    """
    every = np.concatenate([labels, others])
    binary = all(((each == 0) | (each == 1)).all() for each in (human, every))
    return Corrected(
        name,
        _told(human, labels, others, trust="none", level=level),
        _told(human, labels, others, level=level),
        _told(human, labels, others, clusters=tasks, level=level),
        stratified_mean(human, *strata, level=level),
        _told(every, every, trust="none", level=level),
        rogan_gladen_rate(human, labels, others) if binary else None,
    )


def _told(*values: Floats, **options: Any) -> PoweredMean | Undefined:
    """The mean, or the reason why these values have no interval."""
    try:
        return prediction_powered_mean(*values, **options)
    except BadSample as error:
        return Undefined(error.message)
