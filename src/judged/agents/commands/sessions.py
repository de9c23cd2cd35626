"""`judged sessions`: what agents found, how soon, and how much of it again, from their traces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from judged.agents.commands.trace_options import trace_options
from judged.agents.dedup.rules import URL_RULES, Rules
from judged.agents.protocol import DEFAULT_MEASURES, WITHOUT_GAINS, SessionProtocol
from judged.cli.effects import dependent_option
from judged.cli.gate import INCONCLUSIVE, Inconclusive, exit_code
from judged.cli.inputs import InputPath, check_standard_input, split_name
from judged.cli.options import (
    comparison_options,
    convention_option,
    difference_options,
    measure_option,
    output_options,
    query_options,
)
from judged.cli.output import OutputOptions, emit
from judged.errors import BadMeasure, BadProtocol, UnknownName

if TYPE_CHECKING:
    from judged.agents.result import Section, SessionReport
    from judged.blocks import Display
    from judged.comparison.settings import Settings
    from judged.gates.result import GateReport
    from judged.measures.measure import Measure
    from judged.scoring.evaluation import Evaluation

Traces: TypeAlias = list[tuple[str | None, str]]
"""The name that each trace is given, if any, and its path."""

INSPECT = "inspect"
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


class Command(click.Command):
    """`judged sessions TRACE…`; `judged sessions inspect` is a command of its own."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of this command, or of the one that is named first."""
        if args[:1] != [INSPECT]:
            return super().make_context(info_name, args, parent, **extra)
        from judged.agents.commands.inspect import command as inspect

        return inspect.make_context(f"{info_name} {INSPECT}", args[1:], parent, **extra)


class Weight(click.ParamType):  # type: ignore[type-arg]  # as in `judged.cli.inputs`
    """`FIELD=NUMBER`."""

    name = "field=number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, float]:
        """Return the field and its weight."""
        field, _, number = str(value).partition("=")
        try:
            return field.replace("-", "_"), float(number)
        except ValueError:
            self.fail(f"`{value}` is not a field and a number, such as `title=0.4`", param, ctx)


@click.command("sessions", cls=Command, epilog=EXAMPLES)
@click.argument("traces", metavar="TRACE...", nargs=-1, required=True, type=InputPath(named=True))
@measure_option(f"`judged measures` lists them by family.  [default: {' '.join(DEFAULT_MEASURES)}]")
@click.option("--labels", metavar="FILE", help="Gains of results: JSONL, CSV, TSV or TREC judgments.")
@click.option(
    "--reference",
    metavar="union|FILE",
    help="What could have been found: what all systems found on a task together, or judgments.",
)
@query_options("session")
@click.option("--curve", is_flag=True, help="Show every measure at every iteration.")
@click.option(
    "--stopping", is_flag=True, help="Show what would have been lost and saved by stopping earlier."
)
@dependent_option(
    "--budget",
    "budgets",
    needs="--stopping",
    multiple=True,
    type=Weight(),
    metavar="searches|tokens|seconds=N",
    help="With --stopping: also stop when this much is spent; may be repeated.",
)
@click.option(
    "--redundancy",
    is_flag=True,
    help="Show where repeats come from: iterations, tools, queries, documents; with --per-session, what each search repeated.",
)
@click.option("--use", is_flag=True, help="Show what was opened and cited of what was retrieved.")
@click.option(
    "--attempts", is_flag=True, help="Show mean and spread over repeated attempts, and what k attempts find."
)
@click.option(
    "--human",
    metavar="FILE",
    help="Human grades of a random sample of the results (`judged label --sample`): correct CG and SRE by them.",
)
@click.option("--overlap", is_flag=True, help="Show which good results several systems found.")
@click.option("--explain", is_flag=True, help="Show why each result is new or a duplicate.")
@click.option(
    "--session", "chosen", multiple=True, metavar="ID", help="Only this conversation; may be repeated."
)
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    metavar="NAME",
    help="Compare the other systems with this one, on the same tasks; may be repeated.",
)
@partial(comparison_options, needs=("--baseline",), level_needs=LEVEL_SHOWN)
@partial(difference_options, needs=("--baseline",))
@click.option(
    "--min-delta",
    metavar="DELTA",
    help="With one --baseline: exit with 0 only if every other system is shown to be no worse by more than this,"
    " a number or a share of the baseline's mean (-2%).",
)
@dependent_option(
    "--inconclusive",
    needs="--min-delta",
    type=Inconclusive(),
    default=INCONCLUSIVE,
    show_default=True,
    help="With --min-delta: exit code of an inconclusive verdict.",
)
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also draw the first measure by iteration; .svg, .png or .pdf.",
)
@click.option("--good", type=click.IntRange(1, 4), help="The gain from which a result is good.  [default: 2]")
@click.option(
    "--discount", metavar="RULE", help="log2, zipf, none, or a number between 0 and 1.  [default: log2]"
)
@click.option(
    "--beyond",
    type=click.Choice(["hold", "pad"]),
    help="Value of a session after its last iteration.  [default: hold]",
)
@convention_option(Rules.conventions()["unit"])
@convention_option(Rules.conventions()["threshold"])
@click.option(
    "--weight",
    "weights",
    multiple=True,
    type=Weight(),
    help="Weight of a field that agrees in that confidence: domain, generic, url, loose-url, text, title.",
)
@click.option(
    "--without-url-rule",
    "url_rules_off",
    multiple=True,
    type=click.Choice(list(URL_RULES)),
    metavar="RULE",
    help=f"Do not apply a rule to URLs: {', '.join(URL_RULES)}.",
)
@convention_option(Rules.conventions()["near"])
@convention_option(SessionProtocol.conventions()["conflict"])
@convention_option(SessionProtocol.conventions()["unlabelled"])
@trace_options
@output_options()
def command(
    *,
    traces: tuple[str, ...],
    settings: Settings,
    display: Display,
    output: OutputOptions,
    picture: Path | None,
    **options: Any,
) -> None:
    """Score the search sessions in each TRACE: good gain by iteration, efficiency, redundancy.

    Traces are read as agents and tracing tools write them; `judged sessions inspect TRACE` summarises what is read. A
    trace names its system, or has the name of its file; NAME=FILE gives it another. Results are deduplicated within a
    session, and only the last turn counts. Gains are part of the trace or of --labels.
    """
    output.check()
    named = [split_name(trace) for trace in traces]
    check_standard_input([path for _, path in named])
    if picture is not None:
        from judged.report.draw import check_picture_path

        check_picture_path(picture)
    options["report"] = any(path.suffix.lower() == ".html" for path in output.paths)
    report = _make_report(
        named, settings, options, curves=options["curve"] or picture is not None, quiet=output.quiet
    )
    if picture is not None:
        _draw(report, picture)
    shown = report if options["curve"] else replace(report, curves=())
    emit(shown, output, display=display, written=tuple(filter(None, [picture])))
    code = exit_code(report.gates, options["inconclusive"]) if report.gates else 0
    if code:
        raise click.exceptions.Exit(code)


def _draw(report: SessionReport, picture: Path) -> None:
    from judged.agents.result import draw_curves
    from judged.report.draw import draw
    from judged.store.files import write_file

    if not report.curves:
        measures = ", ".join(map(str, report.evaluation.measures))
        msg = f"{measures} is one number for a session, and has no curve to draw"
        raise BadMeasure(msg, hint="for example `-m CG`")
    write_file(picture, draw(draw_curves(report.curves), picture.suffix))


def _make_report(
    named: Traces, settings: Settings, options: dict[str, Any], *, curves: bool, quiet: bool
) -> SessionReport:
    from judged.agents.analysis import alone, curve, curve_measures, overlaps, stopping_points
    from judged.agents.result import SessionReport
    from judged.comparison.api import compare
    from judged.result import observe_files

    inputs = observe_files(_list_inputs(named, options))
    evaluation = _evaluate(named, options, quiet=quiet)
    good, systems = options["good"] or 2, evaluation.systems
    curved = curve_measures(evaluation.measures) if curves else []
    compared = options["baselines"]
    return SessionReport(
        evaluation,
        replace(evaluation.provenance, inputs=inputs),
        curves=tuple(
            curve(system, measure, level=settings.level) for system in systems.values() for measure in curved
        ),
        stops={name: stopping_points(system, good=good) for name, system in systems.items()}
        if options["stopping"]
        else None,
        pairs=overlaps(evaluation, good=good) if options["overlap"] else (),
        single=alone(evaluation, good=good) if options["overlap"] else (),
        comparison=compare(evaluation, baseline=compared, **settings.to_dict()) if compared else None,
        gates=_gate(evaluation, settings, options) if options["min_delta"] is not None else (),
        sections=dict(_make_sections(evaluation, settings, options, good=good)),
        explained=options["explain"],
        good=good,
    )


def _make_sections(
    evaluation: Evaluation, settings: Settings, options: dict[str, Any], *, good: int
) -> Iterator[tuple[str, Section]]:
    """Yield what was asked for besides means, curves and comparisons."""
    from judged.agents.analysis import attempts, corrected, redundancy, stopping_rules, use

    if options["human"]:
        yield "corrected", corrected(evaluation)
    if options["redundancy"]:
        yield "redundancy", redundancy(evaluation)
    if options["use"]:
        yield "use", use(evaluation, good=good)
    if options["stopping"] or options["budgets"]:
        rules = stopping_rules(evaluation, budgets=options["budgets"], good=good, level=settings.level)
        yield "stopping_rules", rules
    if options["attempts"]:
        yield "attempts", attempts(evaluation, good=good)


def _gate(evaluation: Evaluation, settings: Settings, options: dict[str, Any]) -> tuple[GateReport, ...]:
    """Gate every other system against the baseline, by the measures that have a better direction."""
    from judged.gates.api import gate

    if len(options["baselines"]) != 1:
        msg = "`--min-delta` says how much worse than a baseline a system may be, and needs one `--baseline NAME`"
        raise click.UsageError(msg)
    directed = [
        measure
        for measure in evaluation.measures
        if measure.higher_is_better is not None and measure.aggregate == "mean"
    ]
    if not directed:
        msg = f"{', '.join(map(str, evaluation.measures))} cannot be a gate: neither more nor less is better"
        raise BadMeasure(msg, hint="for example `-m CG`")
    systems = dict(replace(evaluation, measures=tuple(directed)).systems)
    baseline = systems.pop(options["baselines"][0])
    return tuple(
        gate(system, baseline=baseline, min_delta=options["min_delta"], seed=settings.seed)
        for system in systems.values()
    )


def _evaluate(named: Traces, options: dict[str, Any], *, quiet: bool) -> Evaluation:
    from judged.agents.analysis import session_totals
    from judged.agents.evaluate import evaluate_sessions
    from judged.agents.family import UNION
    from judged.cli.progress import Progress

    reference = options["reference"] or (UNION if options["overlap"] else None)
    if options["overlap"] and reference != UNION:
        msg = "`--overlap` shows what systems found together, and `--reference` names judgments"
        raise BadProtocol(msg, hint="leave `--reference` out, or use `--reference union`")
    with Progress("Reading sessions", enabled=not quiet) as progress:
        evaluation = evaluate_sessions(
            named,
            choose_measures(options),
            labels=options["labels"],
            reference=reference,
            rules=_make_rules(options),
            conflict=options["conflict"],
            unlabelled=options["unlabelled"],
            turn=options["turn"],
            format=options["format"],
            tools=options["tools"],
            lenient=options["lenient"],
            conversations=options["chosen"],
            explain=options["explain"] or options["report"],
            searches=options["redundancy"],
            human=options["human"],
            progress=progress,
        )
    if session_totals(evaluation).labelled or options["measures"] or options["labels"]:
        return evaluation
    return evaluation.measure(WITHOUT_GAINS)


def _make_rules(options: dict[str, Any]) -> Rules:
    from judged.agents.dedup.rules import Weights

    known = Weights.conventions()
    for name in dict(options["weights"]).keys() - known.keys():
        kind = "field that results are compared by"
        raise UnknownName(kind, name, known)
    given = {name: options[name] for name in ("unit", "threshold", "near") if options[name] is not None}
    off = frozenset(options["url_rules_off"])
    return Rules(weights=Weights(**dict(options["weights"])), url_rules_off=off, **given)


def choose_measures(options: dict[str, Any]) -> list[Measure]:
    """Return the measures asked for, with the settings that hold for all, and their companions."""
    from judged.measures.parse import parse_measures

    texts = " ".join(options["measures"]) or " ".join(DEFAULT_MEASURES)
    shared = {name: options[name] for name in ("good", "discount", "beyond") if options[name] is not None}
    if "discount" in shared and shared["discount"].replace(".", "", 1).isdecimal():
        shared["discount"] = float(shared["discount"])
    chosen = []
    for measure in parse_measures(texts, family="session"):
        free = measure.defaults.keys() - dict(measure.set_parameters).keys()
        chosen.append(measure(**{name: value for name, value in shared.items() if name in free}))
    return parse_measures([*chosen, *_find_companions(chosen, shared)], family="session")


def _find_companions(measures: list[Measure], settings: dict[str, Any]) -> Iterator[Measure]:
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


def _list_inputs(named: Traces, options: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield from (("trace", path) for _, path in named)
    for role in ("labels", "reference", "human"):
        if options[role] and options[role] != "union":
            yield role, options[role]
