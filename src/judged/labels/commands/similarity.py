"""`judged label --similarity`: labels by a small model on this machine, calibrated on human grades."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judged.cli.command import Command, flag, option, options
from judged.cli.inputs import InputPath, refuse_inputs
from judged.cli.output import file_option, print_notes, quiet_option
from judged.cli.progress import Progress
from judged.labels.commands.pool_options import LABEL_FORMATS, PoolOptions, pool_options

if TYPE_CHECKING:
    from judged.agents.commands.trace_options import TraceOptions
    from judged.labels.similarity import SimilarityLabels
    from judged.labels.task import Pool
    from judged.tables.labels import Label

EXAMPLES = """\b
Examples:
  judged label --similarity traces.jsonl --calibration human.jsonl -o labels.jsonl
  judged label --similarity bm25.run --queries queries.tsv --documents corpus.jsonl \\
      --calibration human.qrels -o labels.qrels
"""


@dataclass(frozen=True, kw_only=True)
class SimilarityOptions:
    """By what results are labelled, and where the labels are written."""

    similarity: bool = flag("--similarity", "Use no language model.")
    calibration: str = option(
        "--calibration FILE",
        "Human grades of some of the results: at least 20, preferably 200.",
        type=InputPath(),
        required=True,
    )
    model: Path | None = option(
        "--model FOLDER",
        "Another embedding model: ONNX with its tokenizer, or one of sentence-transformers.",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
    )
    output: Path = file_option(LABEL_FORMATS, required=True)
    quiet: bool = quiet_option()


@click.command("label --similarity", cls=Command, epilog=EXAMPLES)
@pool_options("judged", "relabel")
@options("options", SimilarityOptions, "Similarity")
def similar(
    sources: tuple[Path, ...], *, pool: PoolOptions, reading: TraceOptions, options: SimilarityOptions
) -> None:
    """Grade the results of TRACE or RUN from 0 to 4 by the similarity of query and text, without a language model.

    A small embedding model runs on this machine; human grades of some of the results determine at which similarity
    each grade begins. Results with a human grade are left to it, the others are labelled. The reported agreement with
    people is cross-validated: each graded result is labelled by what was learned from the other tasks.
    """
    from judged.io.write import write_labels
    from judged.labels.similarity import label_by_similarity

    refuse_inputs([options.output])
    built = pool.build(sources, reading, relabel=True)
    with Progress("Comparing texts", enabled=not options.quiet) as progress:
        labels = label_by_similarity(
            built.items, calibration=options.calibration, model=options.model, progress=progress
        )
    write_labels(_make_rows(built, labels), options.output)
    if not options.quiet:
        _print_summary(built, labels, options.output)


def _make_rows(pool: Pool, result: SimilarityLabels) -> Iterable[Label | dict[str, object]]:
    """Return the labels to write: those of a run as judgments, which `judged score` reads."""
    if pool.column == "gain":
        return result.labels
    return [
        {"query": label.task, "document": label.id, "grade": label.gain, "labeller": label.labeller}
        for label in result.labels
    ]


def _print_summary(pool: Pool, result: SimilarityLabels, output: Path) -> None:
    print_notes(pool.notes)
    click.echo(f"Labelled: {len(result.labels):,} results by {result.agreement.labels}", err=True)
    click.echo("Cross-validated agreement with people:\n", err=True)
    click.echo(repr(result.agreement), err=True)
    click.echo(f"Wrote: {output}", err=True)
