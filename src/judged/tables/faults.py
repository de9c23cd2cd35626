"""Faults of one input, gathered before it is refused: all of them counted, the first ones worded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadInput, Fault

__all__ = ["Faults", "Place", "row_of"]

Place = Callable[[int], str]
"""Words where a row stands: `row 3`, or `runs/bm25.csv:4`."""

KEPT = 100
"""How many faults of each kind are put into words; more than are ever shown, so the first can be found."""


def row_of(row: int) -> str:
    """Where a row stands when nothing better is known: its number, from 1."""
    return f"row {row + 1:,}"


class Faults:
    """What is wrong with the input called `subject`; `refuse` raises once, for all of it."""

    def __init__(self, subject: str, place: Place = row_of) -> None:
        self.subject = subject
        self.place = place
        self.counts: Counter[str] = Counter()
        self._worded: list[tuple[int, Fault]] = []

    def __len__(self) -> int:
        return sum(self.counts.values())

    def add(self, kind: str, row: int, what: str) -> None:
        """Note one fault of a row."""
        self.counts[kind] += 1
        if self.counts[kind] <= KEPT:
            self._worded.append((row, Fault(kind, self.place(row), what)))

    def add_line(self, kind: str, line: int, where: str, what: str) -> None:
        """Note one fault of a line that never became a row."""
        self.counts[kind] += 1
        if self.counts[kind] <= KEPT:
            self._worded.append((line, Fault(kind, where, what)))

    def add_rows(self, kind: str, rows: NDArray[np.int64], tell: Callable[[int], str]) -> None:
        """Note a fault of many rows; `tell` words those that are kept."""
        for row in rows[:KEPT].tolist():
            self._worded.append((row, Fault(kind, self.place(row), tell(row))))
        if len(rows):
            self.counts[kind] += len(rows)

    def refuse(self, *, hint: str | None = None, error: type[BadInput] = BadInput) -> None:
        """Raise one error for everything noted; nothing noted, nothing raised."""
        if self.counts:
            raise error(self.subject, self._in_order(), counts=self.counts, hint=hint)

    def _in_order(self) -> list[Fault]:
        return [fault for _, fault in sorted(self._worded, key=lambda each: each[0])]
