"""`judged label --similarity`: labels of a small model on this machine, calibrated on human grades."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judged.cli.inputs import InputPath
from judged.cli.progress import Progress

if TYPE_CHECKING:
    from judged.label.pool import Pool
    from judged.label.similarity import SimilarityLabels
    from judged.tables.labels import Label

__all__ = ["similar"]

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
EXAMPLES = """\b
Examples:
  judged label --similarity traces.jsonl --calibration human.jsonl -o labels.jsonl
  judged label --similarity bm25.run --queries queries.tsv --docs corpus.jsonl \\
      --calibration human.qrels -o labels.qrels
"""


@click.command("label --similarity", epilog=EXAMPLES)
@click.argument("source", metavar="TRACE|RUN", type=click.Path(exists=True, dir_okay=False))
@click.option("--similarity", is_flag=True, help="Use no language model.")
@click.option(
    "--calibration",
    type=InputPath(),
    required=True,
    metavar="FILE",
    help="Human grades of some of the results: 20 at least, better 200.",
)
@click.option(
    "--model",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Another embedding model: ONNX with its tokenizer, or one of sentence-transformers.",
)
@click.option(
    "--queries", type=FILE, metavar="FILE", help="Texts of queries or tasks by id: TSV, CSV, JSONL, Parquet."
)
@click.option(
    "--docs", type=FILE, metavar="FILE", help="Titles and texts of documents by id, in the same formats."
)
@click.option(
    "--kind", type=click.Choice(["run", "trace"]), help="What the input is, where it does not tell."
)
@click.option(
    "--depth", type=click.IntRange(min=1), metavar="K", help="Only the first K of each query or search."
)
@click.option(
    "--unit",
    type=click.Choice(["document", "passage", "strict"]),
    default="document",
    show_default=True,
    help="What counts as one result of a trace, which is labelled once.",
)
@click.option(
    "--tools",
    type=FILE,
    metavar="FILE",
    help="Which tools of a trace are searches, as `judged sessions` reads it.",
)
@click.option("--lenient", is_flag=True, help="Leave out what is faulty or has no text, and count it.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    metavar="FILE",
    help="The labels: .jsonl, .csv, .tsv, else TREC judgments.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print no progress and no summary on standard error.")
def similar(source: str, **options: Any) -> None:
    """Grade the results of TRACE or RUN from 0 to 4 by the similarity of query and text, without a language model.

    A small embedding model runs on this machine; human grades of some of the results say from which similarity on
    each grade begins. What they grade is left to them, the rest is labelled, and how far such labels agree with people
    is told: each graded result by what the other tasks alone had taught.
    """
    from judged.formats.labels import write_labels
    from judged.label.similarity import similarity_labels

    pool = _pool(source, options)
    with Progress("Comparing texts", enabled=not options["quiet"]) as progress:
        found = similarity_labels(
            pool.items, calibration=options["calibration"], model=options["model"], progress=progress
        )
    write_labels(_rows(pool, found), options["output"])
    if not options["quiet"]:
        _tell(pool, found, options["output"])


def _pool(source: str, options: dict[str, Any]) -> Pool:
    from judged.formats.traces.results.search_tools import read_tools
    from judged.label.gather import gather

    names = ("kind", "queries", "docs", "depth", "unit", "lenient")
    tools = None if options["tools"] is None else read_tools(options["tools"])
    return gather(source, **{name: options[name] for name in names}, tools=tools, relabel=True)


def _rows(pool: Pool, found: SimilarityLabels) -> Iterable[Label | dict[str, Any]]:
    """The labels as they are written: those of a run as judgments, which `judged score` reads."""
    if pool.kind == "trace":
        return found.labels
    return [
        {"query": label.task, "document": label.id, "grade": label.gain, "labeller": label.labeller}
        for label in found.labels
    ]


def _tell(pool: Pool, found: SimilarityLabels, output: Path) -> None:
    from judged.label.agreement_tables import as_text

    for note in pool.notes:
        click.echo(f"Note: {note}", err=True)
    click.echo(f"Labelled: {len(found.labels):,} results by {found.agreement.labels}", err=True)
    click.echo("Agreement with people, out of what the cuts were found with:\n", err=True)
    click.echo(as_text(found.agreement), err=True, nl=False)
    click.echo(f"Wrote: {output}", err=True)
