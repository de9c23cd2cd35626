"""`judged label --similarity`: labels of a small model on this machine, calibrated on human grades."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judged.cli.inputs import InputPath
from judged.cli.pool_options import pool_of, pool_options
from judged.cli.progress import Progress

if TYPE_CHECKING:
    from judged.label.pool import Pool
    from judged.label.similarity import SimilarityLabels
    from judged.tables.labels import Label

__all__ = ["similar"]

EXAMPLES = """\b
Examples:
  judged label --similarity traces.jsonl --calibration human.jsonl -o labels.jsonl
  judged label --similarity bm25.run --queries queries.tsv --docs corpus.jsonl \\
      --calibration human.qrels -o labels.qrels
"""


@click.command("label --similarity", epilog=EXAMPLES)
@pool_options
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
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    metavar="FILE",
    help="The labels: .jsonl, .csv, .tsv, else TREC judgments.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print no progress and no summary on standard error.")
def similar(sources: tuple[Path, ...], **options: Any) -> None:
    """Grade the results of TRACE or RUN from 0 to 4 by the similarity of query and text, without a language model.

    A small embedding model runs on this machine; human grades of some of the results say from which similarity on
    each grade begins. What they grade is left to them, the rest is labelled, and how far such labels agree with people
    is told: each graded result by what the other tasks alone had taught.
    """
    from judged.io.write import write_labels
    from judged.label.similarity import similarity_labels

    pool = pool_of(sources, options, relabel=True)
    with Progress("Comparing texts", enabled=not options["quiet"]) as progress:
        found = similarity_labels(
            pool.items, calibration=options["calibration"], model=options["model"], progress=progress
        )
    write_labels(_rows(pool, found), options["output"])
    if not options["quiet"]:
        _tell(pool, found, options["output"])


def _rows(pool: Pool, found: SimilarityLabels) -> Iterable[Label | dict[str, Any]]:
    """The labels as they are written: those of a run as judgments, which `judged score` reads."""
    if pool.kind == "trace":
        return found.labels
    return [
        {"query": label.task, "document": label.id, "grade": label.gain, "labeller": label.labeller}
        for label in found.labels
    ]


def _tell(pool: Pool, found: SimilarityLabels, output: Path) -> None:
    from judged.agreements.tables import as_text

    for note in pool.notes:
        click.echo(f"Note: {note}", err=True)
    click.echo(f"Labelled: {len(found.labels):,} results by {found.agreement.labels}", err=True)
    click.echo("Agreement with people, out of what the cuts were found with:\n", err=True)
    click.echo(as_text(found.agreement), err=True, nl=False)
    click.echo(f"Wrote: {output}", err=True)
