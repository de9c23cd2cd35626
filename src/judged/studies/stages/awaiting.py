"""Asynchronous code of users: coroutines are awaited, and iterators listed, as their work is part of the answer."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from threading import Thread
from typing import Any


class Awaiter:
    """Waits for answers of asynchronous objects, all in one event loop, as clients of networks demand."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def collect(self, answer: object) -> object:
        """Return an answer that is there: coroutines are awaited, and iterators listed, as their work is part of it."""
        if inspect.isawaitable(answer) or isinstance(answer, AsyncIterator):
            answer = asyncio.run_coroutine_threadsafe(_wait(answer), self._start()).result()
        if isinstance(answer, Iterator) and not _is_consumed(answer):
            return list(answer)
        return answer

    def close(self) -> None:
        """Stop the loop, if one was started."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
        self._loop = self._thread = None

    def _start(self) -> asyncio.AbstractEventLoop:
        """Return the running loop: in a thread of its own, since that of the caller, as in notebooks, may be busy."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = Thread(target=self._loop.run_forever, name="judged-retriever", daemon=True)
            self._thread.start()
        return self._loop


async def _wait(answer: Any) -> object:
    return [item async for item in answer] if isinstance(answer, AsyncIterator) else await answer


def _is_consumed(answer: Iterator[object]) -> bool:
    return inspect.isgenerator(answer) and inspect.getgeneratorstate(answer) == inspect.GEN_CLOSED
