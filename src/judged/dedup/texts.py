"""Texts, ordered so that those related to another one are found without looking at the rest."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator

from judged.dedup.text import related

__all__ = ["Numbers", "Span", "Texts", "put"]

Numbers = dict[int, None]
"""Numbers of groups, each once, the oldest first."""


def put(numbers: Numbers, number: int) -> None:
    """Put a number in its place among others, which nearly always is the last."""
    late = bool(numbers) and number < next(reversed(numbers)) and number not in numbers
    numbers[number] = None
    if late:
        ordered = sorted(numbers)
        numbers.clear()
        numbers.update(dict.fromkeys(ordered))


class Texts:
    """Comparable texts, and the groups that have them."""

    def __init__(self) -> None:
        self._of: dict[str, Numbers] = {}
        self._lengths: set[int] = set()
        self._ordered: list[str] = []

    def add(self, text: str, number: int) -> None:
        """Take in that a group has a text."""
        if text not in self._of:
            self._of[text] = {}
            self._lengths.add(len(text))
            insort(self._ordered, text)
        put(self._of[text], number)

    def related(self, text: str) -> Iterator[Numbers]:
        """The groups of every text that is equal to this one, its beginning or its continuation."""
        for length in self._lengths:
            if length < len(text) and text[:length] in self._of:
                yield self._of[text[:length]]
        at = bisect_left(self._ordered, text)
        while at < len(self._ordered) and self._ordered[at].startswith(text):
            yield self._of[self._ordered[at]]
            at += 1


class Span:
    """What a text must be related to all of: their longest, and how far they all agree with it."""

    __slots__ = ("_absent", "_agree", "longest")

    def __init__(self) -> None:
        self.longest: str | None = None
        self._agree: int | None = None
        """How many characters all share, once two of them part; what is longer is related to one at most."""
        self._absent = False

    def add(self, text: str | None) -> None:
        """Take in one more text; None is one that nothing is related to."""
        if text is None:
            self._absent = True
        elif self.longest is None:
            self.longest = text
        elif not related(text, self.longest):
            shared = _shared(text, self.longest)
            self._agree = shared if self._agree is None else min(self._agree, shared)
        elif len(text) > len(self.longest):
            self.longest = text

    def suits(self, text: str | None) -> bool:
        """Whether a text is related to every one of these."""
        if text is None or self._absent:
            return False
        if self.longest is None or self._agree is None:
            return self.longest is None or related(text, self.longest)
        return len(text) <= self._agree and self.longest.startswith(text)


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low
