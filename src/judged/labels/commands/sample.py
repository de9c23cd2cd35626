"""`judged label --sample`: a blind sample of results as a sheet for human graders."""

from __future__ import annotations

import random
from pathlib import Path

import click

from judged.labels.commands.pool_options import INPUT, OUTPUT, PoolInputs, pool_options

EXAMPLES = """\b
Examples:
  judged label traces.jsonl --sample 200 -o sheet.csv
  judged sessions traces.jsonl --labels labels.jsonl --human sheet.csv
  judged agreement labels.jsonl sheet.csv
"""


@click.command("label --sample", epilog=EXAMPLES)
@pool_options
@click.option(
    "--sample", "size", type=click.IntRange(min=1), required=True, metavar="N", help="Number of results."
)
@click.option("--judged", type=INPUT, metavar="FILE", help="Judgments or labels of results to leave out.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")
@click.option("-o", "--output", type=OUTPUT, required=True, metavar="FILE", help="The sheet: a .csv file.")
@click.option("--force", is_flag=True, help="Overwrite a sheet that exists.")
@click.option("-q", "--quiet", is_flag=True, help="Print no summary on standard error.")
def sample(
    inputs: PoolInputs, size: int, judged: Path | None, seed: int, output: Path, *, force: bool, quiet: bool
) -> None:
    """Draw N distinct results of the TRACEs or RUNs at random, as a sheet in which people fill in gains from 0 to 4.

    The sheet does not say which system found a result, at which rank, or what a model thinks of it. Filled in, wholly or
    in part, it is read wherever human grades are: `judged sessions --human`, `judged agreement`.
    """
    from judged.errors import JudgedError
    from judged.io.sheet import encode_sheet
    from judged.store.files import write_file

    if output.suffix.lower() != ".csv":
        msg = f"{output} is no .csv file, and a sheet is one"
        raise JudgedError(msg)
    if output.exists() and not force:
        msg = f"{output} exists already, and may hold grades"
        raise JudgedError(msg, hint="`--force` overwrites it")
    items = list(inputs.build(judged=judged, relabel=True).items)
    drawn = random.Random(seed).sample(items, min(size, len(items)))  # noqa: S311 - no secret
    rows = [{**item.row, "question": item.query, "title": item.title, "text": item.text} for item in drawn]
    write_file(output, encode_sheet(_name_documents(row) for row in rows))
    if not quiet:
        click.echo(
            f"{len(rows):,} of {len(items):,} results, drawn with seed {seed}: fill in `gain`", err=True
        )


def _name_documents(row: dict[str, str]) -> dict[str, str]:
    """Return a row with the query and the document of a run as task and id."""
    return {
        **row,
        "task": row.get("task") or row.get("query", ""),
        "id": row.get("id") or row.get("document", ""),
    }
