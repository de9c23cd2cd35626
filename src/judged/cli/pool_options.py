"""What `judged label` grades, with or without a language model: runs with texts beside them, or traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from judged.cli.trace_options import trace_options
from judged.dedup.rules import Unit

if TYPE_CHECKING:
    from judged.label.pool import Pool

__all__ = ["FILE", "pool_of", "pool_options"]

F = TypeVar("F", bound=Callable[..., Any])
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def pool_options(command: F) -> F:
    """The runs or traces, and the options that say where their texts are and what counts as one result."""
    for option in reversed(
        [
            click.argument("sources", metavar="TRACE|RUN...", nargs=-1, required=True, type=FILE),
            click.option(
                "--queries",
                type=FILE,
                metavar="FILE",
                help="Texts of queries or tasks by id: TSV, CSV, JSONL, Parquet.",
            ),
            click.option(
                "--docs",
                type=FILE,
                metavar="FILE",
                help="Titles and texts of documents by id, in the same formats.",
            ),
            click.option(
                "--kind",
                type=click.Choice(["run", "trace"]),
                help="What the input is, where it does not tell.",
            ),
            click.option(
                "--depth",
                type=click.IntRange(min=1),
                metavar="K",
                help="Only the first K of each query or search.",
            ),
            click.option(
                "--unit",
                type=click.Choice(get_args(Unit)),
                default="document",
                show_default=True,
                help="What counts as one result of a trace, which is labelled once.",
            ),
            trace_options,
        ]
    ):
        command = option(command)
    return command


def pool_of(sources: tuple[Path, ...], options: Mapping[str, Any], **more: Any) -> Pool:
    """The results to be graded, each once, as the options of `pool_options` say."""
    from judged.label.gather import gather

    names = ("kind", "queries", "docs", "depth", "unit", "tools", "turn", "lenient")
    given = {name: options[name] for name in names}
    return gather(sources, **given, trace_format=options["format"], **more)
