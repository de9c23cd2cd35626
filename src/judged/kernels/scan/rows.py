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
from judged.kernels.scan.text import parse_numbers, split_lines

RETURN = 16
"""Added to what a line is where it ends with a carriage return before its line feed."""
RUN, JUDGMENTS = 6, 4
"""The number of columns of a line; a run's rank and tag are the fourth and the sixth, its score the fifth."""

_FEED, _RETURN = 10, 13


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
    """NaN where the rank is not a number; judgments have none."""
    tag: Words
    """A hash of the tag; judgments have none."""
    folded: Words
    fate: NDArray[np.uint8]
    """The hash of the document without regard to case, and whether that is the last word: see `folding`."""


def read_rows(text: Bytes, *, columns: int) -> Rows:
    """Read the lines of a text, with the compiled reader if there is one."""
    implementation = load_compiled("_rows")
    if implementation is None or len(text) == 0:
        return cut_rows(text, columns=columns)
    try:
        return _from_parts(text, implementation.cut_rows(text, columns, int(SEED)))
    except BlockingIOError as error:
        msg = "a file changed while it was read"
        raise Unreadable(msg, hint="wait until it is written, or read a copy") from error


def cut_rows(text: Bytes, *, columns: int) -> Rows:
    """Read the lines of a text with NumPy; `columns` is 6 for a run and 4 for judgments."""
    lines = split_lines(text, columns)
    column, run = lines.columns, columns == RUN
    line, kinds = lines.row, lines.kinds.copy()
    ended = np.flatnonzero((text[1:] == _FEED) & (text[:-1] == _RETURN))
    kinds[np.searchsorted(lines.begins, ended, side="right") - 1] += RETURN
    token = column[4 if run else 3]
    value, sound = parse_numbers(token)
    folded, fate = fold(column[2])
    none = np.zeros(0)
    return Rows(
        kinds=kinds,
        counts=lines.counts,
        begins=lines.begins,
        line=line,
        query=column[0],
        document=column[2],
        token=token,
        value=value,
        sound=sound,
        rank=parse_numbers(column[3])[0] if run else none,
        tag=column[5].hashes if run else none.astype(np.uint64),
        folded=folded,
        fate=fate,
    )


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
