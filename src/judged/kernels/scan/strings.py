"""Many byte strings in one buffer: hashed, compared and cut out without making an object of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from judged.arrays import Bytes, Flags, Ints, Words

__all__ = ["Buffer", "Bytes", "Strings", "Words", "mix"]


@dataclass(frozen=True, eq=False)
class Buffer:
    """Bytes that strings lie in."""

    data: Bytes

    @cached_property
    def words(self) -> Words:
        """The eight bytes that begin at each place, as one little-endian number."""
        padded = np.concatenate((self.data, np.zeros(8, dtype=np.uint8)))
        return np.ndarray(len(self.data) + 1, dtype="<u8", buffer=padded.data, strides=(1,))


@dataclass(frozen=True, eq=False)
class Strings:
    """Strings by where they start in a buffer and how long they are."""

    buffer: Buffer
    start: Ints
    length: Ints

    @classmethod
    def from_offsets(cls, data: Bytes, offset: Ints) -> Strings:
        """Strings that lie end to end, cut by offsets."""
        return cls(Buffer(data), offset[:-1], np.diff(offset))

    @property
    def data(self) -> Bytes:
        """The bytes they lie in."""
        return self.buffer.data

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, which: Any) -> Strings:
        """Some of the strings; the buffer is shared, and so are hashes that are known already."""
        some = Strings(self.buffer, self.start[which], self.length[which])
        if "hashes" in self.__dict__:
            some.__dict__["hashes"] = self.hashes[which]
        return some

    def at(self, i: int) -> bytes:
        """One string as bytes."""
        return self.data[self.start[i] : self.start[i] + self.length[i]].tobytes()

    def tolist(self) -> list[bytes]:
        """All strings as bytes objects."""
        raw = self.data.tobytes()
        return [raw[i : i + n] for i, n in zip(self.start.tolist(), self.length.tolist(), strict=True)]

    def texts(self) -> list[str]:
        """All strings decoded from UTF-8."""
        raw = self.data.tobytes()
        if not raw.isascii():
            return [name.decode() for name in self.tolist()]
        whole = raw.decode()  # one decoding for all: in ASCII a byte is a character
        return [whole[i : i + n] for i, n in zip(self.start.tolist(), self.length.tolist(), strict=True)]

    @cached_property
    def hashes(self) -> Words:
        """A 64-bit hash of each string; equal strings have equal hashes in whichever buffer they lie."""
        with np.errstate(over="ignore"):
            mixed = self.length.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            for k in range(0, int(self.length.max(initial=0)), 8):
                longer = np.flatnonzero(self.length > k)
                mixed[longer] = mix(mixed[longer] ^ self.word(k, longer))
            return mix(mixed)

    def equals(self, other: Strings) -> Flags:
        """Which strings equal the other's, pair by pair."""
        same: Flags = self.length == other.length
        for k in range(0, int(self.length[same].max(initial=0)), 8):
            longer = np.flatnonzero(same & (self.length > k))
            same[longer] = self.word(k, longer) == other.word(k, longer)
        return same

    def sort_keys(self) -> list[Words]:
        """Numbers whose order, first to last, is that of the bytes; strings that end early have zeros."""
        keys = []
        for k in range(0, int(self.length.max(initial=0)), 8):
            key = np.zeros(len(self), dtype=np.uint64)
            longer = np.flatnonzero(self.length > k)
            key[longer] = self.word(k, longer).byteswap()
            keys.append(key)
        return keys

    def packed(self) -> tuple[Bytes, Ints]:
        """The strings end to end in a buffer of their own, and the offsets that cut it."""
        offset = np.concatenate(([0], np.cumsum(self.length)))
        where = np.repeat(self.start - offset[:-1], self.length) + np.arange(offset[-1])
        return self.data[where], offset

    def word(self, k: int, which: Ints) -> Words:
        """Bytes `k` to `k` + 8 of the chosen strings as numbers, zero where a string has ended."""
        at = self.start[which] + k
        left = np.minimum(self.length[which] - k, 8).astype(np.uint64)
        word = self.buffer.words[np.minimum(at, len(self.data))]
        return word & (np.uint64(0xFFFFFFFFFFFFFFFF) >> (np.uint64(64) - left * np.uint64(8)))


def mix(words: Words) -> Words:
    """Numbers whose every bit depends on every bit of the given ones."""
    words = (words ^ (words >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return (words ^ (words >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
