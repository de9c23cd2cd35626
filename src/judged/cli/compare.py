"""`judged compare`: which system is better, by how much, and how certain that is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judged.cli.effects import ALL_TABLES, dependent_option
from judged.cli.inputs import Input, InputPath, check_standard_input, named_runs
from judged.cli.options import (
    comparison_options,
    difference_options,
    documents_option,
    measure_option,
    output_options,
    protocol_options,
    query_options,
)
from judged.cli.output import emit
from judged.errors import BadInput, UnknownName
from judged.problem import Note, Problem
from judged.store.files import write_file

if TYPE_CHECKING:
    from judged.blocks import Display, Figure
    from judged.cli.output import OutputOptions
    from judged.comparison.settings import Settings
    from judged.profiles.profile import Profile
    from judged.scoring.evaluations import Evaluations

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
@measure_option(f" [default: {' '.join(DEFAULT_MEASURES)}]")
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    metavar="NAME",
    help="The run to compare with; may be repeated. Without it, every pair of runs is compared.",
)
@comparison_options
@difference_options
@query_options()
@click.option(
    "--slice",
    "slices",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Attributes of queries (CSV, TSV, JSONL): also compare by slice, and test whether differences depend on it.",
)
@dependent_option(
    "--timings",
    needs=(*ALL_TABLES, "--picture"),
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Raw times, a table of any format with columns `system` and `seconds` or `milliseconds`: adds latency.",
)
@dependent_option(
    "--picture",
    needs="--timings FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.svg",
    help="With --timings: also draw accuracy, diversity and latency.",
)
@dependent_option(
    "--also",
    needs=ALL_TABLES,
    multiple=True,
    type=click.Choice(ALSO),
    help="Also run an extra test of all systems; may be repeated.",
)
@dependent_option(
    "--rope",
    needs="--also bayesian|equivalence|power",
    type=click.FloatRange(min=0),
    default=0.01,
    show_default=True,
    help="Differences up to this have no practical consequence: for --also bayesian, equivalence and power.",
)
@click.option(
    "--diagram",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.svg",
    help="Also draw the critical-difference diagram of the first measure (Friedman, Nemenyi).",
)
@output_options()
@documents_option
@protocol_options
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="How many threads read the runs.")
def command(
    qrels: str,
    runs: tuple[str, ...],
    *,
    measures: tuple[str, ...],
    baselines: tuple[str, ...],
    settings: Settings,
    display: Display,
    slices: Path | None,
    timings: Path | None,
    picture: Path | None,
    also: tuple[str, ...],
    rope: float,
    diagram: Path | None,
    output: OutputOptions,
    profile: Profile,
    threads: int | None,
) -> None:
    """Compare each RUN with a baseline, or every pair of runs, on the judgments in QRELS.

    The answer comes first: the best run in the first measure, and which runs these queries separate from it. Then a
    leaderboard with the letters of the runs that each is significantly better than, and for each measure the
    differences with intervals and corrected p-values. Notes go to standard error.
    """
    from judged.comparison.api import compare
    from judged.comparison.slices import read_attributes
    from judged.io.read import read_timings
    from judged.report.draw import check_picture_path, draw

    output.check()
    named = named_runs(runs)
    check_standard_input([qrels, *(run.path for run in named)])
    _check_names([run.name for run in named], baselines)
    for path in filter(None, (picture, diagram)):
        check_picture_path(path)
    attributes = read_attributes(slices) if slices else None
    samples = read_timings(timings) if timings else None
    report = any(path.suffix.lower() == ".html" for path in output.paths)
    evaluations = _evaluate_runs(
        qrels, named, measures, profile, threads, quiet=output.quiet, keep_inputs=report
    )
    comparison = compare(
        list(evaluations.values()),
        baseline=baselines,
        slices=attributes,
        timings=samples,
        also=also,
        rope=rope,
        **settings.to_dict(),
    )
    figures: list[tuple[Path, Figure]] = [(picture, comparison.draw_trade_off())] if picture else []
    figures += [(diagram, comparison.draw_ranks())] if diagram else []
    for path, figure in figures:
        write_file(path, draw(figure, path.suffix))
    notes = (Note("method", "info", f"compared by {comparison.method}"),)
    drawn = tuple(path for path, _ in figures)
    emit(comparison, output, display=display, notes=notes, written=drawn)


def _check_names(names: list[str], baselines: Sequence[str]) -> None:
    """Raise an error for a single run, and for a baseline that is none of the runs, before anything is read."""
    for name in baselines:
        if name not in names:
            raise UnknownName("run", name, names)
    if len(names) < 2:
        message = "is the only one, expected two or more to compare"
        raise BadInput("the runs", [Problem.error("number", f"run `{names[0]}`", message)])


def _evaluate_runs(
    qrels: str,
    runs: list[Input],
    names: Sequence[str],
    profile: Profile,
    threads: int | None,
    *,
    quiet: bool,
    keep_inputs: bool,
) -> Evaluations:
    """Score every run."""
    from judged.cli.progress import Progress
    from judged.measures.parse import split_measures
    from judged.scoring.evaluate import evaluate_many

    measures = tuple(name for text in names for name in split_measures(text))
    return evaluate_many(
        qrels,
        {run.name: run.path for run in runs},
        measures or profile.default_measures or DEFAULT_MEASURES,
        protocol=profile,
        threads=threads,
        progress=lambda name: Progress(f"Scoring {name}", enabled=not quiet),
        keep_inputs=keep_inputs,
    )
