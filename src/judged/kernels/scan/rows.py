"""The NumPy reader of whole TREC lines: the kind of every line, and what checks need to know of every row.

It is the readable counterpart of the compiled `_rows`, with the same contract: both give the same `Rows`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Bytes, Flags, Floats, Ints, Words
from judged.errors import Unreadable
from judged.kernels.scan.compiled import load_compiled
from judged.kernels.scan.strings import SEED, Buffer, Strings, fold
from judged.kernels.scan.text import parse_numbers

ROW, SHORT, COMMENT, BLANK = range(4)
"""What a line is: a row, too short to be one, a comment, or nothing."""
RETURN = 16
"""Added to what a line is where it ends with a carriage return before its line feed."""
RUN, JUDGMENTS = 6, 4
"""The number of columns of a line; a run's rank and tag are the fourth and the sixth, its score the fifth."""

_WHITE = np.zeros(256, dtype=bool)
_WHITE[[9, 10, 11, 12, 13, 32]] = True
_FEED, _RETURN, _HASH = 10, 13, ord("#")


@dataclass(frozen=True, eq=False)
class Rows:
    """The lines of a text; arrays named in the singular have an element for every row, in order."""

    kinds: NDArray[np.uint8]
    """Of every line, what it is."""
    counts: Ints
    """Of every line, how many columns it has; 0 for comments."""
    begins: Ints
    """Of every line, where it begins, in bytes."""
    line: Ints
    """The number of a row's line, from 0."""
    query: Strings
    document: Strings
    token: Strings
    """The text of its score or grade."""
    value: Floats
    sound: Flags
    """Whether that text is a number; NaN is one."""
    rank: Floats
    """NaN where the rank is no number; judgments have none."""
    tag: Words
    """A hash of the tag; judgments have none."""
    folded: Words
    fate: NDArray[np.uint8]
    """The hash of the document without regard to case, and whether that is the last word: see `folding`."""


def read_rows(text: Bytes, *, columns: int) -> Rows:
    """Read the lines of a text, with the compiled reader if there is one."""
    engine = load_compiled("_rows")
    if engine is None or len(text) == 0:
        return cut_rows(text, columns=columns)
    try:
        return _from_parts(text, engine.cut_rows(text, columns, int(SEED)))
    except BlockingIOError as error:
        msg = "a file changed while it was read"
        raise Unreadable(msg, hint="wait until it is written, or read a copy") from error


def cut_rows(text: Bytes, *, columns: int) -> Rows:
    """Read the lines of a text with NumPy; `columns` is 6 for a run and 4 for judgments."""
    start, end = _tokens(text)
    feeds = np.flatnonzero(text == _FEED)
    begins = np.concatenate(([0], feeds + 1)).astype(np.int64)
    if begins[-1] == len(text):
        begins = begins[:-1]  # nothing after the last line feed
    first = np.searchsorted(start, np.append(begins, len(text)))
    counts, first = np.diff(first), first[:-1]
    kinds = np.where(counts >= columns, ROW, SHORT).astype(np.uint8)
    kinds[counts == 0] = BLANK
    kinds[counts > 0] = np.where(text[start[first[counts > 0]]] == _HASH, COMMENT, kinds[counts > 0])
    counts = np.where(kinds == COMMENT, 0, counts)
    line = np.flatnonzero(kinds == ROW)
    ended = feeds[feeds > 0]
    kinds[np.searchsorted(feeds, ended[text[ended - 1] == _RETURN])] += RETURN
    buffer, token = Buffer(text), first[line]
    column = [Strings(buffer, start[token + k], end[token + k] - start[token + k]) for k in range(columns)]
    value, sound = parse_numbers(column[4 if columns == RUN else 3])
    folded, fate = fold(column[2])
    none = np.zeros(0)
    return Rows(
        kinds=kinds,
        counts=counts,
        begins=begins,
        line=line,
        query=column[0],
        document=column[2],
        token=column[4 if columns == RUN else 3],
        value=value,
        sound=sound,
        rank=parse_numbers(column[3])[0] if columns == RUN else none,
        tag=column[5].hashes if columns == RUN else none.astype(np.uint64),
        folded=folded,
        fate=fate,
    )


def _tokens(text: Bytes) -> tuple[Ints, Ints]:
    """Return where every token starts and ends."""
    if len(text) == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    inside = ~_WHITE[text]
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    edges = np.concatenate(([0] if inside[0] else [], edges, [len(text)] if inside[-1] else []))
    edges = edges.astype(np.int64)
    return edges[0::2], edges[1::2]


def _from_parts(text: Bytes, parts: dict[str, Any]) -> Rows:
    """Return rows from the flat arrays of the compiled reader, with the hashes that it has computed."""
    buffer = Buffer(text)
    for name in ("query", "document", "token"):
        strings = Strings(buffer, parts.pop(f"{name}_start"), parts.pop(f"{name}_length"))
        hashes = parts.pop(f"{name}_hash", None)
        if hashes is not None:
            strings.__dict__["hashes"] = hashes
        parts[name] = strings
    return Rows(**parts)
