"""Two benchmarks of the same data: which settings regressed, which are the same, and of which neither is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import pyarrow as pa

from judged.blocks import Block, Display, Estimate, Notes, Sentence, Table, Value
from judged.errors import BadSample
from judged.gates.result import GateReport, MeasureGate, parse_delta
from judged.index.changes import Margins, decide_changes, find_changes
from judged.index.points import LEVEL, Point, estimate_rounds
from judged.index.result import IndexBenchmark
from judged.problem import Note
from judged.result import Provenance, Result, tabulate
from judged.stats.outcome import Undefined
from judged.stats.paired import check_values
from judged.stats.rounds import geometric_interval, welch_ratio
from judged.wording import counted

RECALL_MARGIN = -0.01
"""Tolerance for a loss of recall."""
LATENCY_MARGIN = "-10%"
"""Tolerance for a growth of times."""
BUSY = "other work kept the machine busy, which may look like a regression of latency"
DRIFT = "old and new were measured apart: what changed on the machine in between is not in the intervals"
WORDS = {"pass": "same or better", "fail": "regressed", "inconclusive": "cannot tell"}
"""Meaning of a gate's verdicts here."""


def gate_benchmarks(
    new: IndexBenchmark,
    old: IndexBenchmark,
    *,
    recall: float | str = RECALL_MARGIN,
    latency: float | str = LATENCY_MARGIN,
    alpha: float = 0.05,
    paired: bool = False,
    wall: bool = False,
) -> list[GateReport]:
    """Return a gate for each setting that both benchmarks have: recall, processor time and latency.

    `recall` and `latency` are the least differences that count, as `judged.gate` takes them. Some change fails in error
    with a probability of at most `alpha`, over all measures and settings. `paired` benchmarks were measured in the same
    rounds; of others, wall times decide only if `wall` says so.
    """
    _check_alike(new, old)
    margins = Margins(parse_delta(recall), parse_delta(latency), alpha, paired=paired, wall=wall)
    before = {point.name: point for point in old.points}
    name = (new.recall, new.recall_measure)
    changes = {
        point.name: find_changes(before[point.name], point, margins, recall=name)
        for point in new.points
        if point.name in before
    }
    if not changes:
        msg = f"the benchmarks have no setting in common: {new.points[0].name} is not among {', '.join(sorted(before)[:3])}"
        raise BadSample(msg, hint="measure both with the same sweep")
    tests = sum(change.decides for found in changes.values() for change in found)
    apart = () if paired else (Note("drift", "warning", DRIFT),)
    reports = []
    for label, found in changes.items():
        busy = new[label].busy or before[label].busy
        notes = (Note("busy-machine", "warning", f"{label}: {BUSY}"),) if busy else ()
        results = tuple(decide_changes(found, margins, tests=tests))
        reports.append(GateReport(label, "new", "old", results, new.provenance, (*apart, *notes)))
    return reports


def diff_benchmarks(
    old: IndexBenchmark,
    new: IndexBenchmark,
    *,
    recall: float | str = RECALL_MARGIN,
    latency: float | str = LATENCY_MARGIN,
    alpha: float = 0.05,
    paired: bool = False,
    wall: bool = False,
) -> IndexDiff:
    """Return what changed from one benchmark to another, setting by setting, by the verdicts of `gate_benchmarks`."""
    reports = gate_benchmarks(new, old, recall=recall, latency=latency, alpha=alpha, paired=paired, wall=wall)
    shared = {report.name for report in reports}
    notes = [] if paired else [Note("drift", "warning", DRIFT)]
    notes += [
        Note("only-one", "info", f"only in the {which} benchmark", subject=point.name)
        for which, benchmark in (("old", old), ("new", new))
        for point in benchmark.points
        if point.name not in shared
    ]
    busy = [report.name for report in reports if new[report.name].busy or old[report.name].busy]
    message = "other work kept the machine busy, so that times vary more from round to round"
    notes += [Note("busy-machine", "warning", message, subject=name) for name in busy]
    if old.provenance.machine != new.provenance.machine:
        message = f"measured on different machines: {old.provenance.machine}; {new.provenance.machine}"
        notes.append(Note("other-machine", "warning", message))
    costs = tuple(
        _compare_cost(report.name, old[report.name], new[report.name], paired=paired) for report in reports
    )
    settings = {
        "recall": str(recall),
        "latency": str(latency),
        "alpha": alpha,
        "paired": paired,
        "wall": wall,
    }
    return IndexDiff(tuple(reports), costs, frozenset(busy), Provenance(settings=settings), tuple(notes))


def _compare_cost(name: str, old: Point, new: Point, *, paired: bool) -> CostChange:
    ratios = {
        quantity: _find_ratio(old.read_rounds(quantity), new.read_rounds(quantity), paired=paired)
        for quantity in ("build", "memory")
    }
    costs = [(point.measured.cost.seconds, point.measured.cost.memory) for point in (old, new)]
    return CostChange(name, *costs[0], *costs[1], ratios["build"], ratios["memory"])


def _find_ratio(
    old: list[float | None], new: list[float | None], *, paired: bool
) -> tuple[float, float, float] | None:
    """Return new over old with its interval over rounds; None if it has none."""
    if estimate_rounds(old) is None or estimate_rounds(new) is None or min(len(old), len(new)) < 2:
        return None
    before, after = (
        check_values([value or 0.0 for value in old]),
        check_values([value or 0.0 for value in new]),
    )
    if paired and len(before) == len(after):
        found = geometric_interval(after / before, level=LEVEL)
    else:
        found = welch_ratio(after, before, level=LEVEL)
    return None if isinstance(found, Undefined) else (found.mean, found.low, found.high)


@dataclass(frozen=True)
class CostChange:
    """Build time and memory of one setting, before and after, and how many times as much the new one takes."""

    name: str
    old_build: float
    old_memory: int | None
    new_build: float
    new_memory: int | None
    build_ratio: tuple[float, float, float] | None = None
    """New over old, with its interval over rounds; None with one round."""
    memory_ratio: tuple[float, float, float] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class IndexDiff(Result):
    """The differences of two benchmarks: regressed, same or better, or cannot tell."""

    kind: ClassVar[str] = "index-diff"

    reports: tuple[GateReport, ...]
    costs: tuple[CostChange, ...] = ()
    busy: frozenset[str] = frozenset()
    """Settings that were measured while other work kept the machine busy."""
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
        return WORDS[result.verdict]

    def tables(self) -> Mapping[str, pa.Table]:
        """Return a row for each setting and measure, and the costs."""
        rows = [
            {"point": report.name, "change": self.change(report, result), **result.to_dict()}
            for report in self.reports
            for result in report.results
        ]
        costs: list[dict[str, Value]] = [
            {
                "name": cost.name,
                "old_build": cost.old_build,
                "new_build": cost.new_build,
                **_name_ends("build_ratio", cost.build_ratio),
                "old_memory": cost.old_memory,
                "new_memory": cost.new_memory,
                **_name_ends("memory_ratio", cost.memory_ratio),
            }
            for cost in self.costs
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
            ("setting", "build s, old", "new", "times", "memory MiB, old", "new ", "times "),
            tuple(
                (
                    cost.name,
                    cost.old_build,
                    cost.new_build,
                    _to_estimate(cost.build_ratio),
                    _to_mib(cost.old_memory),
                    _to_mib(cost.new_memory),
                    _to_estimate(cost.memory_ratio),
                )
                for cost in self.costs
            ),
            title="Cost of the first round, and new over old",
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


def _name_ends(name: str, ratio: tuple[float, float, float] | None) -> dict[str, Value]:
    value, low, high = ratio or (None, None, None)
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _to_estimate(ratio: tuple[float, float, float] | None) -> Estimate | None:
    return None if ratio is None else Estimate(*ratio)


def _to_mib(size: int | None) -> float | None:
    return None if size is None else size / 2**20
