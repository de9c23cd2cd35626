"""Options of commands that compare systems: by which test, and what is shown of the differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from judged.blocks import Display
from judged.cli.command import TABLES, flag, option
from judged.cli.options import level_option, marks_option, resamples_option, seed_option
from judged.comparison.settings import CORRECTIONS, TESTS, choose_settings

if TYPE_CHECKING:
    from judged.comparison.settings import Settings

DRAWN = ("--test randomisation|bootstrap",)
"""The tests that draw at random."""


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """Options of the test: its kind, correction, level and seed."""

    test: str = option(
        "--test",
        "Significance test; `welch` treats the samples as unpaired.",
        type=click.Choice(list(TESTS)),
        default=next(iter(TESTS)),
    )
    correction: str | None = option(
        "--correction",
        "Correction for multiple comparisons; with maxT, intervals agree with marks."
        "  [default: maxT with randomisation, else holm]",
        type=click.Choice(list(CORRECTIONS)),
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
    """Options of what is shown of a comparison."""

    full: bool = flag(
        "--full",
        "Also show effect size, P(better), detectable difference, uncorrected p, and the queries that changed"
        " most.",
        needs=TABLES,
    )
    columns: tuple[str, ...] = option(
        "--columns A,B,…",
        "Columns of the differences: difference, change, p, corrected, stars, won, effect, superiority,"
        " detectable.",
        needs=TABLES,
        excludes=("--per-query",),
        multiple=True,
    )
    intervals: bool = flag("--intervals", "Show the confidence interval of every mean.", needs=TABLES)
    no_marks: bool = marks_option()

    def to_display(self) -> Display:
        """Return the display of a comparison; raise an error for a column that is not known."""
        from judged.comparison.blocks import check_columns

        names = tuple(name for text in self.columns for name in text.replace(",", " ").split())
        check_columns(names)
        return Display(full=self.full, columns=names, intervals=self.intervals, marks=not self.no_marks)
