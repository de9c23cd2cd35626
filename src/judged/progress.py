"""Progress reports of long work."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called now and then while long work goes on."""

    def __call__(self, done: int, total: int | None = None, detail: str = "", /) -> None:
        """Take how much is done, of how much if that is known, and in words what is being done."""
        ...
