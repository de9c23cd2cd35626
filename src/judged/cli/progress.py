"""Progress on standard error: a bar on a terminal, or a line now and then elsewhere."""

from __future__ import annotations

import sys
from threading import Lock, Timer
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

from judged.wording import to_message

if TYPE_CHECKING:
    from rich.progress import Progress as Bar, TaskID

DELAY = 1.0
"""Seconds after which the bar appears; quick work shows none."""
BAR = 12
"""Width of the bar, which leaves room for the words next to it."""
LINE_INTERVAL = 30.0
"""Seconds between two lines where there is no terminal."""


class Progress:
    """Displays how much of a piece of work is done.

    On a terminal it is a bar. Elsewhere nothing is shown, or, with `lines`, a line every half minute. `rate` names what
    is counted, to show how many there are each second.

    >>> with Progress("Scoring", enabled=False) as progress:
    ...     progress(1, 2)
    """

    def __init__(
        self,
        title: str,
        *,
        enabled: bool = True,
        delay: float = DELAY,
        lines: bool = False,
        rate: str = "",
    ) -> None:
        terminal = sys.stderr.isatty()
        self._title = title
        self._rate = rate
        self._lines = enabled and lines and not terminal
        self._enabled = enabled and terminal
        self._lock = Lock()
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._done = 0
        self._total: int | None = None
        self._text = ""
        self._started = self._last_line = monotonic()
        self._timer = Timer(delay, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if self._enabled:
            self._timer.start()
        return self

    def __call__(self, done: int, total: int | None = None, detail: str = "") -> None:
        """Show that `done` of `total` is done; without a total, the count alone; without either, the detail alone.

        While the count stands still, something else is being done, and no time left is shown.
        """
        if not done and not total:
            self.announce(detail)
            return
        passed = max(monotonic() - self._started, 1e-9)
        moved = total and done and done != self._done
        left = f"{_clock((total - done) * passed / done)} left" if total and moved else ""
        rate = f"{done / passed:,.0f} {self._rate}/s" if self._rate and done else ""
        with self._lock:
            self._done, self._total = done, total
            self._text = ", ".join(part for part in (detail, rate, left) if part)
            self._update()
        if self._lines and total and monotonic() - self._last_line >= LINE_INTERVAL:
            self._last_line = monotonic()
            share = f"{done:,} of {total:,} ({100 * done / total:.0f} %)"
            click.echo(to_message(f"{self._title}: {share}, {self._text}"), err=True)

    def announce(self, message: str) -> None:
        """Show a message next to the bar; without a terminal, as a line of its own."""
        if self._lines and message != self._text:
            click.echo(to_message(f"{self._title}: {message}"), err=True)
        with self._lock:
            self._text = message
            self._update()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._enabled = False
            if self._bar is not None:
                self._bar.stop()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress as Bar, TextColumn
        from rich.table import Column

        columns = (
            TextColumn(
                "{task.description}",
                table_column=Column(no_wrap=True, overflow="ellipsis", max_width=24),
                markup=False,
            ),
            BarColumn(bar_width=BAR),
            TextColumn("{task.fields[text]}", markup=False),  # it may quote a server
        )
        with self._lock:
            if self._enabled:
                self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
                self._task = self._bar.add_task(self._title, total=None, text="")
                self._update()
                self._bar.start()

    def _update(self) -> None:
        if self._bar is not None and self._task is not None:
            total = f"/{self._total:,}" if self._total else ""
            counted = f"{self._done:,}{total}" if self._done or self._total else ""
            text = to_message("  ".join(part for part in (counted, self._text) if part))
            self._bar.update(self._task, completed=self._done, total=self._total, text=text)


def _clock(seconds: float) -> str:
    """Format a duration in hours, minutes and seconds.

    >>> _clock(75), _clock(3700)
    ('1:15', '1:01:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
