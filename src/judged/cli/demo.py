"""`judged demo`: a real test collection, three systems and their scores, without a download."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.table import Table

    from judged.engine.evaluate import Evaluation

__all__ = ["command"]


@click.command("demo")
@click.option(
    "--output",
    default="judged-demo",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Directory for the collection, the runs and the scores.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Ask at most so many queries.  [default: all]")
def command(output: Path, limit: int | None) -> None:
    r"""Build a test collection from Python's own documentation, retrieve from it, score and compare.

    The first paragraph of a docstring is the query, the rest of it the document to be found. Nothing is
    downloaded. Needs the extra `demo`.

    \b
    Examples:
        judged demo
        judged demo --output pydoc-collection --limit 200
    """
    from judged.demo.demonstrate import demonstrate
    from judged.demo.write import command as again, refuse_foreign, write

    started = perf_counter()

    def tell(step: str) -> None:
        click.echo(f"{perf_counter() - started:5.1f} s  {step}", err=True)

    refuse_foreign(output)
    demonstration = demonstrate(limit=limit, tell=tell)
    write(output, demonstration)
    tell(f"wrote {output}")
    _show(demonstration.evaluations)
    click.echo(
        f"\nThe result is in {output} (start with {output / 'README.md'}). To score it again:\n", err=True
    )
    click.echo(f"  {again(output, demonstration)}", err=True)


def _show(evaluations: tuple[Evaluation, ...]) -> None:
    """Print the means, and how often each system beats the first."""
    from rich.console import Console

    console = Console()
    console.print(_table(evaluations))
    first, *others = evaluations
    for other in others:
        click.echo(_against(first, other))
    click.echo(f"protocol: {first.protocol}", err=True)


def _table(evaluations: tuple[Evaluation, ...]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, title=f"{evaluations[0].observations.queries:,} queries")
    table.add_column("run")
    for name in evaluations[0].mean():
        table.add_column(name, justify="right")
    best = {name: max(each.mean()[name] for each in evaluations) for name in evaluations[0].mean()}
    for each in evaluations:
        cells = [_bold(value, best=best[name] == value) for name, value in each.mean().items()]
        table.add_row(each.run, *cells)
    return table


def _bold(value: float, *, best: bool) -> str:
    return f"[bold]{value:.4f}[/bold]" if best else f"{value:.4f}"


def _against(first: Evaluation, other: Evaluation) -> str:
    """How many queries a run does better and worse than the first, by the first measure."""
    measure = first.measures[0]
    difference = other.scores[measure] - first.scores[measure]
    better, worse = int((difference > 0).sum()), int((difference < 0).sum())
    equal = len(difference) - better - worse
    return f"{measure}: {other.run} beats {first.run} on {better:,} queries, loses on {worse:,}, ties on {equal:,}"
