"""`judged view`: the report of results, runs or traces in a browser, made anew when their files change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from judged._optional import need
from judged.cli.compare import DEFAULT_MEASURES
from judged.cli.inputs import STANDARD_INPUT, InputPath, named_runs, split_name, stem
from judged.cli.options import comparison_options, measure_option, protocol_options, queries_option
from judged.cli.viewing import ViewOptions
from judged.plugins import resolve
from judged.subject import list_subjects

if TYPE_CHECKING:
    from judged.cli.viewing import Viewer
    from judged.comparison.settings import Settings
    from judged.profiles.profile import Profile
    from judged.result import Result
    from judged.web.live import Live

EXAMPLES = """\b
Examples:
  judged view results/
  judged view comparison.json --open
  judged view qrels.txt bm25.run dense.run -m nDCG@10 --baseline bm25
  judged view traces.jsonl --labels labels.jsonl
  judged view results/ --host 0.0.0.0 --allow-remote
"""


@click.command("view", epilog=EXAMPLES)
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=InputPath(named=True))
@measure_option(f" [default: {' '.join(DEFAULT_MEASURES)}; of traces, those of `judged sessions`]")
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    metavar="NAME",
    help="The system to compare with; may be repeated. Without it, every pair of runs is compared.",
)
@click.option("--labels", metavar="FILE", help="Gains of the results in traces.")
@queries_option
@click.option(
    "--documents",
    metavar="FILE",
    type=click.Path(exists=True),
    help="Texts of documents (TSV, JSONL, CSV, Parquet, or a BEIR folder).",
)
@comparison_options
@protocol_options
@click.option(
    "--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 is any.  [default: 8642, or any if it is taken]",
)
@click.option(
    "--allow-remote", is_flag=True, help="Allow a --host that other machines can reach; they need the token."
)
@click.option("--open", "browse", is_flag=True, help="Open the page in the browser.")
def command(
    inputs: tuple[str, ...],
    *,
    measures: tuple[str, ...],
    baselines: tuple[str, ...],
    labels: str | None,
    texts: str | None,
    documents: str | None,
    settings: Settings,
    profile: Profile,
    host: str,
    port: int | None,
    allow_remote: bool,
    browse: bool,
) -> None:
    """Serve the report of each INPUT on this machine, and reload it when a file changes.

    Inputs are saved results, or a folder of them, which is listed with the newest first; or judgments and runs, as
    `judged compare` takes them; or traces, as `judged sessions` does. Only this machine can connect, unless --host
    names another address. Ctrl-C ends it.
    """
    need("starlette", extra="report", needed_by="`judged view`")
    need("uvicorn", extra="report", needed_by="`judged view`")
    from judged.web.serve import make_server

    live, saved = _choose(inputs, ViewOptions(measures, baselines, labels, settings, profile))
    for name in () if live.folder else live.names:
        live.read(name)
    title = f"Results in {live.folder.path.name}" if live.folder else stem(split_name(inputs[0])[1])
    report = {"queries": texts, "documents": documents, "verified": saved}
    server = make_server(live, title=title, host=host, port=port, remote=allow_remote, report=report)
    click.echo(f"Viewing {', '.join(inputs)} at {server.url}")
    click.echo("Ctrl-C ends it", err=True)
    if browse:
        click.launch(server.url)
    server.run()


def _choose(arguments: tuple[str, ...], options: ViewOptions) -> tuple[Live, bool]:
    """Return what to show, and whether it was saved earlier: a folder or saved results, else traces or runs."""
    from judged.result import find_kind
    from judged.web.live import Folder, Input, Live, saved_input

    named = [split_name(argument) for argument in arguments]
    paths = [Path(path) for _, path in named]
    if STANDARD_INPUT in (path for _, path in named):
        msg = "standard input (`-`) cannot be read again when it changes; name a file"
        raise click.UsageError(msg)
    load = _find_loader(named, options)
    if load is None and len(paths) == 1 and paths[0].is_dir():
        return Live(Folder(paths[0])), True
    if all(path.is_file() and find_kind(path) for path in paths):
        return Live({str(path): saved_input(str(path), path) for path in paths}), True
    if load is None and len(paths) > 1:
        load = partial(_score_runs, arguments[0], arguments[1:], options)
    if load is None:
        msg = f"{paths[0]} is neither a saved result nor a trace; runs are given after their judgments"
        raise click.UsageError(msg)
    labels = [Path(options.labels)] if options.labels else []
    files = tuple(path for path in (*paths, *labels) if path.exists())
    return Live({"inputs": Input("inputs", files, lambda: (load(),))}), False


def _find_loader(
    named: Sequence[tuple[str | None, str]], options: ViewOptions
) -> Callable[[], Result] | None:
    """Return what evaluates files that a subject knows, such as traces; None if none does."""
    for subject in list_subjects():
        load = cast("Viewer", resolve(subject.viewer))(named, options) if subject.viewer else None
        if load is not None:
            return load
    return None


def _score_runs(qrels: str, runs: Sequence[str], options: ViewOptions) -> Result:
    """Return the scores of one run, or the comparison of several."""
    from judged.comparison.api import compare
    from judged.measures.parse import split_measures
    from judged.scoring.evaluate import evaluate_many

    measures = tuple(name for text in options.measures for name in split_measures(text))
    evaluations = evaluate_many(
        qrels,
        {run.name: run.path for run in named_runs(tuple(runs))},
        measures or options.profile.default_measures or DEFAULT_MEASURES,
        protocol=options.profile,
    )
    if len(evaluations) == 1:
        return evaluations
    return compare(list(evaluations.values()), baseline=options.baselines, **options.settings.to_dict())
