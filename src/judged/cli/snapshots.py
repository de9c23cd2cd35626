"""`judged compare --snapshot`: systems through time, on judgments and runs of several dates."""

from __future__ import annotations

from dataclasses import dataclass

import click

from judged.cli.command import Command, flag, option, options
from judged.cli.inputs import InputPath, check_standard_input, named_runs
from judged.cli.options import (
    COMPARISON,
    INPUTS,
    ProfileChoice,
    level_option,
    measure_option,
    output_options,
    profile_options,
    threads_option,
)
from judged.cli.output import OutputOptions, emit

DEFAULT_MEASURES = ("nDCG@10",)
EXAMPLES = """\b
Examples:
  judged compare --snapshot 2025-01 qrels1.txt runs1/ --snapshot 2025-04 qrels2.txt runs2/ -m nDCG@10
  judged compare --snapshot May may.txt "may/*.run" --snapshot June june.txt "june/*.run" --pivot bm25
"""


class Snapshot(click.Tuple):
    """The name of a date, its judgments and its runs."""

    def __init__(self) -> None:
        super().__init__([str, InputPath(), InputPath(named=True)])


@dataclass(frozen=True, kw_only=True)
class SnapshotOptions:
    """Options of systems through time."""

    snapshots: tuple[tuple[str, str, str], ...] = option(
        "--snapshot",
        "A date by its name, its judgments, and its runs: a file, a folder or a quoted pattern. Twice or more, in the"
        " order of time.",
        section=INPUTS,
        type=Snapshot(),
        metavar="NAME QRELS RUNS",
        multiple=True,
        required=True,
    )
    measures: tuple[str, ...] = measure_option(f" [default: {' '.join(DEFAULT_MEASURES)}]")
    pivot: str | None = option(
        "--pivot NAME",
        "A system that does not change: also show ΔRI and the effect ratio of the others against it.",
        section=COMPARISON,
    )
    unpaired: bool = flag(
        "--unpaired", "Queries of two snapshots with the same id are different ones.", section=COMPARISON
    )
    level: float = level_option()
    threads: int | None = threads_option()


@click.command("compare --snapshot", cls=Command, epilog=EXAMPLES)
@options("options", SnapshotOptions)
@output_options()
@profile_options()
def through_time(*, options: SnapshotOptions, output: OutputOptions, profile: ProfileChoice) -> None:
    """Show each measure through time, and which systems changed since the first snapshot.

    Systems are matched by name. Changes are tested on the differences of the queries that two snapshots share, the
    others counting as independent, and corrected over all systems and dates of a measure. Three snapshots or more
    have a test of the trend; lists of two dates are compared by rank-biased overlap.
    """
    from judged.comparison.snapshots import compare_snapshots

    output.check()
    named: dict[str, tuple[object, object]] = {}
    paths: list[str] = []
    for name, qrels, runs in options.snapshots:
        if name in named:
            msg = f"two snapshots are named `{name}`, expected different names"
            raise click.UsageError(msg)
        systems = [run.system for run in named_runs((runs,))]
        named[name] = (qrels, systems)
        paths += [qrels, *(system.path for system in systems)]
    check_standard_input(paths)
    choice = profile.to_profile()
    found = compare_snapshots(
        named,
        options.measures or choice.default_measures or DEFAULT_MEASURES,
        pivot=options.pivot,
        paired=not options.unpaired,
        level=options.level,
        protocol=choice,
        threads=options.threads,
    )
    emit(found, output)
