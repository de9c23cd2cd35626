"""A progress bar on standard error, shown after a second."""

from __future__ import annotations

import sys
from threading import Lock, Timer
from types import TracebackType
from typing import Any, Self

__all__ = ["Progress"]

DELAY = 1.0
"""Seconds after which the bar appears; quick work shows none."""


class Progress:
    """A progress bar; silent unless standard error is a terminal.

    >>> with Progress("Scoring", enabled=False) as progress:
    ...     progress(1, 2)
    """

    def __init__(self, title: str, *, enabled: bool = True) -> None:
        self._title = title
        self._enabled = enabled and sys.stderr.isatty()
        self._lock = Lock()
        self._bar: Any = None
        self._task: Any = None
        self._state: tuple[int, int | None] = (0, None)
        self._timer = Timer(DELAY, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if self._enabled:
            self._timer.start()
        return self

    def __call__(self, done: int, total: int | None = None) -> None:
        """Report that `done` of `total` is done; without a total, only the count is shown."""
        with self._lock:
            self._state = (done, total)
            if self._bar is not None:
                self._bar.update(self._task, completed=done, total=total, description=self._describe())

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
        from rich.progress import Progress as Bar

        with self._lock:
            if self._enabled:
                done, total = self._state
                self._bar = Bar(console=Console(stderr=True), transient=True)
                self._task = self._bar.add_task(self._describe(), completed=done, total=total)
                self._bar.start()

    def _describe(self) -> str:
        done, total = self._state
        return self._title if total is not None else f"{self._title}: {done:,}"
