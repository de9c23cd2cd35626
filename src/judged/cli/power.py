"""`judged power`: how many queries show a difference."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from judged.cli.command import Command, flag, option, options
from judged.cli.inputs import InputPath, check_standard_input, holds_both, list_runs, named_runs, split_name
from judged.cli.options import (
    COMPARISON,
    EVERY_PAIR,
    INPUTS,
    ProfileChoice,
    alpha_option,
    attributes_option,
    baseline_option,
    cluster_option,
    measure_option,
    output_options,
    profile_options,
    read_clusters,
    threads_option,
)
from judged.cli.output import OutputOptions, emit

DEFAULT_MEASURES = ("nDCG@10",)
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
EXAMPLES = """\b
Examples:
  judged power qrels.txt bm25.run dense.run -m nDCG@10 --difference 0.02
  judged power qrels.txt bm25.run --difference 0.02 --correlation 0.7
  judged power --scores pilot.csv --difference 0.02 --power 0.9
  judged power --scores old.csv new.csv --difference 0.02 --cluster document
"""


@dataclass(frozen=True, kw_only=True)
class PowerOptions:
    """Options of the plan."""

    scores: bool = flag(
        "--scores",
        "The files hold scores of every query, computed by any tool; there are no judgments.",
        section=INPUTS,
        is_eager=True,  # before -m, whose names are then those of the files
    )
    attributes: Path | None = attributes_option()
    measures: tuple[str, ...] = measure_option(
        f"[default: {' '.join(DEFAULT_MEASURES)}; of scores, all that they have]"
    )
    difference: float = option(
        "--difference D", "Mean difference to show.", section=COMPARISON, type=float, required=True
    )
    power: float = option("--power P", "Probability of showing it.", type=SHARE, default=0.8)
    alpha: float = alpha_option(type=SHARE)
    one_sided: bool = flag("--one-sided", "Plan a one-sided test.")
    correlation: float = option(
        "--correlation R",
        "Of a single system: how two systems are assumed to correlate over queries.",
        type=click.FloatRange(-1, 1, max_open=True),
        default=0.5,
    )
    baselines: tuple[str, ...] = baseline_option(EVERY_PAIR)
    cluster: str | None = cluster_option()
    threads: int | None = threads_option()


@click.command("power", cls=Command, epilog=EXAMPLES)
@click.argument("files", metavar="QRELS RUN...", nargs=-1, required=True, type=InputPath(named=True))
@options("options", PowerOptions)
@output_options()
@profile_options(needs="not --scores")
def command(
    files: tuple[str, ...], *, options: PowerOptions, output: OutputOptions, profile: ProfileChoice
) -> None:
    """Say how many queries a paired comparison needs to show a difference, from the queries of a pilot.

    The pilot is judgments and runs, or with --scores files of scores. Of two systems, the spread of their paired differences
    decides; of a single one, two like it are assumed. With --cluster, clusters are counted; where the pilot repeats
    queries, the table shows how many attempts at each of them would save.
    """
    from judged.comparison.plan import plan_queries

    output.check()
    if not options.scores and len(files) < 2 and not holds_both(split_name(files[0])[1]):
        msg = "QRELS and one RUN or two are needed, or files of scores with `--scores`"
        raise click.UsageError(msg)
    runs, notes = (files, []) if options.scores else list_runs(files[0], files[1:])
    named = named_runs(runs)
    check_standard_input([*files[: 0 if options.scores else 1], *(run.path for run in named)])
    plan_for = partial(
        plan_queries,
        difference=options.difference,
        power=options.power,
        alpha=options.alpha,
        sides=1 if options.one_sided else 2,
        correlation=options.correlation,
        baseline=options.baselines,
        clusters=read_clusters(options.cluster, options.attributes),
        threads=options.threads,
    )
    if options.scores:
        # a file may hold several systems, which have names of their own
        given = {name: path for name, path in map(split_name, files) if name is not None}
        sources = given if len(given) == len(files) else [run.system.source for run in named]
        plan = plan_for(sources, measures=options.measures or None)
    else:
        chosen = profile.to_profile()
        by_name = {run.name: run.system.source for run in named}
        measures = options.measures or chosen.default_measures or DEFAULT_MEASURES
        plan = plan_for(split_name(files[0])[1], by_name, measures, protocol=chosen)
    emit(plan, output, notes=notes)
