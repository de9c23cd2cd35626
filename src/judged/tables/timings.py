"""Timings: how long systems took, sample by sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.errors import Unusable
from judged.problem import Locate, Problem, Problems, locate_row
from judged.tables.columns import Column, as_ids, as_numbers, check_lengths, one_array, to_numpy


@dataclass(frozen=True, eq=False)
class Timings:
    """A table of (system, query, stage, seconds) with every sample, in their original order.

    Query and stage are null where they are not known. Make one with `from_columns` or `from_mapping`, or read
    one with `judged.read_timings`.
    """

    family: ClassVar[str] = "timing"
    """The measures that score this table."""

    table: pa.Table
    """The columns `system`, `query`, `stage` and `seconds`."""
    name: str = "timings"
    notes: tuple[str, ...] = ()
    """Notes on how they were read."""

    @classmethod
    def from_columns(
        cls,
        system: Column,
        seconds: Column,
        *,
        query: Column = None,
        stage: Column = None,
        name: str = "timings",
        locate: Locate | None = None,
        problems: Problems | None = None,
    ) -> Timings:
        """Return timings of columns of any Arrow-readable kind; times are finite and not negative."""
        faults = Problems(name, locate or locate_row) if problems is None else problems
        systems = as_ids(system, name="system", problems=faults)[0]
        times = as_numbers(seconds, name="seconds", problems=faults)
        columns = {"system": systems}
        for field, column in (("query", query), ("stage", stage)):
            if column is None:
                columns[field] = pa.nulls(len(systems), pa.large_string())
            else:
                columns[field] = as_ids(column, name=field, problems=faults, nullable=True)[0]
        columns["seconds"] = times
        check_lengths(columns, faults.subject)
        values = to_numpy(times)
        faults.add_rows(
            "bad-time",
            np.flatnonzero(~(np.isfinite(values) & (values >= 0))),
            lambda row: f"time is {values[row]:g} seconds, expected a number from 0",
        )
        faults.raise_if_any(error=Unusable)
        if len(times) == 0:
            problem = Problem.error("empty", "rows", "none, expected times of systems")
            raise Unusable(faults.subject, [problem])
        return cls(pa.table(columns), name=name)

    @classmethod
    def from_mapping(cls, seconds: Mapping[str, Sequence[float]], *, name: str = "timings") -> Timings:
        """Return timings of a dict from system to its samples in seconds.

        >>> Timings.from_mapping({"bm25": [0.01, 0.02]}).samples("bm25").tolist()
        [0.01, 0.02]
        """
        rows = [(str(system), sample) for system, samples in seconds.items() for sample in samples]
        return cls.from_columns([system for system, _ in rows], [sample for _, sample in rows], name=name)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"Timings({self.name}: {len(self):,} of {', '.join(self.systems)})"

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Every system, in the order in which they first occur."""
        return tuple(dict.fromkeys(self.table["system"].to_pylist()))

    def samples(self, system: str) -> NDArray[np.float64]:
        """Return the samples of one system in seconds."""
        chosen = np.array([name == system for name in self.table["system"].to_pylist()], dtype=bool)
        seconds: NDArray[np.float64] = to_numpy(one_array(self.table["seconds"]))[chosen]
        return seconds

    def to_arrow(self) -> pa.Table:
        """Return the table, as Arrow."""
        return self.table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)
