"""The timing family: raw times of requests, scored by mean, percentiles and throughput."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from judged.errors import UnknownName
from judged.io.read import read_timings
from judged.measures.measure import Measure
from judged.measures.timing import TimingView
from judged.problem import Note
from judged.protocol import BaseProtocol, convention
from judged.scoring.alignment import OwnedAlignment, align_owned
from judged.scoring.counts import to_notes
from judged.scoring.family import Family
from judged.tables.columns import one_array, to_numpy
from judged.tables.timings import Timings


@dataclass(frozen=True, slots=True)
class TimingProtocol(BaseProtocol):
    """Conventions for which recorded times count."""

    family: ClassVar[str] = "timing"

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
        """Prefix of its line."""
        return "timings"


@dataclass(frozen=True, slots=True)
class TimingCounts:
    """Counts taken while reading timings."""

    requests: int
    input_notes: tuple[Note, ...] = ()

    def notes(self, protocol: TimingProtocol) -> tuple[Note, ...]:  # noqa: ARG002 - the same under every protocol
        """Return the unit of the numbers, and the notes on the inputs."""
        return (
            Note("unit", "info", "times are in milliseconds unless a measure says otherwise"),
            *self.input_notes,
        )

    def select(self, view: TimingView) -> TimingCounts:
        """Return the counts of some requests."""
        return replace(self, requests=len(view))


def align_timings(
    truth: None,  # noqa: ARG001 - times are compared with nothing
    timings: Timings,
    protocol: TimingProtocol,
    measures: Sequence[Measure] = (),  # noqa: ARG001 - the view is the same for all measures
) -> OwnedAlignment:
    """Return the raw times of the protocol's stage; requests are named for their query, and numbered if it recurs."""
    systems, queries, stages = (timings.table[name].to_pylist() for name in ("system", "query", "stage"))
    seconds = to_numpy(one_array(timings.table["seconds"]))
    chosen = [row for row, stage in enumerate(stages) if protocol.stage in {None, stage}]
    if not chosen:
        kind = "stage of these timings"
        raise UnknownName(kind, str(protocol.stage), sorted({str(stage) for stage in stages if stage}))
    owners = tuple(systems[row] for row in chosen)
    seen: Counter[tuple[str, str]] = Counter()
    names = []
    for row in chosen:
        query = queries[row] or ""
        seen[systems[row], query] += 1
        number = seen[systems[row], query]
        names.append(f"{query or 'request'}#{number}" if number > 1 or not query else query)
    counts = TimingCounts(len(chosen), to_notes(timings.notes))
    return align_owned(TimingView(seconds[chosen]), names, owners, protocol, counts)


def _read_timings(source: Any, name: str | None) -> Timings:
    return read_timings(source, name=name)


TIMING = Family(
    name="timing",
    unit="request",
    protocol=TimingProtocol,
    view=TimingView,
    align=align_timings,
    default_measures=("Latency", "Latency(p=50)", "Latency(p=95)", "Latency(p=99)", "QPS"),
    read_system=_read_timings,
    input_roles=("truth", "timings"),
)
"""Raw times of requests, scored by their mean, percentiles and throughput."""
