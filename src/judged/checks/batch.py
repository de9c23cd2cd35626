"""Batches of rows to be checked, cut from TREC text or made from columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.arrays import Bytes, Flags, Floats, Ints, Words
from judged.io.sniff import Kind as Role
from judged.kernels.scan.rows import JUDGMENTS, RUN, Rows, read_rows
from judged.kernels.scan.strings import Strings, find_repeats, fold, mix
from judged.kernels.scan.text import find_line_end
from judged.tables.columns import to_bytes

COLUMNS: dict[Role, int] = {"run": RUN, "judgments": JUDGMENTS}
STRETCH = 1 << 22
"""Bytes read at once; more only where a single query has more."""
ROWS = (
    *("number", "query", "document", "value", "sound", "folded", "fate"),
    *("token", "intent", "aside", "rank", "tag"),
)
"""The fields of a batch that have an element for each row."""
_WHITE = np.zeros(256, dtype=bool)
_WHITE[[9, 10, 11, 12, 13, 32]] = True

FEW_BLANKS = 4
"""Number of blanks between two columns that are skipped in all lines at once."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows in order; unless they are interleaved with others, all rows of a query are in one batch."""

    number: Ints
    """The line or the row of each, from 1."""
    query: Strings
    document: Strings
    value: Floats
    """Score or grade."""
    sound: Flags
    """Whether that is a number."""
    folded: Words
    fate: NDArray[np.uint8]
    """The document without regard to case: see `judged.kernels.scan.strings`."""
    token: Strings | None = None
    """The score or grade as it is written, where it is text."""
    intent: Strings | None = None
    """The intent that a document was judged for, where intents are read."""
    aside: Strings | None = None
    """The second column of judgments, where the batch is no longer text and intents are not read."""
    rank: Floats | None = None
    tag: Words | None = None
    origin: int = 0
    """Byte offset in the file of the documents' bytes."""

    def __len__(self) -> int:
        return len(self.number)

    def __getitem__(self, which: Ints | Flags | slice) -> Batch:
        """Return some of the rows."""
        held = {name: getattr(self, name) for name in ROWS}
        some: dict[str, Any] = {
            name: None if column is None else column[which] for name, column in held.items()
        }
        return replace(self, **some)

    @cached_property
    def starts(self) -> Ints:
        """The first row of each block: contiguous rows of one query."""
        hashes = self.query.hashes
        if len(hashes) == 0:
            return np.zeros(0, dtype=np.int64)
        return np.concatenate(([0], np.flatnonzero(hashes[1:] != hashes[:-1]) + 1))

    @cached_property
    def block(self) -> Ints:
        """The number of the block that each row is in."""
        return np.repeat(np.arange(len(self.starts)), self.lengths)

    @cached_property
    def lengths(self) -> Ints:
        """Number of rows of each block."""
        return np.diff(np.append(self.starts, len(self)))

    @cached_property
    def keys(self) -> Words:
        """A hash of each pair of query and document."""
        with np.errstate(over="ignore"):
            # mixed, so that a query and a document of the same id do not cancel out
            return self.document.hashes ^ np.repeat(mix(self.query.hashes[self.starts]), self.lengths)

    @cached_property
    def identity(self) -> Words:
        """A hash of what may occur once: query and document, and the intent where there is one."""
        if self.intent is None:
            return self.keys
        with np.errstate(over="ignore"):
            return mix(self.keys) ^ self.intent.hashes

    @property
    def repeats(self) -> tuple[Ints, Ints]:
        """The rows whose query (and intent) had their document before, ascending, and the row that had it first."""
        intent = () if self.intent is None else (self.intent,)
        return find_repeats(self.identity, self.block, self.document, *intent)

    @property
    def second(self) -> Strings | None:
        """The second column of judgments in TREC text."""
        if self.aside is not None or self.token is None:
            return self.aside
        return _cut_between(self.query, self.document)

    @cached_property
    def compared(self) -> NDArray[np.float32]:
        """The values as scores are compared: at 32 bits, and −0 as 0."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.value.astype(np.float32) + np.float32(0.0)


def decode_id(strings: Strings, row: int) -> str:
    """Return an id as messages show it."""
    return strings.at(row)[:200].decode(errors="backslashreplace")


def make_batch(
    number: Ints, query: pa.Array, document: pa.Array, value: Floats, intent: pa.Array | None = None
) -> Batch:
    """Return columns of large strings and sound numbers as a batch."""
    strings = [
        None if column is None else Strings.from_offsets(*to_bytes(column))
        for column in (query, document, intent)
    ]
    queries, documents, intents = strings
    assert queries is not None  # noqa: S101 - only the intent may be missing
    assert documents is not None  # noqa: S101
    folded, fate = fold(documents)
    sound = np.ones(len(value), dtype=bool)
    return Batch(number, queries, documents, value, sound, folded, fate, intent=intents)


def join_batches(parts: Sequence[Batch]) -> Batch:
    """Return batches as one, in a buffer of its own, its rows grouped by query."""
    intents = [part.intent for part in parts if part.intent is not None]
    seconds = [second for part in parts if part.rank is None and (second := part.second) is not None]
    ranks = [part.rank for part in parts if part.rank is not None]
    whole = Batch(
        number=np.concatenate([part.number for part in parts]),
        query=_pack([part.query for part in parts]),
        document=_pack([part.document for part in parts]),
        value=np.concatenate([part.value for part in parts]),
        sound=np.concatenate([part.sound for part in parts]),
        folded=np.concatenate([part.folded for part in parts]),
        fate=np.concatenate([part.fate for part in parts]),
        intent=_pack(intents) if intents else None,
        aside=_pack(seconds) if seconds else None,
        rank=np.concatenate(ranks) if ranks else None,
    )
    return whole[np.argsort(whole.query.hashes, kind="stable")]


def _pack(parts: Sequence[Strings]) -> Strings:
    packed = [strings.packed() for strings in parts]
    length = np.concatenate([np.diff(offset) for _, offset in packed])
    whole = Strings.from_offsets(
        np.concatenate([data for data, _ in packed]), np.concatenate(([0], np.cumsum(length)))
    )
    whole.__dict__["hashes"] = np.concatenate([strings.hashes for strings in parts])  # known already
    return whole


def _cut_between(query: Strings, document: Strings) -> Strings:
    """Return the text between query and document on each line, stripped of white space."""
    data, start, end = query.data, query.start + query.length, document.start.copy()
    left = np.arange(len(start))
    for _ in range(FEW_BLANKS):  # all lines at once, as long as there are few blanks
        before, after = _WHITE[data[start[left]]], _WHITE[data[end[left] - 1]]
        start[left] += before
        end[left] -= after
        left = left[before | after]
    for row in left.tolist():
        text = data[start[row] : end[row]].tobytes()
        start[row] += len(text) - len(text.lstrip())
        end[row] = start[row] + len(text.strip())
    return Strings(query.buffer, start, end - start)


@dataclass(frozen=True, eq=False)
class Stretch:
    """Some lines of a text: where they begin, and their fields."""

    rows: Rows
    line: int
    """The number of lines before."""
    at: int
    """The number of bytes before."""
    size: int
    """The bytes of these lines."""
    intents: bool = False
    """Whether the second column holds intents."""

    @property
    def batch(self) -> Batch:
        """The rows for the checks."""
        rows = self.rows
        run = len(rows.rank) == len(rows.line)
        return Batch(
            number=rows.line + (self.line + 1),
            query=rows.query,
            document=rows.document,
            value=rows.value,
            sound=rows.sound,
            folded=rows.folded,
            fate=rows.fate,
            token=rows.token,
            intent=_cut_between(rows.query, rows.document) if self.intents else None,
            rank=rows.rank if run else None,
            tag=rows.tag if run else None,
            origin=self.at,
        )


def cut_text(text: Bytes, *, columns: int, intents: bool = False) -> Iterator[Stretch]:
    """Yield the lines of a text, cut so that contiguous rows of one query stay together."""
    at, line, size = 0, 0, STRETCH
    while at < len(text):
        end = find_line_end(text, at + size)
        rows = read_rows(text[at:end], columns=columns)
        if end < len(text) and len(rows.line):
            hashes = rows.query.hashes
            other = np.flatnonzero(hashes != hashes[-1])
            if len(other) == 0:  # the stretch holds one query, which may go on
                size *= 2
                continue
            row = int(other[-1]) + 1  # where the last query begins
            last = int(rows.line[row])
            end, rows = at + int(rows.begins[last]), _take_head(rows, row, last)
        yield Stretch(rows, line, at, end - at, intents)
        at, line, size = end, line + len(rows.kinds), STRETCH


def _take_head(rows: Rows, row: int, line: int) -> Rows:
    """Return the first rows and lines."""
    by_line = {name: getattr(rows, name)[:line] for name in ("kinds", "counts", "begins")}
    names = ("line", "query", "document", "token", "value", "sound", "rank", "tag", "folded", "fate")
    return replace(rows, **by_line, **{name: getattr(rows, name)[:row] for name in names})
