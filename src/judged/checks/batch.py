"""A batch of rows on their way through the checks, and the file that it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.checks.findings import Findings
from judged.io.sniff import Kind as Role
from judged.kernels.scan.strings import Bytes, Strings, Words, mix
from judged.kernels.segments import Flags, Floats, Ints

__all__ = ["Batch", "Source", "between", "joined"]

ROWS = (
    "number",
    "query",
    "document",
    "value",
    "sound",
    "folded",
    "fate",
    "token",
    "intent",
    "aside",
    "rank",
    "tag",
)
"""What a batch has for each of its rows."""
_WHITE = np.zeros(256, dtype=bool)
_WHITE[[9, 10, 11, 12, 13, 32]] = True


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows in order; where they are not interleaved with others, all rows of a query are in one batch."""

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
    """The document without regard to case: see `judged.kernels.scan.folding`."""
    token: Strings | None = None
    """The score or grade as it is written, where it is text."""
    intent: Strings | None = None
    """What a document was judged for, where that tells rows apart."""
    aside: Strings | None = None
    """The second column of judgments, where it was taken out of a text and is not read as intents."""
    rank: Floats | None = None
    tag: Words | None = None
    origin: int = 0
    """Where the documents' bytes begin among those of the file."""

    def __len__(self) -> int:
        return len(self.number)

    def __getitem__(self, which: Any) -> Batch:
        """Some of the rows."""
        held = {name: getattr(self, name) for name in ROWS}
        some: dict[str, Any] = {name: None if each is None else each[which] for name, each in held.items()}
        return replace(self, **some)

    @cached_property
    def starts(self) -> Ints:
        """The first row of each block, a stretch of rows of one query."""
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
        """How many rows each block has."""
        return np.diff(np.append(self.starts, len(self)))

    @cached_property
    def keys(self) -> Words:
        """A number for each pair of query and document."""
        with np.errstate(over="ignore"):
            return self.document.hashes ^ np.repeat(mix(self.query.hashes[self.starts]), self.lengths)

    @cached_property
    def identity(self) -> Words:
        """A number for what may stand once: query and document, and the intent where there is one."""
        if self.intent is None:
            return self.keys
        with np.errstate(over="ignore"):
            return mix(self.keys) ^ self.intent.hashes

    @property
    def second(self) -> Strings | None:
        """The second column of judgments in TREC text, whatever it holds."""
        if self.aside is not None or self.token is None:
            return self.aside
        return between(self.query, self.document)

    @cached_property
    def compared(self) -> NDArray[np.float32]:
        """The values as scores are compared: at 32 bits, and −0 as 0."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.value.astype(np.float32) + np.float32(0.0)


@dataclass(frozen=True, eq=False)
class Source:
    """One file, or one object in memory, that is looked through as often as needed."""

    file: str
    role: Role
    batches: Callable[[], Iterator[Batch]]
    findings: Findings
    data: Bytes
    """The bytes that hold the documents' ids, among others."""


def between(query: Strings, document: Strings) -> Strings:
    """What stands between query and document on their lines, white space at its ends aside."""
    data, start, end = query.data, query.start + query.length, document.start.copy()
    while (white := _WHITE[data[start]]).any():
        start = start + white
    while (white := _WHITE[data[end - 1]]).any():
        end = end - white
    return Strings(query.buffer, start, end - start)


def joined(parts: Sequence[Batch]) -> Batch:
    """Batches as one, in a buffer of its own, its rows grouped by query."""
    whole = Batch(
        number=np.concatenate([each.number for each in parts]),
        query=_packed([each.query for each in parts]),
        document=_packed([each.document for each in parts]),
        value=np.concatenate([each.value for each in parts]),
        sound=np.concatenate([each.sound for each in parts]),
        folded=np.concatenate([each.folded for each in parts]),
        fate=np.concatenate([each.fate for each in parts]),
        intent=_packed_if_there([each.intent for each in parts]),
        aside=_packed_if_there([each.second for each in parts]) if parts[0].rank is None else None,
        rank=None if parts[0].rank is None else np.concatenate([each.rank for each in parts]),
    )
    return whole[np.argsort(whole.query.hashes, kind="stable")]


def _packed_if_there(parts: Sequence[Strings | None]) -> Strings | None:
    there = [each for each in parts if each is not None]
    return _packed(there) if there else None


def _packed(parts: Sequence[Strings]) -> Strings:
    packed = [each.packed() for each in parts]
    length = np.concatenate([np.diff(offset) for _, offset in packed])
    strings = Strings.from_offsets(
        np.concatenate([data for data, _ in packed]), np.concatenate(([0], np.cumsum(length)))
    )
    strings.__dict__["hashes"] = np.concatenate([each.hashes for each in parts])
    return strings
