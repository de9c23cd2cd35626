"""Files of settings and results: safe YAML, a bound on what is unpacked, complete files or none, where caches are kept."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from judged.errors import Unreadable

__all__ = [
    "UNPACKED_BYTES",
    "cache_folder",
    "check_size",
    "parse_yaml",
    "replace_file",
    "standard_input",
    "write_file",
]

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

UNPACKED_BYTES, UNPACKED_RATIO = 1 << 30, 200
"""A file may unpack to the larger of that many bytes and that many times its own size."""
UNPACK_LIMIT = "JUDGED_UNPACK_LIMIT"
"""The environment variable that sets another limit, in bytes."""


def parse_yaml(content: str | bytes) -> Any:
    """Return the value of a YAML document; raise `YAMLError` for anything that is none, however it fails."""
    import yaml

    try:
        return yaml.safe_load(content)
    except RecursionError:
        raise yaml.YAMLError("it is nested too deeply") from None
    except ValueError as error:  # an impossible date, a number of thousands of digits
        raise yaml.YAMLError(str(error)) from None


@contextmanager
def replace_file(path: Path) -> Iterator[BinaryIO]:
    """Open a draft beside `path` that takes its place, and its mode, when all is written and on disk.

    The draft has a random name and is created anew, so nobody can put a link in its way. A symbolic link at `path`
    itself is followed, and a pipe or a device is written to directly.
    """
    final = path.resolve()
    if final.exists() and not final.is_file():
        with final.open("wb") as file:
            yield file
        return
    draft = final.with_name(f".{final.name[:100]}.{secrets.token_hex(8)}")
    mode = stat.S_IMODE(final.stat().st_mode) if final.exists() else None
    try:
        with os.fdopen(os.open(draft, _CREATE, 0o666 if mode is None else 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            draft.chmod(mode)
        draft.replace(final)
    finally:
        draft.unlink(missing_ok=True)


def write_file(path: Path, content: str | bytes) -> None:
    """Write `content` to `path`; an earlier file stays whole until the new one is complete."""
    data = content.encode() if isinstance(content, str) else content
    try:
        with replace_file(path) as file:
            file.write(data)
    except OSError as error:
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
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "judged"
