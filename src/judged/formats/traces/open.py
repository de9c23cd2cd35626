"""Whatever holds a trace → a `Trace`: paths, standard input, bytes, open files, and objects in memory."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from judged.errors import Unreadable, WrongKind
from judged.formats.compression import decompressing
from judged.formats.files import open_binary, split_name
from judged.formats.format import File
from judged.formats.text import BOM, text_of
from judged.formats.traces.trace import Trace

__all__ = ["open_trace"]


def open_trace(source: Any) -> Trace:
    """The trace that a source holds."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _of_stream(io.BytesIO(bytes(source)), label="bytes", name="")
    if isinstance(source, (str, os.PathLike)):
        return _of_path(os.fsdecode(source))
    if hasattr(source, "read"):
        return _of_open_file(source)
    if isinstance(source, Iterable) and not isinstance(source, Mapping):
        return Trace(_encoded(source), label="objects", place=lambda number: f"object {number}")
    kind = f"{type(source).__module__}.{type(source).__name__}".removeprefix("builtins.")
    msg = f"traces cannot be read from an object of type `{kind}`, expected a path, bytes, or an iterable of objects"
    raise WrongKind(msg)


def _of_path(path: str) -> Trace:
    if path == "-":
        return _of_stream(sys.stdin.buffer, label="standard input", name="stdin")
    if Path(path).is_dir():
        msg = f"{path} is a folder, expected a file that holds traces"
        raise Unreadable(msg, hint=f"give its files: `{path}/*`")
    return Trace(_lines(_chunks(path), path), label=path, name=split_name(Path(path))[0])


def _of_open_file(stream: Any) -> Trace:
    content = stream.read()
    path = getattr(stream, "name", None)
    label = path if isinstance(path, str) else "open file"
    name = split_name(Path(path))[0] if isinstance(path, str) else ""
    return _of_stream(io.BytesIO(content.encode() if isinstance(content, str) else content), label=label, name=name)


def _chunks(path: str) -> Iterator[bytes]:
    with open_binary(path) as stream:
        yield from decompressing(stream, label=path)


def _of_stream(stream: BinaryIO, *, label: str, name: str) -> Trace:
    return Trace(_lines(decompressing(stream, label=label), label), label=label, name=name)


def _lines(chunks: Iterator[bytes], label: str) -> Iterator[bytes]:
    """The lines of a content that comes in chunks, without their ends."""
    pending: list[bytes] = []
    for number, chunk in enumerate(chunks):
        first, *others = (_checked(chunk, label) if number == 0 else chunk).split(b"\n")
        pending.append(first)
        if others:
            yield b"".join(pending)
            yield from others[:-1]
            pending = [others[-1]]
    yield b"".join(pending)


def _checked(chunk: bytes, label: str) -> bytes:
    """The first bytes past the mark of UTF-8; UTF-16 and what is no text are refused."""
    text_of(File(chunk, label, ""))
    return chunk.removeprefix(BOM)


def _encoded(objects: Iterable[Any]) -> Iterator[bytes]:
    """Each object as a line of JSON, so that there is one way to read them."""
    for number, each in enumerate(objects, 1):
        try:
            yield msgspec.json.encode(each)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            msg = f"object {number} cannot be read as a session: {error}"
            raise WrongKind(msg, hint="give dicts of texts, numbers and lists, or `judged` sessions") from None
