"""What `judged label` grades, with or without a language model: runs with their texts, or traces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from judged.cli.trace_options import trace_options
from judged.dedup.rules import Unit

if TYPE_CHECKING:
    from judged.label.pool import Pool

__all__ = ["INPUT", "OUTPUT", "PoolInputs", "pool_options"]

INPUT = click.Path(exists=True, dir_okay=False, path_type=Path)
OUTPUT = click.Path(dir_okay=False, path_type=Path)

_OPTIONS = (
    click.argument("sources", metavar="TRACE|RUN...", nargs=-1, required=True, type=INPUT),
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
_POOL_NAMES = ("kind", "depth", "unit", "tools", "format", "turn", "lenient")


@dataclass(frozen=True)
class PoolInputs:
    """Sources, texts and options that a pool is built from."""

    sources: tuple[Path, ...]
    queries: Path | None
    documents: Path | None
    options: dict[str, Any]

    def build(self, *, judged: Path | None = None, relabel: bool = False) -> Pool:
        """Build the pool of results to label."""
        from judged.label.pool import PoolOptions, build_pool

        return build_pool(
            self.sources,
            queries=self.queries,
            documents=self.documents,
            judged=judged,
            options=PoolOptions(**self.options, relabel=relabel),
        )


def pool_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the arguments and options of a pool to a command, which gets them as one `PoolInputs`."""

    @wraps(command)
    def collect(**given: Any) -> None:
        options = {name: given.pop(name) for name in _POOL_NAMES}
        texts = given.pop("queries"), given.pop("documents")
        command(PoolInputs(given.pop("sources"), *texts, options), **given)

    decorated: Callable[..., None] = collect
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
