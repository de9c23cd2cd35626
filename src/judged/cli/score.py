"""`judged score`: runs against judgments, in the measures and formats asked for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judged.cli.inputs import Input, InputPath, check_standard_input, named_runs
from judged.cli.options import conventions, named_measures, profile_of, written_results
from judged.cli.output import format_of, refuse_bytes_on_a_terminal, render, says_bold
from judged.errors import BadProtocol
from judged.result import write_file
from judged.wording import counted

if TYPE_CHECKING:
    from judged.cli.configuration import Configuration
    from judged.cli.scored import Scored
    from judged.engine.evaluation import Evaluation, Part
    from judged.measures.measure import Measure
    from judged.profiles.profile import Profile
    from judged.tables.judgments import Judgments
    from judged.tables.preferences import Preferences

__all__ = ["command", "conventions", "evaluated"]

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")
EXAMPLES = """\b
Examples:
  judged score qrels.txt bm25.run
  judged score qrels.txt bm25.run dense.run -m nDCG@10 -m "AP RR@10"
  judged score qrels.txt bm25.run --per-query --format csv > scores.csv
  judged score qrels.txt *.run -o table.tex -o scores.parquet
  judged score qrels.txt old=2023/run.txt new=2024/run.txt
  zcat bm25.run.gz | judged score qrels.txt -
"""


@click.command("score", epilog=EXAMPLES)
@click.argument("qrels", type=InputPath())
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=InputPath(named=True))
@named_measures(f"`judged measures` lists them.  [default: {' '.join(DEFAULT_MEASURES)}]")
@click.option(
    "--intents",
    is_flag=True,
    help="Read the second column of TREC judgments as intents, even if no measure looks at them.",
)
@click.option("--per-query", is_flag=True, help="Show every query, not only the whole run.")
@click.option(
    "--bounds",
    is_flag=True,
    help="Show between which values unjudged results, and the order of tied ones, could move each number.",
)
@written_results()
@conventions
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A YAML file of settings; options given here go before it.",
)
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="How many threads read the runs.")
@click.option("-q", "--quiet", is_flag=True, help="Print no notes and no progress on standard error.")
def command(qrels: str, runs: tuple[str, ...], **options: Any) -> None:
    """Score each RUN against the judgments in QRELS.

    Inputs are TREC, JSONL, CSV, TSV, Parquet or Arrow files, compressed or not, or `-` for standard input.
    The name of a run is that of its file; NAME=FILE gives it another. Results go to standard output; the
    protocol they were made under, and what was noticed, to standard error.
    """
    refuse_bytes_on_a_terminal(options["kind"])
    named = named_runs(runs)
    check_standard_input([qrels, *(run.path for run in named)])
    outputs = {path: format_of(path) for path in options["outputs"]}
    configuration = _configuration(options["config"])
    scored = _scored(qrels, named, configuration, options)
    layout = {"per_query": options["per_query"], "digits": options["digits"]}
    for path, kind in outputs.items():
        write_file(path, render(scored, kind, **layout))
    click.echo(render(scored, options["kind"], bold=says_bold(), **layout), nl=False)
    if not options["quiet"]:
        _tell(scored, configuration, options)


def _configuration(path: Path | None) -> Configuration:
    from judged.cli.configuration import Configuration, read_configuration

    return Configuration() if path is None else read_configuration(path)


def _profile(configuration: Configuration, options: dict[str, Any]) -> Profile:
    """The profile, changed by the file and then by the options."""
    settings = configuration.conventions()
    return profile_of({**options, "profile": options["profile"] or settings.pop("profile", None)}, **settings)


def _measures(configuration: Configuration, options: dict[str, Any], profile: Profile) -> tuple[str, ...]:
    from judged.measures.parse import split_measures

    if options["measures"]:
        return tuple(name for text in options["measures"] for name in split_measures(text))
    return configuration.retrieval_metrics.enabled_metrics or profile.default_measures or DEFAULT_MEASURES


def _scored(qrels: str, runs: list[Input], configuration: Configuration, options: dict[str, Any]) -> Scored:
    from judged.cli.scored import Scored
    from judged.comparison.contrasts import t_test_against_first
    from judged.comparison.systems import to_system

    profile = _profile(configuration, options)
    measures = _measures(configuration, options, profile)
    readings = profile.read_all(measures)
    chosen = [each.measure for each in readings]
    judgments = _judgments(qrels, chosen, binary=configuration.binary, intents=options["intents"])
    threads = options["threads"] or configuration.threads
    settings: dict[str, Any] = {"protocol": profile, "threads": threads}
    evaluations = [evaluated(judgments, run, measures, settings, quiet=options["quiet"]) for run in runs]
    statistics = configuration.statistics
    level = 1 - statistics.alpha_level if statistics.confidence_intervals else None
    wanted = statistics.significance_testing and len(evaluations) > 1
    tested = t_test_against_first([to_system(evaluation) for evaluation in evaluations]) if wanted else []
    return Scored(qrels, runs, evaluations, level, tested, bounded=options["bounds"])


def _judgments(
    qrels: str, measures: list[Measure], *, binary: bool, intents: bool
) -> Judgments | Preferences:
    """What the measures demand, with every positive grade as 1 where that is asked for."""
    from judged.engine.align import read_judgments_for
    from judged.engine.evaluate import read_truth
    from judged.tables.judgments import Judgments

    judgments = read_judgments_for(qrels, measures, intents=True) if intents else read_truth(qrels, measures)
    if not binary:
        return judgments
    if isinstance(judgments, Judgments):
        return _binary(judgments)
    msg = f"`graded_relevance: false` makes grades of 1, and `{measures[0]}` is a measure of preferences"
    raise BadProtocol(msg, hint="leave the setting out")


def evaluated(
    judgments: Judgments | Preferences,
    run: Input,
    measures: Iterable[Any],
    settings: dict[str, Any],
    *,
    quiet: bool,
) -> Evaluation:
    """The run, scored, under the name it goes by."""
    from judged.cli.progress import Progress
    from judged.engine.evaluate import evaluate

    with Progress(f"Scoring {run.name}", enabled=not quiet) as progress:
        return evaluate(judgments, run.path, measures, name=run.name, progress=progress, **settings)


def _binary(judgments: Judgments) -> Judgments:
    """The judgments with every positive grade as 1."""
    import numpy as np

    from judged.tables.judgments import Judgments

    table = judgments.to_arrow()
    columns = {name: table[name] for name in table.column_names}
    columns["weight"] = columns.pop("intent_weight", None)
    grades = columns["grade"].to_numpy()
    columns["grade"] = np.where(grades > 0, 1.0, grades)
    return Judgments.from_columns(
        **columns,
        name=judgments.name,
        notes=(*judgments.notes, "every positive grade counts as 1 (`graded_relevance: false`)"),
    )


def _tell(scored: Scored, configuration: Configuration, options: dict[str, Any]) -> None:
    """What a reader of the numbers should know, on standard error."""
    first = scored.evaluations[0]
    if first.profile is not None:
        click.echo(f"Profile: {first.profile}", err=True)
    for part in first.parts:
        click.echo(f"Protocol{_of(part, first)}: {part.protocol}", err=True)
    for evaluation in scored.evaluations:
        for part in evaluation.parts:
            for sentence in _noticed(part):
                click.echo(f"{evaluation.system}{_of(part, evaluation)}: {sentence}", err=True)
    for note in _notes(scored, configuration, options):
        click.echo(f"Note: {note}", err=True)
    for path in options["outputs"]:
        click.echo(f"Wrote: {path}", err=True)


def _of(part: Part, evaluation: Evaluation) -> str:
    """The measures that are spoken of, where not all are."""
    return f" of {', '.join(map(str, part.measures))}" if len(evaluation.parts) > 1 else ""


def _noticed(part: Part) -> list[str]:
    return [f"{counted(part.units, 'query')} scored", *(note.message for note in part.notes)]


def _notes(scored: Scored, configuration: Configuration, options: dict[str, Any]) -> list[str]:
    notes = configuration.without_effect()
    if not options["measures"] and not configuration.retrieval_metrics.enabled_metrics:
        notes.append(f"no measure was named: {' '.join(map(str, scored.measures))}")
    if configuration.statistics.significance_testing and len(scored.evaluations) == 1:
        notes.append("`significance_testing` has nothing to compare: only one run was given")
    if scored.level is not None:
        notes.append(
            f"brackets hold the {100 * scored.level:.4g} % confidence interval of each mean (Student's t)"
        )
    if not options["per_query"] and scored.shows_ties(digits=options["digits"]):
        notes.append("`ties` holds the least and the greatest value over all orders of tied results")
    if options["bounds"] and any(
        getattr(part.protocol, "ties", None) == "expected" for part in scored.evaluations[0].parts
    ):
        notes.append("bounds over judgments hold for one order of ties, and `--ties expected` has none")
    text = [str(measure) for measure in scored.measures if measure.text]
    if text and not options["per_query"]:
        notes.append(f"{', '.join(text)} has values for queries only: add `--per-query`")
    return notes
