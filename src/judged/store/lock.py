"""The lock of what long work writes: one process at a time, and another learns which.

The lock is the operating system's, on a small file, and ends with the process, however that ends: what a killed process
leaves behind is a file that nobody has locked, which the next process takes over. The file says who wrote it, for people.
"""

from __future__ import annotations

import errno
import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from time import sleep

import msgspec

from judged.errors import JudgedError, Unreadable

LOCK = ".judged-lock"
"""The file of the lock of a folder."""
INTERVAL = 0.5
"""Seconds between two attempts to lock what another process uses."""
_TAKEN = {errno.EACCES, errno.EAGAIN, errno.EDEADLK}
"""Error numbers for a file that another process has locked; Windows: EACCES, EDEADLK."""
_BEYOND = 1 << 30
"""The byte that Windows locks: a locked byte cannot be read, and others read the beginning to see who has the lock."""


class Holder(msgspec.Struct, frozen=True):
    """The process that holds a lock."""

    pid: int
    host: str
    since: str
    """In UTC, to the second."""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.since}"


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; raise `JudgedError` if another process has it."""
    hint = "wait until it ends, or name another folder with `-o`"
    with lock_file(folder / LOCK, what=f"`{folder}`", hint=hint):
        yield


@contextmanager
def lock_file(
    path: Path, *, what: str, hint: str, on_wait: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Hold the lock that a file stands for; it is removed at the end.

    If another process has it, raise `JudgedError` with who it is, or, with `on_wait`, call that and wait.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while (descriptor := _try_lock(path)) is None:
            holder = _read_holder(path)
            if on_wait is None:
                msg = f"{what} is being written by {holder}"
                raise JudgedError(msg, hint=hint)
            on_wait(holder)
            sleep(INTERVAL)
    except OSError as error:
        msg = f"{what} cannot be locked against other processes: {error.strerror}"
        raise Unreadable(msg, hint=hint) from None
    try:
        yield
    finally:
        _release(path, descriptor)


def _try_lock(path: Path) -> int | None:
    """Return the descriptor of the file, locked and signed; None if another process has locked it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        try:
            if not _lock(descriptor):
                os.close(descriptor)
                return None
            # Between opening and locking, the process that had it may have removed the file: then this lock protects nothing.
            if _is_file(path, descriptor):
                _sign(descriptor)
                return descriptor
        except OSError:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_file(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _lock(descriptor: int) -> bool:
    """Lock an open file; return False if another process has. A disk that knows no locks locks nothing out."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, _BEYOND, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in _TAKEN
    return True


def _sign(descriptor: int) -> None:
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    holder = Holder(os.getpid(), platform.node() or "this machine", now)
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, msgspec.json.encode(holder))


def _read_holder(path: Path) -> str:
    """Return who holds a lock, in words; it may not have signed yet, or be gone already."""
    try:
        return str(msgspec.json.decode(path.read_bytes(), type=Holder))
    except (OSError, msgspec.DecodeError):
        return "another process"


def _release(path: Path, descriptor: int) -> None:
    # Unix removes the file while it is locked, so that nobody locks a file that is about to go. Windows removes no
    # open file, and another process may have opened it by the time that it is closed: then it stays.
    if sys.platform == "win32":
        os.close(descriptor)
    with suppress(OSError):
        path.unlink()
    if sys.platform != "win32":
        os.close(descriptor)
