"""Alignment: a system's output matched with the truth, as the flat arrays that measures are computed on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.kernels.segments import Flags, Ints
from judged.measures.measure import Measure
from judged.problem import Note
from judged.protocol import BaseProtocol

__all__ = ["Alignment", "Counts", "View"]


class View(Protocol):
    """What measures are computed on: flat arrays cut by offsets, one segment for each unit."""

    def __len__(self) -> int:
        """Return the number of units."""


class Counts(Protocol):
    """What was counted while aligning; a family has its own dataclass for it."""

    def notes(self, protocol: Any) -> tuple[Note, ...]:
        """Return a note for everything notable, the gravest first."""


@dataclass(frozen=True, eq=False)
class Alignment:
    """The view of one system, or of several together, under one protocol."""

    view: View
    units: pa.Array
    """The id of each unit of the view: queries, sessions, requests."""
    protocol: BaseProtocol
    counts: Counts
    present: Flags
    """Which units the system has results for."""
    name: str | None = None
    """The name of the system, where the truth and the system's table do not give it."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader of the numbers should know."""
        return self.counts.notes(self.protocol)

    def values(self, measure: Measure) -> NDArray[Any]:
        """Return one value for each unit; a unit without results scores 0 where the measure says so."""
        values: NDArray[Any] = measure.per_query(self.view)
        return self.zero_absent(measure, values)

    def zero_absent(self, measure: Measure, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values with 0 for units without results, where the measure says so."""
        if measure.text or not measure.zero_if_missing:
            return values
        return np.where(self.present, values, 0.0)

    def systems(self) -> Mapping[str, Ints]:
        """Return the units of each system, where several were aligned together; empty for a single one."""
        return {}

    def select(self, units: Ints) -> Alignment:
        """Return the alignment of some units only."""
        raise NotImplementedError
