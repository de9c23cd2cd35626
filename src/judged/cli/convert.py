"""`judged convert`: judgments and runs from one format into another, whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import click

from judged.cli.command import Command, option, options
from judged.cli.inputs import InputPath
from judged.cli.options import intents_option
from judged.cli.output import force_option, print_line
from judged.cli.progress import Progress
from judged.errors import JudgedError
from judged.store.files import standard_input

FORMATS = ("trec", "jsonl", "json", "csv", "tsv", "parquet", "arrow", "beir")
READABLE = (*FORMATS, "svmlight")
"""The formats that can be read."""


EXAMPLES = """\b
Examples:
  judged convert bm25.run.gz bm25.parquet
  judged convert scifact/qrels/test.tsv scifact.qrels
  zcat bm25.run.gz | judged convert - bm25.jsonl.zst
  judged convert bm25.parquet - --tag bm25 | head
"""


write_as_option = partial(
    option, f"--to [{'|'.join(FORMATS)}]", "Format to write; by default that of the extension."
)
tag_option = partial(option, "--tag NAME", "Tag in every line of a TREC run.  [default: the name of the run]")


@dataclass(frozen=True, kw_only=True)
class ConvertOptions:
    """Options for reading the source and writing the destination."""

    kind: str | None = option("--kind [run|judgments]", "Kind of the input, if it cannot be detected.")
    read_as: str | None = option("--from", "Format of SOURCE.", type=click.Choice(READABLE))
    write_as: str | None = write_as_option()
    tag: str | None = tag_option()
    intents: bool = intents_option()
    force: bool = force_option()


@click.command("convert", cls=Command, epilog=EXAMPLES)
@click.argument("source", metavar="SOURCE", type=InputPath())
@click.argument("destination", metavar="DESTINATION")
@options("options", ConvertOptions)
def command(*, source: str, destination: str, options: ConvertOptions) -> None:
    """Convert the judgments or the run in SOURCE to another format.

    Formats are recognised by extension (.run, .qrels, .trec, .txt, .jsonl, .json, .csv, .tsv, .parquet,
    .arrow; then .gz, .zst, .bz2, .xz), or by the first bytes of the file. `-` is standard input or output.
    """
    from judged.io.read import read_judgments, read_run
    from judged.io.write import write_judgments, write_run
    from judged.tables.mapping import MappedPath

    content, name = (standard_input().read(), "stdin") if source == "-" else (source, None)
    with Progress("Converting"):
        columns, read_as = source.columns if isinstance(source, MappedPath) else None, options.read_as
        written = {"format": options.write_as}
        if (options.kind or _kind(content, source, options.read_as)) == "judgments":
            judgments = read_judgments(
                content, format=read_as, name=name, intents=options.intents, map=columns
            )
            write_judgments(judgments, destination, **written, force=options.force)
            done, notes = f"{judgments.to_arrow().num_rows:,} judgments", judgments.notes
        else:
            run = read_run(content, format=read_as, name=name, map=columns)
            write_run(run, destination, **written, tag=options.tag, force=options.force)
            done, notes = f"the run `{run.name}`", run.notes
    _report(done, destination, notes)


def _kind(content: object, source: str, read_as: str | None) -> str:
    """Return what the source holds; raise an error if that cannot be detected."""
    from judged.io.read import kind_of

    kind = kind_of(content, format=read_as)
    if kind is None:
        msg = f"{'standard input' if source == '-' else source} may hold judgments or a run"
        hint = "say which: `--kind judgments` or `--kind run`"
        raise JudgedError(msg, hint=hint)
    return kind


def _report(what: str, destination: str, notes: tuple[str, ...]) -> None:
    """Print what was done, and notes, to standard error."""
    for note in notes:
        print_line(f"note: {note}")
    if destination != "-":
        print_line(f"wrote {what} to {destination}")
