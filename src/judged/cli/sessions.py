"""`judged sessions`: what agents found, how soon, and how much of it again, from their traces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from judged.cli.gate import INCONCLUSIVE, Inconclusive, exit_code
from judged.cli.inputs import InputPath, check_standard_input, split_name
from judged.cli.options import compared_by, measure_option, settings_of, written_results
from judged.cli.output import format_of, refuse_bytes_on_a_terminal, says_bold
from judged.cli.trace_options import trace_options
from judged.dedup.rules import URL_RULES, Unit
from judged.errors import BadMeasure, BadProtocol, UnknownName
from judged.result import write_file
from judged.sessions.protocol import DEFAULT_MEASURES, WITHOUT_GAINS, SessionProtocol

if TYPE_CHECKING:
    from judged.cli.session_report import SessionReport
    from judged.comparison.result import Comparison
    from judged.dedup.rules import Rules
    from judged.engine.evaluation import Evaluation
    from judged.gates.result import GateReport
    from judged.measures.measure import Measure

__all__ = ["command"]

INSPECT = "inspect"
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
        """The context of this command, or of the one that is named first."""
        if args[:1] != [INSPECT]:
            return super().make_context(info_name, args, parent, **extra)
        from judged.cli.sessions_inspect import command as inspect

        return inspect.make_context(f"{info_name} {INSPECT}", args[1:], parent, **extra)


class Weight(click.ParamType):  # type: ignore[type-arg]  # as in `judged.cli.inputs`
    """`FIELD=NUMBER`."""

    name = "field=number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, float]:
        """The field and its weight."""
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
    help="What there was to find: what all systems found on a task together, or judgments.",
)
@click.option("--per-session", is_flag=True, help="Show every session, not only the means.")
@click.option("--curve", is_flag=True, help="Show every measure at every iteration.")
@click.option(
    "--stopping", is_flag=True, help="Show what would have been lost and saved by stopping earlier."
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
@compared_by
@click.option(
    "--min-delta",
    metavar="DELTA",
    help="With one --baseline: exit with 0 only if every other system is shown to be no worse by more than this,"
    " a number or a share of the baseline's mean (-2%).",
)
@click.option(
    "--inconclusive",
    type=Inconclusive(),
    default=INCONCLUSIVE,
    show_default=True,
    help="With --min-delta: what an inconclusive verdict exits with.",
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
    help="What a session has after its last iteration.  [default: hold]",
)
@click.option(
    "--unit",
    type=click.Choice(get_args(Unit)),
    default="document",
    show_default=True,
    help="What is one thing: a document, a passage of it, or whatever agrees in every field.",
)
@click.option(
    "--threshold", type=float, help="The confidence from which two results are the same.  [default: 0.6]"
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    type=Weight(),
    help="How much a field that agrees adds to that confidence: domain, generic, url, loose-url, text, title.",
)
@click.option(
    "--without-url-rule",
    "url_rules_off",
    multiple=True,
    type=click.Choice(list(URL_RULES)),
    metavar="RULE",
    help=f"Do not apply a rule to URLs: {', '.join(URL_RULES)}.",
)
@click.option("--near", type=float, metavar="SHARE", help="Texts that overlap by this share are the same.")
@click.option(
    "--conflict",
    type=click.Choice(SessionProtocol.conventions()["conflict"].options),
    default="first",
    show_default=True,
    help=SessionProtocol.conventions()["conflict"].help,
)
@click.option(
    "--unlabelled",
    type=click.Choice(SessionProtocol.conventions()["unlabelled"].options),
    default="zero",
    show_default=True,
    help=SessionProtocol.conventions()["unlabelled"].help,
)
@trace_options
@written_results()
@click.option("-q", "--quiet", is_flag=True, help="Print no notes and no progress on standard error.")
def command(traces: tuple[str, ...], **options: Any) -> None:
    """Score the search sessions in each TRACE: good gain by iteration, efficiency, redundancy.

    Traces are read as agents and tracing tools write them; `judged sessions inspect TRACE` shows what is understood.
    A trace names its system, or has the name of its file; NAME=FILE gives it another. Results are deduplicated within
    a session, and only the last turn counts. Gains stand in the trace or in --labels.
    """
    refuse_bytes_on_a_terminal(options["kind"])
    named = [split_name(each) for each in traces]
    check_standard_input([path for _, path in named])
    outputs = {path: format_of(path) for path in options["outputs"]}
    if options["picture"]:
        from judged.report.draw import check_picture_path

        check_picture_path(options["picture"])
    report = _reported(named, options)
    for path, kind in outputs.items():
        write_file(path, report.rendered(kind, digits=options["digits"]))
    if options["picture"]:
        from judged.report.draw import draw
        from judged.sessions.show import draw_curves

        write_file(options["picture"], draw(draw_curves(report.curves), options["picture"].suffix))
    click.echo(report.rendered(options["kind"], digits=options["digits"], bold=says_bold()), nl=False)
    if not options["quiet"]:
        _tell(report, [*options["outputs"], *filter(None, [options["picture"]])])
    code = exit_code(report.gates, options["inconclusive"]) if report.gates else 0
    if code:
        raise click.exceptions.Exit(code)


def _reported(named: list[tuple[str | None, str]], options: dict[str, Any]) -> SessionReport:
    from judged.cli.session_report import SessionReport
    from judged.sessions.analysis import alone, curve, curve_measures, overlaps, stopping_points

    evaluation = _evaluated(named, options)
    good = options["good"] or 2
    systems = evaluation.systems.items()
    curved = curve_measures(evaluation.measures) if options["curve"] or options["picture"] else []
    if options["picture"] and not curved:
        msg = f"{', '.join(map(str, evaluation.measures))} is one number for a session, and has no curve to draw"
        raise BadMeasure(msg, hint="for example `-m CG`")
    return SessionReport(
        evaluation,
        list(_inputs(named, options)),
        per_session=options["per_session"],
        curves=[curve(each, measure, level=options["level"]) for _, each in systems for measure in curved],
        stops=[(name, stopping_points(each, good=good)) for name, each in systems if options["stopping"]],
        pairs=overlaps(evaluation, good=good) if options["overlap"] else (),
        single=alone(evaluation, good=good) if options["overlap"] else (),
        comparison=_compared(evaluation, options) if options["baselines"] else None,
        gates=_gated(evaluation, options) if options["min_delta"] is not None else (),
    )


def _compared(evaluation: Evaluation, options: dict[str, Any]) -> Comparison:
    from judged.sessions.compare import compare_systems

    return compare_systems(evaluation, baseline=options["baselines"], settings=settings_of(options))


def _gated(evaluation: Evaluation, options: dict[str, Any]) -> tuple[GateReport, ...]:
    """Every system against the baseline, in the measures of which more or less is better."""
    from judged.sessions.compare import gate_systems

    if len(options["baselines"]) != 1:
        msg = "`--min-delta` says how much worse than a baseline a system may be, and needs one `--baseline NAME`"
        raise click.UsageError(msg)
    sided = [
        each for each in evaluation.measures if each.higher_is_better is not None and each.aggregate == "mean"
    ]
    if not sided:
        msg = f"{', '.join(map(str, evaluation.measures))} cannot be a gate: neither more nor less is better"
        raise BadMeasure(msg, hint="for example `-m CG`")
    settings = {"min_delta": options["min_delta"], "seed": options["seed"]}
    return gate_systems(
        replace(evaluation, measures=tuple(sided)), baseline=options["baselines"][0], **settings
    )


def _evaluated(named: list[tuple[str | None, str]], options: dict[str, Any]) -> Evaluation:
    from judged.cli.progress import Progress
    from judged.sessions.analysis import session_totals
    from judged.sessions.evaluate import evaluate_sessions
    from judged.sessions.family import UNION

    reference = options["reference"] or (UNION if options["overlap"] else None)
    if options["overlap"] and reference != UNION:
        msg = "`--overlap` tells what systems found together, and `--reference` names judgments"
        raise BadProtocol(msg, hint="leave `--reference` out, or say `--reference union`")
    with Progress("Reading sessions", enabled=not options["quiet"]) as progress:
        evaluation = evaluate_sessions(
            [(name, path) for name, path in named],
            _measures(options),
            labels=options["labels"],
            reference=reference,
            rules=_rules(options),
            conflict=options["conflict"],
            unlabelled=options["unlabelled"],
            turn=options["turn"],
            format=options["format"],
            tools=options["tools"],
            lenient=options["lenient"],
            conversations=options["chosen"],
            explain=options["explain"],
            progress=progress,
        )
    if session_totals(evaluation).labelled or options["measures"]:
        return evaluation
    return evaluation.measure(WITHOUT_GAINS)


def _rules(options: dict[str, Any]) -> Rules:
    from judged.dedup.rules import Rules, Weights

    known = [each.name for each in fields(Weights)]
    for name in dict(options["weights"]).keys() - set(known):
        kind = "field that results are compared by"
        raise UnknownName(kind, name, known)
    weights = Weights(**dict(options["weights"]))
    given = {"threshold": options["threshold"]} if options["threshold"] is not None else {}
    off = frozenset(options["url_rules_off"])
    return Rules(unit=options["unit"], weights=weights, url_rules_off=off, near=options["near"], **given)


def _measures(options: dict[str, Any]) -> list[Measure]:
    """The measures asked for, with the settings that hold for all, and what must not be shown without."""
    from judged.measures.parse import parse_measures

    texts = " ".join(options["measures"]) or " ".join(DEFAULT_MEASURES)
    shared = {name: options[name] for name in ("good", "discount", "beyond") if options[name] is not None}
    if "discount" in shared and shared["discount"].replace(".", "", 1).isdecimal():
        shared["discount"] = float(shared["discount"])
    chosen = [
        each(
            **{
                name: value
                for name, value in shared.items()
                if name in each.defaults and name not in dict(each.set_parameters)
            }
        )
        for each in parse_measures(texts, family="session")
    ]
    return parse_measures([*chosen, *_companions(chosen)], family="session")


def _companions(measures: list[Measure]) -> Iterator[Measure]:
    """Yield what rates and times are not shown without: gain, length, and whether everything was found."""
    from judged.measures.families import SESSION_MEASURES

    for measure in measures:
        shared = {**dict(measure.set_parameters), "iteration": measure.parameters.get("iteration", "last")}
        for companion in (SESSION_MEASURES[name] for name in measure.companions):
            names = {"good", "reference", "iteration"} & companion.defaults.keys() & shared.keys()
            yield companion(**{name: shared[name] for name in names})


def _inputs(named: list[tuple[str | None, str]], options: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield from (("trace", path) for _, path in named)
    for role in ("labels", "reference"):
        if options[role] and options[role] != "union":
            yield role, options[role]


def _tell(report: SessionReport, outputs: list[Path]) -> None:
    from judged.sessions.analysis import session_totals
    from judged.sessions.show import note_undefined

    evaluation = report.evaluation
    click.echo(f"Protocol: {evaluation.protocol}", err=True)
    several = len(evaluation.systems) > 1
    for name, each in evaluation.systems.items():
        of = f"{name}: " if several else ""
        for note in [*each.notes, *note_undefined(each)]:
            click.echo(f"Note: {of}{note.message}", err=True)
    for note in session_totals(evaluation).notes_on_inputs() if several else ():
        click.echo(f"Note: {note.message}", err=True)
    if report.comparison is not None:
        click.echo(f"Compared: {report.comparison.method}", err=True)
        for note in report.comparison.notes:
            click.echo(f"Note: {note}", err=True)
    for path in outputs:
        click.echo(f"Wrote: {path}", err=True)
