"""One job at a time for one cache: two at once would ask, and pay for, the same questions twice."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import sleep

from judged.errors import Unreadable

__all__ = ["turn_at"]

PAUSE = 0.5
"""Seconds between two looks at whether the other job is over."""


@contextmanager
def turn_at(cache: str | Path | None, waiting: Callable[[], None]) -> Iterator[None]:
    """Wait until no other job works with the cache, and keep others waiting meanwhile; `waiting` is told of a wait.

    The lock is SQLite's, on an empty file beside the cache, so that it works wherever the cache does, and ends with
    the process, however that ends. The cache itself stays open to whoever reads it.
    """
    if cache is None:
        yield
        return
    with ExitStack() as held:
        try:
            lock = sqlite3.connect(f"{cache}-job", timeout=0, isolation_level=None)
            held.callback(lock.close)
            while not _taken(lock):
                waiting()
                sleep(PAUSE)
        except sqlite3.Error as error:
            msg = f"{cache} cannot be locked against other jobs: {error}"
            raise Unreadable(msg, hint="name another file with `--cache`") from None
        yield


def _taken(lock: sqlite3.Connection) -> bool:
    """Whether the lock is ours now; False: another job has it."""
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            return False
        raise
    return True
