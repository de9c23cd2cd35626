"""Many byte strings in one buffer: hashed, compared, folded, looked up and extracted without an object for each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Bytes, Flags, Ints, Words

Key = TypeVar("Key", np.int64, np.uint64)
SEED = np.uint64(int.from_bytes(os.urandom(8), "little"))
"""Of all hashes in this process, so that nobody can prepare different ids of one hash."""

LONG = 1024
"""Bytes from which strings are sorted one by one rather than eight bytes at a time."""


@dataclass(frozen=True, eq=False)
class Buffer:
    """The bytes that strings are in."""

    data: Bytes

    @cached_property
    def words(self) -> Words:
        """The eight bytes that begin at every place, as one little-endian number."""
        padded = np.concatenate((self.data, np.zeros(8, dtype=np.uint8)))
        return np.ndarray(len(self.data) + 1, dtype="<u8", buffer=padded.data, strides=(1,))


@dataclass(frozen=True, eq=False)
class Strings:
    """Strings by their start in a buffer and their length."""

    buffer: Buffer
    start: Ints
    length: Ints

    @classmethod
    def from_offsets(cls, data: Bytes, offset: Ints) -> Strings:
        """Return strings that lie end to end, cut by offsets."""
        return cls(Buffer(data), offset[:-1], np.diff(offset))

    @property
    def data(self) -> Bytes:
        """The bytes of the buffer."""
        return self.buffer.data

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, which: slice | Ints | Flags) -> Strings:
        """Return some of the strings, with the same buffer and with hashes if they are known."""
        some = Strings(self.buffer, self.start[which], self.length[which])
        if "hashes" in self.__dict__:
            some.__dict__["hashes"] = self.hashes[which]
        return some

    def at(self, i: int) -> bytes:
        """Return one string as bytes."""
        return self.data[self.start[i] : self.start[i] + self.length[i]].tobytes()

    def tolist(self) -> list[bytes]:
        """Return all strings as bytes objects."""
        raw = self.data.tobytes()
        return [raw[i : i + n] for i, n in zip(self.start.tolist(), self.length.tolist(), strict=True)]

    def texts(self) -> list[str]:
        """Return all strings decoded from UTF-8."""
        raw = self.data.tobytes()
        if not raw.isascii():
            return [name.decode() for name in self.tolist()]
        whole = raw.decode()  # one decoding for all: in ASCII a byte is a character
        return [whole[i : i + n] for i, n in zip(self.start.tolist(), self.length.tolist(), strict=True)]

    @cached_property
    def hashes(self) -> Words:
        """A 64-bit hash of every string; equal strings have equal hashes in any buffer."""
        with np.errstate(over="ignore"):
            mixed = _begin_hashes(self.length)
            for k, longer in self.steps():
                mixed[longer] = mix(mixed[longer] ^ self.word(k, longer))
            return mix(mixed)

    def equals(self, other: Strings) -> Flags:
        """Compare with other strings, pair by pair."""
        same: Flags = self.length == other.length
        longer = np.flatnonzero(same & (self.length > 0))
        k = 0
        while len(longer):
            same[longer] = self.word(k, longer) == other.word(k, longer)
            k += 8
            longer = longer[same[longer] & (self.length[longer] > k)]
        return same

    def sort_keys(self) -> list[Words]:
        """Return numbers whose order, first to last, is that of the bytes; zero past the end of a string.

        There is one array for eight bytes of the longest string; if that is very long, a single one of ranks.
        """
        if self.length.max(initial=0) > LONG:
            return [self._rank()]
        keys = []
        for k, longer in self.steps():
            key = np.zeros(len(self), dtype=np.uint64)
            key[longer] = self.word(k, longer).byteswap()
            keys.append(key)
        return keys

    def _rank(self) -> Words:
        """Return the place of every string among the distinct ones, in the order of their bytes."""
        values = self.tolist()
        places = {value: place for place, value in enumerate(sorted(set(values)))}
        return np.array([places[value] for value in values], dtype=np.uint64)

    def steps(self) -> Iterator[tuple[int, Ints]]:
        """Yield every eighth byte and the strings that reach beyond it: as much work as there are bytes in all."""
        longer, k = np.flatnonzero(self.length > 0), 0
        while len(longer):
            yield k, longer
            k += 8
            longer = longer[self.length[longer] > k]

    def packed(self) -> tuple[Bytes, Ints]:
        """Return the strings end to end in a buffer of their own, and their offsets."""
        offset = np.concatenate(([0], np.cumsum(self.length)))
        where = np.repeat(self.start - offset[:-1], self.length) + np.arange(offset[-1])
        return self.data[where], offset

    def word(self, k: int, which: Ints) -> Words:
        """Return bytes `k` to `k` + 8 of the chosen strings as numbers, zero past the end of a string."""
        at = self.start[which] + k
        left = np.minimum(self.length[which] - k, 8).astype(np.uint64)
        word = self.buffer.words[np.minimum(at, len(self.data))]
        return word & (np.uint64(0xFFFFFFFFFFFFFFFF) >> (np.uint64(64) - left * np.uint64(8)))


def _begin_hashes(length: Ints) -> Words:
    # with the length: words are padded with zeros, and `a` would be equal to `a\0`
    return SEED ^ (length.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))


def mix(words: Words) -> Words:
    """Mix the bits of every number, so that every bit depends on all others."""
    words = (words ^ (words >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return (words ^ (words >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)


_SIEVE = 22
"""Bits of a key that decide, before it is looked up, whether it can be there at all."""


class Keys:
    """Sorted keys, and a bit table that rejects most keys that are not among them."""

    def __init__(self, ordered: Words) -> None:
        self.ordered = ordered
        self._sieve = np.zeros(1 << _SIEVE, dtype=bool)
        self._sieve[_cell(ordered)] = True

    def find(self, keys: Words) -> tuple[Ints, Ints]:
        """Return which of the given keys are in the set, and their first place among the sorted ones."""
        maybe = np.flatnonzero(self._sieve[_cell(keys)])
        if len(maybe) == 0:
            return maybe, maybe
        at = np.minimum(np.searchsorted(self.ordered, keys[maybe]), len(self.ordered) - 1)
        right: Flags = self.ordered[at] == keys[maybe]
        return maybe[right], at[right]


def distinct(keys: NDArray[Key]) -> NDArray[Key]:
    """Return the distinct keys, sorted.

    Much faster for many keys than `np.unique`, which may build a hash table, and which imports `numpy.ma`.
    """
    ordered = np.sort(keys)
    new: Flags = np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ordered)]
    return ordered[new]


def find_repeats(keys: Words, group: Ints, *columns: Strings) -> tuple[Ints, Ints]:
    """Return the rows whose strings occurred before in their group, ascending, and for each the first such row.

    Rows of one group with the same strings have the same key; other rows rarely share one.
    """
    ordered = np.sort(keys)
    twice = distinct(ordered[1:][ordered[1:] == ordered[:-1]])
    if len(twice) == 0:  # the usual case, and faster than sorting rows
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    rows = np.flatnonzero(is_among(keys, twice))
    place = np.searchsorted(twice, keys[rows])
    first = rows[np.unique(place, return_index=True)[1]][place]
    same: Flags = group[rows] == group[first]
    if not (same.all() and all(column[rows].equals(column[first]).all() for column in columns)):
        seen: dict[tuple[object, ...], int] = {}  # different strings with one hash: compare them by name
        names = ((int(group[row]), *(column.at(row) for column in columns)) for row in rows.tolist())
        first = np.array([seen.setdefault(name, row) for name, row in zip(names, rows.tolist(), strict=True)])
    again = rows != first
    return rows[again], first[again]


def is_among(keys: Words, wanted: Words) -> Flags:
    """Return which keys are in the sorted array `wanted`, which is not empty."""
    found: Flags = wanted[np.minimum(np.searchsorted(wanted, keys), len(wanted) - 1)] == keys
    return found


def _cell(keys: Words) -> Ints:
    """Return the cell of the table for every key."""
    return (keys >> np.uint64(64 - _SIEVE)).astype(np.int64)


PLAIN, FOLDED, LEFT = range(3)
"""An id that folding leaves as it is; one that it changes; one with other than ASCII letters, or with white
space at an end, which has to be folded as text, and whose hash says nothing."""

_TOPS = np.uint64(0x8080808080808080)
_ONES = np.uint64(0x0101010101010101)


def fold(strings: Strings) -> tuple[Words, Bytes]:
    """Return the hash of every id in lower case, and which of the three kinds it is."""
    with np.errstate(over="ignore"):
        mixed = _begin_hashes(strings.length)
        fate = np.zeros(len(strings), dtype=np.uint8)
        for k, longer in strings.steps():
            word = strings.word(k, longer)
            lower = lower_words(word)
            fate[longer] |= np.where(lower == word, PLAIN, FOLDED).astype(np.uint8)
            fate[longer] |= np.where((word & _TOPS) > 0, LEFT, PLAIN).astype(np.uint8)
            mixed[longer] = mix(mixed[longer] ^ lower)
        # FOLDED | LEFT is 3, which counts as LEFT
        fate = np.where(_white_ends(strings), LEFT, np.minimum(fate, LEFT)).astype(np.uint8)
        return np.where(fate == LEFT, np.uint64(0), mix(mixed)), fate


def lower_words(word: Words) -> Words:
    """Convert ASCII letters to lower case, eight bytes at a time."""
    low = word & ~_TOPS
    from_a = low + _ONES * np.uint64(0x80 - ord("A"))
    above_z = low + _ONES * np.uint64(0x7F - ord("Z"))
    # the top bit of a capital's byte, moved down to 0x20, the bit that makes it small
    return word | ((~word & _TOPS & (from_a ^ above_z)) >> np.uint64(2))


def _white_ends(strings: Strings) -> Flags:
    """Flag the strings that begin or end with white space or a control character."""
    white = np.zeros(len(strings), dtype=bool)
    there = np.flatnonzero(strings.length > 0)
    first = strings.data[strings.start[there]]
    last = strings.data[strings.start[there] + strings.length[there] - 1]
    white[there] = (first <= 32) | (last <= 32)
    return white
