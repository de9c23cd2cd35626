"""`judged report`: saved results as one HTML file that needs no network."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from judged.cli.command import Command, option, options
from judged.cli.inputs import InputPath, split_name, stem
from judged.cli.options import queries_option
from judged.cli.output import (
    REPORT_EXTENSIONS,
    check_extension,
    describe_command,
    documents_option,
    file_option,
    print_notes,
    quiet_option,
)

EXAMPLES = """\b
Examples:
  judged compare qrels.txt *.run -o comparison.json
  judged report comparison.json -o report.html
  judged report dl19=2019.json dl20=2020.json --queries queries.tsv --documents corpus.jsonl
"""


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """Options of the content of the report and its file."""

    output: Path = file_option(": .html", default=Path("report.html"))
    title: str = option("--title", "Title of the report.", default="Retrieval report")
    queries: str | None = queries_option(type=click.Path(exists=True))
    documents: str | None = documents_option()
    quiet: bool = quiet_option()


@click.command("report", cls=Command, epilog=EXAMPLES)
@click.argument(
    "results", metavar="RESULT...", nargs=-1, required=True, type=InputPath(named=True, table=False)
)
@options("options", ReportOptions)
def command(results: tuple[str, ...], *, options: ReportOptions) -> None:
    """Join saved RESULTs into one HTML file, with a chooser if there are several.

    A result is what `-o result.json` or `Result.save` wrote; NAME=FILE gives it another title than the name of its
    file. Ranked lists and curves need the judgments and runs: they are read again if their files are where they were
    and have the hashes that the result records, and otherwise the report says what is missing.
    """
    from judged.report.page import render_report
    from judged.result import load
    from judged.store.files import write_file

    check_extension(options.output, REPORT_EXTENSIONS)
    named = [split_name(text) for text in results]
    page = render_report(
        [load(path) for _, path in named],
        title=options.title,
        titles=[name or stem(path) for name, path in named],
        queries=options.queries,
        documents=options.documents,
        verified=True,
        command=describe_command(),
    )
    write_file(options.output, page)
    if not options.quiet:
        print_notes((), [options.output])
