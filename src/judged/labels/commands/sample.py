"""`judged label --sample`: a blind sample of results as a sheet for human graders."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judged.cli.command import COUNT, Command, option, options
from judged.cli.options import seed_option
from judged.cli.output import SHEET_EXTENSIONS, check_extension, file_option, force_option, quiet_option
from judged.labels.commands.pool_options import PoolOptions, pool_options

if TYPE_CHECKING:
    from judged.agents.commands.trace_options import TraceOptions

EXAMPLES = """\b
Examples:
  judged label traces.jsonl --sample 200 -o sheet.csv
  judged sessions traces.jsonl --labels labels.jsonl --human sheet.csv
  judged agreement labels.jsonl sheet.csv
"""


@dataclass(frozen=True, kw_only=True)
class SampleOptions:
    """Options for the size of the sample, and its output."""

    size: int = option("--sample N", "Number of results.", type=COUNT, required=True)
    seed: int = seed_option(type=int)
    output: Path = file_option(": .csv.", required=True)
    force: bool = force_option()
    quiet: bool = quiet_option()


@click.command("label --sample", cls=Command, epilog=EXAMPLES)
@pool_options("relabel")
@options("options", SampleOptions, "Sample")
def sample(
    sources: tuple[Path, ...], *, pool: PoolOptions, reading: TraceOptions, options: SampleOptions
) -> None:
    """Draw N distinct results of the TRACEs or RUNs at random, as a sheet in which people fill in gains from 0 to 4.

    The sheet does not say which system found a result, at which rank, or what a model thinks of it. Filled in, wholly or
    in part, it is read wherever human grades are: `judged sessions --human`, `judged agreement`.
    """
    from judged.errors import JudgedError
    from judged.io.sheet import encode_sheet
    from judged.store.files import write_file

    output = options.output
    check_extension(output, SHEET_EXTENSIONS)
    if output.exists() and not options.force:
        msg = f"{output} exists already, and may hold grades"
        raise JudgedError(msg, hint="`--force` overwrites it")
    items = list(pool.build(sources, reading, relabel=True).items)
    drawn = random.Random(options.seed).sample(items, min(options.size, len(items)))  # noqa: S311 - no secret
    rows = [{**item.row, "question": item.query, "title": item.title, "text": item.text} for item in drawn]
    write_file(output, encode_sheet(_name_documents(row) for row in rows))
    if not options.quiet:
        drawn_of = f"{len(rows):,} of {len(items):,} results, drawn with seed {options.seed}"
        click.echo(f"{drawn_of}: fill in `gain`", err=True)


def _name_documents(row: dict[str, object]) -> dict[str, object]:
    """Return a row with the query and the document of a run as task and id."""
    return {
        **row,
        "task": row.get("task") or row.get("query", ""),
        "id": row.get("id") or row.get("document", ""),
    }
