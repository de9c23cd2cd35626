"""What one judge said of results, and which of it meets what another said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from judged.dedup.rules import Rules
from judged.dedup.url import strict_key
from judged.errors import BadInput, Unreadable, WrongKind
from judged.io.read import read_judgments, read_labels
from judged.tables.judgments import Judgments
from judged.tables.labels import Label, Labels

__all__ = ["Grade", "Graded", "Grades", "graded_of", "read_grades"]

Grade: TypeAlias = int | float
_Place: TypeAlias = tuple[str | None, str | None, str]
_ANY = "\0"
"""Stands for any tool; no name is this."""
_RULES = Rules()


@dataclass(frozen=True, slots=True)
class Graded:
    """One result of one task, what it is known by, and the grade it was given."""

    task: str | None
    """None: the grade holds for whatever task the result is found."""
    keys: tuple[str, ...]
    grade: Grade
    tool: str | None = None
    """What the first key, an id, is scoped to; None: it is an id of any tool."""

    @property
    def places(self) -> Iterator[tuple[str | None, str]]:
        """Every key with the tool that it is scoped to."""
        return zip((self.tool, *(None for _ in self.keys[1:])), self.keys, strict=True)


@dataclass(frozen=True, eq=False)
class Grades:
    """The grades of one judge, one for each task and result; of a result graded twice the first counts."""

    items: tuple[Graded, ...]
    name: str
    repeated: int = 0
    """How many further grades were given to a result that had one already."""
    conflicts: int = 0
    """How many of those differ from the first."""
    _places: Mapping[_Place, int] = field(default_factory=dict, repr=False)
    """Where each task, tool and key stands; under `_ANY`, the first of any tool."""

    @classmethod
    def of(cls, items: Iterable[Graded], name: str) -> Grades:
        """The grades, each result once."""
        kept: list[Graded] = []
        places: dict[_Place, int] = {}
        repeated = conflicts = 0
        for item in items:
            own = [(item.task, tool, key) for tool, key in item.places]
            earlier = next((places[place] for place in own if place in places), None)
            if earlier is None:
                for task, tool, key in own:
                    places[task, tool, key] = len(kept)
                    if tool is not None:
                        places.setdefault((task, _ANY, key), len(kept))
                kept.append(item)
            else:
                repeated += 1
                conflicts += item.grade != kept[earlier].grade
        return cls(tuple(kept), name, repeated, conflicts, places)

    def place_of(self, item: Graded) -> int | None:
        """Where the result that another judge graded stands here, by any of its keys; None if it does not.

        What has no task holds for any, and an id without a tool is that of any tool, on either side.
        """
        for task in dict.fromkeys((item.task, None)):
            for own, key in item.places:
                for tool in (own, None) if own is not None else (None, _ANY):
                    if (task, tool, key) in self._places:
                        return self._places[task, tool, key]
        if item.task is not None:
            return None
        return next((self._of_any_task[key] for key in item.keys if key in self._of_any_task), None)

    @cached_property
    def _of_any_task(self) -> dict[str, int]:
        """Where each key first stands, whatever its task."""
        found: dict[str, int] = {}
        for at, item in enumerate(self.items):
            for key in item.keys:
                found.setdefault(key, at)
        return found

    def __len__(self) -> int:
        return len(self.items)


def read_grades(source: Any, *, name: str | None = None) -> Grades:
    """The grades of whatever holds labels or judgments: `judged.read_labels` is asked first.

    >>> [(item.task, item.keys, item.grade) for item in read_grades({"t1": {"d1": 3}}).items]
    [('t1', ('d1',), 3)]
    """
    if isinstance(source, Grades):
        return source
    table = _table(source)
    items = _of_labels(table) if isinstance(table, Labels) else _of_judgments(table)
    return Grades.of(items, name or table.name)


def _table(source: Any) -> Labels | Judgments:
    """Labels, whose gains are 0 to 4; else judgments, which may have any grade and come in more formats."""
    if isinstance(source, Judgments | Labels):
        return source
    try:
        return read_labels(source)
    except (BadInput, WrongKind, Unreadable) as refused:
        try:
            return read_judgments(source)
        except (BadInput, WrongKind, Unreadable):
            raise refused from None


def _of_labels(labels: Labels) -> Iterator[Graded]:
    yield from map(graded_of, labels)


def _of_judgments(judgments: Judgments) -> Iterator[Graded]:
    columns = (judgments.table.column(name).to_pylist() for name in ("query", "document", "grade"))
    for task, document, grade in zip(*columns, strict=True):
        yield Graded(task, (document,), int(grade) if grade.is_integer() else grade)


def graded_of(label: Label) -> Graded:
    """The result of a label, known by the surest of its keys first; by its text where it has nothing else.

    A URL is known by what deduplication makes of it, so that one with tracking is the same.
    """
    domain = None if label.domain_id is None else f"{label.domain or ''}:{label.domain_id}"
    url = label.url or (label.id if label.id and "://" in label.id else None)
    page = None if url is None else strict_key(url, _RULES) or url
    sure = tuple(key for key in (label.id, domain, page) if key is not None)
    text = "\n".join(text for text in (label.title, label.snippet) if text is not None)
    return Graded(label.task, sure or (text,), label.gain, label.tool if label.id else None)
