"""Opening files: paths, standard input, bytes and open files, as decompressed content with a name."""

from __future__ import annotations

import mmap
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from io import BufferedReader
from pathlib import Path
from typing import Any

from judged.errors import Unreadable
from judged.io.compression import COMPRESSIONS, decompress
from judged.io.format import File

__all__ = ["open_binary", "open_bytes", "open_file", "open_stream", "split_name"]

KNOWN = frozenset(
    (
        *(".trec", ".run", ".runs", ".res", ".results", ".qrels", ".qrel", ".txt", ".tsv", ".csv"),
        *(".json", ".jsonl", ".ndjson", ".parquet", ".pq", ".arrow", ".arrows", ".feather", ".ipc"),
    )
)
"""Extensions that say how a file is written rather than what it is called."""

_COMPRESSED = frozenset(each.extension for each in COMPRESSIONS) | {".zstd"}


def split_name(path: Path) -> tuple[str, str, str]:
    """A file's name without extensions, its extension, and that of its compression.

    >>> split_name(Path("runs/dl19.bm25.run.gz"))
    ('dl19.bm25', '.run', '.gz')
    >>> split_name(Path("input.uic0301"))
    ('input.uic0301', '', '')
    """
    packed = path.suffix.lower() if path.suffix.lower() in _COMPRESSED else ""
    inner = path.with_suffix("") if packed else path
    known = inner.suffix.lower() if inner.suffix.lower() in KNOWN else ""
    return (inner.stem if known else inner.name), known, {".zstd": ".zst"}.get(packed, packed)


def open_file(path: str | Path) -> File:
    """The content of a file, memory-mapped where that is possible; `-` is standard input."""
    if str(path) == "-":
        return open_bytes(sys.stdin.buffer.read(), label="standard input", name="stdin")
    place = Path(path)
    name, extension, _ = split_name(place)
    return File(decompress(_content(place), label=str(path)), str(path), name, extension)


def open_bytes(data: Any, *, label: str, name: str) -> File:
    """Content that is in memory already."""
    return File(decompress(bytes(data), label=label), label, name)


def open_stream(stream: Any) -> File:
    """What is left to read of an open file, text or binary."""
    content = stream.read()
    data = content.encode() if isinstance(content, str) else bytes(content)
    path = getattr(stream, "name", None)
    if not isinstance(path, str):
        return open_bytes(data, label="open file", name="")
    name, extension, _ = split_name(Path(path))
    return File(decompress(data, label=path), path, name, extension)


def open_binary(path: str | Path) -> BufferedReader:
    """A file opened to be read from first to last, as it is."""
    with _told(Path(path)):
        return Path(path).open("rb")


def _content(path: Path) -> Any:
    """The bytes of a file: a read-only memory map of a regular one, else whatever can be read."""
    with _told(path), path.open("rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return file.read()  # pipes and devices cannot be mapped
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if status.st_size else b""


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say of a file that cannot be opened which it is and why."""
    try:
        yield
    except FileNotFoundError:
        msg = f"{_shown(path)} does not exist"
        raise Unreadable(msg, hint=_near(path)) from None
    except (OSError, ValueError) as error:
        msg = f"{_shown(path)} cannot be read: {_reason(error)}"
        raise Unreadable(msg) from None


def _shown(path: Path) -> str:
    """A path as it appears in a message; what is hardly a path is cut short and quoted."""
    text = str(path)
    return text if text.isprintable() else ascii(text if len(text) < 60 else text[:59] + "…")


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


def _near(path: Path) -> str | None:
    """A file beside the missing one that is called nearly so; or what to do with content."""
    if "\n" in str(path):
        return "to give the content of a file rather than its path, give bytes"
    try:
        beside = [each.name for each in path.parent.iterdir()]
    except OSError:
        return None
    close = get_close_matches(path.name, beside, n=1)
    return f"did you mean `{path.with_name(close[0])}`?" if close else None
