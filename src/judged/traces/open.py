"""Whatever holds traces → `Trace`s: paths, folders, standard input, bytes, open files and objects, as lines, JSON documents or text."""

from __future__ import annotations

import io
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from judged.errors import BadInput, Unreadable, WrongKind
from judged.io.open import BOM, File, decompress_stream, open_binary, read_text, split_name
from judged.problem import Problem
from judged.tables.sessions import Session
from judged.traces.plain.write import to_plain

__all__ = ["SHOWN", "Document", "Trace", "TraceSource", "open_traces"]

SHOWN = 8
"""How many documents a format is shown to be recognised by."""

HEAD = 65_536
"""How many characters of text a format is shown."""

BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_NEXT_OBJECT = re.compile(rb"(?m)^\}[ \t\r]*\n\s*(?=\{)")
"""Between two objects that are each written over several lines."""
_JSON = re.compile(rb"\s*(?:\{|\[\s*(?:[\[{\"\]]|\Z))")
_BYTE = re.compile(r" \(byte (\d+)\)$")


@dataclass(frozen=True, slots=True)
class Document:
    """One JSON value of a trace, and where it stands."""

    place: str
    """`traces.jsonl:12`, or `traces.json, element 3`, or the file alone."""
    value: Any
    name: str = "1"
    """What its conversation is called if it does not say: its number, or the file's name if it is all of the file."""


class Trace:
    """One source of sessions, gone through once; memory holds a line at a time where lines are documents."""

    def __init__(
        self,
        lines: Iterable[bytes],
        *,
        label: str,
        name: str = "",
        place: Callable[[int], str] | None = None,
    ) -> None:
        self.label = label
        """What messages call it."""
        self.name = name
        """What a system is called if the trace does not say."""
        self.prefix = ""
        """What comes before the numbers that stand for names, where several traces are read as one."""
        self.place = place or (lambda line: f"{label}:{line}")
        """Where a line stands, in words."""
        self.broken: Callable[[str, str], None] = self._refuse
        """What is done about a document that is no JSON, told its place and what is wrong with it."""
        self._lines = enumerate(lines, 1)
        self._ahead: deque[tuple[int, bytes]] = deque()

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The number and the bytes of every line that is not blank."""
        for line in self._rest():
            if _filled(line):
                yield line

    def documents(self) -> Iterator[Document]:
        """Every JSON document in turn: lines, elements of one array, or one object; what is no JSON is left out."""
        if not self.is_lines:
            yield from self._whole
            return
        for number, line in self.lines():
            try:
                value = msgspec.json.decode(line)
            except BROKEN as error:
                self.broken(self.place(number), told(error, line))
            else:
                yield Document(self.place(number), value, self.called(number))

    def called(self, number: int) -> str:
        """What a conversation is called that has no name, by its number."""
        return f"{self.prefix}{number}"

    def text(self) -> str:
        """All that is left of it as text; bytes that are no UTF-8 become U+FFFD."""
        return b"\n".join(line for _, line in self._rest()).decode("utf-8", "replace")

    @cached_property
    def is_json(self) -> bool:
        """Whether it begins as JSON of objects does; a log may begin with the time in brackets."""
        return _JSON.match(self._first()) is not None

    @cached_property
    def is_lines(self) -> bool:
        """Whether each line is a JSON document of its own."""
        first, more = self._first().strip(), len(self._look(2)) > 1
        try:
            return isinstance(msgspec.json.decode(first), dict) or more
        except BROKEN:
            begun = first.startswith(b"{") and first != b"{"
            return begun and (not more or self._look(2)[1][1].lstrip().startswith(b"{"))

    def first_documents(self) -> tuple[Any, ...]:
        """The values of the first documents, which stay to be read."""
        if not self.is_lines:
            return tuple(each.value for each in self._whole[:SHOWN])
        return tuple(_decode_each(line for _, line in self._look(SHOWN)))

    def first_text(self) -> str:
        """The first characters, which stay to be read."""
        size = sum(len(line) for _, line in self._ahead)
        while size < HEAD and (line := next(self._lines, None)) is not None:
            self._ahead.append(line)
            size += len(line[1])
        return b"\n".join(line for _, line in self._ahead).decode("utf-8", "replace")[:HEAD]

    def is_empty(self) -> bool:
        """Whether nothing is left to be read."""
        return not self._look(1)

    @cached_property
    def _whole(self) -> list[Document]:
        """The documents of a trace that is one JSON value, or several that each take many lines."""
        content = b"\n".join(line for _, line in self._rest())
        try:
            value = msgspec.json.decode(content)
        except BROKEN as error:
            return list(self._parts(content, error))
        if not isinstance(value, list):
            return [Document(self.label, value, self.name or "1")]
        return [
            Document(f"{self.label}, element {at}", each, self.called(at)) for at, each in enumerate(value, 1)
        ]

    def _parts(self, content: bytes, error: Exception) -> Iterator[Document]:
        """Objects written one after the other; or one that is broken."""
        parts = _NEXT_OBJECT.split(content)
        if len(parts) == 1:
            self.broken(f"{self.label}:{_line_of(error, content)}", told(error, content))
            return
        for number, part in enumerate(parts, 1):
            whole = part if number == len(parts) else part + b"}"
            place = f"{self.label}, object {number}"
            try:
                yield Document(place, msgspec.json.decode(whole), self.called(number))
            except BROKEN as broken:
                self.broken(place, told(broken, whole))

    def _first(self) -> bytes:
        return next((line for _, line in self._look(1)), b"")

    def _look(self, count: int) -> list[tuple[int, bytes]]:
        """The first lines that are not blank, `count` of them if there are so many; they stay to be read."""
        found = [line for line in self._ahead if _filled(line)]
        while len(found) < count and (line := next(self._lines, None)) is not None:
            self._ahead.append(line)
            found += [line] if _filled(line) else []
        return found[:count]

    def _rest(self) -> Iterator[tuple[int, bytes]]:
        """All that is left, blank lines as well."""
        while self._ahead:
            yield self._ahead.popleft()
        yield from self._lines

    def _refuse(self, place: str, what: str) -> None:
        raise BadInput(self.label, [Problem.error("broken-json", place, what)])


def _filled(line: tuple[int, bytes]) -> bool:
    return bool(line[1]) and not line[1].isspace()


def told(error: Exception, content: bytes) -> str:
    """What is wrong with a text that is no JSON, and how far it could be read."""
    reason = str(error).removeprefix("JSON is malformed: ") or "it is nested too deeply"
    if "truncated" in reason:
        return f"is cut short after {len(content):,} bytes, at {_shown(content[-40:])}"
    at = _BYTE.search(reason)
    if at is None:
        return f"is no JSON: {reason}"
    end = int(at[1])
    return (
        f"is no JSON: {reason[: at.start()]} at byte {end:,}, after {_shown(content[max(0, end - 40) : end])}"
    )


def _shown(content: bytes) -> str:
    return f"`…{content.decode('utf-8', 'replace')}`".replace("\n", "⏎")


def _line_of(error: Exception, content: bytes) -> int:
    """The line that a text stops being JSON on."""
    at = _BYTE.search(str(error))
    return 1 + (content[: int(at[1])] if at else content.rstrip()).count(b"\n")


def _decode_each(lines: Iterable[bytes]) -> Iterator[Any]:
    for line in list(lines)[:SHOWN]:
        try:
            yield msgspec.json.decode(line)
        except BROKEN:
            continue  # told when it is read


@dataclass(frozen=True, slots=True)
class TraceSource:
    """What was given to be read, and what it holds."""

    label: str
    """What messages call it."""
    name: str
    """What a system is called if no trace of it says."""
    traces: Iterable[Trace]
    """One trace, or one for each file of a folder, opened when it comes to it."""


def open_traces(source: Any) -> TraceSource:
    """The traces that a source holds."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fsdecode(source)
        if path != "-" and _is_folder(path):
            return TraceSource(path, Path(path).resolve().name, map(_of_many, _files(Path(path))))
        trace = _of_path(path)
    else:
        trace = _of_object(source)
    return TraceSource(trace.label, trace.name, [trace])


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
        return Trace(_encode(source), label="objects", place=lambda number: f"object {number}")
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
        first, *others = (_check_text(chunk, label) if number == 0 else chunk).split(b"\n")
        pending.append(first)
        if others:
            yield b"".join(pending)
            yield from others[:-1]
            pending = [others[-1]]
    yield b"".join(pending)


def _check_text(chunk: bytes, label: str) -> bytes:
    """The first bytes past the mark of UTF-8; UTF-16 and what is no text are refused."""
    read_text(File(chunk, label, ""))
    return chunk.removeprefix(BOM)


def _encode(objects: Iterable[Any]) -> Iterator[bytes]:
    """Each object as a line of JSON, so that there is one way to read them."""
    for number, each in enumerate(objects, 1):
        try:
            yield msgspec.json.encode(to_plain(each) if isinstance(each, Session) else each)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            msg = f"object {number} cannot be read as a session: {error}"
            raise WrongKind(
                msg, hint="give dicts of texts, numbers and lists, or `judged` sessions"
            ) from None
