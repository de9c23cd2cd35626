"""Files of settings and results: a bound on what is unpacked, complete files or none, where caches are kept."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from judged.errors import Unreadable

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

DRAFT, LONGEST_NAME = ".judged-draft", 100
"""Suffix of the name of a draft, and the number of characters it keeps of its file's name."""

_SCRATCH, _IN_USE = "judged-scratch-", ".judged-in-use"
"""Beginning of the name of a scratch folder, and the file in it that is locked while it is in use."""

UNPACKED_BYTES, UNPACKED_RATIO = 1 << 30, 200
"""A file may unpack to the larger of that many bytes and that many times its own size."""
UNPACK_LIMIT = "JUDGED_UNPACK_LIMIT"
"""The environment variable that sets another limit, in bytes."""


@contextmanager
def replace_file(path: Path) -> Iterator[BinaryIO]:
    """Open a draft next to `path` that takes its place, and its mode, when all is written and on disk.

    The draft has a random name and must not exist, so nobody can put a link in its way. Drafts of the same file whose
    writers were killed are removed. A symbolic link at `path` itself is followed, and a pipe or a device is written
    to directly.
    """
    final = path.resolve()
    if final.exists() and not final.is_file():
        with final.open("wb") as device:
            yield device
        return
    _remove_abandoned(final)
    mode = stat.S_IMODE(final.stat().st_mode) if final.exists() else None
    # private until it has the mode of the file that it replaces
    draft, file, lock = _open_draft(final, 0o666 if mode is None else 0o600)
    try:
        with file:
            yield file
            file.flush()
            # before the rename: after a power cut, the name must not lead to an empty file
            os.fsync(file.fileno())
        if mode is not None:
            draft.chmod(mode)
        draft.replace(final)
    finally:
        draft.unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)


def _open_draft(final: Path, mode: int) -> tuple[Path, BinaryIO, int | None]:
    """Return a new draft, open to be written, and the descriptor whose lock says until it is closed that it is in use.

    Before it is locked, another process may take the draft for an abandoned one and remove it: then there is another.
    """
    while True:
        draft = final.with_name(f".{final.name[:LONGEST_NAME]}.{os.urandom(8).hex()}{DRAFT}")
        file: BinaryIO = os.fdopen(os.open(draft, _CREATE, mode), "wb")
        if fcntl is None:
            return draft, file, None  # Windows replaces no file that is open, so the draft cannot stay locked
        # a second descriptor holds the lock until the draft is renamed, after the file is closed
        lock = os.dup(file.fileno())
        _lock(lock, wait=True)
        if os.fstat(lock).st_nlink:
            return draft, file, lock
        file.close()
        os.close(lock)


def _remove_abandoned(final: Path) -> None:
    """Remove the drafts of a file that no process is writing."""
    if fcntl is None:
        return
    beginning = f".{final.name[:LONGEST_NAME]}."
    with suppress(OSError):  # a folder that may be written to need not be readable
        for entry in os.scandir(final.parent):
            random = entry.name.removeprefix(beginning).removesuffix(DRAFT)
            if entry.name == f"{beginning}{random}{DRAFT}" and len(random) == 16:
                _remove_unless_locked(Path(entry.path))


def _remove_unless_locked(draft: Path) -> None:
    with suppress(OSError):  # of another user, or renamed meanwhile
        descriptor = os.open(draft, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            if _lock(descriptor):
                draft.unlink()
        finally:
            os.close(descriptor)


def _lock(descriptor: int, *, wait: bool = False) -> bool:
    """Lock an open file until it is closed; return False if another process has, or if its disk knows no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


@contextmanager
def scratch_folder(purpose: str) -> Iterator[Path]:
    """Make a temporary folder that is removed at the end, and remove those whose processes were killed.

    A folder is locked while it is in use, so that nobody takes it for one that was left behind.
    """
    import shutil  # these load random numbers, and everything that packs files
    import tempfile

    parent = Path(tempfile.gettempdir())
    for entry in parent.glob(f"{_SCRATCH}*"):
        _remove_scratch(entry)
    folder = Path(tempfile.mkdtemp(prefix=f"{_SCRATCH}{purpose}-"))
    descriptor = os.open(folder / _IN_USE, os.O_RDWR | os.O_CREAT, 0o600)
    if fcntl is not None:
        _lock(descriptor)
    try:
        yield folder
    finally:
        os.close(descriptor)  # Windows removes no open file
        shutil.rmtree(folder, ignore_errors=True)


def _remove_scratch(folder: Path) -> None:
    if fcntl is None:
        return
    import shutil

    with suppress(OSError):  # of another user, or removed meanwhile
        descriptor = os.open(folder / _IN_USE, os.O_RDWR | os.O_NOFOLLOW)
        try:
            # without the file, its process has only just made it
            if folder.stat().st_uid == os.getuid() and _lock(descriptor):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(descriptor)


def write_file(path: Path, content: str | bytes) -> None:
    """Write `content` to `path`; an earlier file stays whole until the new one is complete."""
    data = content.encode() if isinstance(content, str) else content
    try:
        with replace_file(path) as file:
            file.write(data)
    except OSError as error:
        # the error names the draft, which users do not know
        raise OSError(error.errno, error.strerror, str(path)) from error


def standard_input() -> BinaryIO:
    """Return standard input as a stream of bytes; raise `Unreadable` if it is closed."""
    if sys.stdin is None:  # as a shell's `<&-` leaves it
        msg = "standard input is closed"
        raise Unreadable(msg, hint="pipe a file into it, or give the path of the file instead of `-`")
    return sys.stdin.buffer


def check_size(unpacked: int, *, packed: int, label: str) -> None:
    """Raise `Unreadable` for a content out of all proportion to the file that it is in."""
    limit = _read_limit() or max(UNPACKED_BYTES, UNPACKED_RATIO * packed)
    if unpacked > limit:
        msg = f"{label} has {packed:,} bytes and unpacks to more than {limit:,}"
        raise Unreadable(
            msg,
            hint=f"if you trust it, set {UNPACK_LIMIT} to the bytes that you expect: `{UNPACK_LIMIT}=20e9`",
        )


def _read_limit() -> float:
    """Return the limit that the environment sets; 0 if it sets none."""
    given = os.environ.get(UNPACK_LIMIT, "")
    try:
        return float(given or 0)
    except ValueError:
        msg = f"{UNPACK_LIMIT} is `{given}`, expected a number of bytes"
        raise Unreadable(msg) from None


def cache_folder() -> Path:
    """Return the folder of what can be computed again: `$JUDGED_CACHE`, or `judged` in the user's cache folder."""
    named = os.environ.get("JUDGED_CACHE")
    if named:
        return Path(named)
    from platformdirs import user_cache_path  # most commands cache nothing

    return user_cache_path("judged", appauthor=False)


def configuration_file() -> Path:
    """Return the user's configuration, which need not exist: `$JUDGED_CONFIG`, or a file in the user's folder for it."""
    named = os.environ.get("JUDGED_CONFIG")
    if named:
        return Path(named)
    from platformdirs import user_config_path  # few commands ask for it

    return user_config_path("judged", appauthor=False) / "config.yaml"
