"""`judged score`: runs against judgments, in the measures and formats asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from judged.cli.command import ALL_TABLES, Command, flag, option, options
from judged.cli.inputs import (
    Input,
    InputPath,
    check_standard_input,
    list_runs,
    named_runs,
    open_predictions,
    split_name,
    stem,
)
from judged.cli.options import (
    INPUT_FILE,
    MODELS,
    READING,
    TABLE,
    ProfileChoice,
    QueryOptions,
    groups_option,
    intents_option,
    join_option,
    marks_option,
    measure_option,
    output_options,
    predictions_option,
    profile_options,
    query_options,
    read_grouped,
    target_option,
    threads_option,
)
from judged.cli.output import OutputOptions, emit
from judged.cli.scores import WITHOUT, ScoreFileOptions, name_score_files
from judged.errors import BadProtocol
from judged.problem import Note
from judged.wording import counted

if TYPE_CHECKING:
    from judged.blocks import Display
    from judged.cli.configuration import Configuration, Statistics
    from judged.comparison.sources import ScoreReading
    from judged.io.systems import System
    from judged.profiles.profile import Profile
    from judged.scoring.evaluations import Evaluations
    from judged.tables.groups import Groups
    from judged.tables.judgments import Judgments
    from judged.tables.preferences import Preferences

LEVEL = 0.95
"""Confidence level of the intervals of means."""
DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")
EXAMPLES = """\b
Examples:
  judged score qrels.txt bm25.run
  judged score qrels.txt bm25.run dense.run -m nDCG@10 -m "AP RR@10"
  judged score qrels.txt bm25.run --per-query --format csv > scores.csv
  judged score qrels.txt *.run -o table.tex -o scores.parquet
  judged score qrels.txt old=2023/run.txt new=2024/run.txt
  zcat bm25.run.gz | judged score qrels.txt -
  judged score --scores ragas.csv deepeval.json
  judged score test.svm --predictions predictions.txt --profile lightgbm
  judged score qrels.txt s3://bucket/runs/ --backend spark --master spark://host:7077
"""


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(ScoreFileOptions):
    """Options of what `judged score` reads and computes."""

    measures: tuple[str, ...] = measure_option(
        f"`judged measures` lists them.  [default: {' '.join(DEFAULT_MEASURES)}]"
    )
    predictions: tuple[str, ...] = predictions_option(MODELS, multiple=True, section=READING)
    bounds: bool = flag(
        "--bounds",
        "Show how far unjudged results and the order of ties could move each number.",
        needs=("not --per-query", *ALL_TABLES),
        excludes=WITHOUT,
    )
    config: Path | None = option(
        "--config FILE",
        "YAML file of settings; options on the command line take precedence.",
        type=INPUT_FILE,
        excludes=WITHOUT,
    )
    intents: bool = intents_option(section=READING, excludes=WITHOUT)
    backend: Literal["local", "streaming", "spark"] | None = option(
        "--backend [local|streaming|spark]",
        "What reads the runs: at once, as streams in blocks of queries, or Apache Spark."
        "  [default: streaming for folders, patterns, URIs and files over 1 GiB, else local]",
        excludes=WITHOUT,
    )
    master: str | None = option(
        "--master URL",
        "With --backend spark: `local[4]`, `spark://…`, `yarn` or `sc://…`.",
        needs="--backend spark",
    )
    groups: str | None = groups_option(section=READING, excludes=WITHOUT)
    target: str = target_option(section=READING)
    join: bool = join_option(section=READING, excludes=WITHOUT)
    threads: int | None = threads_option(excludes=("--backend spark", *WITHOUT))
    no_marks: bool = marks_option(section=TABLE, excludes=("--per-query", *WITHOUT))


@click.command("score", cls=Command, epilog=EXAMPLES)
@click.argument("qrels", type=InputPath(named=True))
@click.argument("runs", metavar="[RUN]...", nargs=-1, type=InputPath(named=True))
@options("options", ScoreOptions)
@query_options(systems=True)
@output_options(documents=True)
@profile_options()
def command(
    qrels: str,
    runs: tuple[str, ...],
    *,
    options: ScoreOptions,
    queries: QueryOptions,
    output: OutputOptions,
    profile: ProfileChoice,
) -> None:
    """Score each RUN, or the predictions of a model, against the judgments in QRELS.

    Inputs are TREC, JSONL, CSV, TSV, Parquet or Arrow files, compressed or not, or `-` for standard input. A folder, a
    quoted pattern or a URI (`s3://…`) is several runs, one per file; --join or NAME=PATTERN makes one run of its files. A table
    with a column `system` holds the runs that it names. A run is named after its file; NAME=FILE gives it another name. Without
    RUN, QRELS holds what was retrieved as well, as samples of ragas do. With --scores, all files are scores of every query that
    any tool computed, and their means have intervals. Results go to standard output, the protocol and notes to standard error.
    """
    display = replace(queries.to_display(), marks=not options.no_marks, digits=output.digits)
    output.check()
    if options.scores:
        _score_files([qrels, *runs], options.measures, options.to_reading(profile), display, output)
        return
    given, added = ((), []) if options.predictions and not runs else list_runs(qrels, runs)
    qrels = split_name(qrels)[1]  # it may be one of the runs, with a name
    inputs = [*_list_inputs(given, options), *open_predictions(options.predictions, qrels)]
    check_standard_input([qrels, *(run.path for run in inputs), options.groups or ""])
    file = None
    if options.config is not None:
        from judged.cli.configuration import read_configuration

        file = read_configuration(options.config)
    chosen = profile.to_profile(**(file.conventions() if file else {}))
    named = options.measures or (file.measures if file else ())
    measures = named or chosen.default_measures or DEFAULT_MEASURES
    binary = file is not None and file.binary
    judgments: str | Judgments | Preferences | Groups = _read_judgments(
        qrels, measures, chosen, binary=binary, intents=options.intents
    )
    if options.groups:
        judgments = read_grouped(qrels, options.groups, options.target, measures, chosen)
    threads = options.threads or (file.threads if file else None)
    evaluations = _evaluate(
        judgments, inputs, measures, options, protocol=chosen, threads=threads, quiet=output.quiet
    )
    if display.sort and not display.per_query:
        evaluations = evaluations.sort(display.sort)
    if file is not None:
        evaluations, of_intervals = _add_statistics(evaluations, file.statistics)
        added = [*added, *of_intervals]
    notes = _list_notes(evaluations, file, display, by_default=not named)
    emit(evaluations, output, display=display, notes=(*notes, *added))


def _score_files(
    paths: list[str],
    measures: tuple[str, ...],
    reading: ScoreReading,
    display: Display,
    output: OutputOptions,
) -> None:
    """Print the means of scores that other tools computed, with their intervals."""
    from judged.comparison.sources import add_intervals, score_files

    check_standard_input([split_name(path)[1] for path in paths])
    files, _ = name_score_files(paths)
    evaluations = score_files(files, measures or None, reading)
    evaluations, notes = add_intervals(evaluations, level=LEVEL)
    if display.sort and not display.per_query:
        evaluations = evaluations.sort(display.sort)
    emit(evaluations, output, display=display, notes=[] if display.per_query else notes)


def _evaluate(
    judgments: str | Judgments | Preferences | Groups,
    inputs: list[Input],
    measures: tuple[str, ...],
    options: ScoreOptions,
    *,
    protocol: Profile,
    threads: int | None,
    quiet: bool,
) -> Evaluations:
    """Score every run, with bounds if they are asked for."""
    from judged.cli.progress import Progress
    from judged.scoring.evaluate import evaluate_many

    backend = options.backend
    streamed = {run.name for run in inputs if _is_streamed(run.system.source, backend)}
    evaluations = evaluate_many(
        judgments,
        _open_runs(inputs, backend, options.master),
        measures,
        protocol=protocol,
        backend=None if backend == "spark" else backend,
        threads=threads,
        progress=lambda name: Progress(
            f"Scoring {name}", enabled=not quiet, rate="rows" if name in streamed else ""
        ),
    )
    evaluations = replace(evaluations, bounds=options.bounds)
    if options.bounds:
        with Progress("Bounds", enabled=not quiet, lines=True) as progress:
            evaluations.find_bounds(progress)
    return evaluations


def _list_inputs(runs: tuple[str, ...], options: ScoreOptions) -> list[Input]:
    """Return every system; Spark lists the files of a URI itself, as one data set."""
    if options.backend != "spark":
        return named_runs(runs, join=options.join)
    from judged.io.systems import System
    from judged.store.remote import is_remote

    remote = [text for text in runs if is_remote(split_name(text)[1])]
    local = named_runs(tuple(text for text in runs if text not in remote), join=options.join)
    given = [(text, *split_name(text)) for text in remote]
    return [
        *local,
        *(
            Input(name or stem(path), path, System(name or stem(path), path, named=name is not None))
            for _, name, path in given
        ),
    ]


def _open_runs(inputs: list[Input], backend: str | None, master: str | None) -> list[System]:
    """Return every system: with its path, or its data frame in Spark."""
    if backend != "spark":
        return [run.system for run in inputs]
    from judged.io.open import is_path
    from judged.scoring.spark import read_frame

    return [
        replace(run.system, source=read_frame(run.path, master=master))
        if is_path(run.system.source)
        else run.system
        for run in inputs
    ]


def _is_streamed(source: object, backend: str | None) -> bool:
    """Return whether progress is counted in rows, not in bytes."""
    from judged.io.open import is_large

    return backend == "streaming" or (backend is None and is_large(source))


def _read_judgments(
    qrels: str, names: tuple[str, ...], profile: Profile, *, binary: bool, intents: bool
) -> str | Judgments | Preferences:
    """Return the path, or the judgments read with intents or as binary grades if that is asked for."""
    from judged.scoring.align import read_judgments_for
    from judged.scoring.evaluate import read_truth
    from judged.tables.judgments import Judgments

    if not binary and not intents:
        return qrels
    measures = [reading.measure for reading in profile.read_all(names)]
    judgments = read_judgments_for(qrels, measures, intents=True) if intents else read_truth(qrels, measures)
    if binary and not isinstance(judgments, Judgments):
        msg = (
            f"`graded_relevance: false` makes grades binary, and `{measures[0]}` is a measure of preferences"
        )
        raise BadProtocol(msg, hint="remove the setting")
    return judgments.to_binary() if binary else judgments


def _add_statistics(evaluations: Evaluations, statistics: Statistics) -> tuple[Evaluations, list[Note]]:
    """Add the confidence intervals and tests that the configuration asks for; return notes on the intervals too."""
    notes: list[Note] = []
    if statistics.confidence_intervals:
        from judged.comparison.sources import add_intervals

        evaluations, notes = add_intervals(evaluations, level=1 - statistics.alpha_level)
    if statistics.significance_testing and len(evaluations) > 1:
        evaluations = add_tests(evaluations)
    return evaluations, notes


def add_tests(evaluations: Evaluations) -> Evaluations:
    """Add the paired t-tests of every system against the first."""
    from judged.comparison.contrasts import t_test_against_first
    from judged.comparison.systems import to_system

    tests = t_test_against_first([to_system(evaluation) for evaluation in evaluations.values()])
    title = f"Paired t-tests against {next(iter(evaluations))}"
    return replace(evaluations, extra={title: tuple(test.to_dict() for test in tests)})


def _list_notes(
    evaluations: Evaluations,
    file: Configuration | None,
    display: Display,
    *,
    by_default: bool,
) -> Iterator[Note]:
    """Yield the notes of this command, in addition to those of the evaluations."""
    counts = dict.fromkeys(part.units for evaluation in evaluations.values() for part in evaluation.parts)
    if len(counts) == 1:
        yield Note("scored", "info", f"{counted(next(iter(counts)), 'query')} scored")
    for sentence in file.without_effect() if file else ():
        yield Note("no-effect", "info", sentence)
    if by_default:
        names = " ".join(measure.label for measure in evaluations.measures)
        yield Note("default-measures", "info", f"no measure was named: {names}")
    statistics = file.statistics if file else None
    if statistics and statistics.significance_testing and len(evaluations) == 1:
        message = "`significance_testing` needs two runs or more: one was given"
        yield Note("nothing-to-compare", "info", message)
    tied = evaluations.tied_systems(display.digits) if display.marks and not display.per_query else []
    if tied:
        ranges = "" if evaluations.bounds else "; `--bounds` shows the ranges"
        message = f"~ marks numbers that another order of tied results would change{ranges}"
        for system in tied if len(evaluations) > 1 else [""]:
            yield Note("tie-ranges", "info", message, subject=system)
    averaged = any(getattr(part.protocol, "ties", None) == "expected" for part in evaluations.first.parts)
    if evaluations.bounds and averaged:
        message = "bounds over judgments hold for one order of ties, and `--ties expected` has none"
        yield Note("no-bounds", "info", message)
    text = [measure.label for measure in evaluations.measures if measure.text]
    if text and not display.per_query:
        yield Note(
            "text-values", "info", f"{', '.join(text)} has a value for each query only: add `--per-query`"
        )
