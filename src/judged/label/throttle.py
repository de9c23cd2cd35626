"""How many requests run at once: halved when the endpoint pushes back, raised again while it does not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic

from judged.errors import BadProtocol

__all__ = ["Throttle"]


class Throttle:
    """Lets requests begin: at most so many at once, so many a minute, and none while the endpoint wants peace."""

    def __init__(self, most: int = 8, per_minute: float | None = None) -> None:
        if most < 1 or (per_minute is not None and not per_minute > 0):
            msg = f"concurrency is {most} and the rate {per_minute}, expected more than 0"
            raise BadProtocol(msg)
        self._most = most
        self._gap = 0.0 if per_minute is None else 60 / per_minute
        self._running = 0
        self._room = asyncio.Condition()
        self._next = 0.0
        self._peace = 0.0
        self._cut = 0.0
        self.limit = float(most)
        """How many requests may run at once just now; part of one counts for nothing."""

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[float]:
        """Waits for a turn, and gives the time at which it began."""
        async with self._room:
            await self._room.wait_for(lambda: self._running < int(self.limit))
            self._running += 1
        try:
            await self._pause()
            yield monotonic()
        finally:
            self._running -= 1
            async with self._room:
                self._room.notify_all()

    def eased(self) -> None:
        """Let one more run at once for every round that went well."""
        self.limit = min(self._most, self.limit + 1 / self.limit)

    def pushed_back(self, began: float, wait: float | None) -> None:
        """Halve what runs at once, one time for all that was already under way; leave the endpoint in peace."""
        now = monotonic()
        if began >= self._cut:
            self.limit = max(1.0, self.limit / 2)
            self._cut = now
        self._peace = max(self._peace, now + (wait or 0.0))

    async def _pause(self) -> None:
        begin = max(monotonic(), self._next)
        self._next = begin + self._gap
        while (left := max(begin, self._peace) - monotonic()) > 0:  # noqa: ASYNC110 - a time, not an event
            await asyncio.sleep(left)
