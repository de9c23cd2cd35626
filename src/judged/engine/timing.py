"""The timing family: raw times of requests, scored by mean, percentiles and throughput."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from judged.engine.alignment import Alignment
from judged.engine.counts import to_notes
from judged.engine.family import Family, Measures
from judged.errors import UnknownName
from judged.io.read import read_timings
from judged.kernels.segments import Ints
from judged.measures.families import registry_for
from judged.measures.measure import Measure
from judged.measures.parse import parse_measures
from judged.measures.timing import TimingView
from judged.problem import Note
from judged.protocol import BaseProtocol, convention
from judged.tables.columns import one_array, to_numpy, to_strings
from judged.tables.timings import Timings

__all__ = ["TIMING", "TimingAlignment", "TimingCounts", "TimingProtocol", "align_timings"]


@dataclass(frozen=True, slots=True)
class TimingProtocol(BaseProtocol):
    """Which of the recorded times count."""

    subject: ClassVar[str] = "a timing protocol"

    stage: str | None = convention(
        None,
        help="The stage of the pipeline whose times count.",
        words=lambda stage: "all stages" if stage is None else f"stage {stage}",
        metavar="NAME",
    )
    """The stage whose times count; None: every time that was recorded."""

    @property
    def heading(self) -> str:
        """What its line begins with."""
        return "timings"


@dataclass(frozen=True, slots=True)
class TimingCounts:
    """What was counted while reading timings."""

    requests: int
    input_notes: tuple[Note, ...] = ()

    def notes(self, protocol: TimingProtocol) -> tuple[Note, ...]:  # noqa: ARG002 - the same under every protocol
        """Return the unit of the numbers, and the notes on the inputs."""
        return (
            Note("unit", "info", "times are in milliseconds unless a measure says otherwise"),
            *self.input_notes,
        )


@dataclass(frozen=True, eq=False)
class TimingAlignment(Alignment):
    """The times of one system, or of several together."""

    view: TimingView
    counts: TimingCounts
    owners: tuple[str, ...] = ()
    """The system of each time."""

    def systems(self) -> Mapping[str, Ints]:
        """Return the times of each system, in the order in which they first occur."""
        found: dict[str, list[int]] = {}
        for number, system in enumerate(self.owners):
            found.setdefault(system, []).append(number)
        return {system: np.array(rows, dtype=np.int64) for system, rows in found.items()}

    def select(self, units: Ints) -> TimingAlignment:
        """Return the alignment of some times only."""
        owners = tuple(self.owners[number] for number in units.tolist())
        names = [unit.partition("/")[2] for unit in self.units.take(pa.array(units)).to_pylist()]
        return replace(
            self,
            view=TimingView(self.view.seconds[units]),
            units=to_strings(names),
            counts=replace(self.counts, requests=len(units)),
            present=self.present[units],
            owners=owners,
            name=owners[0],
        )


def align_timings(
    truth: None,  # noqa: ARG001 - times are compared with nothing
    timings: Timings,
    protocol: TimingProtocol,
    measures: Sequence[Measure] = (),  # noqa: ARG001 - the view is the same for all measures
) -> TimingAlignment:
    """Return the raw times of the protocol's stage; requests are named for their query, and numbered if it recurs."""
    systems, queries, stages = (timings.table[name].to_pylist() for name in ("system", "query", "stage"))
    seconds = to_numpy(one_array(timings.table["seconds"]))
    chosen = [row for row, stage in enumerate(stages) if protocol.stage in {None, stage}]
    if not chosen:
        kind = "stage of these timings"
        raise UnknownName(kind, str(protocol.stage), sorted({str(stage) for stage in stages if stage}))
    owners = tuple(systems[row] for row in chosen)
    several = len(set(owners)) > 1
    seen: Counter[tuple[str, str]] = Counter()
    names = []
    for row in chosen:
        query = queries[row] or ""
        seen[systems[row], query] += 1
        number = seen[systems[row], query]
        request = f"{query or 'request'}#{number}" if number > 1 or not query else query
        names.append(f"{systems[row]}/{request}" if several else request)
    return TimingAlignment(
        TimingView(seconds[chosen]),
        to_strings(names),
        protocol,
        TimingCounts(len(chosen), to_notes(timings.notes)),
        np.ones(len(chosen), dtype=bool),
        name=f"{len(set(owners))} systems" if several else owners[0],
        owners=owners,
    )


def _read_timings(source: Any, name: str | None) -> Timings:
    return read_timings(source, name=name)


def _parse(measures: Measures) -> list[Measure]:
    return parse_measures(measures, family="timing")


TIMING = Family(
    name="timing",
    unit="request",
    protocol=TimingProtocol,
    view=TimingView,
    align=align_timings,
    measures=registry_for("timing"),
    default_measures=("Latency", "Latency(p=50)", "Latency(p=95)", "Latency(p=99)", "QPS"),
    parse=_parse,
    read_system=_read_timings,
    input_roles=("truth", "timings"),
)
"""Raw times of requests, scored by their mean, percentiles and throughput."""
