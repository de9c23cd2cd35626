"""Options of the pool that `judged label` grades, with or without a language model: runs with texts, or traces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judged.agents.commands.trace_options import TRACES, TraceOptions
from judged.agents.dedup.rules import Rules, Unit
from judged.cli.command import COUNT, Decorated, flag, option, options
from judged.cli.options import INPUT_FILE, INPUTS, convention_option, queries_option
from judged.cli.output import documents_option

if TYPE_CHECKING:
    from judged.labels.pool import SourceKind
    from judged.labels.task import Pool

LABEL_FORMATS = ": .jsonl, .csv, .tsv, else TREC judgments."
"""Formats of a file of labels, in the help of `-o`."""


@dataclass(frozen=True, kw_only=True)
class PoolOptions:
    """The texts and the results that a pool is built from."""

    queries: str | None = queries_option(type=click.Path(exists=True))
    documents: str | None = documents_option()
    judged: Path | None = option(
        "--judged FILE", "Judgments or labels of results to leave out.", type=INPUT_FILE
    )
    lenient: bool = flag("--lenient", "Leave out queries and results without a text, and count them.")
    relabel: bool = flag("--relabel", "Also label results that have a gain in the trace.")
    kind: SourceKind | None = option("--kind [run|trace]", "Kind of the input, if it cannot be detected.")
    depth: int | None = option("--depth K", "Only the first K results of each query or search.", type=COUNT)
    unit: Unit = convention_option(Rules.conventions()["unit"], default="document")

    def build(self, sources: tuple[Path, ...], reading: TraceOptions, *, relabel: bool = False) -> Pool:
        """Build the pool of results to label; `relabel` includes those with a gain in any case."""
        from judged.io.texts import find_texts
        from judged.labels.pool import PoolOptions as Options, build_pool

        chosen = Options(
            kind=self.kind,
            depth=self.depth,
            relabel=relabel or self.relabel,
            lenient=self.lenient,
            unit=self.unit,
            **reading.to_dict(),
        )
        return build_pool(
            sources,
            queries=self.queries and find_texts(self.queries, "queries"),
            documents=self.documents and find_texts(self.documents, "corpus"),
            judged=self.judged,
            options=chosen,
        )


def pool_options(*without: str) -> Callable[[Decorated], Decorated]:
    """Add the arguments and options of a pool, without those of some fields; the command receives `sources`, `pool` and `reading`."""

    def decorate(command: Decorated) -> Decorated:
        command = options("reading", TraceOptions, TRACES)(command)
        command = options("pool", PoolOptions, INPUTS, without=without)(command)
        source = click.Path(exists=True, path_type=Path)  # a file, or a folder of traces
        return click.argument("sources", metavar="TRACE|RUN...", nargs=-1, required=True, type=source)(
            command
        )

    return decorate
