"""The result of a gate: the verdict on each measure and on the whole, with the numbers that decided."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import numpy as np

from judged.arrays import Floats
from judged.blocks import Block, Display, Estimate, Notes, Sentence, Table, Value
from judged.errors import BadProtocol, BadSample
from judged.gates.verdict_text import (
    describe_looks,
    describe_test,
    describe_unpaired,
    explain_verdict,
    format_figure,
    give_reason,
    shorten,
)
from judged.measures.measure import Measure
from judged.measures.written import describe_name, find_label
from judged.problem import NAMED, Note, split_doubts
from judged.result import Provenance, Result, name_rows, tabulate
from judged.stats.margin import MarginTest, Verdict
from judged.wording import counted, name_some, plural

if TYPE_CHECKING:
    import pyarrow as pa

LOST = 3
"""Maximum number of queries shown of those that lost most."""
_ORDER: tuple[Verdict, ...] = ("pass", "inconclusive", "fail")


@dataclass(frozen=True, slots=True)
class Delta:
    """The least difference that a gate allows: in the measure's own units, or relative to the baseline's mean."""

    value: float
    relative: bool = False

    def margin(self, baseline: Floats, *, measure: str) -> Floats:
        """Return the margin of each query: a share of its baseline value, whose mean is that share of the mean.

        So the baseline's mean is not treated as known: its spread is part of the test.
        """
        if not self.relative:
            return np.full(len(baseline), self.value)
        if baseline.mean() < 0:
            msg = f"{measure}: `min_delta` is {self}, a share of the baseline's mean, which is {baseline.mean():g}, expected 0 or more"
            raise BadSample(msg, hint="give `min_delta` as a number, such as -0.01")
        return self.value * baseline

    def __str__(self) -> str:
        return f"{100 * self.value:.10g}%" if self.relative else f"{self.value:.10g}"


def parse_delta(given: float | str | Delta) -> Delta:
    """Return the difference that a number means, or text such as `-0.01` and `-2%`.

    >>> parse_delta("-2%"), str(parse_delta("-2%")), parse_delta(-0.01)
    (Delta(value=-0.02, relative=True), '-2%', Delta(value=-0.01, relative=False))
    """
    if isinstance(given, Delta):
        return given
    text = str(given).strip().replace("\N{MINUS SIGN}", "-")
    relative = text.endswith("%")
    try:
        value = float(text.removesuffix("%")) / (100 if relative else 1)
    except ValueError:
        value = math.nan
    if isinstance(given, bool) or not math.isfinite(value):
        msg = f"`min_delta` is `{given}`, expected a number or a percentage"
        raise BadProtocol(
            msg, hint="-0.01 allows a hundredth less, -2% two hundredths of the baseline's mean"
        )
    return Delta(value, relative)


def choose_deltas(measures: Sequence[Measure], given: Delta | None) -> dict[str, Delta]:
    """Return the least difference of each measure: the given one, else a loss of a hundredth of its scale.

    Raises `BadProtocol` for measures whose scale is not known: a hundredth is much of a share, and nothing of milliseconds.
    """
    unknown = [measure.label for measure in measures if given is None and measure.scale is None]
    if unknown:
        verb = "has" if len(unknown) == 1 else "have"
        msg = f"`min_delta` is not given, and {name_some(unknown, NAMED)} {verb} no known scale to take a hundredth of"
        hint = 'say how much worse may pass: a number in its unit, or a share of the baseline\'s mean (`--min-delta -2%`, `min_delta="-2%"`)'
        raise BadProtocol(msg, hint=hint)
    return {str(measure): given or _take_hundredth(measure) for measure in measures}


def _take_hundredth(measure: Measure) -> Delta:
    low, high = measure.scale or (0.0, 1.0)
    return Delta((low - high) / 100)


@dataclass(frozen=True)
class MeasureGate:
    """The outcome of one measure. Differences are in the good direction: above 0 the run is better."""

    measure: str
    """The name of the measure, as the user wrote it."""
    run: str
    baseline: str
    run_mean: float
    """Over the queries that were compared."""
    baseline_mean: float
    min_delta: Delta
    test: MarginTest
    higher_is_better: bool = True
    better: int = 0
    """The number of queries on which the run is better."""
    worse: int = 0
    hurt: tuple[tuple[str, float], ...] = ()
    """The queries that lost most, with their differences, at most five."""
    helped: tuple[tuple[str, float], ...] = ()
    only_in_run: tuple[str, ...] = ()
    """Queries that only the run has a value for; they cannot be compared."""
    only_in_baseline: tuple[str, ...] = ()
    in_neither: tuple[str, ...] = ()
    """Queries that neither has a value for that counts in the mean."""
    unit: str = "query"
    """Plural noun of the units that runs are compared on: queries, or tasks."""
    canonical: str = ""
    """The canonical name of the measure; empty: that which is shown."""
    family: str = "ranked"

    @property
    def verdict(self) -> Verdict:
        """`pass`, `fail` or `inconclusive`."""
        return self.test.verdict

    @property
    def reason(self) -> str:
        """The reason, in one sentence."""
        return give_reason(self)

    @property
    def text(self) -> str:
        """The reason, the means, and the queries that lost most, in one paragraph."""
        return explain_verdict(self)

    def to_dict(self) -> dict[str, Value]:
        """Return the names of the measure, and every number by name; None if it is undefined or infinite."""
        names = describe_name(self.measure, self.canonical or self.measure, shown=bool(self.canonical))
        return {**names, **{name: value for name, value in self.figures().items() if name != "measure"}}

    def figures(self) -> dict[str, Value]:
        """Return the name that is shown, and every number."""
        test = self.test
        return {
            "measure": self.measure,
            "verdict": self.verdict,
            "difference": test.difference,
            "margin": test.margin,
            "min_delta": str(self.min_delta),
            "alpha": test.alpha,
            "test": test.test,
            "exact": test.exact,
            "low": _finite(test.low),
            "high": _finite(test.high),
            "p_above": test.p_above,
            "p_below": test.p_below,
            "undefined": None if test.undefined is None else test.undefined.reason,
            "smallest_detectable": test.detectable,
            "queries_needed": test.needed,
            "run_mean": self.run_mean,
            "baseline_mean": self.baseline_mean,
            "higher_is_better": self.higher_is_better,
            "queries": test.queries,
            "clusters": test.clusters or None,
            "better": self.better,
            "equal": test.queries - self.better - self.worse,
            "worse": self.worse,
            "only_in_run": len(self.only_in_run),
            "only_in_baseline": len(self.only_in_baseline),
            "in_neither": len(self.in_neither),
            "reason": self.reason,
            "why": self.text,
        }


@dataclass(frozen=True, eq=False, repr=False)
class GateReport(Result):
    """A run against a baseline: one outcome for each measure; the verdict of the whole is the worst."""

    kind: ClassVar[str] = "gate"
    pages: ClassVar[tuple[str, ...]] = ("gate",)

    name: str
    run: str
    baseline: str
    results: tuple[MeasureGate, ...]
    provenance: Provenance = field(default_factory=Provenance)
    notes: tuple[Note, ...] = ()
    looks: int = 0
    """The number of runs that these judgments have decided about, this one included; 0: no history is kept."""

    @property
    def gates(self) -> tuple[GateReport, ...]:
        """Itself."""
        return (self,)

    def title(self) -> str:
        """Return the name of the gate."""
        return self.name

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of any measure: `fail` before `inconclusive` before `pass`."""
        return find_worst(result.verdict for result in self.results)

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict on each measure."""
        return {result.measure: result.verdict for result in self.results}

    @property
    def passed(self) -> bool:
        """Whether every measure is shown to be no worse than its margin."""
        return self.verdict == "pass"

    @property
    def text(self) -> str:
        """The verdict, and a paragraph for each measure."""
        parts = [
            f"{self.name}: {self.verdict}",
            describe_looks(self),
            *(result.text for result in self.results),
        ]
        return "\n\n".join(part for part in parts if part)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, measure: object) -> MeasureGate:
        """Return the outcome of one measure, by any of its names."""
        label = find_label(measure, self.names, self.results[0].family, kind="measure of this gate")
        return next(result for result in self.results if result.measure == label)

    @property
    def names(self) -> dict[str, str]:
        """The canonical name of each measure, by the name that is shown."""
        return {result.measure: result.canonical or result.measure for result in self.results}

    def tables(self) -> dict[str, pa.Table]:
        """Return a row for each measure, then the queries that changed most."""
        changes: list[dict[str, Value]] = [
            {"measure": result.measure, "query": query, "difference": difference}
            for result in self.results
            for query, difference in (*result.hurt, *reversed(result.helped))
        ]
        rows = {"measures": [result.figures() for result in self.results], "queries": changes}
        return {name: name_rows(tabulate(records), self.names) for name, records in rows.items()}

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return the verdict, the table of measures, the reason of each, and the queries that lost most."""
        doubts, others = split_doubts(self.notes)
        if display.notes and doubts:
            yield Notes(doubts)
        yield from gate_blocks([self], display)
        if display.notes and others:
            yield Notes(others)

    def summary(self) -> dict[str, object]:
        """Return name, verdict, run and baseline."""
        looks = {"looks": self.looks} if self.looks else {}
        return {
            "name": self.name,
            "verdict": self.verdict,
            "run": self.run,
            "baseline": self.baseline,
            **looks,
        }


@dataclass(frozen=True)
class RefusedGate:
    """A gate that could not be decided, because of its settings or its data."""

    name: str
    message: str
    verdict: ClassVar[Literal["error"]] = "error"

    def to_dict(self) -> dict[str, str]:
        """Return everything by name, for JSON."""
        return {"name": self.name, "verdict": self.verdict, "error": self.message}


Gated: TypeAlias = GateReport | RefusedGate
Outcome: TypeAlias = Literal["pass", "fail", "inconclusive", "error"]


@dataclass(frozen=True, eq=False, repr=False)
class GateSummary(Result):
    """The gates of one call of `judged gate`, those that could not be decided among them."""

    kind: ClassVar[str] = "gates"
    pages: ClassVar[tuple[str, ...]] = ("gate",)

    outcomes: tuple[Gated, ...]
    exit_code: int = 0
    """The exit code of the command."""

    @property
    def gates(self) -> tuple[GateReport, ...]:
        """The gates that were decided."""
        return tuple(gate for gate in self.outcomes if isinstance(gate, GateReport))

    @property
    def refused(self) -> tuple[RefusedGate, ...]:
        """The gates that could not be decided."""
        return tuple(gate for gate in self.outcomes if isinstance(gate, RefusedGate))

    @property
    def verdict(self) -> Outcome:
        """The worst verdict of any gate; `error` if one could not be decided."""
        return "error" if self.refused else find_worst(gate.verdict for gate in self.gates)

    @property
    def provenance(self) -> Provenance:  # type: ignore[override]
        """Provenance of the numbers: protocols and inputs of all gates, each once."""
        # by their text: a record holds a mapping, and has no hash
        records = {record.text: record for gate in self.gates for record in gate.provenance.protocols}
        inputs = dict.fromkeys(file for gate in self.gates for file in gate.provenance.inputs)
        first = self.gates[0].provenance if self.gates else Provenance()
        return replace(first, protocols=tuple(records.values()), inputs=tuple(inputs))

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """The gates that could not be decided, and the notes of the others."""
        refused = [
            Note("refused-gate", "warning", f"{gate.name} could not be decided: {gate.message}")
            for gate in self.refused
        ]
        return tuple(dict.fromkeys((*refused, *(note for gate in self.gates for note in gate.notes))))

    def tables(self) -> dict[str, pa.Table]:
        """Return a row for each gate and measure, then the queries that changed most."""
        return {
            name: tabulate([{"gate": gate.name, **row} for gate in self.gates for row in gate.rows(name)])
            for name in ("measures", "queries")
        }

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return the verdict of the whole, a table of all measures, and the reason of each."""
        if self.gates:
            yield from gate_blocks(self.gates, display, verdict=self.verdict)
        else:
            yield Sentence(f"Verdict: {self.verdict}")
        for gate in self.refused:
            yield Sentence(f"{gate.name}: error. {' '.join(gate.message.split())}")

    def summary(self) -> dict[str, object]:
        """Return the verdict, the exit code, and every gate."""
        gates = [gate.to_dict() for gate in self.outcomes]
        return {"verdict": self.verdict, "exit_code": self.exit_code, "gates": gates}


def find_worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of some verdicts; a pass if there are none.

    >>> find_worst(["pass", "fail", "inconclusive"])
    'fail'
    """
    return max(verdicts, key=_ORDER.index, default="pass")


def gate_blocks(
    reports: Sequence[GateReport], display: Display, *, verdict: str | None = None
) -> Iterator[Block]:
    """Yield the verdict of some gates, a table of all measures, the reasons, and the queries that lost most.

    `verdict` is that of the whole, by default the worst.
    """
    several = len(reports) > 1
    worst = verdict or find_worst(report.verdict for report in reports)
    counts = sorted({result.test.queries for report in reports for result in report.results})
    unit = reports[0].results[0].unit
    over = counted(counts[-1], unit) if len(counts) == 1 else f"{counts[0]:,} to {counted(counts[-1], unit)}"
    test = reports[0].results[0].test
    name = f"{len(reports)} gates" if several else reports[0].name
    how = f"{describe_test(test)}, {100 * (1 - test.alpha):.4g} % confidence"
    yield Sentence(f"Verdict: {worst} ({name}; {over}; {how})")
    for report in reports:
        if looked := describe_looks(report):
            yield Sentence(f"{shorten(report.name)}: {looked}" if several else looked)
    yield measure_table(reports, several=several)
    for report in reports:
        prefix = f"{shorten(report.name)}: " if several else ""
        for result in report.results:
            yield Sentence(" ".join(filter(None, (prefix + result.reason, describe_unpaired(result)))))
    lost = _lost_table(reports, display.texts, several=several)
    if lost.rows:
        yield lost


def measure_table(
    reports: Iterable[GateReport], *, several: bool = False, marks: dict[str, str] | None = None
) -> Table:
    """Return a row for each measure, under the name of its gate if there are several; `marks` has the text of each verdict."""

    def row(report: GateReport, result: MeasureGate) -> tuple[Value, ...]:
        test = result.test
        low, high = _finite(test.low), _finite(test.high)
        known = low is not None and high is not None
        return (
            *((shorten(report.name),) if several else ()),
            result.measure,
            (marks or {}).get(result.verdict, result.verdict),
            Estimate(test.difference, low, high) if known else Estimate(test.difference),
            test.margin,
            result.run_mean,
            result.baseline_mean,
        )

    rows = tuple(row(report, result) for report in reports for result in report.results)
    columns = ("measure", "verdict", "difference", "margin", "run", "baseline")
    return Table(("gate", *columns) if several else columns, rows, keys=2 if several else 1)


def _lost_table(reports: Sequence[GateReport], texts: Mapping[str, str], *, several: bool) -> Table:
    """Return the queries that lost most in each measure that does not pass, with their texts where these are known."""
    rows: list[tuple[Value, ...]] = []
    for report in reports:
        for result in (gate for gate in report.results if gate.verdict != "pass"):
            first = (shorten(report.name), result.measure) if several else (result.measure,)
            for query, difference in result.hurt[:LOST]:
                text = (texts.get(query),) if texts else ()
                rows.append((*first, shorten(query), *text, format_figure(difference)))
    unit = reports[0].results[0].unit
    columns = (
        *(("gate", "measure") if several else ("measure",)),
        unit,
        *(("text",) if texts else ()),
        "difference",
    )
    return Table(columns, tuple(rows), title=f"{plural(unit).capitalize()} that lost most")


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
