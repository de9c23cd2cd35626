"""The result of a study: which system is best, what that costs in time, and every number behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from judged.answers import AnswerReport
from judged.arrays import Floats
from judged.blocks import Block, Display, Estimate, Figure, Notes, Sentence, Table, Value, mark_best
from judged.comparison.blocks import (
    BETTER,
    WORSE,
    describe_means,
    difference_tables,
    direct_stars,
    find_axes,
    make_estimate,
    query_tables,
)
from judged.comparison.result import Comparison
from judged.errors import UnknownName
from judged.figures import Record, draw_bars, draw_stacked_bars
from judged.problem import Note
from judged.result import LazyTables, Provenance, Result, tabulate
from judged.scoring.evaluate import evaluate
from judged.scoring.evaluation import Evaluation
from judged.scoring.evaluations import Evaluations
from judged.scoring.timing import TimingProtocol
from judged.studies.factors.effects import Effect, find_effects, show_effects
from judged.studies.factors.tuned import SettingsTuning
from judged.studies.fusion.tuning import FusionTuning
from judged.studies.outcome.costs import StageCost, sum_costs, tabulate_costs
from judged.studies.passages.context import ChunkRecord, show_context
from judged.studies.routing import RoutingReport
from judged.studies.running.load import LoadPoint
from judged.studies.stages.clock import TOTAL, sort_stages
from judged.tables.responses import Responses
from judged.tables.scores import Scores
from judged.tables.timings import Timings
from judged.wording import counted, join_words

if TYPE_CHECKING:
    import pyarrow as pa

LATENCIES = ("Latency", "Latency(p=50)", "Latency(p=90)", "Latency(p=95)", "Latency(p=99)")
"""Measures of the times of a stage, in milliseconds."""


@dataclass(frozen=True)
class SystemRecord:
    """A system as it was built."""

    name: str
    """The name under which it is shown; one with random weights says so."""
    stages: str
    """Its stages, in a few words."""
    untrained: bool = False
    dimensions: tuple[int, ...] = ()
    """The length of the vectors of each encoder."""
    build_seconds: float = 0.0
    encode_seconds: float = 0.0
    """Encoding time of the documents, without those whose vectors were cached."""
    vectors_of: str = ""
    """When the oldest cached vector was encoded; empty: none was cached."""
    replies_of: str = ""
    """When the oldest reply of a language model came that was kept of an earlier run; empty: there is none."""
    answers_of: str = ""
    """When the answers were given that were kept of an earlier run; empty: there are none."""
    failure: str = ""
    """Why it failed; empty: it did not."""
    grid: str = ""
    """The grid that it belongs to; empty: none."""
    factors: Mapping[str, str] = field(default_factory=dict)
    """The values in which it differs from the other systems of its grid."""
    failed_queries: int = 0
    """Queries that it failed on and is scored on without results, over all passes."""


@dataclass(frozen=True)
class FailedQuery:
    """A query that a system failed on, in every attempt."""

    system: str
    query: str
    sample: int
    """The pass over the queries, from 0."""
    error: str


@dataclass(frozen=True)
class Rewrite:
    """What was searched for in place of a query."""

    system: str
    query: str
    number: int
    """From 1, in the order in which they were searched for."""
    text: str


@dataclass(frozen=True, eq=False)
class StageTimes:
    """Every time of one stage of a system, as it was measured."""

    system: str
    stage: str
    queries: tuple[str, ...]
    seconds: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Study(Result):
    """Systems on one collection: how well each retrieves, how they differ, and how long each stage takes.

    `study.comparison` has means, differences and p-values, `study.timings` the raw times, and `study["bm25"]` is the
    evaluation of one system.
    """

    kind: ClassVar[str] = "study"
    pages: ClassVar[tuple[str, ...]] = ("study", "answers", *Evaluation.pages)

    name: str
    collection: str
    documents: int
    """Number of documents; 0 if they are not part of the collection."""
    queries: int
    """Queries that systems are scored on."""
    training: int = 0
    """Queries that something was learned from; they are not scored."""
    repeats: int = 1
    systems: tuple[SystemRecord, ...] = ()
    scored: Evaluations | None = None
    """The evaluation of every system that did not fail."""
    comparison: Comparison | None = None
    """The systems compared, if there are two or more."""
    times: tuple[StageTimes, ...] = ()
    context: tuple[Scores, ...] = ()
    """The scores of every system within a number of tokens, if such measures are wanted."""
    context_comparison: Comparison | None = None
    chunks: tuple[ChunkRecord, ...] = ()
    """Number and length of the passages that systems search."""
    costs: tuple[StageCost, ...] = ()
    """Tokens of every stage that asks a model, and what they cost."""
    answers: AnswerReport | None = None
    """The scores of the answers that systems wrote."""
    responses: Responses | None = field(default=None, metadata={"saved": False})
    """The answers that systems wrote, sentence by sentence; in the folder of the study, `responses.jsonl`."""
    rewrites: tuple[Rewrite, ...] = field(default=(), metadata={"saved": False})
    """The queries that systems searched for in place of those that they were asked; in the folder, `rewrites.csv`."""
    routing: tuple[RoutingReport, ...] = ()
    """Value of routers, skip policies and rerankers."""
    failed_queries: tuple[FailedQuery, ...] = ()
    """The queries that systems failed on, where that is not their own failure."""
    load: tuple[LoadPoint, ...] = ()
    """Measurements of load tests of the systems."""
    tunings: Mapping[str, FusionTuning] = field(default_factory=dict)
    """The tuned weights of fusions, by system."""
    settings: Mapping[str, SettingsTuning] = field(default_factory=dict)
    """The tuned settings of systems, by system."""
    notes: tuple[Note, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    query_texts: Mapping[str, str] = field(default_factory=dict, metadata={"saved": False})
    document_texts: Mapping[str, str] = field(default_factory=dict, metadata={"saved": False})

    def __getitem__(self, system: str) -> Evaluation:
        """Return the evaluation of one system."""
        if self.scored is None:
            raise UnknownName("system of this study", system, [])
        return self.scored[system]

    def evaluations(self) -> Sequence[Evaluation]:
        """Return the evaluation of every system that did not fail."""
        return [] if self.scored is None else list(self.scored.values())

    @property
    def failures(self) -> dict[str, str]:
        """Why systems failed, by name."""
        return {record.name: record.failure for record in self.systems if record.failure}

    @property
    def stages(self) -> tuple[str, ...]:
        """Every stage that was timed, the total last."""
        return tuple(sort_stages(dict.fromkeys(row.stage for row in self.times)))

    @property
    def timings(self) -> Timings:
        """The raw times, as a table of system, query, stage and seconds."""
        return Timings.from_columns(
            [times.system for times in self.times for _ in times.queries],
            np.concatenate([times.seconds for times in self.times]) if self.times else [],
            query=[query for times in self.times for query in times.queries],
            stage=[times.stage for times in self.times for _ in times.queries],
            name=self.name,
        )

    @cached_property
    def latencies(self) -> Mapping[tuple[str, str], Mapping[str, float]]:
        """Mean and percentiles of every system and stage, in milliseconds."""
        means = {}
        for stage in self.stages:
            timed = evaluate(None, self.timings, LATENCIES, protocol=TimingProtocol(stage=stage))
            for system, evaluation in timed.systems.items():
                means[system, stage] = evaluation.mean()
        return means

    @cached_property
    def effects(self) -> list[Effect]:
        """The effects of the factors of grids, in every measure."""
        grids: dict[str, dict[str, Mapping[str, str]]] = {}
        for record in self.systems:
            if record.grid:
                grids.setdefault(record.grid, {})[record.name] = record.factors
        comparison = self.comparison
        if comparison is None or not grids:
            return []
        return find_effects(grids, comparison.scores, comparison.settings)

    def leaderboard(self) -> Evaluations | None:
        """Return the evaluation of every system that did not fail."""
        return self.scored

    def summary(self) -> Mapping[str, object]:
        """Return the collection, what was counted, and the best system."""
        answer = None if self.comparison is None else self.comparison.answer()
        return {
            "name": self.name,
            "collection": self.collection,
            "documents": self.documents,
            "queries": self.queries,
            "training": self.training,
            "repeats": self.repeats,
            "best": None if answer is None else answer.best,
            "failures": self.failures,
        }

    def tables(self) -> Mapping[str, pa.Table]:
        """Return a row for each system, times by stage, differences, decisions, tunings, and every query."""
        builders = {
            "systems": lambda: tabulate([self._to_record(record) for record in self.systems]),
            "stages": lambda: tabulate(self._stage_records()),
        }
        if self.comparison is not None:
            builders |= {
                name: lambda name=name: self.comparison.tables()[name]  # type: ignore[misc,union-attr]
                for name in ("differences", "means")
            }
            if self.effects:
                builders["effects"] = lambda: tabulate([effect.to_dict() for effect in self.effects])
        for report in self.routing:
            name = _name_report(report, self.routing)
            builders[name] = lambda report=report: report.tables()["means"]  # type: ignore[misc]
        for system, tuning in self.tunings.items():
            builders[f"tuning {system}"] = lambda tuning=tuning: tuning.tables()["systems"]  # type: ignore[misc]
        for system, found in self.settings.items():
            builders[f"settings {system}"] = found.to_table
        records: dict[str, list[dict[str, Value]]] = {
            "load": [asdict(point) for point in self.load],
            "failures": [asdict(failed) for failed in self.failed_queries],
            "passages": [record.to_dict() for record in self.chunks],
            "costs": [cost.to_dict() for cost in self.costs],
            "rewrites": [asdict(rewrite) for rewrite in self.rewrites],
        }
        builders |= {name: partial(tabulate, rows) for name, rows in records.items() if rows}
        if self.context_comparison is not None:
            builders["context"] = lambda: self.context_comparison.tables()["differences"]  # type: ignore[union-attr]
        if self.answers is not None:
            builders["answers"] = lambda: self.answers.tables()["scores"]  # type: ignore[union-attr]
            if self.answers.comparison is not None:
                builders["answer differences"] = lambda: self.answers.tables()["differences"]  # type: ignore[union-attr]
        if self.scored is not None:
            builders["queries"] = lambda: self.scored.tables()["scores"]  # type: ignore[union-attr]
            builders["timings"] = self.timings.to_arrow
        return LazyTables(builders)

    def _to_record(self, record: SystemRecord) -> dict[str, Value]:
        """Return a system in one row: its measures, its mean time in each stage, and what it took to build."""
        means = {} if self.scored is None or record.failure else self.scored[record.name].mean()
        total = self.latencies.get((record.name, TOTAL), {})
        times: dict[str, Value] = {
            f"{stage}_ms": self.latencies.get((record.name, stage), {}).get("Latency")
            for stage in self.stages
        }
        return {
            "system": record.name,
            "stages": record.stages,
            **{name: None if np.isnan(value) else value for name, value in means.items()},
            **self._compare_record(record),
            **self._find_context(record.name),
            **self._find_answers(record.name),
            **times,
            **{
                f"total_{name}_ms": total.get(f"Latency(p={name[1:]})")
                for name in ("p50", "p90", "p95", "p99")
            },
            **self._sum_tokens(record.name),
            "latency_s": None if not total else total["Latency"] / 1000,
            "dimensions": ", ".join(map(str, record.dimensions)),
            "untrained": record.untrained,
            "encode_s": record.encode_seconds,
            "vectors_of": record.vectors_of,
            "replies_of": record.replies_of,
            "answers_of": record.answers_of,
            "build_s": record.build_seconds,
            "failure": record.failure,
            "failed_queries": record.failed_queries,
        }

    def _compare_record(self, record: SystemRecord) -> dict[str, Value]:
        """Return how a system differs from the only baseline, by measure: difference, p, effect, stars with direction."""
        comparison = self.comparison
        if comparison is None or len(comparison.baselines) != 1:
            return {}
        found: dict[str, Value] = {}
        for scores in comparison.scores:
            compared = record.name in comparison.systems and record.name != comparison.baselines[0]
            contrast = comparison.contrast(record.name, measure=scores.measure) if compared else None
            numbers = {} if contrast is None else contrast.to_dict()
            found |= {
                f"{scores.measure}_{name}": numbers.get(name)
                for name in ("difference", "p", "p_corrected", "effect")
            }
            found[f"{scores.measure}_stars"] = (
                None if contrast is None else direct_stars(contrast, higher_is_better=scores.higher_is_better)
            )
        return found

    def _find_context(self, system: str) -> dict[str, Value]:
        """Return the means of a system within a number of tokens."""
        found = next((scores for scores in self.context if scores.run == system), None)
        values = {} if found is None else found.values
        return {measure: float(np.nanmean(column)) for measure, column in values.items()}

    def _find_answers(self, system: str) -> dict[str, Value]:
        """Return the means of the answers of a system, by measure."""
        if self.answers is None:
            return {}
        scored = self.answers.systems
        means = scored[system].mean() if system in list(scored) else dict.fromkeys(map(str, scored.measures))
        return {name: None if value is None or np.isnan(value) else value for name, value in means.items()}

    def _sum_tokens(self, system: str) -> dict[str, Value]:
        """Return the tokens of a query in each stage that has them, and the cost of a thousand queries."""
        found: dict[str, Value] = {}
        for stage in dict.fromkeys(cost.stage for cost in self.costs if cost.queries):
            own = [cost for cost in self.costs if (cost.system, cost.stage) == (system, stage)]
            for name in ("tokens_in", "tokens_out"):
                counts = [getattr(cost, name) for cost in own]
                known = own and None not in counts
                found[f"{stage}_{name}"] = sum(counts) / own[0].queries if known else None
        return {**found, "cost_per_1000": sum_costs(self.costs, system)} if found else {}

    def _stage_records(self) -> list[dict[str, Value]]:
        names = ("mean_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms")
        return [
            {
                "system": times.system,
                "stage": times.stage,
                "samples": len(times.seconds),
                **dict(zip(names, self.latencies[times.system, times.stage].values(), strict=True)),
            }
            for times in self.times
        ]

    def answer(self, digits: int = 4) -> str:
        """Return the best system and what its quality costs in time, in a few sentences."""
        return " ".join(self._list_answers(digits))

    def _list_answers(self, digits: int) -> Iterator[str]:
        if self.comparison is not None:
            yield self.comparison.describe_answer(digits=digits)
            axes = [scores.measure for scores in find_axes(self.comparison)]
            if axes:
                names = self.comparison.pareto_optimal
                words = join_words([f"{name} ({self._milliseconds(name)})" for name in names])
                yield f"Pareto-optimal by {join_words([*axes, 'mean latency'])}: {words}."
        elif self.scored is not None:
            name, evaluation = next(iter(self.scored.items()))
            measure, value = next(iter(evaluation.mean().items()))
            yield f"{name}: {measure} {value:.{digits}f}, {self._milliseconds(name)} a query."
        if self.failures:
            yield f"{counted(len(self.failures), 'system')} failed: {join_words(list(self.failures))}."

    def _milliseconds(self, system: str) -> str:
        return f"{self.latencies[system, TOTAL]['Latency']:.3g} ms"

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return the answer, scores, times by stage, differences, decisions, tunings and figures; for a paper, tables alone."""
        if display.paper and self.comparison is not None and not display.per_query:
            return self._show_paper(self.comparison, display)
        return self._show_all(display)

    def _show_paper(self, comparison: Comparison, display: Display) -> Iterator[Block]:
        """Yield means, how they were compared, and every difference with its p-value and effect size."""
        caption = describe_means(comparison, marks=False)
        yield replace(self._tabulate_means(comparison, display), caption=caption)
        columns = ("difference", "change", "p", "corrected", "effect", "stars", "won")
        yield from difference_tables(comparison, replace(display, columns=columns))

    def _show_all(self, display: Display) -> Iterator[Block]:
        yield Sentence(self.answer(display.digits))
        yield Sentence(self._describe())
        for name, message in self.failures.items():
            yield Sentence(f"{name} failed: {message}")
        inner = replace(display, notes=False)
        if self.comparison is not None:
            yield from self._show_comparison(self.comparison, inner)
            yield from show_context(self.context_comparison, self.chunks)
            yield from show_effects(self.effects, full=display.full, intervals=display.intervals)
        elif self.scored is not None:
            yield from self.scored.blocks(inner)
            yield from () if self.answers is None else self.answers.blocks(inner)
        if self.times:
            yield self._tabulate_times()
        if self.costs:
            yield tabulate_costs(self.costs)
        if self.load:
            yield self._tabulate_load()
        if len(self.stages) > 1:
            yield self._draw_times()
        yield from self._show_learned(inner)
        if self.scored is not None and (self.documents or len(self.systems) > 1):
            yield self._tabulate_systems()
        if display.notes and self.notes:
            yield Notes(self.notes)

    def _show_learned(self, display: Display) -> Iterator[Block]:
        """Yield decisions, tuned weights and tuned settings."""
        for report in self.routing:
            yield Sentence(f"{report.subject.capitalize()}, by {self.evaluations()[0].measures[0].label}:")
            yield from report.blocks(display)
        for system, tuning in self.tunings.items():
            yield Sentence(f"{system}, tuned on {counted(self.training, 'training query')}:")
            yield from tuning.blocks(display)
        for system, found in self.settings.items():
            yield Sentence(f"{system}, with tuned settings:")
            yield from found.blocks(display)

    def _show_comparison(self, comparison: Comparison, display: Display) -> Iterator[Block]:
        """Yield means and latency in one table, the trade-off, and the differences: of the first measure, or of all."""
        yield self._tabulate_means(comparison, display)
        yield from comparison.charts()[::-1]
        if display.per_query:
            yield from query_tables(comparison, display)
            return
        tables = list(difference_tables(comparison, display))
        yield from tables if display.full else tables[:1]
        if len(tables) > 1 and not display.full:
            yield Sentence(
                "Differences in the other measures: `--full`, or the page Leaderboard of the report."
            )

    def _tabulate_means(self, comparison: Comparison, display: Display) -> Table:
        """Return a row for each system: every measure, starred where it differs from the baseline, and its latency."""
        baseline = comparison.baselines[0] if display.marks and len(comparison.baselines) == 1 else None
        better = {scores.measure: scores.higher_is_better for scores in comparison.scores}

        def make_cell(system: str, measure: str) -> Estimate:
            marks = ""
            if baseline is not None and system != baseline:
                contrast = comparison.contrast(system, baseline, measure)
                marks = direct_stars(contrast, higher_is_better=better[measure])
            mean = comparison.mean(system, measure)
            return make_estimate(mean.mean, mean.interval, marks, bounds=display.intervals)

        kept = {
            record.name: ", ".join(
                f"{what} of {date}"
                for what, date in (("answers", record.answers_of), ("replies", record.replies_of))
                if date
            )
            for record in self.systems
            if record.answers_of or record.replies_of
        }
        answers, written, nothing = self._make_answer_cells()
        rows = tuple(
            (
                name,
                *(make_cell(name, measure) for measure in comparison.measures),
                *answers.get(name, nothing),
                _round(self.latencies[name, TOTAL]["Latency"]),
                *([kept.get(name)] if kept else []),
            )
            for name in comparison.ranked()
        )
        stars = (
            f"Means; {BETTER} better, {WORSE} worse than {baseline} by corrected p: "
            "*** < 0.001, ** < 0.01, * < 0.05, ns not significant"
        )
        table = Table(
            ("system", *comparison.measures, *written, "mean ms", *(["kept"] if kept else [])),
            rows,
            title=None if baseline is None else stars,
            corner="measure",
        )
        return mark_best(table, {**better, **written, "mean ms": False}, digits=display.digits)

    def _make_answer_cells(
        self,
    ) -> tuple[dict[str, list[Estimate]], dict[str, bool | None], list[None]]:
        """Return the means of answers by system, with stars; their measures; and the cells of a system without answers."""
        if self.answers is None:
            return {}, {}, []
        compared, cells = self.answers.comparison, dict[str, list[Estimate]]()
        better = {measure.label: measure.higher_is_better for measure in self.answers.systems.measures}
        baseline = compared.baselines[0] if compared is not None and len(compared.baselines) == 1 else None
        for name, evaluation in self.answers.systems.items():
            cells[name] = []
            for measure in evaluation.measures:
                marks = ""
                if compared is not None and baseline is not None and name != baseline:
                    contrast = compared.contrast(name, baseline, measure.label)
                    marks = direct_stars(contrast, higher_is_better=measure.higher_is_better)
                cells[name].append(Estimate(evaluation[measure], marks=marks))
        return cells, better, [None] * len(better)

    def _describe(self) -> str:
        learned = f", {self.training:,} more for training" if self.training else ""
        passes = f", {self.repeats} passes" if self.repeats > 1 else ""
        documents = f"{self.documents:,} documents, " if self.documents else ""
        return f"{self.collection}: {documents}{counted(self.queries, 'query')}{learned}{passes}"

    def _tabulate_times(self) -> Table:
        """Return the mean time of every stage, and percentiles of the total."""
        parts = [stage for stage in self.stages if stage != TOTAL]
        rows = []
        for record in self.systems:
            total = self.latencies.get((record.name, TOTAL))
            if total is not None:
                means = [self.latencies.get((record.name, stage), {}).get("Latency") for stage in parts]
                rows.append((record.name, *map(_round, means), *map(_round, total.values())))
        columns = ("system", *parts, "total", "p50", "p90", "p95", "p99")
        return Table(
            columns, tuple(rows), title="Milliseconds per query: means by stage, and percentiles of the total"
        )

    def _tabulate_load(self) -> Table:
        """Return a row for each load test."""
        asked = any(point.within is not None for point in self.load)
        rows = tuple(
            (
                point.system,
                point.loop,
                point.clients,
                *map(_round, (point.rate, point.qps, point.p50_ms, point.p95_ms, point.p99_ms)),
                point.failed,
                *([{True: "yes", False: "no", None: None}[point.within]] if asked else []),
            )
            for point in self.load
        )
        columns = ("system", "loop", "clients", "rate", "queries/s", "p50 ms", "p95 ms", "p99 ms", "failed")
        title = "Under load: clients that ask one query after the other (closed), and queries that arrive at a rate (open)"
        return Table((*columns, *(["within"] if asked else [])), rows, title=title)

    def _tabulate_systems(self) -> Table:
        """Return what each system consists of, and what it took to build."""
        rows = tuple(
            (
                record.name,
                record.stages,
                ", ".join(map(str, record.dimensions)) or None,
                _describe_encoding(record),
                f"{record.build_seconds:.1f}",
            )
            for record in self.systems
            if not record.failure
        )
        return Table(("system", "stages", "dimensions", "encoding s", "building s"), rows, title="Systems")

    def _draw_times(self) -> Figure:
        """Draw the mean time of each stage, end to end, a bar for each system."""
        records: list[Record] = [
            {
                "group": times.system,
                "name": times.stage,
                "value": self.latencies[times.system, times.stage]["Latency"],
            }
            for times in self.times
            if times.stage != TOTAL
        ]
        return draw_stacked_bars(
            records,
            name="stages",
            title="Where the time of a query goes",
            value="milliseconds, mean over queries",
        )

    def charts(self) -> list[Figure]:
        """Return every figure: means, accuracy against latency, times by stage, confusion matrices."""
        figures = [block for block in self.blocks(Display(notes=False)) if isinstance(block, Figure)]
        return [*figures, *self._draw_measures()]

    def _draw_measures(self) -> Iterator[Figure]:
        """Draw each measure by itself, a bar for each system, for documents that show one at a time."""
        if self.scored is None:
            return
        for measure in self.scored.measures:
            bars: list[Record] = [
                {"group": name, "name": measure.label, "value": evaluation[measure]}
                for name, evaluation in self.scored.items()
            ]
            yield draw_bars(bars, name=f"measure-{measure.label}", title=measure.label, value="mean")


def _round(value: float | None) -> str | None:
    return None if value is None else f"{value:.3g}"


def _describe_encoding(record: SystemRecord) -> str | None:
    """Return the time that encoding took, and how old the vectors are that took none."""
    taken = f"{record.encode_seconds:.1f}" if record.encode_seconds else ""
    cached = f"vectors of {record.vectors_of}" if record.vectors_of else ""
    return " + ".join(filter(None, (taken, cached))) or None


def _name_report(report: RoutingReport, others: Sequence[RoutingReport]) -> str:
    """Return the name of a report's table: its subject, with the system where there are several."""
    several = sum(other.subject == report.subject for other in others) > 1
    return f"{report.subject} {next(iter(report.scored))}" if several else report.subject
