"""A trace that has been opened: its lines, its JSON documents or its text, read once from first to last."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from judged.errors import BadInput, Fault
from judged.formats.format import File
from judged.formats.text import text_of

__all__ = ["SHOWN", "Document", "Trace"]

SHOWN = 8
"""How many documents a format is shown to be recognised by."""

_BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_NEXT_OBJECT = re.compile(rb"(?m)^\}[ \t\r]*\n\s*(?=\{)")
"""Between two objects that are each written over several lines."""


@dataclass(frozen=True, slots=True)
class Document:
    """One JSON value of a trace, and where it stands."""

    place: str
    """`traces.jsonl:12`, or `traces.json, element 3`, or the file alone."""
    value: Any


class Trace:
    """One source of sessions: a file's content with its name."""

    def __init__(self, file: File) -> None:
        self.label = file.label
        self.name = file.name
        self.data = _findable(text_of(file))

    def is_json(self) -> bool:
        """Whether it begins as JSON does."""
        return bytes(self.data[:4096]).lstrip()[:1] in {b"{", b"["}

    def text(self) -> str:
        """All of it as text; bytes that are no UTF-8 become U+FFFD."""
        return bytes(self.data).decode("utf-8", "replace")

    def is_lines(self) -> bool:
        """Whether its first line is a JSON document that stands alone, so that each line is one."""
        _, first = next(self.lines(), (0, b""))
        try:
            value = msgspec.json.decode(first)
        except _BROKEN:
            return _looks_whole(first)
        return not (isinstance(value, list) and len(first) >= len(bytes(self.data).strip()))

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The number and the bytes of every line that is not blank."""
        number, start, size = 0, 0, len(self.data)
        while start < size:
            number += 1
            end = self.data.find(b"\n", start)
            end = size if end < 0 else end
            line = bytes(self.data[start:end])
            if line and not line.isspace():
                yield number, line
            start = end + 1

    def documents(self) -> Iterator[Document]:
        """Every JSON document in turn: lines, elements of one array, or one object."""
        if self.is_lines():
            yield from self._documents_of_lines()
        else:
            yield from self._documents_of_whole()

    def place(self, line: int) -> str:
        """Where a line stands."""
        return f"{self.label}:{line}"

    def _documents_of_lines(self) -> Iterator[Document]:
        decode = msgspec.json.Decoder().decode
        for number, line in self.lines():
            try:
                value = decode(line)
            except _BROKEN as error:
                raise self._broken(self.place(number), error) from None
            yield Document(self.place(number), value)

    def _documents_of_whole(self) -> Iterator[Document]:
        content = bytes(self.data)
        try:
            value = msgspec.json.decode(content)
        except _BROKEN as error:
            parts = _NEXT_OBJECT.split(content)
            if len(parts) == 1:
                raise self._broken(self.label, error) from None
            yield from self._documents_of_parts(parts)
            return
        if isinstance(value, list):
            for number, element in enumerate(value, 1):
                yield Document(f"{self.label}, element {number}", element)
        else:
            yield Document(self.label, value)

    def _documents_of_parts(self, parts: list[bytes]) -> Iterator[Document]:
        for number, part in enumerate(parts, 1):
            whole = part if number == len(parts) else part + b"}"
            try:
                yield Document(f"{self.label}, object {number}", msgspec.json.decode(whole))
            except _BROKEN as error:
                raise self._broken(f"{self.label}, object {number}", error) from None

    def _broken(self, place: str, error: Exception) -> BadInput:
        reason = str(error).removeprefix("JSON is malformed: ") or type(error).__name__
        return BadInput(self.label, [Fault("broken JSON", place, f"is no JSON: {reason}")])


def _looks_whole(line: bytes) -> bool:
    """Whether a line that is no JSON was meant to be an object of its own."""
    bare = line.strip()
    return bare.startswith(b"{") and bare.endswith(b"}")


def _findable(data: Any) -> Any:
    """The content as bytes or a map of a file, which can be searched; a view cannot."""
    return bytes(data) if isinstance(data, memoryview) else data
