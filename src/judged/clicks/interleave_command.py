"""`judged interleave`: lists of two runs to show to users, in which every document belongs to a team."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import click

from judged.cli.command import COUNT, Command, option, options
from judged.cli.inputs import InputPath, check_standard_input, split_name
from judged.cli.options import output_options, seed_option
from judged.cli.output import OutputOptions, emit

if TYPE_CHECKING:
    from judged.clicks.interleaving import InterleavingMethod

EXAMPLES = """\b
Examples:
  judged interleave old.run new.run -o lists.csv
  judged interleave prod=a.run test=b.run --method probabilistic --k 5 --copies 100 -o lists.parquet
  judged clicks log.csv --lists lists.csv
"""


@dataclass(frozen=True, kw_only=True)
class InterleaveOptions:
    """Options of the lists."""

    method: str = option(
        "--method [team-draft|probabilistic]", "How documents are drawn.", default="team-draft"
    )
    k: int = option("--k N", "Length of a list.", type=COUNT, default=10)
    copies: int = option("--copies N", "Number of lists for each query.", type=COUNT, default=1)
    seed: int = seed_option()


@click.command("interleave", cls=Command, epilog=EXAMPLES)
@click.argument("first", metavar="RUN", type=InputPath(named=True))
@click.argument("second", metavar="RUN", type=InputPath(named=True))
@options("options", InterleaveOptions, "Lists")
@output_options()
def command(first: str, second: str, *, options: InterleaveOptions, output: OutputOptions) -> None:
    """Make lists of two runs to show to users: every document belongs to the run that placed it.

    Show each impression a list, log its id (`list`) with the clicks, and judge the outcome by `judged clicks LOG --lists`.
    NAME=RUN names a team.
    """
    output.check()
    files = [split_name(path) for path in (first, second)]
    check_standard_input([path for _, path in files])
    from judged.clicks.interleaving import interleave

    emit(
        interleave(
            files[0][1],
            files[1][1],
            cast("InterleavingMethod", options.method),
            k=options.k,
            seed=options.seed,
            lists=options.copies,
            names=[name or _stem(path) for name, path in files] if any(name for name, _ in files) else None,
        ),
        output,
    )


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]
