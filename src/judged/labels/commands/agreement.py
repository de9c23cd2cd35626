"""`judged agreement`: how far labels can be trusted, measured against human grades of the same results."""

from __future__ import annotations

from dataclasses import dataclass, replace

import click

from judged.blocks import Display
from judged.cli.command import Command, option, options
from judged.cli.inputs import InputPath, check_standard_input, named_runs, split_name
from judged.cli.options import (
    INPUTS,
    ProfileChoice,
    level_option,
    measure_option,
    output_options,
    profile_options,
    resamples_option,
    seed_option,
)
from judged.cli.output import OutputOptions, emit
from judged.cli.progress import Progress

FORMATS = ("table", "csv", "tsv", "json", "jsonl", "markdown", "latex", "html", "parquet")
DEFAULT_MEASURE = "nDCG@10"
SESSION_MEASURES = "CG@last SRE@last"
RANKED = ("RUN", "--sessions")
"""Kinds of systems that measures rank."""
EXAMPLES = """\b
Examples:
  judged agreement labels.jsonl human.qrels
  judged agreement labels.jsonl human.csv --threshold 3 --by task -o agreement.svg
  judged agreement umbrela.qrels nist.qrels runs/*.run -m "nDCG@10 AP"
  judged agreement labels.jsonl human.jsonl --sessions traces.jsonl -m CG@3
  judged agreement labels.jsonl ann.csv --judge ben.csv --judge small=other.jsonl -o agreement.html
"""


@dataclass(frozen=True, kw_only=True)
class AgreementOptions:
    """Options for the comparison with human grades."""

    judges: tuple[str, ...] = option(
        "--judge [NAME=]FILE",
        "Labels or grades of a further judge; may be repeated.",
        section=INPUTS,
        multiple=True,
        type=InputPath(named=True),
    )
    traces: tuple[str, ...] = option(
        "--sessions [NAME=]TRACE",
        "Rank the systems of these traces, in place of RUNs; may be repeated.",
        multiple=True,
        type=InputPath(named=True),
    )
    measures: tuple[str, ...] = measure_option(
        f"Measures that rank systems.  [default: {DEFAULT_MEASURE}; with --sessions {SESSION_MEASURES}]",
        needs=RANKED,
    )
    threshold: float = option("--threshold GRADE", "Lowest grade of a good result.", type=float, default=2)
    by: str | None = option("--by [task]", "Also show κ of each task.")
    level: float = level_option()
    resamples: int = resamples_option()
    seed: int = seed_option()


@click.command("agreement", cls=Command, epilog=EXAMPLES)
@click.argument("labels", type=InputPath())
@click.argument("human", type=InputPath())
@click.argument("runs", metavar="[RUN]...", nargs=-1, type=InputPath(named=True))
@options("options", AgreementOptions)
@output_options(FORMATS, note=" (.svg, .png and .pdf draw the confusion of grades)")
@profile_options(needs=RANKED)
def command(
    *,
    labels: str,
    human: str,
    runs: tuple[str, ...],
    options: AgreementOptions,
    output: OutputOptions,
    profile: ProfileChoice,
) -> None:
    """Compare LABELS with the grades that people gave to the same results, in HUMAN.

    Shows how far they agree (κ, weighted κ, Krippendorff's α, the confusion of grades, the bias of each), and estimates
    the mean human grade and the rate of good results from both (PPI++). With RUNs, or traces of agents, it also shows
    whether both rank them alike. LABELS and HUMAN are labels (JSONL, CSV) or judgments in any format.
    """
    from judged.labels.agreement.api import agreement

    output.check(pictures=True)
    traces, measures, chosen = options.traces, options.measures, profile.to_profile()
    if runs and traces:
        msg = "RUNs and --sessions cannot be combined: one set of measures ranks one kind of system"
        raise click.UsageError(msg)
    further = {judge.name: judge.path for judge in named_runs(options.judges)}
    given = named_runs(runs)
    ranked = {run.name: run.system.source for run in given}
    check_standard_input([labels, human, *further.values(), *(run.path for run in given)])
    with Progress("Comparing labels", enabled=not output.quiet):
        result = agreement(
            labels,
            human,
            judges=further,
            runs=ranked,
            measures=measures or chosen.default_measures or [DEFAULT_MEASURE],
            protocol=chosen,
            threshold=options.threshold,
            level=options.level,
            resamples=options.resamples,
            seed=options.seed,
        )
        if traces:
            from judged.labels.agreement.system_order import rank_sessions

            sources = [split_name(trace) for trace in traces]
            systems = rank_sessions(sources, labels, human, list(measures) or SESSION_MEASURES.split())
            result = replace(result, systems=systems)
    emit(result, output, display=Display(per_query=options.by == "task"))
