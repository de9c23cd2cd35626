"""`judged view`: the report of results, runs or traces in a browser, rebuilt when their files change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from judged._optional import need
from judged.cli.command import Command, flag, option, options
from judged.cli.compare import DEFAULT_MEASURES, CompareOptions, evaluate_runs
from judged.cli.comparing import ComparisonOptions
from judged.cli.inputs import (
    STANDARD_INPUT,
    InputPath,
    find_baselines,
    holds_both,
    named_runs,
    split_name,
    stem,
)
from judged.cli.options import (
    COMPARISON,
    EVERY_PAIR,
    INPUTS,
    ProfileChoice,
    baseline_option,
    join_option,
    labels_option,
    measure_option,
    profile_options,
    queries_option,
)
from judged.cli.output import documents_option
from judged.cli.viewing import ViewOptions
from judged.plugins import resolve
from judged.subject import list_subjects

if TYPE_CHECKING:
    from judged.cli.viewing import Viewer
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


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """Options of the server and the content of its pages."""

    measures: tuple[str, ...] = measure_option(
        f" [default: {' '.join(DEFAULT_MEASURES)}; of traces, those of `judged sessions`]"
    )
    baselines: tuple[str, ...] = baseline_option(EVERY_PAIR)
    labels: str | None = labels_option(section=INPUTS)
    join: bool = join_option(section=INPUTS)
    texts: str | None = queries_option()
    documents: str | None = documents_option()
    host: str = option("--host ADDRESS", "Address to listen on.", section="Server", default="127.0.0.1")
    port: int | None = option(
        "--port N",
        "Port to listen on; 0 is any.  [default: 8642, or any if it is taken]",
        type=click.IntRange(0, 65535),
    )
    allow_remote: bool = flag(
        "--allow-remote", "Allow a --host that other machines can reach; they need the token."
    )
    browse: bool = flag("--open", "Open the page in the browser.")


@click.command("view", cls=Command, epilog=EXAMPLES)
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=InputPath(named=True))
@options("options", ServeOptions, "Server")
@options("comparison", ComparisonOptions, COMPARISON)
@profile_options()
def command(
    inputs: tuple[str, ...], *, options: ServeOptions, comparison: ComparisonOptions, profile: ProfileChoice
) -> None:
    """Serve the report of each INPUT on this machine, and reload it when a file changes.

    Inputs are saved results, or a folder of them, which is listed with the newest first; or judgments and runs, as
    `judged compare` takes them; or traces, as `judged sessions` does. Only this machine can connect, unless --host
    names another address. Ctrl-C ends it.
    """
    need("starlette", extra="report", needed_by="`judged view`")
    need("uvicorn", extra="report", needed_by="`judged view`")
    from judged.web.serve import make_server

    settings, chosen = comparison.to_settings(), profile.to_profile()
    shown = ViewOptions(options.measures, options.baselines, options.labels, settings, chosen, options.join)
    live, saved = _choose(inputs, shown)
    for name in () if live.folder else live.names:
        live.read(name)
    title = f"Results in {live.folder.path.name}" if live.folder else stem(split_name(inputs[0])[1])
    report = {"queries": options.texts, "documents": options.documents, "verified": saved}
    server = make_server(
        live, title=title, host=options.host, port=options.port, remote=options.allow_remote, report=report
    )
    click.echo(f"Viewing {', '.join(inputs)} at {server.url}")
    click.echo("Ctrl-C ends it", err=True)
    if options.browse:
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
    if load is None and (len(paths) > 1 or holds_both(arguments[0])):
        load = partial(_score_runs, arguments[0], arguments[1:] or arguments, options)
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

    chosen = CompareOptions(measures=options.measures)
    named = named_runs(tuple(runs), join=options.join)
    evaluations = evaluate_runs(qrels, named, chosen, options.profile, quiet=True)
    if len(evaluations) == 1:
        return evaluations
    baselines = find_baselines(options.baselines, named)
    return compare(list(evaluations.values()), baseline=baselines, **options.settings.to_dict())
