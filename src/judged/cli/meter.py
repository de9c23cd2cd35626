"""How far a long job is: a bar with rate, cost and time left on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

if TYPE_CHECKING:
    from judged.label.job import Standing

__all__ = ["Meter"]

EVERY = 30.0
"""Seconds between two lines where there is no terminal; a job that takes less prints none."""


class Meter:
    """Shows a job's standing on standard error, unless it is to be quiet."""

    def __init__(self, title: str, *, enabled: bool = True) -> None:
        self._title = title
        self._enabled = enabled
        self._began = self._told = monotonic()
        self._trouble: str | None = None
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if self._enabled and sys.stderr.isatty():
            self._bar = _bar()
            self._task = self._bar.add_task(self._title, total=None, told="")
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, standing: Standing) -> None:
        """Show where the job stands now."""
        if self._bar is not None:
            told = self._words(standing)
            self._bar.update(self._task, completed=standing.done, total=standing.total, told=told)
        elif self._enabled and standing.waits and standing.trouble != self._trouble:
            self._trouble = standing.trouble
            click.echo(f"{self._title}: {standing.trouble}", err=True)
        elif self._enabled and not standing.waits and monotonic() - self._told >= EVERY:
            self._told = monotonic()
            share = f"{standing.done:,} of {standing.total:,} ({100 * standing.done / standing.total:.0f} %)"
            click.echo(f"{self._title}: {share}, {self._words(standing)}", err=True)

    def _words(self, standing: Standing) -> str:
        """Rate, cost, failures, what goes wrong, and the time that is left."""
        if standing.waits:
            return str(standing.trouble)
        pace = standing.done / max(monotonic() - self._began, 1e-9)
        parts = [f"{60 * pace:,.0f} a minute"]
        parts += [f"cost {standing.spent:.4f}"] if standing.spent else []
        parts += [f"{standing.failed:,} failed"] if standing.failed else []
        parts += [f"{standing.faults:,} asked again (last: {standing.trouble})"] if standing.faults else []
        parts += [f"{_clock((standing.total - standing.done) / pace)} left"] if pace else []
        return ", ".join(parts)


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[told]}"),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _clock(seconds: float) -> str:
    """Hours, minutes and seconds.

    >>> _clock(75), _clock(3700)
    ('1:15', '1:01:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
