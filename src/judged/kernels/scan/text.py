"""Lines of white-space separated columns, read with NumPy: where the tokens are, and the numbers in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Bytes, Flags, Floats, Ints
from judged.kernels.scan.strings import Buffer, Strings

_WHITE = np.zeros(256, dtype=bool)
_WHITE[[9, 10, 11, 12, 13, 32]] = True
_FEED, _HASH, _POINT, _ZERO, _MINUS, _PLUS = 10, ord("#"), ord("."), ord("0"), ord("-"), ord("+")
# 10^22 is the largest power of ten that float64 holds exactly
_TENS = np.array([float(10**k) for k in range(23)])


ROW, SHORT, COMMENT, BLANK = range(4)
"""Kinds of lines: a row, too short to be one, a comment, or nothing."""


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of a text, and the first columns of those that are rows."""

    columns: list[Strings]
    """The first columns of every row."""
    kinds: NDArray[np.uint8]
    """Of every line, what it is."""
    counts: Ints
    """Of every line, how many columns it has; 0 for comments."""
    begins: Ints
    """Of every line, where it begins, in bytes."""

    @cached_property
    def row(self) -> Ints:
        """The number of each row's line, from 0."""
        return np.flatnonzero(self.kinds == ROW)

    @cached_property
    def short(self) -> Ints:
        """The number of each line with too few columns, from 0."""
        return np.flatnonzero(self.kinds == SHORT)

    @property
    def wide(self) -> int:
        """The number of lines with more columns than needed."""
        return int((self.counts[self.row] > len(self.columns)).sum())


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
    """Return what every line is, and the first columns of those that have enough."""
    start, end = _find_tokens(text)
    begins = np.concatenate(([0], np.flatnonzero(text == _FEED) + 1)).astype(np.int64)
    if begins[-1] == len(text):
        begins = begins[:-1]  # nothing after the last line feed
    first = np.searchsorted(start, np.append(begins, len(text)))
    counts, first = np.diff(first), first[:-1]
    kinds = np.where(counts >= columns, ROW, SHORT).astype(np.uint8)
    filled = np.flatnonzero(counts)
    kinds[filled[text[start[first[filled]]] == _HASH]] = COMMENT
    kinds[counts == 0] = BLANK
    token, buffer = first[kinds == ROW], Buffer(text)
    cut = [Strings(buffer, start[token + k], end[token + k] - start[token + k]) for k in range(columns)]
    return Lines(cut, kinds, np.where(kinds == COMMENT, 0, counts), begins)


def _find_tokens(text: Bytes) -> tuple[Ints, Ints]:
    """Return where every token starts and ends."""
    inside = np.concatenate(([False], ~_WHITE[text], [False]))
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    return edges[0::2], edges[1::2]


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
    # below 2^53 the digits are exact, so that one division rounds correctly
    plain &= (figures > 0) & (digits < np.uint64(2**53))
    value = digits.astype(np.float64) / _TENS[np.clip(fraction, 0, 22)]
    return plain, np.where(signed & (sign == _MINUS), -value, value)
