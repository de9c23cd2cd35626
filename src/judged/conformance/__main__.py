"""`python -m judged.conformance`: hold a tool, or all of them, to the suite."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from judged.conformance.cases import Case, read_suite
from judged.conformance.drivers.catalogue import DRIVERS, Tool, tools
from judged.conformance.examine import LIMIT, examine
from judged.conformance.results import Results
from judged.conformance.show import to_json, to_markdown, to_table
from judged.errors import JudgedError, Unreadable

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  python -m judged.conformance
  python -m judged.conformance --tool ranx --only ties
  TREC_EVAL=./trec_eval python -m judged.conformance --tool trec_eval
  python -m judged.conformance --all --format markdown > docs/compatibility.md
"""


@click.command("conformance", epilog=EXAMPLES)
@click.option("--tool", "names", multiple=True, metavar="NAME", help=f"A tool: {', '.join(DRIVERS)}.")
@click.option("--all", "every", is_flag=True, help="Every tool that is installed.")
@click.option(
    "--cases", type=click.Path(path_type=Path), help="Folder of the cases.  [default: the suite's own]"
)
@click.option("--only", metavar="TEXT", help="Only cases whose id begins with TEXT.")
@click.option(
    "--format",
    "layout",
    type=click.Choice(["table", "markdown", "json"]),
    default="table",
    show_default=True,
    help="How the results are laid out.",
)
@click.option(
    "--limit", type=float, default=LIMIT, show_default=True, help="Seconds for one measure of one case."
)
def command(
    names: tuple[str, ...],
    every: bool,  # noqa: FBT001 - click passes by keyword
    cases: Path | None,
    only: str | None,
    layout: str,
    limit: float,
) -> None:
    """Hold a tool to the conformance suite and tell what it makes of every case.

    Each tool runs in a process of its own, so that its crash is an outcome and not the end. Exit code 1 if a tool
    that was named differs anywhere; with --all the table is the result, and the exit code 0.
    """
    try:
        suite = [case for case in read_suite(cases) if case.id.startswith(only or "")]
        if not suite:
            msg = f"no case begins with `{only}`"
            raise Unreadable(msg, hint="without --only, all cases are run")
        chosen = tools() if every else [tool for name in names or ("judged",) for tool in tools(name)]
    except JudgedError as error:
        raise click.ClickException(str(error)) from error
    results = [_examined(tool, suite, limit) for tool in chosen if _is_there(tool)]
    click.echo(_laid_out(layout, suite, results))
    told_all = len(results) == len(chosen)
    sys.exit(0 if every or (told_all and not any(each.faults for each in results)) else 1)


def _is_there(tool: Tool) -> bool:
    """Whether the tool is installed; if not, say so and what to do."""
    if tool.version() is not None:
        return True
    click.echo(f"{tool.label} is not installed: {tool.how_to_install}", err=True)
    return False


def _examined(tool: Tool, suite: list[Case], limit: float) -> Results:
    click.echo(f"{tool.label}: {len(suite)} cases", err=True)
    return Results(tool.label, tuple(examine(tool, suite, limit=limit)))


def _laid_out(layout: str, suite: list[Case], results: list[Results]) -> str:
    if layout == "json":
        return to_json(suite, results)
    if layout == "markdown":
        return to_markdown(suite, results, datetime.now(UTC).date().isoformat())
    return to_table(suite, results)


if __name__ == "__main__":
    command()
