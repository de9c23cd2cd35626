"""`judged run`: a study from its YAML file to a folder of results."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judged.cli.command import Command, flag, option, options
from judged.cli.comparing import DifferenceOptions
from judged.cli.inputs import refuse_inputs
from judged.cli.options import INPUT_FILE, TABLE, QueryOptions, output_options, query_options
from judged.cli.output import OUTPUT_FILE, OutputOptions, emit, split_output
from judged.cli.progress import Progress

if TYPE_CHECKING:
    from judged.blocks import Display
    from judged.studies.result import Study
    from judged.studies.running.plan import StudyInputs
    from judged.studies.specification import StudySpec

NOT_IN_NAMES = r"[^\w.+=,@ -]"
"""Signs of the name of a study that the name of its folder has not."""
FAILED = 5
"""Exit code where a system failed."""
EXAMPLES = """\b
Examples:
  judged run study.yaml
  judged run study.yaml --dry-run
  judged run study.yaml -o results/ -o report.html --log mlflow
  judged run --schema > study.schema.json
"""


def _print_schema(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's signature
    if not wanted or ctx.resilient_parsing:
        return
    import json

    from judged.studies.specification import make_schema

    click.echo(json.dumps(make_schema(), indent=2))
    ctx.exit()


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options for running a study."""

    dry_run: bool = flag("--dry-run", "Print the plan and what is finished or cached, and do nothing.")
    allow_env: tuple[str, ...] = option(
        "--allow-env NAME",
        "Let the study read this environment variable; may be repeated. The usual keys need no permission.",
        multiple=True,
    )
    force: bool = flag("--force", "Write into the folder of another study; what it has there is replaced.")
    reuse: bool = flag(
        "--reuse",
        "Keep the finished answers of systems that are not built here, servers and code of yours; otherwise they are asked again.",
        excludes=("--fresh",),
    )
    fresh: bool = flag("--fresh", "Compute everything again: answers, and vectors of documents.")
    fresh_only: tuple[str, ...] = option(
        "--fresh-only NAME",
        "Compute this system again, and those that consist of it; may be repeated.",
        excludes=("--fresh",),
        multiple=True,
    )
    only: tuple[str, ...] = option(
        "--only NAME",
        "Run this system alone, with those that it consists of; may be repeated.",
        multiple=True,
    )
    cache: Path | None = option(
        "--cache FILE",
        "File of cached vectors.  [default: one for all studies, in the user's cache folder]",
        type=OUTPUT_FILE,
    )
    trackers: tuple[str, ...] = option(
        "--log [mlflow|wandb]",
        "Also log the results to this tracker; may be repeated.",
        excludes=("--dry-run",),
        multiple=True,
    )
    schema: bool = flag(
        "--schema",
        "Print the JSON schema of studies, for an editor, and exit.",
        is_eager=True,
        callback=_print_schema,
    )


@click.command("run", cls=Command, epilog=EXAMPLES)
@click.argument("study", type=INPUT_FILE)
@options("options", RunOptions, "Study")
@options("differences", DifferenceOptions, TABLE)
@query_options()
@output_options(note="; a FOLDER takes all results  [default: NAME-results]", folder=True)
def command(
    study: Path,
    *,
    options: RunOptions,
    differences: DifferenceOptions,
    queries: QueryOptions,
    output: OutputOptions,
) -> None:
    """Run the retrieval experiment of STUDY, a YAML file: retrieve, score, compare, and time every stage.

    Systems are made of stages: encode, search, fuse, rerank, with a skip policy before and a router around. Every answer is on
    disk before the next query is asked: a study that was stopped resumes where it stopped. A system that fails does not
    stop the others.
    """
    from judged.studies.outcome.folder import prepare_folder
    from judged.studies.outcome.tracking import need_tracker
    from judged.studies.running.permissions import check_variables
    from judged.studies.specification import read_study

    display = queries.to_display(differences.to_display())
    for tracker in options.trackers:
        need_tracker(tracker)  # better known before the work than after it
    folder, output = split_output(output)
    output.check(pictures=True)
    spec = read_study(study)
    folder = folder or Path(f"{re.sub(NOT_IN_NAMES, '-', str(spec.name))}-results")
    if not options.dry_run:
        check_variables(spec.systems, options.allow_env)
    if spec.collections:
        _run_several(spec, folder, options, output, display)
        return
    if not options.dry_run:
        prepare_folder(folder)
    inputs = _open(spec, folder, options)
    refuse_inputs(output.paths, [file.path for file in inputs.files])
    if options.dry_run:
        if not _print_plan(inputs, options):
            sys.exit(FAILED)
        return
    run_inputs(inputs, output, display=display, cache=options.cache, trackers=options.trackers)


def _open(spec: StudySpec, folder: Path, options: RunOptions) -> StudyInputs:
    """Return a study with its collection read and its plan made."""
    from judged.studies.running.run import open_study

    return open_study(
        spec,
        folder,
        reuse=options.reuse,
        fresh=options.fresh or options.fresh_only,
        only=options.only,
        force=options.force,
    )


def run_inputs(
    inputs: StudyInputs,
    output: OutputOptions,
    *,
    display: Display | None = None,
    cache: Path | None = None,
    trackers: tuple[str, ...] = (),
) -> Study:
    """Run a study, write its folder, print the result; exit with 5 if a system failed."""
    from judged.studies.outcome.folder import write_study
    from judged.studies.outcome.tracking import log_study
    from judged.studies.running.run import run_study

    with Progress("Study", enabled=not output.quiet, lines=True) as progress:
        result = run_study(inputs, output=inputs.folder, cache=cache, progress=progress)
        progress.announce("writing the results")
        write_study(result, inputs)
    for tracker in trackers:
        log_study(result, inputs.folder, tracker)
    written = [inputs.folder / name for name in ("report.html", "systems.csv")]
    emit(result, output, display=display, written=written)
    if result.failures:
        sys.exit(FAILED)
    return result


def _run_several(
    spec: StudySpec, folder: Path, options: RunOptions, output: OutputOptions, display: Display
) -> None:
    """Run the study on each of its collections, into a folder for each, and print what they say together."""
    from judged.studies.collections.collection import check_collection
    from judged.studies.outcome.folder import prepare_folder, write_studies, write_study
    from judged.studies.outcome.tracking import log_study
    from judged.studies.running.run import run_study
    from judged.studies.several import join_studies, split_study

    found, complete = [], True
    singles = split_study(spec)
    for single in singles.values():
        check_collection(single.collection)
    for name, single in singles.items():
        place = folder / name
        if not options.dry_run:
            prepare_folder(place)
        inputs = _open(single, place, options)
        if options.dry_run:
            complete = _print_plan(inputs, options) and complete
            continue
        refuse_inputs(output.paths, [file.path for file in inputs.files])
        with Progress(name, enabled=not output.quiet, lines=True) as progress:
            found.append(run_study(inputs, output=place, cache=options.cache, progress=progress))
            progress.announce("writing the results")
            write_study(found[-1], inputs)
        for tracker in options.trackers:
            log_study(found[-1], place, tracker)
    if options.dry_run:
        if not complete:
            sys.exit(FAILED)
        return
    result = join_studies(spec, found)
    emit(result, output, display=display, written=write_studies(result, folder))
    if result.failures:
        sys.exit(FAILED)


def _print_plan(inputs: StudyInputs, options: RunOptions) -> bool:
    """Print what would be done, what is done already, and what would be used; return whether all of that is there."""
    from contextlib import closing

    from judged.studies.running.permissions import describe_uses
    from judged.studies.running.plan import describe_plan
    from judged.studies.running.run import find_cache
    from judged.studies.stages.vectors import VectorCache

    with closing(VectorCache(find_cache(options.cache))) as vectors:
        for line in describe_plan(inputs, vectors):
            click.echo(line)
    systems = [planned.spec for planned in inputs.plan]
    uses = [(f"file {file.path}", True) for file in inputs.files]
    uses += describe_uses(systems, options.allow_env)
    if uses:
        click.echo("uses:")
    for use, _ in uses:
        click.echo(f"  {use}")
    return all(is_there for _, is_there in uses)
