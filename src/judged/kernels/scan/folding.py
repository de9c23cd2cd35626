"""Case folding of ids: equal hashes for ids that differ only in the case of ASCII letters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Words
from judged.kernels.scan.strings import Strings, mix

__all__ = ["FOLDED", "LEFT", "PLAIN", "fold", "lower_words"]

PLAIN, FOLDED, LEFT = range(3)
"""An id that folding leaves as it is; one that it changes; one with other than ASCII letters, or with white
space at an end, which has to be folded as text, and whose hash says nothing."""

_TOPS = np.uint64(0x8080808080808080)
_ONES = np.uint64(0x0101010101010101)


def fold(strings: Strings) -> tuple[Words, NDArray[np.uint8]]:
    """Return the hash of every id in lower case, and which of the three kinds it is."""
    with np.errstate(over="ignore"):
        mixed = strings.length.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        fate = np.zeros(len(strings), dtype=np.uint8)
        for k in range(0, int(strings.length.max(initial=0)), 8):
            longer = np.flatnonzero(strings.length > k)
            word = strings.word(k, longer)
            lower = lower_words(word)
            fate[longer] |= np.where(lower == word, PLAIN, FOLDED).astype(np.uint8)
            fate[longer] |= np.where((word & _TOPS) > 0, LEFT, PLAIN).astype(np.uint8)
            mixed[longer] = mix(mixed[longer] ^ lower)
        fate = np.where(_white_ends(strings), LEFT, np.minimum(fate, LEFT)).astype(np.uint8)
        return np.where(fate == LEFT, np.uint64(0), mix(mixed)), fate


def lower_words(word: Words) -> Words:
    """Convert ASCII letters to lower case, eight bytes at a time."""
    low = word & ~_TOPS
    from_a = low + _ONES * np.uint64(0x80 - ord("A"))
    above_z = low + _ONES * np.uint64(0x7F - ord("Z"))
    return word | ((~word & _TOPS & (from_a ^ above_z)) >> np.uint64(2))


def _white_ends(strings: Strings) -> NDArray[np.bool_]:
    """Flag the strings that begin or end with white space or a control character."""
    white = np.zeros(len(strings), dtype=bool)
    there = np.flatnonzero(strings.length > 0)
    first = strings.data[strings.start[there]]
    last = strings.data[strings.start[there] + strings.length[there] - 1]
    white[there] = (first <= 32) | (last <= 32)
    return white
