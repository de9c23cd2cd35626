"""Alignment: a system's output matched with the truth, as the flat arrays that measures are computed on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.arrays import Flags, Ints
from judged.measures.measure import Measure
from judged.problem import Note
from judged.protocol import BaseProtocol
from judged.tables.columns import to_strings
from judged.tables.scores import Scores


class View(Protocol):
    """Input of measures: flat arrays cut by offsets, one segment for each unit."""

    def __len__(self) -> int:
        """Return the number of units."""


class Counts(Protocol):
    """Counts taken while aligning; each family has its own dataclass for them."""

    def notes(self, protocol: Any) -> tuple[Note, ...]:
        """Return a note for everything notable, most severe first."""


@dataclass(frozen=True, eq=False)
class Alignment:
    """The view of one system, or of several together, under one protocol."""

    view: View
    units: pa.Array
    """The id of each unit of the view: queries, sessions, requests."""
    protocol: BaseProtocol
    counts: Counts
    present: Flags
    """Mask of the units that the system has results for."""
    name: str | None = None
    """The name of the system, where the truth and the system's table do not give it."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on the numbers."""
        return self.counts.notes(self.protocol)

    def notes_on(self, measures: Sequence[Measure]) -> tuple[Note, ...]:  # noqa: ARG002 - for families that count by measure
        """Return notes on the values of some measures."""
        return self.notes

    def values(self, measure: Measure) -> NDArray[Any]:
        """Return one value for each unit; a unit without results scores 0 where the measure says so."""
        values: NDArray[Any] = measure.per_query(self.view)
        return self.zero_absent(measure, values)

    def zero_absent(self, measure: Measure, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values with 0 for units without results, where the measure says so."""
        if measure.text or not measure.zero_if_missing:
            return values
        return np.where(self.present, values, 0.0)

    def left_out(self, measure: Measure) -> Flags:
        """Return which units have a value that does not count in the mean and in comparisons."""
        if measure.averaged is None:
            return np.zeros(len(self.units), dtype=bool)
        left_out: Flags = ~measure.averaged(self.view)
        return left_out

    def restrict(self, measures: Sequence[Measure]) -> Alignment:  # noqa: ARG002 - most views are the same for all
        """Return the alignment for these measures alone, whose notes are about no others."""
        return self

    def complete(self, scores: Scores) -> Scores:
        """Return the scores with what the inputs say about units and measures besides their values."""
        return scores

    def systems(self) -> Mapping[str, Ints]:
        """Return the units of each system, where several were aligned together; empty for a single one."""
        return {}

    def select(self, units: Ints) -> Alignment:
        """Return the alignment of some units only."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class OwnedAlignment(Alignment):
    """Units of one system, or of several together, each with its owner; view and counts can be cut by unit."""

    owners: tuple[str, ...] = ()
    """The system of each unit."""

    def systems(self) -> Mapping[str, Ints]:
        """Return the units of each system, in the order in which they first occur."""
        found: dict[str, list[int]] = {}
        for number, system in enumerate(self.owners):
            found.setdefault(system, []).append(number)
        return {system: np.array(rows, dtype=np.int64) for system, rows in found.items()}

    def select(self, units: Ints) -> OwnedAlignment:
        """Return the alignment of some units, all of one system, under their own names."""
        view: Any = self.view
        counts: Any = self.counts
        chosen = view.select(units)
        owners = tuple(self.owners[number] for number in units.tolist())
        names = zip(owners, self.units.take(pa.array(units)).to_pylist(), strict=True)
        return replace(
            self,
            view=chosen,
            units=to_strings(unit.removeprefix(f"{owner}/") for owner, unit in names),
            counts=counts.select(chosen),
            present=self.present[units],
            owners=owners,
            name=owners[0],
        )


def align_owned(
    view: View, names: Iterable[str], owners: Sequence[str], protocol: BaseProtocol, counts: Counts
) -> OwnedAlignment:
    """Return the alignment of units with owners; where there are several, the owner is part of a unit's name."""
    several = len(set(owners)) > 1
    units = [f"{owner}/{name}" if several else name for owner, name in zip(owners, names, strict=True)]
    return OwnedAlignment(
        view,
        to_strings(units),
        protocol,
        counts,
        np.ones(len(units), dtype=bool),
        name=f"{len(set(owners))} systems" if several else owners[0],
        owners=tuple(owners),
    )
