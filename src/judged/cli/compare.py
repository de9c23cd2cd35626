"""`judged compare`: which system is better, by how much, and how certain that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judged.cli.command import ALL_TABLES, Command, option, options
from judged.cli.comparing import ComparisonOptions, DifferenceOptions
from judged.cli.inputs import (
    Input,
    InputPath,
    SystemName,
    check_standard_input,
    find_baselines,
    holds_both,
    list_runs,
    open_predictions,
    split_name,
    with_baselines,
)
from judged.cli.options import (
    COMPARISON,
    EVERY_PAIR,
    INPUTS,
    MODELS,
    TABLE,
    ProfileChoice,
    QueryOptions,
    attributes_option,
    baseline_option,
    cluster_option,
    groups_option,
    join_option,
    measure_option,
    output_options,
    picture_option,
    predictions_option,
    profile_options,
    query_options,
    read_clusters,
    read_grouped,
    target_option,
    threads_option,
)
from judged.cli.output import OUTPUT, OutputOptions, emit
from judged.cli.scores import WITHOUT, ScoreFileOptions, name_score_files, require_runs
from judged.errors import BadInput, UnknownName
from judged.problem import Note, Problem
from judged.store.files import write_file

if TYPE_CHECKING:
    from judged.blocks import Figure
    from judged.comparison.systems import Sources
    from judged.profiles.profile import Profile
    from judged.scoring.evaluations import Evaluations

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR")
SUBCOMMANDS = {"--snapshot": "judged.cli.snapshots:through_time"}
"""What compares several dates, called by an option."""
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
  judged compare test.svm --predictions old.txt --predictions new.txt -m nDCG@10
  judged compare --scores old.csv new.csv -m faithfulness --higher faithfulness
  judged compare --snapshot May may.txt may/ --snapshot June june.txt june/ -m nDCG@10
"""


@dataclass(frozen=True, kw_only=True)
class CompareOptions(ScoreFileOptions):
    """Options of what is compared, computed and drawn."""

    measures: tuple[str, ...] = measure_option(f" [default: {' '.join(DEFAULT_MEASURES)}]")
    baselines: tuple[str, ...] = baseline_option(
        f" A file that is not a RUN is added.{EVERY_PAIR}", type=SystemName()
    )
    slices: str | None = option(
        "--slice FILE",
        "Attributes of queries (CSV, TSV, JSONL): also compare by slice, and test whether differences depend on it.",
        section=INPUTS,
        type=InputPath(),
    )
    cluster: str | None = cluster_option(section=COMPARISON)
    attributes: Path | None = attributes_option(section=INPUTS)
    timings: str | None = option(
        "--timings FILE",
        "Raw times, a table of any format with columns `system` and `seconds` or `milliseconds`: adds latency.",
        needs=(*ALL_TABLES, "--picture"),
        type=InputPath(),
    )
    predictions: tuple[str, ...] = predictions_option(MODELS, multiple=True, section=INPUTS, excludes=WITHOUT)
    groups: str | None = groups_option(section=INPUTS, excludes=WITHOUT)
    target: str = target_option(section=INPUTS)
    join: bool = join_option(section=INPUTS, excludes=WITHOUT)
    threads: int | None = threads_option(excludes=WITHOUT)
    also: tuple[str, ...] = option(
        "--also",
        "Also run an extra test of all systems; may be repeated.",
        section=COMPARISON,
        needs=ALL_TABLES,
        multiple=True,
        type=click.Choice(ALSO),
    )
    rope: float = option(
        "--rope D",
        "Differences up to this have no practical consequence: for --also bayesian, equivalence and power.",
        needs="--also bayesian|equivalence|power",
        type=click.FloatRange(min=0),
        default=0.01,
    )
    picture: Path | None = picture_option(
        "--picture", "accuracy, diversity and latency", section=OUTPUT, needs="--timings FILE"
    )
    diagram: Path | None = picture_option(
        "--diagram", "the critical-difference diagram of the first measure (Friedman, Nemenyi)"
    )


@click.command("compare", cls=Command, epilog=EXAMPLES, subcommands=SUBCOMMANDS)
@click.argument("qrels", type=InputPath(named=True))
@click.argument("runs", metavar="[RUN]...", nargs=-1, type=InputPath(named=True))
@options("options", CompareOptions)
@options("comparison", ComparisonOptions, COMPARISON)
@options("differences", DifferenceOptions, TABLE)
@query_options()
@output_options(documents=True)
@profile_options()
def command(
    qrels: str,
    runs: tuple[str, ...],
    *,
    options: CompareOptions,
    comparison: ComparisonOptions,
    differences: DifferenceOptions,
    queries: QueryOptions,
    output: OutputOptions,
    profile: ProfileChoice,
) -> None:
    """Compare each RUN, or the predictions of a model, with a baseline, or every pair of them, on the judgments in QRELS.

    A saved result of several systems, such as the study.json of a study, may stand alone.

    The answer comes first: the best run in the first measure, and which runs these queries separate from it. Then a
    leaderboard with the letters of the runs that each is significantly better than, and for each measure the
    differences with intervals and corrected p-values. Notes go to standard error. With --scores, all files are
    scores of every query that any tool computed. With --snapshot NAME QRELS RUNS, once for each date, systems are
    compared with themselves through time.
    """
    from judged.comparison.api import compare
    from judged.comparison.slices import read_attributes
    from judged.io.read import read_timings
    from judged.report.draw import check_picture_path, draw

    display, settings = queries.to_display(differences.to_display()), comparison.to_settings()
    output.check()
    named: list[Input] = []
    added: list[Note] = []
    baselines = options.baselines
    saved = not (options.scores or options.predictions or runs) and _is_saved(qrels)
    if not options.scores and not saved:
        qrels, named, baselines, added = _list_systems(qrels, runs, options)
    for path in filter(None, (options.picture, options.diagram)):
        check_picture_path(path)
    attributes = read_attributes(options.slices, clusters=options.cluster) if options.slices else None
    clusters = read_clusters(options.cluster, options.attributes)
    samples = read_timings(options.timings) if options.timings else None
    reading = options.to_reading(profile) if options.scores else None
    sources: Sources
    if saved:
        sources = [qrels]
    elif reading is not None:
        sources, baselines = name_score_files([qrels, *runs], baselines)
    else:
        report = any(".html" in path.suffixes[-2:] for path in output.paths)
        runs_by_name = evaluate_runs(
            qrels, named, options, profile.to_profile(), quiet=output.quiet, keep_inputs=report
        )
        _check_names(list(runs_by_name), baselines)
        sources = list(runs_by_name.values())
    compared = compare(
        sources,
        measures=(options.measures or None) if reading or saved else None,
        baseline=baselines,
        slices=attributes,
        clusters=clusters,
        timings=samples,
        also=options.also,
        rope=options.rope,
        **settings.to_dict(),
        **(reading.to_dict() if reading else {}),
    )
    figures: list[tuple[Path, Figure]] = []
    if options.picture:
        figures.append((options.picture, compared.draw_trade_off()))
    if options.diagram:
        figures.append((options.diagram, compared.draw_ranks()))
    for path, figure in figures:
        write_file(path, draw(figure, path.suffix))
    notes = (*added, Note("method", "info", f"compared by {compared.method}"))
    emit(compared, output, display=display, notes=notes, written=[path for path, _ in figures])


def _list_systems(
    qrels: str, runs: tuple[str, ...], options: CompareOptions
) -> tuple[str, list[Input], tuple[str, ...], list[Note]]:
    """Return the judgments, the systems to score by them, the names of the baselines, and notes on what was listed."""
    from judged.io.systems import may_hold_several

    added: list[Note] = []
    if not options.predictions and not (options.baselines and holds_both(qrels)):
        require_runs(runs)
    if runs or not options.predictions:
        runs, added = list_runs(qrels, runs)
        qrels = split_name(qrels)[1]  # it may be one of the runs, with a name
    predicted = open_predictions(options.predictions, qrels)
    known = {text for system in predicted for text in (system.path, system.name)}
    others = [text for text in options.baselines if text not in known]
    named = [*with_baselines(runs, others, join=options.join), *predicted]
    check_standard_input([qrels, *(run.path for run in named), options.groups or ""])
    baselines = find_baselines(options.baselines, named)
    if not any(may_hold_several(run.system.source) for run in named):
        _check_names([run.name for run in named], baselines)
    return qrels, named, baselines, added


def _is_saved(path: str) -> bool:
    """Return whether a file is a result that judged saved."""
    if not path.endswith((".json", ".json.gz")) or not Path(path).is_file():
        return False
    from judged.io.systems import find_kind
    from judged.store.remote import list_files

    return all(find_kind(file) == "saved result" for file in list_files(path))


def _check_names(names: list[str], baselines: Sequence[str]) -> None:
    """Raise an error for a single run, and for a baseline that is not one of the runs."""
    for name in baselines:
        if name not in names:
            raise UnknownName("run", name, names)
    if len(names) < 2:
        message = "is the only one, expected two or more to compare"
        raise BadInput("the runs", [Problem.error("number", f"run `{names[0]}`", message)])


def evaluate_runs(
    qrels: str,
    runs: list[Input],
    options: CompareOptions,
    profile: Profile,
    *,
    quiet: bool,
    keep_inputs: bool = False,
) -> Evaluations:
    """Score every run."""
    from judged.cli.progress import Progress
    from judged.scoring.evaluate import evaluate_many

    measures = options.measures or profile.default_measures or DEFAULT_MEASURES
    truth = (
        read_grouped(qrels, options.groups, options.target, measures, profile) if options.groups else qrels
    )
    return evaluate_many(
        truth,
        [run.system for run in runs],
        measures,
        protocol=profile,
        threads=options.threads,
        progress=lambda name: Progress(f"Scoring {name}", enabled=not quiet),
        keep_inputs=keep_inputs,
    )
