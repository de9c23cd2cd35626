"""`judged compare`: who is better, by how much, and how sure that is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judged.cli.compared import rendered_comparison
from judged.cli.inputs import Input, InputPath, check_standard_input, named_runs
from judged.cli.options import (
    compared_by,
    conventions,
    named_measures,
    profile_of,
    settings_of,
    written_results,
)
from judged.cli.output import format_of, refuse_bytes_on_a_terminal, says_bold
from judged.errors import BadInput, UnknownName
from judged.problem import Problem
from judged.result import write_file

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.engine.evaluation import Evaluation
    from judged.profiles.profile import Profile

__all__ = ["command"]

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR")
ALSO = (
    "anova",
    "tukey",
    "randomised-tukey",
    "friedman",
    "bayesian",
    "equivalence",
    "power",
    "agreement",
    "risk",
)
EXAMPLES = """\b
Examples:
  judged compare qrels.txt bm25.run dense.run -m nDCG@10 --baseline bm25
  judged compare qrels.txt *.run -m "nDCG@10 AP" -o table.tex -o all.parquet
  judged compare qrels.txt old.run new.run -m Hit@5 --test t --correction holm
  judged compare qrels.txt old.run new.run -m AP --baseline old --per-query --format csv
  judged compare qrels.txt old.run new.run -m AP --baseline old --slice types.csv
  judged compare qrels.txt *.run -m "RR DR@20" --timings times.csv
"""


@click.command("compare", epilog=EXAMPLES)
@click.argument("qrels", type=InputPath())
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=InputPath(named=True))
@named_measures(f" [default: {' '.join(DEFAULT_MEASURES)}]")
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    metavar="NAME",
    help="The run to compare with; may be repeated. Without it, each is compared with each.",
)
@compared_by
@click.option("--per-query", is_flag=True, help="Show the difference of every query.")
@click.option(
    "--slice",
    "slices",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Attributes of queries (CSV, TSV, JSONL): show the same by slice, and whether differences depend on it.",
)
@click.option(
    "--timings",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Raw times (CSV, TSV, JSONL) with columns `system` and `seconds` or `milliseconds`: adds latency.",
)
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.svg",
    help="With --timings: also write a picture of accuracy, diversity and latency.",
)
@click.option(
    "--also",
    multiple=True,
    type=click.Choice(ALSO),
    help="Also show a further statistic of all systems; may be repeated.",
)
@click.option(
    "--rope",
    type=click.FloatRange(min=0),
    default=0.01,
    show_default=True,
    help="Differences up to this are of no practical consequence: for --also bayesian, equivalence and power.",
)
@click.option(
    "--diagram",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.svg",
    help="Also write the critical-difference diagram of the first measure (Friedman, Nemenyi).",
)
@written_results()
@conventions
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="How many threads read the runs.")
@click.option("-q", "--quiet", is_flag=True, help="Print no notes and no progress on standard error.")
def command(qrels: str, runs: tuple[str, ...], **options: Any) -> None:
    """Compare each RUN with a baseline, or each with each, on the judgments in QRELS.

    A leaderboard shows the mean of every run with its confidence interval, and the letters of the runs that it is
    significantly better than; then come the differences, with effect sizes, p-values and corrected p-values, and the
    queries that changed most. Everything else is told on standard error.
    """
    refuse_bytes_on_a_terminal(options["kind"])
    named = named_runs(runs)
    check_standard_input([qrels, *(run.path for run in named)])
    _refuse_names([run.name for run in named], options["baselines"])
    if options["picture"] and not options["timings"]:
        msg = "`--picture` shows accuracy against latency, and needs `--timings FILE`"
        raise click.UsageError(msg)
    outputs = {path: format_of(path) for path in options["outputs"]}
    comparison = _compared(qrels, named, options)
    inputs = [("judgments", qrels), *(("run", run.path) for run in named)]
    how = {name: options[name] for name in ("per_query", "digits", "also", "rope")}
    for path, kind in outputs.items():
        write_file(path, rendered_comparison(comparison, kind, inputs, **how))
    if options["picture"]:
        write_file(options["picture"], comparison.picture())
    if options["diagram"]:
        from judged.comparison.further import diagram

        write_file(options["diagram"], diagram(comparison))
    click.echo(rendered_comparison(comparison, options["kind"], inputs, **how, bold=says_bold()), nl=False)
    if not options["quiet"]:
        pictures = filter(None, [options["picture"], options["diagram"]])
        _tell(comparison, [*options["outputs"], *pictures])


def _refuse_names(names: list[str], baselines: tuple[str, ...]) -> None:
    """Refuse a single run, and a baseline that is none of the runs, before anything is read."""
    for name in baselines:
        if name not in names:
            kind = "run"
            raise UnknownName(kind, name, names)
    if len(names) < 2:
        subject = "the runs"
        fault = Problem.error(
            "number", f"run `{names[0]}`", "is the only one, expected two or more to compare"
        )
        raise BadInput(subject, [fault])


def _compared(qrels: str, runs: list[Input], options: dict[str, Any]) -> Comparison:
    from judged.comparison.compare import compare_evaluations
    from judged.comparison.latency import read_latencies
    from judged.comparison.slices import read_attributes

    settings = settings_of(options)
    attributes = read_attributes(options["slices"]) if options["slices"] else None
    samples = read_latencies(options["timings"]) if options["timings"] else None
    return compare_evaluations(
        _evaluated(qrels, runs, profile_of(options), options),
        baseline=options["baselines"],
        settings=settings,
        attributes=attributes,
        samples=samples,
    )


def _evaluated(qrels: str, runs: list[Input], profile: Profile, options: dict[str, Any]) -> list[Evaluation]:
    """Every run, scored; what was noticed about it is told at once."""
    from judged.cli.score import evaluated
    from judged.engine.inputs import judgments_demanded
    from judged.measures.parse import split_measures

    named = tuple(name for text in options["measures"] for name in split_measures(text))
    measures = named or profile.default_measures or DEFAULT_MEASURES
    wanted = [each.measure for each in profile.read_all(measures)]
    judgments = judgments_demanded(qrels, wanted)
    settings = {"protocol": profile, "threads": options["threads"]}
    evaluations = [evaluated(judgments, run, measures, settings, quiet=options["quiet"]) for run in runs]
    if not options["quiet"]:
        for part in evaluations[0].every_part:
            of = f" of {', '.join(map(str, part.measures))}" if evaluations[0].parts else ""
            click.echo(f"Protocol{of}: {part.protocol}", err=True)
        for each in evaluations:
            for sentence in dict.fromkeys(told for part in each.every_part for told in part.sentences()):
                click.echo(f"{each.run}: {sentence}", err=True)
    return evaluations


def _tell(comparison: Comparison, outputs: list[Path]) -> None:
    from judged.comparison.show import sentences

    click.echo(f"Compared: {comparison.method}", err=True)
    for sentence in sentences(comparison):
        click.echo(f"Note: {sentence}", err=True)
    for path in outputs:
        click.echo(f"Wrote: {path}", err=True)
