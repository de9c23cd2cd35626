"""Faults of one input, gathered before it is refused: all of them counted, the first ones worded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadInput, Fault

__all__ = ["Faults", "Line", "Place", "row_of"]

Place = Callable[[int], str]
"""Words where a row stands: `row 3`, or `runs/bm25.csv:4`."""

Line = Callable[[int], int]
"""The line of a file that a row stands on, from 1."""

KEPT = 100
"""How many faults of each kind are put into words; more than are ever shown, so the first can be found."""


def row_of(row: int) -> str:
    """Where a row stands when nothing better is known: its number, from 1."""
    return f"row {row + 1:,}"


class Faults:
    """What is wrong with the input called `subject`; `refuse` raises once, for all of it.

    Rows stand where `place` says, or, in a file, on the lines that `line` says.
    """

    def __init__(self, subject: str, place: Place = row_of, *, line: Line | None = None) -> None:
        self.subject = subject
        self.line = line
        self.counts: Counter[str] = Counter()
        self._place = place
        self._worded: list[tuple[int, Fault]] = []

    def __len__(self) -> int:
        return sum(self.counts.values())

    def place(self, row: int) -> str:
        """Where a row stands, in words."""
        return self._place(row) if self.line is None else f"{self.subject}:{self.line(row)}"

    def add(self, kind: str, row: int, what: str) -> None:
        """Note one fault of a row."""
        self.counts[kind] += 1
        if self.counts[kind] <= KEPT:
            self._worded.append((self._order(row), Fault(kind, self.place(row), what)))

    def add_line(self, kind: str, line: int, what: str) -> None:
        """Note one fault of a line that never became a row."""
        self.counts[kind] += 1
        if self.counts[kind] <= KEPT:
            self._worded.append((line, Fault(kind, f"{self.subject}:{line}", what)))

    def add_rows(self, kind: str, rows: NDArray[np.int64], tell: Callable[[int], str]) -> None:
        """Note a fault of many rows; `tell` words those that are kept."""
        for row in rows[:KEPT].tolist():
            self._worded.append((self._order(row), Fault(kind, self.place(row), tell(row))))
        if len(rows):
            self.counts[kind] += len(rows)

    def refuse(self, *, hint: str | None = None, error: type[BadInput] = BadInput) -> None:
        """Raise one error for everything noted; nothing noted, nothing raised."""
        if self.counts:
            first = sorted(self._worded, key=lambda each: each[0])
            raise error(self.subject, [fault for _, fault in first], counts=self.counts, hint=hint)

    def _order(self, row: int) -> int:
        return row if self.line is None else self.line(row)
