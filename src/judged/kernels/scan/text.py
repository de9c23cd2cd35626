"""Lines of white-space separated columns, read with NumPy: where the tokens are, and the numbers in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from judged.arrays import Bytes, Flags, Floats, Ints
from judged.kernels.scan.strings import Buffer, Strings

_WHITE = np.zeros(256, dtype=bool)
_WHITE[[9, 10, 11, 12, 13, 32]] = True
_FEED, _HASH, _POINT, _ZERO, _MINUS, _PLUS = 10, ord("#"), ord("."), ord("0"), ord("-"), ord("+")
_TENS = np.array([float(10**k) for k in range(23)])


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of a text that have enough columns, those that have too few, and how many have more."""

    columns: list[Strings]
    """The first columns of every good line."""
    begin: Ints
    """Where every valid line begins, in bytes."""
    short: Ints
    """Where every line with too few columns begins."""
    short_count: Ints
    """The number of its columns."""
    wide: int
    """The number of lines with more columns than needed."""


def find_line_end(text: Any, wanted: int) -> int:
    """Return the end of the line that ends at or after the byte before `wanted`, its line feed included.

    The text is an array of bytes, or has a length and slices that are.
    """
    while wanted < len(text):
        feed = np.flatnonzero(text[wanted - 1 : wanted + 4095] == ord("\n"))
        if len(feed):
            return wanted + int(feed[0])
        wanted += 4096
    return len(text)


def split_lines(text: Bytes, columns: int) -> Lines:
    """Return the columns of every line that is neither blank nor a comment."""
    buffer = Buffer(text)
    if len(text) == 0:
        nothing = np.zeros(0, dtype=np.int64)
        return Lines([Strings(buffer, nothing, nothing)] * columns, nothing, nothing, nothing, 0)
    inside = ~_WHITE[text]
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    edges = np.concatenate(([0] if inside[0] else [], edges, [len(text)] if inside[-1] else [])).astype(
        np.int64
    )
    start, end = edges[0::2], edges[1::2]
    feeds = np.flatnonzero(text == _FEED)
    begin = np.concatenate(([0], feeds + 1))
    first = np.concatenate(([0], np.searchsorted(start, feeds), [len(start)]))
    count, first = np.diff(first), first[:-1]
    filled = count > 0
    filled[filled] = text[start[first[filled]]] != _HASH
    good = filled & (count >= columns)
    short = filled & (count < columns)
    token = first[good]
    cut = [Strings(buffer, start[token + k], end[token + k] - start[token + k]) for k in range(columns)]
    return Lines(cut, begin[good], begin[short], count[short], int((count[good] > columns).sum()))


def parse_numbers(tokens: Strings) -> tuple[Floats, Flags]:
    """Return the number of every token, correctly rounded, and which tokens are numbers."""
    plain, value = _parse_decimals(tokens)
    good = plain.copy()
    for i in np.flatnonzero(~plain).tolist():
        try:
            value[i], good[i] = _parse_float(tokens.at(i)), True
        except ValueError:
            value[i] = np.nan
    return value, good


def _parse_float(token: bytes) -> float:
    """Parse a number as Python does, without underscores."""
    if b"_" in token:
        raise ValueError
    return float(token)


def _parse_decimals(tokens: Strings) -> tuple[Flags, Floats]:
    """Return which tokens are decimals short enough for one exact division, and their values."""
    data, at = tokens.data, tokens.start
    end = at + tokens.length
    sign = data[np.minimum(at, max(len(data) - 1, 0))] if len(data) else np.zeros(len(at), np.uint8)
    signed = ((sign == _MINUS) | (sign == _PLUS)) & (tokens.length > 0)
    at = at + signed
    digits = np.zeros(len(at), dtype=np.uint64)
    fraction = np.full(len(at), -1, dtype=np.int64)
    plain = (end - at >= 1) & (end - at <= 17)
    figures = np.zeros(len(at), dtype=np.int64)
    for k in range(int((end - at)[plain].max(initial=0))):
        here = plain & (at + k < end)
        symbol = data[np.where(here, at + k, 0)]
        point = here & (symbol == _POINT) & (fraction < 0)
        figure = here & (symbol >= _ZERO) & (symbol < _ZERO + 10)
        plain &= ~here | point | figure
        digits = np.where(figure, digits * np.uint64(10) + (symbol - _ZERO), digits)
        fraction += figure & (fraction >= 0)
        fraction[point] = 0
        figures += figure
    plain &= (figures > 0) & (digits < np.uint64(2**53))
    value = digits.astype(np.float64) / _TENS[np.clip(fraction, 0, 22)]
    return plain, np.where(signed & (sign == _MINUS), -value, value)
