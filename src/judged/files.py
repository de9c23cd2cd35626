"""Files of settings and results: parse YAML safely, write files completely or not at all; where caches are kept."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

__all__ = ["cache_folder", "parse_yaml", "replace_file", "write_file"]

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


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


def cache_folder() -> Path:
    """Return the folder of what can be computed again: `$JUDGED_CACHE`, or `judged` in the user's cache folder."""
    named = os.environ.get("JUDGED_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "judged"
