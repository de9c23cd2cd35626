"""Whatever holds traces → `Trace`s: paths, folders, standard input, bytes, open files, and objects in memory."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from judged.errors import Unreadable, WrongKind
from judged.io.open import BOM, File, decompress_stream, open_binary, read_text, split_name
from judged.tables.sessions import Session
from judged.traces.plain.write import plain_object
from judged.traces.trace import Trace

__all__ = ["Source", "open_source"]


@dataclass(frozen=True, slots=True)
class Source:
    """What was given to be read, and what it holds."""

    label: str
    """What messages call it."""
    name: str
    """What a system is called if no trace of it says."""
    traces: Iterable[Trace]
    """One trace, or one for each file of a folder, opened when it comes to it."""


def open_source(source: Any) -> Source:
    """The traces that a source holds."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fsdecode(source)
        if path != "-" and _is_folder(path):
            return Source(path, Path(path).resolve().name, map(_of_many, _files(Path(path))))
        trace = _of_path(path)
    else:
        trace = _of_object(source)
    return Source(trace.label, trace.name, [trace])


def _is_folder(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):  # a text that no path can be, such as one with a zero byte
        return False


def _files(folder: Path) -> list[str]:
    """The files of a folder by name, those that are hidden apart."""
    found = sorted(str(each) for each in folder.iterdir() if each.is_file() and not each.name.startswith("."))
    if not found:
        msg = f"{folder} is a folder without files, expected traces"
        raise Unreadable(msg)
    return found


def _of_path(path: str) -> Trace:
    if path == "-":
        return _of_stream(sys.stdin.buffer, label="standard input", name="stdin")
    return Trace(_lines(_chunks(path), path), label=path, name=split_name(Path(path))[0])


def _of_many(path: str) -> Trace:
    """One file of a folder; conversations without a name are called after it."""
    trace = _of_path(path)
    trace.prefix = f"{trace.name}:"
    return trace


def _of_object(source: Any) -> Trace:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _of_stream(io.BytesIO(bytes(source)), label="bytes", name="")
    if hasattr(source, "read"):
        return _of_open_file(source)
    if isinstance(source, Iterable) and not isinstance(source, Mapping):
        return Trace(_encoded(source), label="objects", place=lambda number: f"object {number}")
    kind = f"{type(source).__module__}.{type(source).__name__}".removeprefix("builtins.")
    msg = f"traces cannot be read from an object of type `{kind}`, expected a path, bytes, or an iterable of objects"
    raise WrongKind(msg, hint="put it into a list" if isinstance(source, Mapping) else None)


def _of_open_file(stream: Any) -> Trace:
    content = stream.read()
    path = getattr(stream, "name", None)
    data = content.encode() if isinstance(content, str) else content
    if not isinstance(path, str):
        return _of_stream(io.BytesIO(data), label="open file", name="")
    return _of_stream(io.BytesIO(data), label=path, name=split_name(Path(path))[0])


def _of_stream(stream: BinaryIO, *, label: str, name: str) -> Trace:
    return Trace(_lines(decompress_stream(stream, label=label), label), label=label, name=name)


def _chunks(path: str) -> Iterator[bytes]:
    with open_binary(path) as stream:
        yield from decompress_stream(stream, label=path)


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
    read_text(File(chunk, label, ""))
    return chunk.removeprefix(BOM)


def _encoded(objects: Iterable[Any]) -> Iterator[bytes]:
    """Each object as a line of JSON, so that there is one way to read them."""
    for number, each in enumerate(objects, 1):
        try:
            yield msgspec.json.encode(plain_object(each) if isinstance(each, Session) else each)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            msg = f"object {number} cannot be read as a session: {error}"
            raise WrongKind(
                msg, hint="give dicts of texts, numbers and lists, or `judged` sessions"
            ) from None
