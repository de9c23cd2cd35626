"""The append-only log of long work: a line of JSON for each finished unit, readable whenever its writer died."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import IO, Generic, TypeVar

import msgspec

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

T = TypeVar("T")


class Log(Generic[T]):
    """Records in a file, in the order in which they were added.

    A line that was cut when its writer died is passed over, also once others follow it. Each record has to be a JSON
    object: no beginning of one is a record itself. With `durable` a record is on the disk when it is added; otherwise the
    operating system has it, which takes microseconds and outlives the process.
    """

    def __init__(
        self,
        path: Path,
        decode: Callable[[bytes], T],
        *,
        encode: Callable[[T], bytes] = msgspec.json.encode,
        durable: bool = True,
    ) -> None:
        self.path = path
        self._decode, self._encode, self._durable = decode, encode, durable

    def read(self, on_damage: Callable[[int, bytes, Exception], None] | None = None) -> Iterator[T]:
        """Yield the records; `on_damage` is called with the number, content and error of every other line."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    record = self._decode(line)
                except (msgspec.DecodeError, ValueError, KeyError, TypeError) as error:
                    if on_damage is not None:
                        on_damage(number, line, error)
                else:
                    yield record

    def append(self, record: T) -> None:
        """Add one record."""
        with self.open() as add:
            add(record)

    @contextmanager
    def open(self) -> Iterator[Callable[[T], None]]:
        """Open the file once, and yield what adds a record to it; a line that was cut is ended first."""
        with self.path.open("ab+", buffering=0) as file:

            def add(record: T) -> None:
                line = self._encode(record) + b"\n"
                # another writer may die within its line at any time: its lock ends with it, and then the end is looked at
                with _held(file):
                    file.write(line if _ends_whole(file) else b"\n" + line)
                if self._durable:
                    os.fsync(file.fileno())

            yield add


@contextmanager
def _held(file: IO[bytes]) -> Iterator[None]:
    """Hold the file against other writers for one line; where there is no such lock, the folder has a lock of its own."""
    if fcntl is None:
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _ends_whole(file: IO[bytes]) -> bool:
    if not file.seek(0, os.SEEK_END):
        return True
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"
