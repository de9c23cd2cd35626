"""`judged answers`: score generated answers from labels of their nuggets, citations and claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import click

from judged.answers.protocol import AnswerProtocol
from judged.cli.command import Command, flag, option, options
from judged.cli.comparing import ComparisonOptions, DifferenceOptions
from judged.cli.gate import INCONCLUSIVE, exit_code, inconclusive_option, min_delta_option
from judged.cli.inputs import InputPath, check_standard_input, split_name
from judged.cli.options import (
    COMPARISON,
    INPUTS,
    TABLE,
    baseline_option,
    convention_option,
    measure_option,
    output_options,
    query_options,
)
from judged.cli.output import OutputOptions, emit
from judged.errors import BadMeasure

if TYPE_CHECKING:
    from judged.answers.evaluate import LabelledInputs
    from judged.answers.losses import LossReport
    from judged.answers.result import AnswerReport
    from judged.cli.options import QueryOptions
    from judged.comparison.settings import Settings
    from judged.gates.result import GateReport
    from judged.result import Result
    from judged.tables.run import Run

EXAMPLES = """\b
Examples:
  judged answers responses.jsonl --nuggets nuggets.jsonl --labels assignments.jsonl
  judged answers old=a.jsonl new=b.jsonl --labels labels.csv --compare -o report.html
  judged answers responses.jsonl --labels support.csv -m "CitationF Cited" --per-query
  judged answers responses.jsonl --labels assignments.jsonl --run bm25.run --judgments by_nugget.qrels
  judged answers responses.jsonl --labels support.csv -m CitationRecall --against open-rag-eval
"""
_CONVENTIONS = AnswerProtocol.conventions()


@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """Options of what answers are scored against, and what is asked about them."""

    nuggets: str | None = option(
        "--nuggets FILE",
        "Nuggets of every query, with their importance.  [default: those of the labels]",
        section=INPUTS,
        type=InputPath(),
    )
    labels: tuple[str, ...] = option(
        "--labels FILE",
        "Labels of nuggets, citations or claims, which the columns tell apart; may be repeated. NAME=FILE for a system.",
        multiple=True,
        type=InputPath(named=True),
    )
    references: str | None = option(
        "--references FILE",
        "Short true answers: `query` and `answer`, several rows a query.",
        type=InputPath(),
    )
    human: tuple[str, ...] = option(
        "--human FILE",
        "Labels by people of a random sample of the queries: show agreement, and means corrected by them.",
        multiple=True,
        needs="--labels FILE",
        type=InputPath(named=True),
    )
    runs: tuple[str, ...] = option(
        "--run RUN",
        "What was retrieved for the answers: with --judgments, show which nuggets retrieval lost. NAME=RUN for a"
        " system.",
        multiple=True,
        needs="--judgments FILE",
        type=InputPath(named=True),
    )
    judgments: str | None = option(
        "--judgments FILE",
        "Judgments of documents by nugget, which is the intent (in TREC's format the second column).",
        needs="--run RUN",
        type=InputPath(),
    )
    depth: int | None = option(
        "--depth N",
        "Results of each query that were passed on.  [default: all of the run]",
        needs="--run RUN",
        type=click.IntRange(min=1),
    )
    measures: tuple[str, ...] = measure_option(
        "`judged measures` lists them by family.  [default: those for which there are labels]"
    )
    profile: str | None = option(
        "--profile NAME",
        "Compute as another tool does: nuggetizer, ragchecker, alce, open-rag-eval or ragas.",
    )
    against: str | None = option(
        "--against PROFILE",
        "Explain why the one measure differs from that of another tool.",
        needs="-m MEASURE",
        excludes=("--compare",),
    )
    system: str | None = option("--system NAME", "The system to explain.", needs="--against PROFILE")
    missing: str | None = convention_option(_CONVENTIONS["missing"])
    unlabelled: str | None = convention_option(_CONVENTIONS["unlabelled"])
    conflict: str | None = convention_option(_CONVENTIONS["conflict"])
    no_vital: str | None = convention_option(_CONVENTIONS["no_vital"])
    no_statements: str | None = convention_option(_CONVENTIONS["no_statements"])
    no_passages: str | None = convention_option(_CONVENTIONS["no_passages"])
    compare: bool = flag(
        "--compare", "Compare the systems: every pair, or with --baseline.", section=COMPARISON
    )
    baselines: tuple[str, ...] = baseline_option()
    min_delta: str | None = min_delta_option(
        " With one --baseline: exit with 0 only if every other system passes.", needs="--baseline NAME"
    )
    inconclusive: int | None = inconclusive_option(needs="--min-delta")

    def to_protocol(self) -> AnswerProtocol:
        """Return the protocol: that of the profile, changed by single conventions."""
        from judged.answers.profiles import as_protocol

        given = {name: getattr(self, name) for name in _CONVENTIONS if getattr(self, name, None) is not None}
        return as_protocol(self.profile).replace(**given)


@click.command("answers", cls=Command, epilog=EXAMPLES)
@click.argument("responses", metavar="RESPONSES...", nargs=-1, required=True, type=InputPath(named=True))
@options("options", AnswerOptions)
@options("comparison", ComparisonOptions, COMPARISON, needs=("--compare", "--baseline NAME"))
@options("differences", DifferenceOptions, TABLE, needs=("--compare", "--baseline NAME"))
@query_options()
@output_options()
def command(
    responses: tuple[str, ...],
    *,
    options: AnswerOptions,
    comparison: ComparisonOptions,
    differences: DifferenceOptions,
    queries: QueryOptions,
    output: OutputOptions,
) -> None:
    """Score the answers in RESPONSES by labels of their nuggets, citations and claims.

    RESPONSES are files of the TREC RAG track or of ALCE, or tables of any format with `query`, `answer` and perhaps
    `system` and `citations`; NAME=FILE names the system of a file. Labels are those of nuggetizer and RAGChecker, or tables.
    Pairs without a label are counted, taken as no support, and bounded.
    """
    display, settings = queries.to_display(differences.to_display()), comparison.to_settings()
    output.check()
    files = [split_name(path) for path in responses]
    check_standard_input([path for _, path in files])
    result = _make(files, options, settings)
    emit(result, output, display=display)
    code = (
        exit_code(result.gates, INCONCLUSIVE if options.inconclusive is None else options.inconclusive)
        if result.gates
        else 0
    )
    if code:
        raise click.exceptions.Exit(code)


_EXPLAINED = ("nuggets", "labels", "references", "measures", "profile", "against", "system")
_SCORED = tuple(item.name for item in fields(AnswerOptions) if item.name not in _EXPLAINED)


@click.command("explain", cls=Command)
@click.argument("responses", metavar="RESPONSES...", nargs=-1, required=True, type=InputPath(named=True))
@options(
    "options",
    AnswerOptions,
    without=_SCORED,
    measures={"required": True},
    against={"required": True, "excludes": ()},
)
@output_options()
def explain_command(responses: tuple[str, ...], *, options: AnswerOptions, output: OutputOptions) -> None:
    """Explain why a measure of the answers in RESPONSES has another value as another tool computes it.

    It is what `judged answers RESPONSES --against PROFILE` shows: the causes of the difference, by query.
    """
    output.check()
    files = [split_name(path) for path in responses]
    check_standard_input([path for _, path in files])
    emit(_make(files, options, ComparisonOptions().to_settings()), output)


def _make(files: list[tuple[str | None, str]], options: AnswerOptions, settings: Settings) -> Result:
    """Return the scores of the answers, and what else was asked."""
    from judged.answers.evaluate import LabelledInputs, add_human_sample, evaluate_inputs
    from judged.answers.reading.responses import read_responses
    from judged.comparison.api import compare
    from judged.result import observe_files

    labels, human = ([split_name(path) for path in paths] for paths in (options.labels, options.human))
    inputs = observe_files(
        [
            *(("responses", path) for _, path in files),
            ("nuggets", options.nuggets),
            *(("labels", path) for _, path in labels),
            ("references", options.references),
            *(("human", path) for _, path in human),
        ]
    )
    answers = LabelledInputs.read(
        read_responses(files),
        nuggets=options.nuggets,
        labels=labels or None,
        references=options.references,
        name=None,
    )
    if options.against is not None:
        from judged.answers.difference import explain_inputs

        if len(options.measures) != 1:
            msg = f"`--against` explains one measure, {len(options.measures)} are named"
            raise click.UsageError(msg)
        return explain_inputs(
            answers,
            options.measures[0],
            against=options.against,
            protocol=options.profile,
            system=options.system,
            files=inputs,
        )
    named = " ".join(options.measures) or None
    _, measures = answers.choose(named, options.profile)
    report = evaluate_inputs(answers, measures, options.to_protocol(), inputs)
    if options.human:
        report = add_human_sample(report, answers, human, level=settings.level)
    if options.compare or options.baselines:
        report = replace(
            report, comparison=compare(report, baseline=options.baselines or None, **settings.to_dict())
        )
    if options.min_delta is not None:
        report = replace(report, gates=_gate(report, options, settings))
    if options.judgments is not None:
        report = replace(report, losses=_attribute(answers, options, settings))
    return report


def _gate(report: AnswerReport, options: AnswerOptions, settings: Settings) -> tuple[GateReport, ...]:
    """Gate every other system against the baseline."""
    from judged.gates.api import gate

    if len(options.baselines) != 1:
        msg = "`--min-delta` says how much worse than a baseline a system may be, and needs one `--baseline NAME`"
        raise click.UsageError(msg)
    systems = dict(report.systems)
    baseline = systems.pop(options.baselines[0])
    if not systems:
        msg = f"`{options.baselines[0]}` is the only system, expected another to gate"
        raise BadMeasure(msg)
    delta = options.min_delta or "0"
    return tuple(
        gate(system, baseline=baseline, min_delta=delta, seed=settings.seed) for system in systems.values()
    )


def _attribute(answers: LabelledInputs, options: AnswerOptions, settings: Settings) -> LossReport:
    from judged.answers.losses import attribute
    from judged.answers.reading.labels import read_nugget_judgments
    from judged.io.read import read_run

    named = [split_name(path) for path in options.runs]
    runs: Mapping[str | None, Run] = {name: read_run(path) for name, path in named}
    judgments = read_nugget_judgments(options.judgments)
    return attribute(answers, runs, judgments, depth=options.depth, level=settings.level)
