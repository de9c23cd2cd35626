"""Lines of TREC text as columns, a stretch at a time, with everything wrong about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.kernels.scan.strings import Strings
from judged.kernels.scan.text import find_line_end, parse_numbers, split_lines
from judged.problem import Problems

__all__ = ["Lines", "Table", "read_lines"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Table: TypeAlias = tuple[pa.Array, pa.Array, Floats]
STRETCH = 1 << 24
"""Bytes taken at once, so that memory grows with the rows and not with the text."""


@dataclass(frozen=True, eq=False)
class Lines:
    """The rows of a text, as bytes, and the lines that are none."""

    text: NDArray[np.uint8]
    columns: int
    ids: tuple[pa.Array, pa.Array]
    """Query and document of every row, as large binaries."""
    number: Floats
    sound: NDArray[np.bool_]
    """Which numbers are numbers."""
    begin: Ints
    """Where the line of each row begins, in bytes."""
    short: Ints
    """Where each line with too few columns begins."""
    counts: Ints
    """How many columns it has."""
    wide: int
    """How many lines have more columns than are known."""

    def table(self, number: str, faults: Problems) -> Table:
        """Query, document and number of every row; whatever is wrong becomes a fault with its line."""
        for at, count in zip(self.short.tolist(), self.counts.tolist(), strict=True):
            told = f"{count} column{'s' if count > 1 else ''}, expected {self.columns}"
            faults.add_line("few-columns", self._line(at), told)
        query, document = (
            _texts(column, name, faults) for column, name in zip(self.ids, ("query", "document"), strict=True)
        )
        bad = np.flatnonzero(~self.sound)
        faults.add_rows("not-a-number", bad, lambda row: self._telling(row, number))
        return query, document, np.where(self.sound, self.number, 0.0)

    def names(self, place: int, name: str, faults: Problems) -> pa.Array:
        """One column of ids as text; those that are not UTF-8 become faults."""
        return _texts(self.ids[place], name, faults)

    def line(self, row: int) -> int:
        """The line of a row, from 1."""
        return self._line(int(self.begin[row]))

    def _line(self, byte: int) -> int:
        return int(np.searchsorted(self._feeds, byte)) + 1

    @cached_property
    def _feeds(self) -> Ints:
        return np.flatnonzero(self.text == 10)

    def _telling(self, row: int, number: str) -> str:
        line = self.text[int(self.begin[row]) :][:65_536].tobytes().split(b"\n")[0]
        token = line.split()[3 if self.columns == 4 else 4]
        return f"{number} is `{token.decode(errors='backslashreplace')}`, expected a number"


def read_lines(data: Any, *, columns: int, wanted: Sequence[int]) -> Lines:
    """The columns at `wanted` (query, document, number) of every line with `columns` of them or more."""
    text = np.frombuffer(data, dtype=np.uint8)
    parts = [_part(text[begin:end], begin, columns, wanted) for begin, end in pairwise(_cuts(text))]
    query, document, value, sound, begin, short, counts, wide = zip(*parts, strict=True)
    return Lines(
        text,
        columns,
        ids=(pa.concat_arrays(query), pa.concat_arrays(document)),
        number=np.concatenate(value),
        sound=np.concatenate(sound),
        begin=np.concatenate(begin),
        short=np.concatenate(short),
        counts=np.concatenate(counts),
        wide=sum(wide),
    )


def _cuts(text: NDArray[np.uint8]) -> Iterator[int]:
    """Where stretches begin and end, each at the end of a line."""
    at = 0
    yield at
    while len(text) - at > STRETCH:
        at = find_line_end(text, at + STRETCH)
        yield at
    if at < len(text) or not at:  # an empty text is one stretch, too
        yield len(text)


def _part(text: NDArray[np.uint8], begin: int, columns: int, wanted: Sequence[int]) -> tuple[Any, ...]:
    lines = split_lines(text, columns)
    query, document, token = (lines.columns[place] for place in wanted)
    value, sound = parse_numbers(token)
    places = (lines.begin + begin, lines.short + begin)
    return _binary(query), _binary(document), value, sound, *places, lines.short_count, lines.wide


def _binary(strings: Strings) -> pa.Array:
    """The strings as Arrow holds them."""
    data, offset = strings.packed()
    buffers = [None, pa.py_buffer(offset.astype(np.int64)), pa.py_buffer(data)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(strings), buffers)


def _texts(column: pa.Array, name: str, faults: Problems) -> pa.Array:
    """Ids as text; one that is not UTF-8 becomes a fault."""
    try:
        return column.cast(pa.large_string())
    except pa.ArrowInvalid:
        told = [_decoded(row, value, name, faults) for row, value in enumerate(column.to_pylist())]
        return pa.array(told, type=pa.large_string())


def _decoded(row: int, value: bytes, name: str, faults: Problems) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        faults.add("not-utf-8", row, f"{name} is {value!r}, expected UTF-8 text")
        return f"\0{row}"  # unlike any other, so that it repeats none
