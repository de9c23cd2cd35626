"""`python -m conformance`: hold a tool, or all of them, to the suite."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from conformance.cases import SUITE, Case, read_suite
from conformance.drivers import DRIVERS, Tool, find_tools
from conformance.examine import LIMIT, examine
from conformance.page import render_json, render_markdown, render_table
from conformance.verdict import Results
from judged.errors import JudgedError, Unreadable

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  python -m conformance
  python -m conformance --tool ranx --only ties
  TREC_EVAL=./trec_eval python -m conformance --tool trec_eval
  python -m conformance --all --format markdown > docs/compatibility.md
"""


@click.command("conformance", epilog=EXAMPLES)
@click.option("--tool", "names", multiple=True, metavar="NAME", help=f"A tool: {', '.join(DRIVERS)}.")
@click.option("--all", "every", is_flag=True, help="Run every tool that is installed.")
@click.option(
    "--cases",
    "folder",
    type=click.Path(path_type=Path),
    default=SUITE,
    help="Folder of the cases.  [default: this one]",
)
@click.option("--only", metavar="TEXT", default="", help="Run only cases whose id begins with TEXT.")
@click.option(
    "--format",
    "layout",
    type=click.Choice(["table", "markdown", "json"]),
    default="table",
    show_default=True,
    help="Output format.",
)
@click.option(
    "--limit", type=float, default=LIMIT, show_default=True, help="Seconds for one measure of one case."
)
def command(
    names: tuple[str, ...],
    every: bool,  # noqa: FBT001 - click passes by keyword
    folder: Path,
    only: str,
    layout: str,
    limit: float,
) -> None:
    """Hold a tool to the conformance suite and report what it makes of every case.

    Each tool runs in a process of its own, so a crash is an outcome and does not end the runner. The exit code is 1
    if a named tool differs anywhere or is not installed; with --all it is 0.
    """
    try:
        cases = [case for case in read_suite(folder) if case.id.startswith(only)]
        if not cases:
            msg = f"no case begins with `{only}`"
            raise Unreadable(msg, hint="without --only, all cases are run")
        chosen = (
            find_tools() if every else [tool for name in names or ("judged",) for tool in find_tools(name)]
        )
    except JudgedError as error:
        raise click.ClickException(str(error)) from error
    results = [_examine(tool, cases, limit) for tool in chosen if _check_installed(tool)]
    click.echo(_render(layout, cases, results))
    complete = len(results) == len(chosen)
    sys.exit(0 if every or (complete and not any(result.faults for result in results)) else 1)


def _check_installed(tool: Tool) -> bool:
    """Return whether the tool is installed; if it is not, say how to install it."""
    if tool.version() is not None:
        return True
    click.echo(f"{tool.label} is not installed: {tool.how_to_install}", err=True)
    return False


def _examine(tool: Tool, cases: list[Case], limit: float) -> Results:
    click.echo(f"{tool.label}: {len(cases)} cases", err=True)
    return Results(tool.label, tuple(examine(tool, cases, limit=limit)))


def _render(layout: str, cases: list[Case], results: list[Results]) -> str:
    if layout == "json":
        return render_json(cases, results)
    if layout == "markdown":
        return render_markdown(cases, results, datetime.now(UTC).date().isoformat())
    return render_table(cases, results)


if __name__ == "__main__":
    command()
