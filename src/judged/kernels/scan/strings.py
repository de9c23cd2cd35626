"""Many byte strings in one buffer, hashed, compared and extracted without an object for each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from judged.arrays import Bytes, Flags, Ints, Words

__all__ = ["Buffer", "Bytes", "Strings", "Words", "mix"]


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

    def __getitem__(self, which: Any) -> Strings:
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
            mixed = self.length.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            for k in range(0, int(self.length.max(initial=0)), 8):
                longer = np.flatnonzero(self.length > k)
                mixed[longer] = mix(mixed[longer] ^ self.word(k, longer))
            return mix(mixed)

    def equals(self, other: Strings) -> Flags:
        """Compare with other strings, pair by pair."""
        same: Flags = self.length == other.length
        for k in range(0, int(self.length[same].max(initial=0)), 8):
            longer = np.flatnonzero(same & (self.length > k))
            same[longer] = self.word(k, longer) == other.word(k, longer)
        return same

    def sort_keys(self) -> list[Words]:
        """Return numbers whose order, first to last, is that of the bytes; zero past the end of a string."""
        keys = []
        for k in range(0, int(self.length.max(initial=0)), 8):
            key = np.zeros(len(self), dtype=np.uint64)
            longer = np.flatnonzero(self.length > k)
            key[longer] = self.word(k, longer).byteswap()
            keys.append(key)
        return keys

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


def mix(words: Words) -> Words:
    """Mix the bits of every number, so that every bit depends on all others."""
    words = (words ^ (words >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return (words ^ (words >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
