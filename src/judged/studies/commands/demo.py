"""`judged demo`: a study of a real test collection, from retrieval to the report, without a download."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from judged.cli.command import COUNT, Command, option, options
from judged.cli.output import OutputOptions

EXAMPLES = """\b
Examples:
  judged demo
  judged demo --output pydoc-study --limit 200
"""


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """Options for the amount of work, and the output."""

    output: Path = option(
        "--output FOLDER",
        "Folder for the study, its collection and its results.",
        type=click.Path(path_type=Path),
        default=Path("judged-demo"),
    )
    limit: int | None = option("--limit N", "Use at most N queries.  [default: all]", type=COUNT)


@click.command("demo", cls=Command, epilog=EXAMPLES)
@options("options", DemoOptions)
def command(*, options: DemoOptions) -> None:
    """Run a study of Python's own documentation: BM25, static embeddings, their fusion, and a reranker.

    The first paragraph of a docstring of the standard library is the query, the rest of it the document to be found.
    Nothing is downloaded. The result is a folder with report.html, and with the study and its collection to change and
    run again. Needs the extra `demo`.
    """
    from importlib.util import find_spec

    from judged.errors import MissingExtra
    from judged.studies.collections.collection import make_demo_collection, write_collection
    from judged.studies.commands.run import run_inputs
    from judged.studies.outcome.folder import prepare_folder
    from judged.studies.running.run import open_study
    from judged.studies.specification import DEMO_STUDY, read_study

    for package in ("bm25s", "wordllama", "vl_convert"):
        if find_spec(package) is None:  # better known before the work than after it
            raise MissingExtra(package, extra="demo", needed_by="`judged demo`")
    output = options.output
    prepare_folder(output)
    click.echo("Reading the docstrings of the standard library", err=True)
    collection = make_demo_collection(options.limit)
    inputs = open_study(read_study(DEMO_STUDY), output, collection=collection)
    write_collection(collection, output / "collection")
    (output / "study.yaml").write_bytes(DEMO_STUDY.read_bytes())
    run_inputs(inputs, OutputOptions())
    click.echo(
        f"\nOpen {output / 'report.html'} in a browser; {output / 'README.md'} names every file.", err=True
    )
