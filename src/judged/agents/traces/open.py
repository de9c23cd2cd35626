"""Paths, folders, standard input, bytes, open files and objects → `Trace`s of lines, JSON documents or text."""

from __future__ import annotations

import io
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import msgspec

from judged.agents.tables import Session
from judged.agents.traces.archive import MAGIC, read_samples
from judged.agents.traces.json_values import Json
from judged.agents.traces.plain.write import to_plain
from judged.errors import BadInput, Unreadable, WrongKind
from judged.io.open import BOM, File, decompress_stream, open_binary, read_text, split_name
from judged.problem import Problem
from judged.store.files import standard_input

FIRST_DOCUMENTS = 8
"""Number of documents that detection looks at first."""

FIRST_TEXT = 65_536
"""Number of characters that detection looks at first."""

BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_NEXT_OBJECT = re.compile(rb"(?m)^\}[ \t\r]*\n\s*(?=\{)")
"""The boundary of two objects of several lines each."""
_JSON = re.compile(rb"\s*(?:\{|\[\s*(?:[\[{\"\]]|\Z))")
_ROTATED = re.compile(r"(?P<log>.+)\.(?P<number>\d{1,4})(?:\.(?:gz|bz2|xz|zst))?")
"""A log that was moved away for a newer one: the higher the number, the older."""
_BYTE = re.compile(r" \(byte (\d+)\)$")


class Position(str):
    """The name of a conversation that has none: its place in a file, which identifies no task."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Document:
    """One JSON value of a trace, and its place."""

    place: str
    """`traces.jsonl:12`, or `traces.json, element 3`, or the file alone."""
    value: Json
    name: str = Position("1")
    """The default name of its conversation: its number, or the file's name if it is all of the file."""


class Trace:
    """One source of sessions, read once; memory holds one line at a time if lines are documents."""

    def __init__(
        self, lines: Iterable[bytes], *, label: str, name: str = "", place: Callable[[int], str] | None = None
    ) -> None:
        self.label = label
        """Its name in messages."""
        self.name = name
        """The name of the system if the trace does not give one."""
        self.prefix = ""
        """Prefix of the numbers of unnamed conversations, if several traces are read as one."""
        self.place = place or (lambda line: f"{label}:{line}")
        """Returns the place of a line, in words."""
        self.on_broken: Callable[[str, str], None] = self._refuse
        """Called with the place of a document that is not JSON and the reason."""
        self.following: Iterator[Trace] = iter(())
        """Traces whose documents are read after its own."""
        self._lines = enumerate(lines, 1)
        self._ahead: deque[tuple[int, bytes]] = deque()

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the bytes of every line that is not blank."""
        for line in self._remaining():
            if _is_filled(line):
                yield line

    def documents(self) -> Iterator[Document]:
        """Yield every JSON document in turn: lines, elements of one array, or one object; what is not JSON is left out."""
        for trace in self.parts():
            yield from trace.own_documents()

    def parts(self) -> Iterator[Trace]:
        """Yield itself, then the traces that are read after it."""
        yield self
        for trace in self.following:
            yield from trace.parts()

    def own_documents(self) -> Iterator[Document]:
        """Yield its documents without those of the traces after it."""
        if not self.is_lines:
            yield from self._whole
            return
        for number, line in self.lines():
            try:
                value = msgspec.json.decode(line)
            except BROKEN as error:
                self.on_broken(self.place(number), describe_error(error, line))
            else:
                yield Document(self.place(number), value, self.default_name(number))

    def default_name(self, number: int) -> str:
        """Return what a conversation is called that has no name, by its number."""
        return Position(f"{self.prefix}{number}")

    @property
    def whole_name(self) -> str:
        """The name of a conversation that is all of the trace: that of the file."""
        return self.name or Position("1")

    def text(self) -> str:
        """Return all that is left of it as text; bytes that are not UTF-8 become U+FFFD."""
        return b"\n".join(line for _, line in self._remaining()).decode("utf-8", "replace")

    @cached_property
    def is_json(self) -> bool:
        """Whether it begins as JSON of objects does; a log may begin with the time in brackets."""
        return _JSON.match(self._first()) is not None

    @cached_property
    def is_lines(self) -> bool:
        """Whether each line is a JSON document of its own."""
        first, more = self._first().strip(), len(self._peek(2)) > 1
        try:
            return isinstance(msgspec.json.decode(first), dict) or more
        except BROKEN:
            # a first line that is cut off, among lines of objects; an object over many lines begins with a bare brace
            begun = first.startswith(b"{") and first != b"{"
            return begun and (not more or self._peek(2)[1][1].lstrip().startswith(b"{"))

    def first_documents(self, count: int = FIRST_DOCUMENTS) -> tuple[Json, ...]:
        """Return the values of the first documents, which stay to be read."""
        if not self.is_lines:
            return tuple(document.value for document in self._whole[:count])
        return tuple(_decode_lines(line for _, line in self._peek(count)))

    def first_text(self, size: int = FIRST_TEXT) -> str:
        """Return the first characters, which stay to be read."""
        held = sum(len(line) for _, line in self._ahead)
        while held < size and (line := next(self._lines, None)) is not None:
            self._ahead.append(line)
            held += len(line[1])
        return b"\n".join(line for _, line in self._ahead).decode("utf-8", "replace")[:size]

    def is_empty(self) -> bool:
        """Return whether nothing is left to be read."""
        return not self._peek(1)

    @cached_property
    def _whole(self) -> list[Document]:
        """The documents of a trace that is one JSON value, or several that each take many lines."""
        content = b"\n".join(line for _, line in self._remaining())
        try:
            value = msgspec.json.decode(content)
        except BROKEN as error:
            return list(self._split_objects(content, error))
        if not isinstance(value, list):
            return [Document(self.label, value, self.whole_name)]
        return [
            Document(f"{self.label}, element {at}", item, self.default_name(at))
            for at, item in enumerate(value, 1)
        ]

    def _split_objects(self, content: bytes, error: Exception) -> Iterator[Document]:
        """Yield objects written one after the other; or one that is broken."""
        parts = _NEXT_OBJECT.split(content)
        if len(parts) == 1:
            self.on_broken(f"{self.label}:{_find_line(error, content)}", describe_error(error, content))
            return
        for number, part in enumerate(parts, 1):
            # splitting consumed the brace at the end of all but the last
            whole = part if number == len(parts) else part + b"}"
            place = f"{self.label}, object {number}"
            try:
                yield Document(place, msgspec.json.decode(whole), self.default_name(number))
            except BROKEN as on_broken:
                self.on_broken(place, describe_error(on_broken, whole))

    def _first(self) -> bytes:
        return next((line for _, line in self._peek(1)), b"")

    def _peek(self, count: int) -> list[tuple[int, bytes]]:
        """Return the first lines that are not blank, `count` of them if there are that many, without consuming them."""
        lines = [line for line in self._ahead if _is_filled(line)]
        while len(lines) < count and (line := next(self._lines, None)) is not None:
            self._ahead.append(line)
            lines += [line] if _is_filled(line) else []
        return lines[:count]

    def _remaining(self) -> Iterator[tuple[int, bytes]]:
        """Yield all that is left, blank lines as well."""
        while self._ahead:
            yield self._ahead.popleft()
        yield from self._lines

    def _refuse(self, place: str, what: str) -> None:
        raise BadInput(self.label, [Problem.error("broken-json", place, what)])


def _is_filled(line: tuple[int, bytes]) -> bool:
    return bool(line[1]) and not line[1].isspace()


def describe_error(error: Exception, content: bytes) -> str:
    """Explain why a text is not valid JSON and where parsing stopped."""
    reason = str(error).removeprefix("JSON is malformed: ") or "it is nested too deeply"
    if "truncated" in reason:
        return f"is truncated after {len(content):,} bytes, at {_quote(content[-40:])}"
    at = _BYTE.search(reason)
    if at is None:
        return f"is not JSON: {reason}"
    end = int(at[1])
    return f"is not JSON: {reason[: at.start()]} at byte {end:,}, after {_quote(content[max(0, end - 40) : end])}"


def _quote(content: bytes) -> str:
    return f"`…{content.decode('utf-8', 'replace')}`".replace("\n", "⏎")


def _find_line(error: Exception, content: bytes) -> int:
    """Return the first line of a text that is not JSON."""
    at = _BYTE.search(str(error))
    return 1 + (content[: int(at[1])] if at else content.rstrip()).count(b"\n")


def _decode_lines(lines: Iterable[bytes]) -> Iterator[Json]:
    for line in lines:
        try:
            yield msgspec.json.decode(line)
        except BROKEN:
            continue  # reported when it is read


@dataclass(frozen=True, slots=True)
class TraceSource:
    """The traces of one source, with its names."""

    label: str
    """Its name in messages."""
    name: str
    """The name of the system if no trace gives one."""
    traces: Iterable[Trace]
    """One trace, or one per file of a folder, opened lazily."""


def open_traces(source: object) -> TraceSource:
    """Open the traces of a path, a folder, bytes, an open file, or an iterable of objects."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fsdecode(source)
        if path != "-" and _is_folder(path):
            return TraceSource(path, Path(path).resolve().name, map(_open_in_folder, _list_files(Path(path))))
        trace = _open_path(path)
    else:
        trace = _open_object(source)
    return TraceSource(trace.label, trace.name, [trace])


def _is_folder(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):  # a text that no path can be, such as one with a zero byte
        return False


def _list_files(folder: Path) -> list[str]:
    """Return the files of a folder by name, except hidden ones."""
    held = [str(file) for file in folder.iterdir() if file.is_file() and not file.name.startswith(".")]
    names = set(held)
    files = sorted(held, key=lambda file: _chronological(file, names))
    if not files:
        msg = f"{folder} is a folder without files, expected traces"
        raise Unreadable(msg)
    return files


def _chronological(file: str, names: set[str]) -> tuple[str, int]:
    """Return the sort key of a file: its name, but of a rotated log (`app.log`, `app.log.1`, …) the highest number first."""
    rotated = _ROTATED.fullmatch(file)
    if rotated is not None and (rotated["log"] in names or f"{rotated['log']}.1" in names):
        return rotated["log"], -int(rotated["number"])
    return file, 0


def _open_path(path: str) -> Trace:
    if path == "-":
        return _open_stream(standard_input(), label="standard input", name="stdin")
    return Trace(_lines(_read_chunks(path), path), label=path, name=split_name(Path(path))[0])


def _open_in_folder(path: str) -> Trace:
    """Open one file of a folder, which gives its name to unnamed conversations."""
    trace = _open_path(path)
    trace.prefix = f"{trace.name}:"
    return trace


def _open_object(source: object) -> Trace:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _open_stream(io.BytesIO(bytes(source)), label="bytes", name="")
    if hasattr(source, "read"):
        return _open_file(source.read(), getattr(source, "name", None))
    if isinstance(source, Iterable) and not isinstance(source, Mapping):
        return Trace(_encode(source), label="objects", place=lambda number: f"object {number}")
    kind = f"{type(source).__module__}.{type(source).__name__}".removeprefix("builtins.")
    msg = f"traces cannot be read from an object of type `{kind}`, expected a path, bytes, or an iterable of objects"
    raise WrongKind(msg, hint="put it into a list" if isinstance(source, Mapping) else None)


def _open_file(content: str | bytes, path: object) -> Trace:
    data = content.encode() if isinstance(content, str) else content
    if not isinstance(path, str):
        return _open_stream(io.BytesIO(data), label="open file", name="")
    return _open_stream(io.BytesIO(data), label=path, name=split_name(Path(path))[0])


def _open_stream(stream: BinaryIO, *, label: str, name: str) -> Trace:
    return Trace(_lines(_unpack(stream, label), label), label=label, name=name)


def _read_chunks(path: str) -> Iterator[bytes]:
    with open_binary(path) as stream:
        yield from _unpack(stream, path)


def _unpack(stream: BinaryIO, label: str) -> Iterator[bytes]:
    """Yield the content of a stream in chunks, decompressed; of an archive, a line for each of its samples."""
    if isinstance(stream, io.BufferedReader):
        begins = stream.peek(len(MAGIC))[: len(MAGIC)]
    else:
        begins = stream.read(len(MAGIC))
        stream.seek(0)
    if begins == MAGIC:
        yield from (line + b"\n" for line in read_samples(stream, label))
    else:
        yield from decompress_stream(stream, label=label)


def _lines(chunks: Iterator[bytes], label: str) -> Iterator[bytes]:
    """Yield the lines of chunks, without line breaks."""
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
    """Return the first bytes without a byte order mark; refuse UTF-16 and binary content."""
    read_text(File(chunk, label, ""))
    return chunk.removeprefix(BOM)


def _encode(objects: Iterable[Json]) -> Iterator[bytes]:
    """Yield each object as a line of JSON, so that there is one way to read them."""
    for number, item in enumerate(objects, 1):
        try:
            yield msgspec.json.encode(to_plain(item) if isinstance(item, Session) else item)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            msg = f"object {number} cannot be read as a session: {error}"
            raise WrongKind(
                msg, hint="give dicts of texts, numbers and lists, or `judged` sessions"
            ) from None
