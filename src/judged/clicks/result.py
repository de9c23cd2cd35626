"""What `judged.evaluate_clicks` returns: means by system, differences by user, checks, and click-through by rank."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

import pyarrow as pa

from judged.blocks import Block, Display, Estimate, Figure, Notes, Sentence, Table, Value, format_p, state_p
from judged.clicks.contrast import ClickContrast, SampleRatio, SplitCheck
from judged.figures import Record, draw_lines
from judged.problem import Note
from judged.result import Provenance, Result, tabulate
from judged.scoring.evaluation import Evaluation
from judged.scoring.evaluations import Evaluations
from judged.stats.intervals import Interval
from judged.wording import counted


@dataclass(frozen=True, slots=True)
class RankRate:
    """The share of the documents shown at a rank that were clicked."""

    system: str
    rank: int
    impressions: int
    clicks: int
    rate: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Preference:
    """Which of two teams interleaved lists speak for, over all impressions or those of a day."""

    system: str
    first: str
    second: str
    day: str
    """`2024-05-01`; empty for all days."""
    impressions: int
    first_wins: int
    second_wins: int
    credit: float
    """The mean over impressions of 1 for the first team, −1 for the second, 0 for neither."""
    low: float | None
    high: float | None
    p: float | None
    draws: int


@dataclass(frozen=True, eq=False, repr=False)
class ClickReport(Result):
    """Clicks of systems, scored: `report["bm25"]` is the evaluation of one."""

    kind: ClassVar[str] = "clicks"
    detail: ClassVar[str] = "scores"
    pages: ClassVar[tuple[str, ...]] = ("clicks",)

    systems: Evaluations
    differences: tuple[ClickContrast, ...] = ()
    ratio: SampleRatio | None = None
    splits: tuple[SplitCheck, ...] = ()
    curve: tuple[RankRate, ...] = ()
    preferences: tuple[Preference, ...] = ()
    """Outcomes of interleaving: over all impressions, then by day."""
    more_notes: tuple[Note, ...] = ()
    level: float = 0.95

    def __getitem__(self, system: str) -> Evaluation:
        """Return the evaluation of one system."""
        return self.systems[system]

    @property
    def provenance(self) -> Provenance:  # type: ignore[override]
        """Provenance of the numbers."""
        return self.systems.provenance

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """The notes on every system, and those on the checks."""
        return (*self._check_notes(), *self.systems.notes, *self.more_notes)

    @property
    def failures(self) -> tuple[str, ...]:
        """The checks that failed, in words; without any, differences may be judged."""
        found = []
        if self.ratio is not None and self.ratio.failed:
            counts = ", ".join(f"{name} {count:,}" for name, count in self.ratio.counts.items())
            found.append(
                f"the numbers of {self.ratio.unit}s ({counts}) are not those of the plan ({state_p(self.ratio.p)})"
            )
        found += [
            f"{check.alarms} of {check.splits} random halves of `{check.system}` differ in {check.measure}"
            for check in self.splits
            if check.failed
        ]
        return tuple(found)

    def evaluations(self) -> list[Evaluation]:
        """Return the evaluation of every system."""
        return list(self.systems.values())

    def summary(self) -> Mapping[str, object]:
        """Return the summary of the systems, and the checks that failed."""
        ratio = (
            {}
            if self.ratio is None
            else {"sample_ratio": {**asdict(self.ratio), "failed": self.ratio.failed}}
        )
        return {**self.systems.summary(), "failed_checks": list(self.failures), **ratio}

    def tables(self) -> Mapping[str, pa.Table]:
        """Return the means, differences, checks, click-through by rank, outcomes, and the value of every impression."""
        main, *others = self.systems.tables().items()
        more = {
            "differences": [row.to_dict() for row in self.differences],
            "splits": [{**asdict(check), "failed": int(check.failed)} for check in self.splits],
            "ranks": [asdict(row) for row in self.curve],
            "interleaving": [asdict(row) for row in self.preferences],
        }
        return dict([main]) | {name: tabulate(rows) for name, rows in more.items() if rows} | dict(others)

    def blocks(self, display: Display) -> Iterator[Block]:
        """Return the verdicts, the means, the differences, the checks, the ranks and the notes."""
        yield from self._verdicts(display)
        yield from self.systems.blocks(replace(display, notes=False))
        if self.differences:
            yield self._difference_table(display)
        whole = [row for row in self.preferences if not row.day]
        if whole:
            yield _preference_table(whole)
        days = [row for row in self.preferences if row.day]
        if len(days) > 1:
            yield draw_credit(days)
        if self.splits:
            yield self._split_table()
        if self.curve and not display.per_query:
            yield self._rank_table()
            yield draw_rates(self.curve)
        if display.notes and self.notes:
            yield Notes(self.notes)

    def _verdicts(self, display: Display) -> Iterator[Sentence]:
        if self.failures and self.differences:
            yield Sentence(f"No verdict: {'; '.join(self.failures)}")
            return
        for row in self.differences:
            yield Sentence(say_difference(row, display.digits))
        for outcome in self.preferences:
            if not outcome.day:
                yield Sentence(say_preference(outcome, 1 - self.level, display.digits))

    def _check_notes(self) -> Iterator[Note]:
        if self.ratio is not None:
            plan = ", ".join(f"{name} {100 * share:.3g} %" for name, share in self.ratio.expected.items())
            counts = ", ".join(f"{name} {count:,}" for name, count in self.ratio.counts.items())
            state, severity = ("mismatch", "warning") if self.ratio.failed else ("as planned", "info")
            message = (
                f"sample ratio {state}: {counts} {self.ratio.unit}s, planned {plan} ({state_p(self.ratio.p)})"
            )
            yield Note("sample-ratio", severity, message)  # type: ignore[arg-type]
            if self.ratio.shared:
                message = f"{counted(self.ratio.shared, 'user')} saw several systems: each is one draw in their differences"
                yield Note("shared-users", "info", message)
        failed = [check for check in self.splits if check.failed]
        for check in failed:
            message = f"{check.alarms} of {check.splits} random halves of `{check.system}` differ in {check.measure} at {100 * check.alpha:g} %"
            yield Note("split-alarms", "warning", message)

    def _difference_table(self, display: Display) -> Table:
        rows = tuple(
            (
                row.measure,
                row.system,
                row.baseline,
                _to_estimate(row),
                None if row.relative is None else f"{100 * row.relative:+.1f} %",
                format_p(row.corrected, digits=display.digits),
                row.draws,
            )
            for row in self.differences
        )
        columns = ("measure", "system", "against", "difference", "change", "p", "draws")
        return Table(columns, rows, title="Differences", keys=3)

    def _split_table(self) -> Table:
        rows = tuple(
            (
                check.measure,
                check.system,
                f"{check.alarms} of {check.splits}",
                f"{100 * check.alpha:g} %",
                "fails" if check.failed else "passes",
            )
            for check in self.splits
        )
        columns = ("measure", "system", "halves that differ", "expected", "check")
        return Table(columns, rows, title="A/A splits")

    def _rank_table(self) -> Table:
        names = list(dict.fromkeys(row.system for row in self.curve))
        known = {(row.rank, row.system): row for row in self.curve}
        ranks = sorted({row.rank for row in self.curve})
        rows = tuple(
            (
                rank,
                *(
                    None
                    if (row := known.get((rank, name))) is None
                    else Estimate(row.rate, row.low, row.high)
                    if row.low is not None
                    else row.rate
                    for name in names
                ),
            )
            for rank in ranks
        )
        return Table(("rank", *names), rows, title="Click-through by rank")


def _to_estimate(row: ClickContrast) -> Value:
    if isinstance(row.interval, Interval):
        return Estimate(row.difference, row.interval.low, row.interval.high)
    return Estimate(row.difference, reason=str(row.interval))


def _preference_table(rows: list[Preference]) -> Table:
    cells = tuple(
        (
            row.first,
            row.second,
            row.first_wins,
            row.second_wins,
            row.impressions - row.first_wins - row.second_wins,
            Estimate(row.credit, row.low, row.high) if row.low is not None else row.credit,
            format_p(row.p),
        )
        for row in rows
    )
    columns = ("first", "second", "first wins", "second wins", "neither", "credit", "p")
    return Table(columns, cells, title="Interleaving", keys=2)


def say_difference(row: ClickContrast, digits: int = 4) -> str:
    """Return the verdict on one difference."""
    p = "" if row.corrected is None else f" ({state_p(row.corrected, digits=digits)})"
    if row.corrected is None:
        return f"{row.measure}: nothing can be said of {row.system} and {row.baseline} ({row.interval})"
    if not row.significant:
        return f"{row.measure}: no difference is shown between {row.system} and {row.baseline}{p}"
    more = "higher" if row.difference > 0 else "lower"
    better = (
        ""
        if row.higher_is_better is None
        else ", which is better"
        if (row.difference > 0) == row.higher_is_better
        else ", which is worse"
    )
    return f"{row.measure}: {row.system} is {more} than {row.baseline} by {abs(row.difference):.{digits}f}{p}{better}"


def say_preference(row: Preference, alpha: float, digits: int = 4) -> str:
    """Return the verdict on two teams."""
    if row.p is None:
        return f"Interleaving: nothing can be said of {row.first} and {row.second}"
    if row.p >= alpha:
        return f"Interleaving: no preference is shown between {row.first} and {row.second} ({state_p(row.p, digits=digits)})"
    winner, loser = (row.first, row.second) if row.credit > 0 else (row.second, row.first)
    return f"Interleaving: people choose {winner} over {loser}, by a credit of {abs(row.credit):.{digits}f} ({state_p(row.p, digits=digits)})"


def draw_rates(rows: tuple[RankRate, ...]) -> Figure:
    """Draw click-through by rank, a line with a band for each system."""
    points: list[Record] = [
        {
            "name": row.system,
            "x": row.rank,
            "y": row.rate,
            "low": row.low,
            "high": row.high,
            "label": f"{row.system}, rank {row.rank}: {row.rate:.4f}",
        }
        for row in rows
    ]
    note = "Share of the documents shown at a rank that were clicked; the band is the interval by user."
    return draw_lines(
        points, name="ctr-by-rank", title="Click-through by rank", x="rank", y="click-through rate", note=note
    )


def draw_credit(rows: list[Preference]) -> Figure:
    """Draw the credit of interleaved lists by day."""
    first, second = rows[0].first, rows[0].second
    points: list[Record] = [
        {
            "name": "credit",
            "x": number,
            "y": row.credit,
            "low": row.low,
            "high": row.high,
            "label": f"{row.day}: {row.credit:.4f}",
        }
        for number, row in enumerate(rows, start=1)
    ]
    note = f"Mean credit of an impression, day by day from {rows[0].day}: above 0 people choose {first}, below 0 {second}."
    return draw_lines(points, name="credit-by-day", title="Credit by day", x="day", y="credit", note=note)
