"""`judged agreement`: how far labels can be trusted, measured against human grades of the same results."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from judged.blocks import Display
from judged.cli.inputs import InputPath, check_standard_input, named_runs, split_name
from judged.cli.options import measure_option, output_options, protocol_options
from judged.cli.output import OutputOptions, emit
from judged.cli.progress import Progress

if TYPE_CHECKING:
    from judged.profiles.profile import Profile

FORMATS = ("table", "csv", "tsv", "json", "jsonl", "markdown", "latex", "html", "parquet")
DEFAULT_MEASURE = "nDCG@10"
SESSION_MEASURES = "CG@last SRE@last"
RANKED = ("RUN", "--sessions")
"""What is ranked by measures."""
EXAMPLES = """\b
Examples:
  judged agreement labels.jsonl human.qrels
  judged agreement labels.jsonl human.csv --threshold 3 --by task -o agreement.svg
  judged agreement umbrela.qrels nist.qrels runs/*.run -m "nDCG@10 AP"
  judged agreement labels.jsonl human.jsonl --sessions traces.jsonl -m CG@3
  judged agreement labels.jsonl ann.csv --judge ben.csv --judge small=other.jsonl -o agreement.html
"""


@click.command("agreement", epilog=EXAMPLES)
@click.argument("labels", type=InputPath())
@click.argument("human", type=InputPath())
@click.argument("runs", metavar="[RUN]...", nargs=-1, type=InputPath(named=True))
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="[NAME=]FILE",
    type=InputPath(named=True),
    help="Labels or grades of a further judge; may be repeated.",
)
@click.option(
    "--sessions",
    "traces",
    multiple=True,
    metavar="[NAME=]TRACE",
    type=InputPath(named=True),
    help="Rank the systems of these traces, in place of RUNs; may be repeated.",
)
@measure_option(
    f"Measures that rank systems.  [default: {DEFAULT_MEASURE}; with --sessions {SESSION_MEASURES}]",
    needs=RANKED,
)
@click.option(
    "--threshold",
    type=float,
    default=2,
    show_default=True,
    metavar="GRADE",
    help="The lowest grade of a good result.",
)
@click.option("--by", type=click.Choice(["task"]), help="Also show κ of each task.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of intervals.")
@click.option(
    "--resamples",
    type=click.IntRange(1, 10_000_000),
    default=10_000,
    show_default=True,
    help="Number of bootstrap samples of tasks for the interval of κ.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")
@output_options(FORMATS, note=" (.svg, .png and .pdf draw the confusion of grades)")
@partial(protocol_options, needs=RANKED)
def command(
    *,
    labels: str,
    human: str,
    runs: tuple[str, ...],
    judges: tuple[str, ...],
    traces: tuple[str, ...],
    measures: tuple[str, ...],
    threshold: float,
    by: str | None,
    level: float,
    resamples: int,
    seed: int,
    output: OutputOptions,
    profile: Profile,
) -> None:
    """Compare LABELS with the grades that people gave to the same results, in HUMAN.

    Shows how far they agree (κ, weighted κ, Krippendorff's α, the confusion of grades, the bias of each), and estimates
    the mean human grade and the rate of good results from both (PPI++). With RUNs, or traces of agents, it also shows
    whether both rank them alike. LABELS and HUMAN are labels (JSONL, CSV) or judgments in any format.
    """
    output.check(pictures=True)
    if runs and traces:
        msg = "RUNs and --sessions cannot be combined: one set of measures ranks one kind of system"
        raise click.UsageError(msg)
    further = {judge.name: judge.path for judge in named_runs(judges)}
    ranked = {run.name: run.path for run in named_runs(runs)}
    check_standard_input([labels, human, *further.values(), *ranked.values()])
    from judged.labels.agreement.api import agreement
    from judged.measures.parse import split_measures

    named = [name for text in measures for name in split_measures(text)]
    with Progress("Comparing labels", enabled=not output.quiet):
        found = agreement(
            labels,
            human,
            judges=further,
            runs=ranked,
            measures=named or profile.default_measures or [DEFAULT_MEASURE],
            protocol=profile,
            threshold=threshold,
            level=level,
            resamples=resamples,
            seed=seed,
        )
        if traces:
            from judged.labels.agreement.system_order import rank_sessions

            sources = [split_name(trace) for trace in traces]
            systems = rank_sessions(sources, labels, human, named or SESSION_MEASURES.split())
            found = replace(found, systems=systems)
    emit(found, output, display=Display(per_query=by == "task"))
