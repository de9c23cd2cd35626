"""The one place that hashes: bytes, text, plain values, files. `source` adds the code of users."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple


def hash_parts(parts: Iterable[bytes | memoryview]) -> bytes:
    """Return the digest of parts, one after the other."""
    import hashlib  # most commands hash nothing

    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.digest()


def hash_bytes(content: bytes) -> bytes:
    """Return the digest of a content."""
    return hash_parts((content,))


def hash_short(content: bytes, size: int) -> bytes:
    """Return a digest of that many bytes, by BLAKE2b: files of labels name their prompts by it."""
    import hashlib

    return hashlib.blake2b(content, digest_size=size).digest()


def hash_text(text: str) -> str:
    """Return the hash of a text, in hexadecimal; halves of surrogate pairs, which files of others hold, count too.

    >>> hash_text("abc")[:12]
    'ba7816bf8f01'
    """
    return hash_bytes(text.encode("utf-8", "surrogatepass")).hex()


def hash_value(value: object) -> str:
    """Return the hash of plain data, such as settings, in hexadecimal; the order of names does not matter.

    >>> hash_value({"a": 1, "b": [2]}) == hash_value({"b": [2], "a": 1})
    True
    """
    import json

    return hash_text(json.dumps(value, sort_keys=True, default=str))


class FileStamp(NamedTuple):
    """Attributes that change when a file does: device and inode, size, and modification time."""

    device: int
    inode: int
    size: int
    modified: int
    """In nanoseconds, as `st_mtime_ns` has it."""

    @classmethod
    def take(cls, file: str | os.PathLike[str] | int) -> FileStamp | None:
        """Return the stamp of a path or a descriptor; None if it is not a regular file."""
        try:
            status = os.fstat(file) if isinstance(file, int) else Path(file).stat()
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def hash_file(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file as it is now, in hexadecimal."""
    import hashlib

    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=4096)
def hash_stamped(path: str, stamp: FileStamp) -> str | None:
    """Return the SHA-256 of a file, once for each stamp; None if it is no longer the file of the stamp."""
    import hashlib

    try:
        with Path(path).open("rb") as file:
            same = FileStamp.take(file.fileno()) == stamp
            digest = hashlib.file_digest(file, "sha256").hexdigest() if same else None
            return digest if FileStamp.take(file.fileno()) == stamp else None
    except OSError:
        return None


def hash_folder(folder: Path) -> str:
    """Return the hash of the files of a folder and all below it, by name and content; empty if there are none."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    content = (f"{path.relative_to(folder)}\0".encode() + bytes.fromhex(hash_file(path)) for path in files)
    return hash_parts(content).hex() if files else ""
