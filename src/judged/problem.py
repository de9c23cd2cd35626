"""Problems: what is wrong with an input and where, for readers, lint, errors and the notes of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from judged.errors import BadInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Severity: TypeAlias = Literal["error", "warning", "info"]
"""An error stops the work; a warning deserves a look; information is harmless."""
FEW_QUERIES, ZERO_RELEVANT, MISSING_VALUES = "few-queries", "zero-relevant", "missing-values"
"""Codes of notes that put all numbers in doubt."""
NO_DIRECTION = "no-direction"
"""Code of the note on measures of which nobody knows whether more is better."""

NAMED = 5
"""Maximum number of systems a note names before it counts the rest."""
KEPT = 100
"""Maximum number of problems of each code that are kept with their text; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in an input: a line of a file, a row of a table, or anything that has a name.

    >>> str(Place("bm25.run", line=3)), str(Place("scores.parquet", row=1200, field="value")), str(Place(row=1))
    ('bm25.run:3', 'scores.parquet, row 1,200, column `value`', 'row 1')
    """

    file: str = ""
    """The file as the user wrote it, or another name for the input; empty where the message needs none."""
    line: int | None = None
    """The line of a text, from 1."""
    row: int | None = None
    """The row of a table that has no lines, from 1."""
    field: str | None = None
    """The column or key."""

    def __str__(self) -> str:
        parts = [self.file if self.line is None else f"{self.file}:{self.line}"]
        if self.row is not None:
            parts.append(f"row {self.row:,}")
        if self.field is not None:
            parts.append(f"column `{self.field}`")
        return ", ".join(part for part in parts if part)


Locate: TypeAlias = Callable[[int], Place]
"""Returns the place of a row; rows count from 0."""

Line: TypeAlias = Callable[[int], int]
"""Returns the line that a row is on; rows count from 0, lines from 1."""


def locate_row(row: int) -> Place:
    """Return the place of a row that only has a number."""
    return Place(row=row + 1)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong or notable with an input.

    >>> print(Problem.error("few-columns", Place("bm25.run", line=3), "5 columns, expected 6"))
    bm25.run:3: 5 columns, expected 6
    """

    code: str
    """A stable name in kebab case, such as `few-columns`; the words of the message may change."""
    severity: Severity
    place: Place
    message: str

    @classmethod
    def error(cls, code: str, place: Place | str, message: str) -> Problem:
        """Return a problem of severity "error" at a place, or at something that has a name."""
        return cls(code, "error", Place(place) if isinstance(place, str) else place, message)

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on a result or an input as a whole, or on one system.

    Notes on several subjects that state the same fact are shown as one: the fact, then each subject with its value.
    """

    code: str
    severity: Severity
    message: str
    fact: str = ""
    """The message without its number: `unjudged among the first ten results`."""
    value: str = ""
    """The number that the fact is about: `1.2 %`."""
    subject: str = ""
    """The system or the measure it is about; empty: all of them."""

    @property
    def comes_first(self) -> bool:
        """Whether it puts all numbers in doubt, and so is shown before them."""
        return self.code in {FEW_QUERIES, ZERO_RELEVANT, MISSING_VALUES}

    def __str__(self) -> str:
        return f"{self.subject}: {self.message}" if self.subject else self.message

    def to_dict(self) -> dict[str, str]:
        """Return every part that is there by name."""
        parts = {"code": self.code, "severity": self.severity, "message": self.message}
        return parts | {name: text for name in ("fact", "value", "subject") if (text := getattr(self, name))}


def merge_notes(systems: Mapping[str, Iterable[Note]]) -> tuple[Note, ...]:
    """Return the notes of several systems under their names; one that holds for all alike stays without a name."""
    names: dict[Note, list[str]] = {}
    for system, notes in systems.items():
        for note in dict.fromkeys(notes):
            names.setdefault(note, []).append(system)
    return tuple(
        note
        for bare, found in names.items()
        for note in (
            [bare] if len(found) == len(systems) else [replace(bare, subject=name) for name in found]
        )
    )


def split_doubts(notes: Iterable[Note]) -> tuple[tuple[Note, ...], tuple[Note, ...]]:
    """Return the notes that put all numbers in doubt, and the others."""
    known = tuple(notes)
    return tuple(note for note in known if note.comes_first), tuple(n for n in known if not n.comes_first)


def group_notes(notes: Iterable[Note], *, most: int | None = NAMED) -> list[tuple[Severity, str]]:
    """Return notes as people read them, with their severity: those on one fact together, in the order of the first.

    A note names at most `most` subjects and counts the others; None: it names all.

    >>> fact = "unjudged among the first ten results"
    >>> found = [Note("unjudged", "info", "…", fact, value, name) for name, value in (("a", "1 %"), ("b", "9 %"))]
    >>> group_notes([*found, Note("unit", "info", "times are in ms", subject="a")])
    [('info', 'unjudged among the first ten results: a 1 %, b 9 %'), ('info', 'a: times are in ms')]
    """
    groups: dict[tuple[str, ...], list[Note]] = {}
    for note in notes:
        shared = (note.fact, "") if note.fact and note.subject else ("", note.message)
        groups.setdefault((note.code, note.severity, *shared), []).append(note)
    return [(group[0].severity, _word_group(group, most)) for group in groups.values()]


def _word_group(group: Sequence[Note], most: int | None) -> str:
    first = group[0]
    subjects = list(dict.fromkeys(note.subject for note in group if note.subject))
    if first.fact and len(subjects) > 1:
        return f"{first.fact}: {_list_subjects([f'{note.subject} {note.value}'.strip() for note in group], most)}"
    return f"{_list_subjects(subjects, most)}: {first.message}" if subjects else first.message


def _list_subjects(subjects: Sequence[str], most: int | None) -> str:
    if most is None or len(subjects) <= most:
        return ", ".join(subjects)
    return f"{', '.join(subjects[:most])} and {len(subjects) - most:,} more"


class Problems:
    """Collects the problems of the input called `subject`: all are counted, the first of each code are worded.

    `locate` returns the place of a row; in a text, `line` returns its line instead.

    >>> problems = Problems("bm25.run", line=lambda row: row + 1)
    >>> problems.add("not-a-number", 4, "score is `high`, expected a number")
    >>> print(*problems)
    bm25.run:5: score is `high`, expected a number
    """

    def __init__(self, subject: str, locate: Locate = locate_row, *, line: Line | None = None) -> None:
        self.subject = subject
        self.line = line
        self.counts: Counter[str] = Counter()
        """Number of problems of each code."""
        self.rows: set[int] = set()
        """Every row that has a problem."""
        self.hint: str | None = None
        """Hint of the error, unless that has a better one."""
        self._locate = locate
        self._kept: dict[str, list[tuple[int, int, Problem]]] = {}

    def __len__(self) -> int:
        return self.counts.total()

    def __iter__(self) -> Iterator[Problem]:
        """Iterate over the problems that were kept, in the order of their places."""
        everything = [entry for entries in self._kept.values() for entry in entries]
        return (problem for _, _, problem in sorted(everything, key=lambda entry: entry[:2]))

    def place(self, row: int) -> Place:
        """Return the place of a row."""
        return self._locate(row) if self.line is None else Place(self.subject, line=self.line(row))

    def follow(self, rows: Sequence[int]) -> None:
        """Renumber the rows: row `i` is the one that was `rows[i]`, and keeps its place."""
        line, locate = self.line, self._locate
        if line is not None:
            self.line = lambda row: line(rows[row])
        else:
            self._locate = lambda row: locate(rows[row])
        self.rows = {row for row, earlier in enumerate(rows) if earlier in self.rows}

    def add(self, code: str, row: int, message: str, *, severity: Severity = "error") -> None:
        """Add a problem of one row."""
        self.rows.add(row)
        self._add(code, self._order(row), lambda: Problem(code, severity, self.place(row), message))

    def add_line(self, code: str, line: int, message: str, *, severity: Severity = "error") -> None:
        """Add a problem of a line that is not a row."""
        self._add(code, line, lambda: Problem(code, severity, Place(self.subject, line=line), message))

    def add_rows(
        self,
        code: str,
        rows: Sequence[int] | NDArray[np.int64],
        describe: Callable[[int], str],
        *,
        severity: Severity = "error",
    ) -> None:
        """Add a problem of many rows, given in ascending order; `describe` words the ones that are kept."""
        for row in rows[:KEPT]:
            self.add(code, int(row), describe(int(row)), severity=severity)
        if len(rows) > KEPT:
            self.counts[code] += len(rows) - KEPT
            self.rows.update(int(row) for row in rows[KEPT:])

    def raise_if_any(self, *, hint: str | None = None, error: type[BadInput] = BadInput) -> None:
        """Raise one error for all the problems; do nothing if there are none."""
        if self.counts:
            raise error(self.subject, list(self), counts=self.counts, hint=hint or self.hint)

    def _add(self, code: str, order: int, make: Callable[[], Problem]) -> None:
        self.counts[code] += 1
        kept = self._kept.setdefault(code, [])
        if len(kept) < KEPT:
            kept.append((order, self.counts.total(), make()))

    def _order(self, row: int) -> int:
        return row if self.line is None else self.line(row)
