"""`judged label --task prefer`: preferences between the documents of runs, by a language model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judged.cli.command import COUNT, Command, option, options
from judged.cli.options import INPUTS
from judged.cli.output import print_line, print_notes
from judged.labels.commands.job import (
    INCOMPLETE,
    JobOptions,
    job_options,
    label,
    print_estimate,
    write_failures,
)
from judged.labels.commands.pool_options import PoolOptions, pool_options

if TYPE_CHECKING:
    from judged.agents.commands.trace_options import TraceOptions
    from judged.labels.result import Labelling

DEPTH = 5
EXAMPLES = """\b
Examples:
  judged label --task prefer bm25.run dense.run --queries queries.tsv --documents corpus.jsonl --depth 5 \\
      --model gpt-5-mini --price-in 0.25 --price-out 2 --dry-run
  judged label --task prefer bm25.run dense.run --queries queries.tsv --documents corpus.jsonl \\
      --model gpt-5-mini -o preferences.jsonl
  judged score preferences.jsonl bm25.run -m prefs_pair
"""


@dataclass(frozen=True, kw_only=True)
class PairOptions:
    """Options that select the pairs of documents."""

    most: int | None = option(
        "--pairs N", "Maximum number of pairs per query, drawn at random.  [default: all]", type=COUNT
    )
    pairs_seed: int = option(
        "--pairs-seed N", "Random seed of the pairs that are drawn.", type=int, default=0, needs="--pairs N"
    )


@click.command("label --task prefer", cls=Command, epilog=EXAMPLES)
@pool_options("judged", "relabel", "kind", "unit")
@options("pairs", PairOptions, INPUTS)
@job_options(task={"default": "prefer"})
def prefer(
    sources: tuple[Path, ...],
    *,
    pool: PoolOptions,
    reading: TraceOptions,
    pairs: PairOptions,
    job: JobOptions,
) -> None:
    """Ask a language model which of two documents of the RUNs is better, for all pairs among the first of each query.

    Each pair is asked about in both orders, because models favour what they read first; a preference counts if both
    orders agree on it. The output is a table of preferences (.jsonl, .csv, .tsv), each pair a group of
    its own, for `judged score` and the measures of preferences.
    """
    from judged.labels.preferences import pair_results

    job.check("preferences")
    chosen = replace(pool, depth=pool.depth or DEPTH)
    built = pair_results(chosen.build(sources, reading), most=pairs.most, seed=pairs.pairs_seed)
    labellers = job.model.to_labellers()
    if job.cost.dry_run:
        print_estimate(built, labellers, job)
        return
    labelling = label(built, labellers, job, on_stop=lambda part: _write(part, job))
    _write(labelling, job)
    if not labelling.complete:
        raise click.exceptions.Exit(INCOMPLETE)


def _write(labelling: Labelling, job: JobOptions) -> None:
    """Write the preferences, and print how they came about."""
    from judged.io.write import write_labels
    from judged.labels.preferences import read_preferences_of

    combined = read_preferences_of(labelling)
    files = job.files
    assert files.output is not None  # noqa: S101 - `check` refuses a job without output
    write_labels(combined.rows, files.output)
    write_failures(labelling, files)
    if files.quiet:
        return
    for sentence in (*labelling.sentences(), *combined.sentences()):
        print_line(f"{sentence[0].upper()}{sentence[1:]}")
    print_notes(labelling.notes, [files.output])
