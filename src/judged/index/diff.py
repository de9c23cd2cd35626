"""Two benchmarks of the same data: which settings regressed, which are the same, and of which neither is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import pyarrow as pa

from judged.blocks import Block, Display, Estimate, Notes, Sentence, Table, Value
from judged.errors import BadSample
from judged.gates.api import gate
from judged.gates.result import GateReport, MeasureGate
from judged.index.result import IndexBenchmark
from judged.problem import Note
from judged.result import Provenance, Result, tabulate
from judged.wording import counted

RECALL_MARGIN = -0.01
"""Tolerance for a loss of recall."""
LATENCY_MARGIN = "-10%"
"""Tolerance for a growth of the mean latency."""
BUSY = "other work kept the machine busy, which may look like a regression of latency"
WORDS = {"pass": "same or better", "fail": "regressed", "inconclusive": "cannot tell"}
"""Meaning of a gate's verdicts here."""


def gate_benchmarks(
    new: IndexBenchmark,
    old: IndexBenchmark,
    *,
    recall: float | str = RECALL_MARGIN,
    latency: float | str = LATENCY_MARGIN,
    alpha: float = 0.05,
) -> list[GateReport]:
    """Return a gate for each setting that both benchmarks have: recall and latency of the same queries, paired.

    `recall` and `latency` are the least differences that count, as `judged.gate` takes them. Latency is that of the
    fastest pass of each query; a note says where other work kept a machine busy.
    """
    _check_alike(new, old)
    names = {point.name for point in old.points}
    reports = []
    for point in new.points:
        if point.name not in names:
            continue
        before = old[point.name]
        ours = point.evaluate(fastest=True)
        theirs = before.evaluate(f"{point.name} (baseline)", fastest=True)
        measures = [str(measure) for measure in ours.measures]
        gates = [
            gate(ours, measures=[measure], baseline=theirs, min_delta=margin, alpha=alpha, name=point.name)
            for measure, margin in zip(measures, (recall, latency), strict=True)
        ]
        results = [result for report in gates for result in report.results]
        notes = (
            (Note("busy-machine", "warning", f"{point.name}: {BUSY}"),) if point.busy or before.busy else ()
        )
        reports.append(replace(gates[0], results=tuple(results), notes=(*gates[0].notes, *notes)))
    if not reports:
        msg = f"the benchmarks have no setting in common: {new.points[0].name} is not among {', '.join(sorted(names)[:3])}"
        raise BadSample(msg, hint="measure both with the same sweep")
    return reports


def diff_benchmarks(
    old: IndexBenchmark,
    new: IndexBenchmark,
    *,
    recall: float | str = RECALL_MARGIN,
    latency: float | str = LATENCY_MARGIN,
    alpha: float = 0.05,
) -> IndexDiff:
    """Return what changed from one benchmark to another, setting by setting, with intervals."""
    reports = gate_benchmarks(new, old, recall=recall, latency=latency, alpha=alpha)
    shared = {report.name for report in reports}
    notes = [
        Note("only-one", "info", f"only in the {which} benchmark", subject=point.name)
        for which, benchmark in (("old", old), ("new", new))
        for point in benchmark.points
        if point.name not in shared
    ]
    busy = [report.name for report in reports if new[report.name].busy or old[report.name].busy]
    message = "other work kept the machine busy, so that a slower setting and a disturbed one look alike"
    notes += [Note("busy-machine", "warning", message, subject=name) for name in busy]
    if old.provenance.machine != new.provenance.machine:
        message = f"measured on different machines: {old.provenance.machine}; {new.provenance.machine}"
        notes.append(Note("other-machine", "warning", message))
    costs = tuple(
        CostChange(report.name, *_costs(old, report.name), *_costs(new, report.name)) for report in reports
    )
    settings = {"recall": str(recall), "latency": str(latency), "alpha": alpha}
    return IndexDiff(tuple(reports), costs, frozenset(busy), Provenance(settings=settings), tuple(notes))


@dataclass(frozen=True)
class CostChange:
    """Build time and memory of one setting, before and after; single measurements, so without a test."""

    name: str
    old_build: float
    old_memory: int | None
    new_build: float
    new_memory: int | None


@dataclass(frozen=True, eq=False, repr=False)
class IndexDiff(Result):
    """The differences of two benchmarks: regressed, same or better, or cannot tell."""

    kind: ClassVar[str] = "index-diff"

    reports: tuple[GateReport, ...]
    costs: tuple[CostChange, ...] = ()
    busy: frozenset[str] = frozenset()
    """Settings that were measured while other work kept the machine busy: their latency cannot regress."""
    provenance: Provenance = field(default_factory=Provenance)
    notes: tuple[Note, ...] = ()

    @property
    def regressed(self) -> tuple[str, ...]:
        """The settings of which recall or latency is shown to be worse."""
        return tuple(report.name for report in self.reports if self.change(report) == WORDS["fail"])

    def change(self, report: GateReport, result: MeasureGate | None = None) -> str:
        """Return the change of a setting, or of one of its measures, in words."""
        if result is None:
            changes = {self.change(report, measure) for measure in report.results}
            return next(
                word for word in (WORDS["fail"], WORDS["inconclusive"], WORDS["pass"]) if word in changes
            )
        doubtful = result.verdict == "fail" and result.measure == "Latency" and report.name in self.busy
        return WORDS["inconclusive" if doubtful else result.verdict]

    def tables(self) -> Mapping[str, pa.Table]:
        """Return a row for each setting and measure, and the costs."""
        rows = [
            {"point": report.name, "change": self.change(report, result), **result.to_dict()}
            for report in self.reports
            for result in report.results
        ]
        costs: list[dict[str, Value]] = [
            {name: getattr(cost, name) for name in CostChange.__dataclass_fields__} for cost in self.costs
        ]
        return {"changes": tabulate(rows), "costs": tabulate(costs)}

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return the answer, a row for each setting and measure, the costs, and the notes."""
        counts = {
            word: sum(self.change(report) == word for report in self.reports) for word in WORDS.values()
        }
        summary = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        yield Sentence(f"{counted(len(self.reports), 'setting')} compared: {summary}.")
        rows = tuple(
            (*_to_row(report.name, result), self.change(report, result))
            for report in self.reports
            for result in report.results
        )
        yield Table(("setting", "measure", "old", "new", "difference", "margin", "change"), rows)
        yield Table(
            ("setting", "build s, old", "new", "memory MiB, old", "new "),
            tuple(
                (
                    cost.name,
                    cost.old_build,
                    cost.new_build,
                    _to_mib(cost.old_memory),
                    _to_mib(cost.new_memory),
                )
                for cost in self.costs
            ),
            title="Cost, measured once",
        )
        if display.notes:
            yield Notes(self.notes)


def _check_alike(new: IndexBenchmark, old: IndexBenchmark) -> None:
    """Raise `BadSample` unless both benchmarks asked the same queries of the same vectors."""
    for name, current, baseline in (
        ("data", new.provenance.settings.get("data"), old.provenance.settings.get("data")),
        ("k", new.workload.k, old.workload.k),
    ):
        if current != baseline:
            msg = f"the benchmarks differ in {name}: {current} and {baseline}, expected the same"
            raise BadSample(msg, hint="only the same queries of the same vectors can be compared")


def _to_row(name: str, result: MeasureGate) -> tuple[Value, ...]:
    """Return the difference as it is good: above 0 the new one is better."""
    test = result.test
    return (
        name,
        result.measure,
        result.baseline_mean,
        result.run_mean,
        Estimate(test.difference, test.low, test.high),
        test.margin,
    )


def _costs(benchmark: IndexBenchmark, name: str) -> tuple[float, int | None]:
    cost = benchmark[name].measured.cost
    return cost.seconds, cost.memory


def _to_mib(size: int | None) -> float | None:
    return None if size is None else size / 2**20
