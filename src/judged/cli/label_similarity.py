"""`judged label --similarity`: labels of a small model on this machine, calibrated on human grades."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from judged.cli.inputs import InputPath
from judged.cli.progress import Progress

if TYPE_CHECKING:
    from judged.label.similarity import Shown, SimilarityLabels

__all__ = ["label_by_similarity", "similarity_options"]

F = TypeVar("F", bound=Callable[..., Any])


def similarity_options(command: F) -> F:
    """The options of labelling without a language model."""
    options = [
        click.option(
            "--similarity",
            is_flag=True,
            help="Use no language model: grade by the similarity of query and text, calibrated with --calibration.",
        ),
        click.option(
            "--calibration",
            type=InputPath(),
            metavar="FILE",
            help="With --similarity: human grades of some of the results, 20 at least, better 200.",
        ),
        click.option(
            "--similarity-model",
            type=click.Path(exists=True, file_okay=False, path_type=Path),
            metavar="FOLDER",
            help="With --similarity: another embedding model (ONNX with its tokenizer, or sentence-transformers).",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def label_by_similarity(
    items: Iterable[Shown], output: str | Path, options: Mapping[str, Any], *, quiet: bool = False
) -> SimilarityLabels:
    """Write the labels of the items to `output`, and tell how far they agree with people."""
    from judged.formats.labels import write_labels
    from judged.label.similarity import similarity_labels

    if not options["calibration"]:
        msg = "`--similarity` needs human grades to tell where grades begin: `--calibration FILE`"
        raise click.UsageError(msg)
    with Progress("Comparing texts", enabled=not quiet) as progress:
        found = similarity_labels(
            items, calibration=options["calibration"], model=options["similarity_model"], progress=progress
        )
    write_labels(found.labels, output)
    if not quiet:
        _tell(found, output)
    return found


def _tell(found: SimilarityLabels, output: str | Path) -> None:
    from judged.label.agreement_tables import as_text

    of = found.agreement
    click.echo(f"Labelled: {len(found.labels):,} results by {of.labels}", err=True)
    click.echo(
        "How far such labels agree with people, each result graded without its task's part:\n", err=True
    )
    click.echo(as_text(of), err=True, nl=False)
    click.echo(f"Wrote: {output}", err=True)
