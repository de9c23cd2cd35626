"""What `judged label` grades, with or without a language model: runs with their texts, or traces."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from judged.agents.commands.trace_options import trace_options
from judged.agents.dedup.rules import Unit
from judged.cli.options import Command, add_options

if TYPE_CHECKING:
    from judged.agents.traces import TurnChoice
    from judged.labels.pool import Pool, SourceKind

INPUT = click.Path(exists=True, dir_okay=False, path_type=Path)
SOURCE = click.Path(exists=True, path_type=Path)
"""A file, or a folder of traces."""
OUTPUT = click.Path(dir_okay=False, path_type=Path)

_OPTIONS = (
    click.argument("sources", metavar="TRACE|RUN...", nargs=-1, required=True, type=SOURCE),
    click.option(
        "--queries",
        type=INPUT,
        metavar="FILE",
        help="Texts of queries or tasks by id: TSV, CSV, JSONL, Parquet.",
    ),
    click.option(
        "--docs",
        "documents",
        type=INPUT,
        metavar="FILE",
        help="Titles and texts of documents by id, in the same formats.",
    ),
    click.option(
        "--kind", type=click.Choice(["run", "trace"]), help="Kind of the input, if it cannot be detected."
    ),
    click.option(
        "--depth",
        type=click.IntRange(min=1),
        metavar="K",
        help="Only the first K results of each query or search.",
    ),
    click.option(
        "--unit",
        type=click.Choice(get_args(Unit)),
        default="document",
        show_default=True,
        help="What counts as one result of a trace and is labelled once.",
    ),
    trace_options,
)


@dataclass(frozen=True, kw_only=True)
class PoolInputs:
    """Sources, texts and options that a pool is built from."""

    sources: tuple[Path, ...]
    queries: Path | None
    documents: Path | None
    kind: SourceKind | None
    depth: int | None
    unit: Unit
    tools: str | None
    format: str | None
    turn: TurnChoice
    lenient: bool

    def build(self, *, judged: Path | None = None, relabel: bool = False) -> Pool:
        """Build the pool of results to label."""
        from judged.labels.pool import PoolOptions, build_pool

        options = PoolOptions(
            kind=self.kind,
            depth=self.depth,
            relabel=relabel,
            unit=self.unit,
            tools=self.tools,
            format=self.format,
            turn=self.turn,
            lenient=self.lenient,
        )
        texts = {"queries": self.queries, "documents": self.documents}
        return build_pool(self.sources, **texts, judged=judged, options=options)


def pool_options(command: Command) -> Command:
    """Add the arguments and options of a pool to a command, which receives them as `inputs`."""

    @wraps(command)
    def receive(**given: Any) -> None:
        inputs = PoolInputs(**{field.name: given.pop(field.name) for field in fields(PoolInputs)})
        command(inputs=inputs, **given)

    return add_options(receive, *_OPTIONS)
