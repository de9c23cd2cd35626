"""`judged demo`: a real test collection, three systems and their scores, without a download."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from judged.demo.demonstrate import Demonstration

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  judged demo
  judged demo --output pydoc-collection --limit 200
"""


@click.command("demo", epilog=EXAMPLES)
@click.option(
    "--output",
    default="judged-demo",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Directory for the collection, the runs and the scores.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Use at most N queries.  [default: all]"
)
def command(output: Path, limit: int | None) -> None:
    """Build a test collection from Python's own documentation, retrieve from it, score and compare.

    The first paragraph of a docstring of the standard library is the query, the rest of it the document to
    be found. Nothing is downloaded. Needs the extra `demo`.
    """
    from judged.demo.demonstrate import (
        demonstrate,
        need_packages,
        prepare_directory,
        write,
        write_command,
        write_report,
    )

    started = perf_counter()

    def show_step(step: str) -> None:
        click.echo(f"{perf_counter() - started:5.1f} s  {step}", err=True)

    need_packages()
    prepare_directory(output)
    demonstration = demonstrate(limit=limit, progress=show_step)
    show_step(f"writing files and a picture to {output}")
    write(output, demonstration)
    show_step("comparing, and writing the report")
    report = write_report(output, demonstration)
    show_step("done\n")
    _show(demonstration)
    click.echo(
        f"\nThe result is in {output}, described in {output / 'README.md'}. To score it again:\n", err=True
    )
    click.echo(f"  {write_command(output, demonstration)}", err=True)
    click.echo(f"\nOpen {report} in a browser: leaderboard, every query, ranked lists, curves.", err=True)


def _show(demonstration: Demonstration) -> None:
    """Print the means, and how each system compares with the first."""
    from judged.cli.output import OutputOptions, emit, print_protocols
    from judged.cli.score import add_tests
    from judged.engine.evaluations import Evaluations

    scored = add_tests(
        Evaluations({evaluation.system: evaluation for evaluation in demonstration.evaluations})
    )
    print_protocols(scored.provenance.protocols)
    click.echo(err=True)
    emit(scored, OutputOptions(quiet=True))
