"""Running asynchronous work from code that is not: also where an event loop runs already, as in a notebook."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = ["run_anywhere"]

T = TypeVar("T")


def run_anywhere(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What the work comes to; in a thread with a loop of its own if this thread's loop is running.

    >>> async def nested():
    ...     async def answer():
    ...         return 42
    ...     return run_anywhere(answer)
    >>> asyncio.run(nested())
    42
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    return _in_a_thread(work)


def _in_a_thread(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What the work comes to in another thread; an interruption here ends it there."""
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = []

    async def watched() -> T:
        running.append((asyncio.get_running_loop(), asyncio.current_task()))
        return await work()

    with ThreadPoolExecutor(1, "judged-label") as pool:
        future = pool.submit(lambda: asyncio.run(watched()))
        try:
            return future.result()
        except KeyboardInterrupt:
            for loop, task in running:
                if task is not None:
                    loop.call_soon_threadsafe(task.cancel)
            raise
