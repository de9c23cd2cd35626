"""`judged convert`: judgments and runs from one format into another, whole or not at all."""

from __future__ import annotations

import click

from judged.cli.progress import Progress
from judged.errors import JudgedError
from judged.store.files import standard_input

FORMATS = ("trec", "jsonl", "json", "csv", "tsv", "parquet", "arrow", "beir")


EXAMPLES = """\b
Examples:
  judged convert bm25.run.gz bm25.parquet
  judged convert scifact/qrels/test.tsv scifact.qrels
  zcat bm25.run.gz | judged convert - bm25.jsonl.zst
  judged convert bm25.parquet - --tag bm25 | head
"""


@click.command("convert", epilog=EXAMPLES)
@click.argument("source", metavar="SOURCE")
@click.argument("destination", metavar="DESTINATION")
@click.option(
    "--kind", type=click.Choice(["run", "judgments"]), help="What SOURCE holds, if that cannot be detected."
)
@click.option("--from", "read_as", type=click.Choice(FORMATS), help="Format of SOURCE.")
@click.option(
    "--to", "write_as", type=click.Choice(FORMATS), help="Format to write; by default that of the extension."
)
@click.option("--tag", help="Tag in every line of a TREC run; by default the file's name.")
@click.option("--intents", is_flag=True, help="Read the second column of TREC judgments as intents.")
@click.option("--force", is_flag=True, help="Overwrite DESTINATION if it exists.")
def command(
    *,
    source: str,
    destination: str,
    kind: str | None,
    read_as: str | None,
    write_as: str | None,
    tag: str | None,
    intents: bool,
    force: bool,
) -> None:
    """Convert the judgments or the run in SOURCE to another format.

    Formats are recognised by extension (.run, .qrels, .trec, .txt, .jsonl, .json, .csv, .tsv, .parquet,
    .arrow; then .gz, .zst, .bz2, .xz), or by the first bytes of the file. `-` is standard input or output.
    """
    from judged.io.read import read_judgments, read_run
    from judged.io.write import write_judgments, write_run

    content, name = (standard_input().read(), "stdin") if source == "-" else (source, None)
    with Progress("Converting"):
        if (kind or _kind(content, source, read_as)) == "judgments":
            judgments = read_judgments(content, format=read_as, name=name, intents=intents)
            write_judgments(judgments, destination, format=write_as, force=force)
            done, notes = f"{judgments.to_arrow().num_rows:,} judgments", judgments.notes
        else:
            run = read_run(content, format=read_as, name=name)
            write_run(run, destination, format=write_as, tag=tag, force=force)
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
    from judged.cli.output import print_line

    for note in notes:
        print_line(f"note: {note}")
    if destination != "-":
        print_line(f"wrote {what} to {destination}")
