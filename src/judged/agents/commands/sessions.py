"""`judged sessions`: what agents found, how soon, and how much of it again, from their traces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from judged.agents.commands.trace_options import TRACES, TraceOptions
from judged.agents.dedup.rules import URL_RULES, Rules, Unit
from judged.agents.protocol import DEFAULT_MEASURES, WITHOUT_GAINS, Conflict, SessionProtocol, Unlabelled
from judged.cli.command import Command, flag, option, options
from judged.cli.comparing import ComparisonOptions, DifferenceOptions
from judged.cli.gate import INCONCLUSIVE, VERDICT, exit_code, inconclusive_option, min_delta_option
from judged.cli.inputs import InputPath, check_standard_input, split_name
from judged.cli.options import (
    COMPARISON,
    INPUTS,
    TABLE,
    QueryOptions,
    baseline_option,
    convention_option,
    labels_option,
    measure_option,
    output_options,
    picture_option,
    query_options,
)
from judged.cli.output import OutputOptions, emit
from judged.errors import BadMeasure, BadProtocol, UnknownName

if TYPE_CHECKING:
    from judged.agents.result import Section, SessionReport
    from judged.agents.traces.read import ReadArguments
    from judged.comparison.settings import Settings
    from judged.gates.result import GateReport
    from judged.measures.measure import Measure
    from judged.scoring.evaluation import Evaluation

    class Reading(ReadArguments, total=False):
        """Reading of traces, and deduplication of their results."""

        rules: Rules
        explain: bool


Traces: TypeAlias = list[tuple[str | None, str]]
"""The name that each trace is given, if any, and its path."""

SUBCOMMANDS = {"inspect": "judged.agents.commands.inspect:inspect"}
ANALYSES = "Analyses"
LEVEL_SHOWN = ("--baseline", "--curve", "--stopping", "--attempts", "--human", "--picture", "-o FILE.html")
"""Options whose output has intervals."""
EXAMPLES = """\b
Examples:
  judged sessions traces.jsonl
  judged sessions traces.jsonl -m "CG@3 SRR@last" --labels labels.jsonl --per-session
  judged sessions old=a.jsonl new=b.jsonl --baseline old --curve --picture curve.svg
  judged sessions old=a.jsonl new=b.jsonl --baseline old --min-delta -2% -m "CG SRR"
  judged sessions traces.jsonl --stopping --overlap --format json
  judged sessions inspect traces.jsonl
"""


class Weight(click.ParamType):  # type: ignore[type-arg]  # as in `judged.cli.inputs`
    """`FIELD=NUMBER`."""

    name = "field=number"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, float]:
        """Return the field and its weight."""
        field, _, number = str(value).partition("=")
        try:
            return field.replace("-", "_"), float(number)
        except ValueError:
            self.fail(f"`{value}` is not a field and a number, such as `title=0.4`", param, ctx)


@dataclass(frozen=True, kw_only=True)
class SessionOptions:
    """Options for the measures, and for the parts of the result that are shown."""

    labels: str | None = labels_option(section=INPUTS)
    human: str | None = option(
        "--human FILE",
        "Human grades of a random sample of the results (`judged label --sample`): correct CG and SRE by them.",
    )
    reference: str | None = option(
        "--reference union|FILE",
        "Results to be found: those that all systems found on a task together, or judgments.",
    )
    chosen: tuple[str, ...] = option(
        "--session ID", "Only this conversation; may be repeated.", multiple=True
    )
    measures: tuple[str, ...] = measure_option(
        f"`judged measures` lists them by group.  [default: {' '.join(DEFAULT_MEASURES)}]"
    )
    good: int | None = option(
        "--good GAIN", "Lowest gain of a good result.  [default: 2]", type=click.IntRange(1, 4)
    )
    discount: str | None = option(
        "--discount RULE", "log2, zipf, none, or a number between 0 and 1.  [default: log2]"
    )
    beyond: str | None = option(
        "--beyond [hold|pad]", "Value of a session after its last iteration.  [default: hold]"
    )
    conflict: Conflict | None = convention_option(SessionProtocol.conventions()["conflict"])
    unlabelled: Unlabelled | None = convention_option(SessionProtocol.conventions()["unlabelled"])
    curve: bool = flag("--curve", "Show every measure at every iteration.", section=ANALYSES)
    stopping: bool = flag("--stopping", "Show the loss and the savings of stopping earlier.")
    budgets: tuple[tuple[str, float], ...] = option(
        "--budget searches|tokens|seconds|cost=N",
        "With --stopping: also stop when this much is spent; may be repeated.",
        needs="--stopping",
        multiple=True,
        type=Weight(),
    )
    redundancy: bool = flag(
        "--redundancy",
        "Show where repeats come from: iterations, tools, queries, documents; with --per-session, what each search repeated.",
    )
    use: bool = flag("--use", "Show what was opened and cited of what was retrieved.")
    attempts: bool = flag(
        "--attempts", "Show mean and spread over repeated attempts, and what k attempts find."
    )
    overlap: bool = flag("--overlap", "Show which good results several systems found.")
    explain: bool = flag("--explain", "Show why each result is new or a duplicate.")
    picture: Path | None = picture_option("--picture", "the first measure by iteration")
    baselines: tuple[str, ...] = baseline_option()
    min_delta: str | None = min_delta_option(
        " With one --baseline: exit with 0 only if every other system passes.", section=VERDICT
    )
    inconclusive: int | None = inconclusive_option(needs="--min-delta")

    def list_files(self) -> Iterator[tuple[str, str]]:
        """Yield the role and the path of every file besides the traces."""
        roles = {"labels": self.labels, "reference": self.reference, "human": self.human}
        yield from ((role, path) for role, path in roles.items() if path and path != "union")


@dataclass(frozen=True, kw_only=True)
class DuplicateOptions:
    """Options for deduplication."""

    unit: Unit | None = convention_option(Rules.conventions()["unit"])
    threshold: float | None = convention_option(Rules.conventions()["threshold"])
    weights: tuple[tuple[str, float], ...] = option(
        "--weight",
        "Weight of a field that agrees in that confidence: domain, generic, url, loose-url, text, title.",
        multiple=True,
        type=Weight(),
    )
    url_rules_off: tuple[str, ...] = option(
        "--without-url-rule RULE",
        f"Do not apply a rule to URLs: {', '.join(URL_RULES)}.",
        multiple=True,
        type=click.Choice(list(URL_RULES)),
    )
    near: float | None = convention_option(Rules.conventions()["near"])

    def to_rules(self) -> Rules:
        """Return the rules of deduplication; raise an error for a weight of something else than a field."""
        from judged.agents.dedup.rules import Weights

        weights, known = dict(self.weights), Weights.conventions()
        for name in weights.keys() - known.keys():
            kind = "field that results are compared by"
            raise UnknownName(kind, name, known)
        chosen = {"unit": self.unit, "threshold": self.threshold, "near": self.near}
        given: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
        return Rules(weights=Weights(**weights), url_rules_off=frozenset(self.url_rules_off), **given)


@click.command("sessions", cls=Command, epilog=EXAMPLES, subcommands=SUBCOMMANDS)
@click.argument("traces", metavar="TRACE...", nargs=-1, required=True, type=InputPath(named=True))
@options("options", SessionOptions)
@options("comparison", ComparisonOptions, COMPARISON, needs=("--baseline",), level={"needs": LEVEL_SHOWN})
@options("differences", DifferenceOptions, TABLE, needs=("--baseline",))
@query_options("session")
@options("duplicates", DuplicateOptions, "Duplicates")
@options("reading", TraceOptions, TRACES)
@output_options()
def command(
    traces: tuple[str, ...],
    *,
    options: SessionOptions,
    comparison: ComparisonOptions,
    differences: DifferenceOptions,
    queries: QueryOptions,
    duplicates: DuplicateOptions,
    reading: TraceOptions,
    output: OutputOptions,
) -> None:
    """Score the search sessions in each TRACE: good gain by iteration, efficiency, redundancy.

    Traces are read as agents and tracing tools write them; `judged sessions inspect TRACE` summarises what is read. A
    trace names its system, or has the name of its file; NAME=FILE gives it another. Results are deduplicated within a
    session, and only the last turn counts. Gains are part of the trace or of --labels.
    """
    display, settings = queries.to_display(differences.to_display()), comparison.to_settings()
    output.check()
    named = [split_name(trace) for trace in traces]
    check_standard_input([path for _, path in named])
    if options.picture is not None:
        from judged.report.draw import check_picture_path

        check_picture_path(options.picture)
    reported = any(path.suffix.lower() == ".html" for path in output.paths)
    how: Reading = {
        **reading.to_dict(),
        "rules": duplicates.to_rules(),
        "explain": options.explain or reported,
    }
    report = make_report(named, settings, options, how, quiet=output.quiet)
    if options.picture is not None:
        _draw(report, options.picture)
    shown = report if options.curve else replace(report, curves=())
    emit(shown, output, display=display, written=tuple(filter(None, [options.picture])))
    inconclusive = INCONCLUSIVE if options.inconclusive is None else options.inconclusive
    code = exit_code(report.gates, inconclusive) if report.gates else 0
    if code:
        raise click.exceptions.Exit(code)


def _draw(report: SessionReport, picture: Path) -> None:
    from judged.agents.result import draw_curves
    from judged.report.draw import draw
    from judged.store.files import write_file

    if not report.curves:
        measures = ", ".join(measure.label for measure in report.evaluation.measures)
        msg = f"{measures} is one number for a session, and has no curve to draw"
        raise BadMeasure(msg, hint="for example `-m CG`")
    write_file(picture, draw(draw_curves(report.curves), picture.suffix))


def make_report(
    named: Traces, settings: Settings, options: SessionOptions, how: Reading, *, quiet: bool
) -> SessionReport:
    """Score the traces, read as `how` says, and add what the options ask for."""
    from judged.agents.analysis import alone, curve, curve_measures, overlaps, stopping_points
    from judged.agents.result import SessionReport
    from judged.comparison.api import compare
    from judged.result import observe_files

    inputs = observe_files([*(("trace", path) for _, path in named), *options.list_files()])
    evaluation = _evaluate(named, options, how, quiet=quiet)
    good, systems = options.good or 2, evaluation.systems
    curved = curve_measures(evaluation.measures) if options.curve or options.picture is not None else []
    baselines = options.baselines
    return SessionReport(
        evaluation,
        replace(evaluation.provenance, inputs=inputs),
        curves=tuple(
            curve(system, measure, level=settings.level) for system in systems.values() for measure in curved
        ),
        stops={name: stopping_points(system, good=good) for name, system in systems.items()}
        if options.stopping
        else None,
        pairs=overlaps(evaluation, good=good) if options.overlap else (),
        single=alone(evaluation, good=good) if options.overlap else (),
        comparison=compare(evaluation, baseline=baselines, **settings.to_dict()) if baselines else None,
        gates=_gate(evaluation, settings, options) if options.min_delta is not None else (),
        sections=dict(_make_sections(evaluation, settings, options, good=good)),
        explained=options.explain,
        good=good,
    )


def _make_sections(
    evaluation: Evaluation, settings: Settings, options: SessionOptions, *, good: int
) -> Iterator[tuple[str, Section]]:
    """Yield what was asked for besides means, curves and comparisons."""
    from judged.agents.analysis import attempts, corrected, redundancy, stopping_rules, use

    if options.human:
        yield "corrected", corrected(evaluation)
    if options.redundancy:
        yield "redundancy", redundancy(evaluation)
    if options.use:
        yield "use", use(evaluation, good=good)
    if options.stopping or options.budgets:
        rules = stopping_rules(evaluation, budgets=options.budgets, good=good, level=settings.level)
        yield "stopping_rules", rules
    if options.attempts:
        yield "attempts", attempts(evaluation, good=good)


def _gate(evaluation: Evaluation, settings: Settings, options: SessionOptions) -> tuple[GateReport, ...]:
    """Gate every other system against the baseline, by the measures that have a better direction."""
    from judged.gates.api import gate

    if options.min_delta is None or len(options.baselines) != 1:
        msg = "`--min-delta` says how much worse than a baseline a system may be, and needs one `--baseline NAME`"
        raise click.UsageError(msg)
    directed = [
        measure
        for measure in evaluation.measures
        if measure.higher_is_better is not None and measure.aggregate == "mean"
    ]
    if not directed:
        msg = f"{', '.join(measure.label for measure in evaluation.measures)} cannot be a gate: neither more nor less is better"
        raise BadMeasure(msg, hint="for example `-m CG`")
    systems = dict(replace(evaluation, measures=tuple(directed)).systems)
    baseline = systems.pop(options.baselines[0])
    return tuple(
        gate(system, baseline=baseline, min_delta=options.min_delta, seed=settings.seed)
        for system in systems.values()
    )


def _evaluate(named: Traces, options: SessionOptions, how: Reading, *, quiet: bool) -> Evaluation:
    from judged.agents.evaluate import evaluate_sessions
    from judged.agents.family import UNION, session_totals
    from judged.cli.progress import Progress

    reference = options.reference or (UNION if options.overlap else None)
    if options.overlap and reference != UNION:
        msg = "`--overlap` shows what systems found together, and `--reference` names judgments"
        raise BadProtocol(msg, hint="leave `--reference` out, or use `--reference union`")
    shared = {"good": options.good, "discount": options.discount, "beyond": options.beyond}
    with Progress("Reading sessions", enabled=not quiet) as progress:
        evaluation = evaluate_sessions(
            named,
            choose_measures(options.measures, **shared),
            labels=options.labels,
            reference=reference,
            conflict=options.conflict,
            unlabelled=options.unlabelled,
            conversations=options.chosen,
            searches=options.redundancy,
            human=options.human,
            progress=progress,
            **how,
        )
    if session_totals(evaluation).labelled or options.measures or options.labels:
        return evaluation
    return evaluation.measure(WITHOUT_GAINS)


def choose_measures(names: Sequence[str], **parameters: str | float | None) -> list[Measure]:
    """Return the measures named, with the parameters that hold for all and are not None, and their companions."""
    from judged.measures.parse import parse_measures

    texts = " ".join(names) or " ".join(DEFAULT_MEASURES)
    shared = {name: value for name, value in parameters.items() if value is not None}
    discount = shared.get("discount")
    if isinstance(discount, str) and discount.replace(".", "", 1).isdecimal():
        shared["discount"] = float(discount)
    chosen = []
    for measure in parse_measures(texts, family="session"):
        free = measure.defaults.keys() - dict(measure.set_parameters).keys()
        chosen.append(measure(**{name: value for name, value in shared.items() if name in free}))
    return parse_measures([*chosen, *_find_companions(chosen, shared)], family="session")


def _find_companions(measures: list[Measure], settings: Mapping[str, object]) -> Iterator[Measure]:
    """Yield what rates and times are not shown without: gain, length, and whether everything was found."""
    from judged.agents.measures import SESSION_MEASURES

    for measure in measures:
        shared = {
            **settings,
            **dict(measure.set_parameters),
            "iteration": measure.parameters.get("iteration", "last"),
        }
        for companion in (SESSION_MEASURES[name] for name in measure.companions):
            names = {"good", "reference", "iteration"} & companion.defaults.keys() & shared.keys()
            yield companion(**{name: shared[name] for name in names})
