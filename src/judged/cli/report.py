"""`judged report`: saved results as one HTML file that needs no network."""

from __future__ import annotations

from pathlib import Path

import click

from judged.cli.inputs import InputPath, split_name, stem

EXAMPLES = """\b
Examples:
  judged compare qrels.txt *.run -o comparison.json
  judged report comparison.json -o report.html
  judged report dl19=2019.json dl20=2020.json --queries queries.tsv --documents corpus.jsonl
"""


@click.command("report", epilog=EXAMPLES)
@click.argument("results", metavar="RESULT...", nargs=-1, required=True, type=InputPath(named=True))
@click.option(
    "-o",
    "--output",
    default="report.html",
    show_default=True,
    metavar="FILE.html",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write.",
)
@click.option("--title", default="Retrieval report", show_default=True, help="Title of the report.")
@click.option(
    "--queries",
    metavar="FILE",
    type=click.Path(exists=True),
    help="Texts of queries (TSV, JSONL, CSV, Parquet, or a BEIR folder).",
)
@click.option(
    "--documents",
    metavar="FILE",
    type=click.Path(exists=True),
    help="Texts of documents (TSV, JSONL, CSV, Parquet, or a BEIR folder).",
)
@click.option("-q", "--quiet", is_flag=True, help="Do not name the file that was written.")
def command(
    results: tuple[str, ...],
    *,
    output: Path,
    title: str,
    queries: str | None,
    documents: str | None,
    quiet: bool,
) -> None:
    """Join saved RESULTs into one HTML file, with a chooser if there are several.

    A result is what `-o result.json` or `Result.save` wrote; NAME=FILE gives it another title than the name of its
    file. Ranked lists and curves need the judgments and runs: they are read again if their files are where they were
    and have the hashes that the result records, and otherwise the report says what is missing.
    """
    from judged.cli.output import check_extension, describe_command, print_notes
    from judged.report.page import render_report
    from judged.result import load
    from judged.store.files import write_file

    check_extension(output, {".html": "html"})
    named = [split_name(text) for text in results]
    page = render_report(
        [load(path) for _, path in named],
        title=title,
        titles=[name or stem(path) for name, path in named],
        queries=queries,
        documents=documents,
        verified=True,
        command=describe_command(),
    )
    write_file(output, page)
    if not quiet:
        print_notes((), [output])
