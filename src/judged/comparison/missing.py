"""Missing values in a comparison: how far a difference could move if values that one system lacks were there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judged.blocks import Estimate, Table, Value

if TYPE_CHECKING:
    from judged.comparison.contrasts import PairedScores

TITLE = "Missing values: the difference with each as the worst and as the best"


@dataclass(frozen=True, slots=True)
class MissingBounds:
    """The bounds of one difference over the queries that either system has a value for."""

    measure: str
    system: str
    baseline: str
    paired: int
    """The number of queries that the difference is of: those that all systems have a value for."""
    both: int
    """Queries that only these two of the systems have a value for."""
    only_system: int
    only_baseline: int
    difference: float
    """The mean difference over the queries that were compared."""
    low: float
    """The mean difference with the system's missing values as low, and the baseline's as high, as they can be."""
    high: float
    limits: tuple[float, float]
    """The lowest and the highest value that a missing one is taken to be."""
    known: bool
    """Whether the limits are those of the measure, rather than of the values that there are."""

    @property
    def range(self) -> str:
        """The limits, and where they come from."""
        low, high = (f"{limit:g}" for limit in self.limits)
        return f"{low} to {high}, {'of the measure' if self.known else 'observed'}"

    def to_dict(self) -> dict[str, Value]:
        """Return every number by name."""
        return {
            "measure": self.measure,
            "system": self.system,
            "baseline": self.baseline,
            "queries": self.paired,
            "both_only": self.both,
            "only_system": self.only_system,
            "only_baseline": self.only_baseline,
            "difference": self.difference,
            "low": self.low,
            "high": self.high,
            "lowest": self.limits[0],
            "highest": self.limits[1],
            "limits": "measure" if self.known else "observed",
        }


def bound_missing(scores: PairedScores, pairs: Sequence[tuple[str, str]]) -> Iterator[MissingBounds]:
    """Yield the bounds of each difference whose systems lack different values."""
    if not len(scores.unpaired):
        return
    limits, known = scores.limits, scores.limits is not None
    if limits is None:
        there = np.concatenate([scores.values.ravel(), scores.unpaired[~np.isnan(scores.unpaired)]])
        limits = float(there.min()), float(there.max())
    for system, baseline in pairs:
        bounds = _bound_pair(scores, system, baseline, limits, known=known)
        if bounds.only_system or bounds.only_baseline:
            yield bounds


def _bound_pair(
    scores: PairedScores, system: str, baseline: str, limits: tuple[float, float], *, known: bool
) -> MissingBounds:
    first, second = (scores.unpaired[:, scores.systems.index(name)] for name in (system, baseline))
    no_first, no_second = np.isnan(first), np.isnan(second)
    either, paired = ~(no_first & no_second), scores.differences(system, baseline)

    def fill(of_system: float, of_baseline: float) -> float:
        """Return the mean difference with these values in place of missing ones."""
        others = np.where(no_first, of_system, first) - np.where(no_second, of_baseline, second)
        return float(np.concatenate([paired, others[either]]).mean())

    lowest, highest = limits
    return MissingBounds(
        scores.measure,
        system,
        baseline,
        len(paired),
        int((~no_first & ~no_second).sum()),
        int((~no_first & no_second).sum()),
        int((no_first & ~no_second).sum()),
        float(paired.mean()),
        fill(lowest, highest),
        fill(highest, lowest),
        limits,
        known,
    )


def missing_table(bounds: Sequence[MissingBounds], unit: str) -> Table:
    """Return a row for each difference: the values that each system lacks, and the bounds."""
    rows = tuple(
        (
            *(bound.measure, bound.system, bound.baseline, bound.paired),
            *(bound.only_baseline, bound.only_system),
            Estimate(bound.difference, bound.low, bound.high),
            bound.range,
        )
        for bound in bounds
    )
    names = (
        "measure",
        "system",
        "baseline",
        unit,
        "system lacks",
        "baseline lacks",
        "difference [bounds]",
        "range",
    )
    return Table(names, rows, title=TITLE, keys=3)
