"""Options of commands that compare systems: by which test, and what is shown of the differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from judged.blocks import Display
from judged.cli.command import option
from judged.cli.effects import TABLES
from judged.cli.options import level_option, marks_option, resamples_option, seed_option
from judged.comparison.settings import CORRECTIONS, TESTS, choose_settings

if TYPE_CHECKING:
    from judged.comparison.settings import Settings

DRAWN = ("--test randomisation|bootstrap",)
"""The tests that draw at random."""


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """How systems are compared."""

    test: str = option(
        "--test",
        type=click.Choice(list(TESTS)),
        default=next(iter(TESTS)),
        show_default=True,
        help="Significance test; `welch` treats the samples as unpaired.",
    )
    correction: str | None = option(
        "--correction",
        type=click.Choice(list(CORRECTIONS)),
        help="Correction for multiple comparisons; with maxT, intervals agree with marks."
        "  [default: maxT with randomisation, else holm]",
    )
    level: float = level_option()
    resamples: int = resamples_option(needs=DRAWN)
    seed: int = seed_option(needs=DRAWN)

    def to_settings(self) -> Settings:
        """Return the settings of a comparison; raise an error for those that do not go together."""
        return choose_settings(
            test=self.test,
            correction=self.correction,
            level=self.level,
            resamples=self.resamples,
            seed=self.seed,
        )


@dataclass(frozen=True, kw_only=True)
class DifferenceOptions:
    """What is shown of a comparison."""

    full: bool = option(
        "--full",
        needs=TABLES,
        is_flag=True,
        help="Also show effect size, P(better), detectable difference, uncorrected p, and the queries that changed"
        " most.",
    )
    columns: tuple[str, ...] = option(
        "--columns",
        needs=TABLES,
        excludes=("--per-query",),
        multiple=True,
        metavar="A,B,…",
        help="Columns of the differences: difference, change, p, corrected, stars, won, effect, superiority,"
        " detectable.",
    )
    intervals: bool = option(
        "--intervals", needs=TABLES, is_flag=True, help="Show the confidence interval of every mean."
    )
    no_marks: bool = marks_option()

    def to_display(self) -> Display:
        """Return the display of a comparison; raise an error for a column that is not known."""
        from judged.comparison.blocks import check_columns

        names = tuple(name for text in self.columns for name in text.replace(",", " ").split())
        check_columns(names)
        return Display(full=self.full, columns=names, intervals=self.intervals, marks=not self.no_marks)
