"""Findings of one file as they are gathered: all counted, the first ones of each kind put into words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from heapq import nsmallest

import numpy as np

from judged.checks.kinds import KINDS
from judged.checks.report import Finding, Place
from judged.kernels.segments import Ints

__all__ = ["SHOWN", "Findings"]

SHOWN = 5
"""How many places of each kind are kept."""
TWICE = ("judged-twice", "judged-differently")
BY_INTENT = (
    "these look like judgments by intent, told apart by the second column: `--intents` reads it so (in Python "
    "`intents=True`); if it holds judges, `judged.read_preferences` reads the file"
)


class Findings:
    """What was found in one file; rows stand on lines, or are numbered where there are none."""

    def __init__(self, file: str, *, lines: bool = True) -> None:
        self.file = file
        self.lines = lines
        self.counts: Counter[str] = Counter()
        self.told_apart = 0
        """Rows judged twice that differ in the second column."""
        self._places: dict[str, list[tuple[int, Place]]] = {}

    def place(self, number: int, what: str) -> Place:
        """A place of this file."""
        return Place(self.file, what, **{"line" if self.lines else "row": number})

    def where(self, number: int) -> str:
        """The words for a line or a row."""
        return self.place(number, "").where

    def whole(self, what: str) -> Place:
        """The file as a place."""
        return Place(self.file, what)

    def take(self, other: Findings) -> None:
        """Take over what was found elsewhere."""
        self.counts.update(other.counts)
        self.told_apart += other.told_apart
        for kind, places in other._places.items():
            self._places.setdefault(kind, []).extend(places)

    def add(self, kind: str, numbers: Ints, tell: Callable[[int], str]) -> None:
        """Note one kind at lines or rows of these numbers; `tell` words the element at an index."""
        if len(numbers) == 0:
            return
        self.counts[kind] += len(numbers)
        first = (
            np.argsort(numbers, kind="stable")[:SHOWN] if len(numbers) > SHOWN else np.arange(len(numbers))
        )
        known = self._places.setdefault(kind, [])
        limit = max(number for number, _ in known) if len(known) >= SHOWN else None
        known += [
            (int(numbers[i]), self.place(int(numbers[i]), tell(i)))
            for i in first.tolist()
            if limit is None or numbers[i] < limit
        ]

    def add_count(self, kind: str, count: int) -> None:
        """Count what has been found beyond what `add` was told of."""
        self.counts[kind] += count

    def wants(self, kind: str, number: int) -> bool:
        """Whether a place at this line or later could still be one of the first."""
        known = self._places.get(kind, [])
        return len(known) < SHOWN or number < max(each for each, _ in known)

    def add_place(self, kind: str, place: Place, *, count: int = 1) -> None:
        """Note something that stands at a place of another file, or of none."""
        self.counts[kind] += count
        known = self._places.setdefault(kind, [])
        if len(known) < SHOWN:
            known.append((0, place))

    def all(self) -> tuple[Finding, ...]:
        """Every finding, the gravest kinds first."""
        return tuple(
            Finding(kind, self.counts[name], self._first(name), self._hint(name))
            for name, kind in KINDS.items()
            if self.counts[name]
        )

    def _hint(self, name: str) -> str | None:
        """What to do, where most documents judged twice stand there for different values of the second column."""
        twice = sum(self.counts[each] for each in TWICE)
        return BY_INTENT if name in TWICE and 2 * self.told_apart > twice else None

    def _first(self, name: str) -> tuple[Place, ...]:
        first = nsmallest(SHOWN, self._places.get(name, []), key=lambda each: each[0])
        return tuple(place for _, place in first)
