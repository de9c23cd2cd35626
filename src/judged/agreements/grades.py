"""Grades that one judge gave to results, and the lookup of another judge's results among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias, cast

from judged.dedup.rules import Rules
from judged.dedup.url import strict_key
from judged.errors import BadInput, Unreadable, WrongKind
from judged.io.read import read_judgments, read_labels
from judged.tables.inputs import JudgmentsLike, LabelsLike
from judged.tables.judgments import Judgments
from judged.tables.labels import Label, Labels

__all__ = ["Grade", "GradedResult", "Grades", "GradesLike", "describe_result", "read_grades"]

Grade: TypeAlias = int | float
GradesLike: TypeAlias = "Grades | LabelsLike | JudgmentsLike"
"""Anything that labels or judgments can be read from."""
_Key: TypeAlias = tuple[str | None, str | None, str]
_ANY_TOOL = "\0"
"""Index entry for an id of any tool; no tool has this name."""
_RULES = Rules()


@dataclass(frozen=True, slots=True)
class GradedResult:
    """One result of one task, the keys that identify it, and its grade."""

    task: str | None
    """None if the grade is valid for every task."""
    keys: tuple[str, ...]
    """Id, domain id and URL, as far as known; else the text."""
    grade: Grade
    tool: str | None = None
    """The tool that the first key, an id, belongs to; None for any tool."""

    @property
    def scoped_keys(self) -> Iterator[tuple[str | None, str]]:
        """Every key with the tool it belongs to."""
        return zip((self.tool, *(None for _ in self.keys[1:])), self.keys, strict=True)


@dataclass(frozen=True, eq=False)
class Grades:
    """The grades of one judge, one for each task and result."""

    items: tuple[GradedResult, ...]
    name: str
    repeated: int = 0
    """How many further grades were given to a result that already had one."""
    conflicts: int = 0
    """How many of those differ from the first, which counts."""
    _index: Mapping[_Key, int] = field(default_factory=dict, repr=False)
    """Position by task, tool and key; under `_ANY_TOOL`, the first of any tool."""

    @classmethod
    def from_items(cls, items: Iterable[GradedResult], name: str) -> Grades:
        """Build the index; of a result graded twice, keep the first grade."""
        kept: list[GradedResult] = []
        index: dict[_Key, int] = {}
        repeated = conflicts = 0
        for item in items:
            own = [(item.task, tool, key) for tool, key in item.scoped_keys]
            earlier = next((index[key] for key in own if key in index), None)
            if earlier is None:
                for task, tool, key in own:
                    index[task, tool, key] = len(kept)
                    if tool is not None:
                        index.setdefault((task, _ANY_TOOL, key), len(kept))
                kept.append(item)
            else:
                repeated += 1
                conflicts += item.grade != kept[earlier].grade
        return cls(tuple(kept), name, repeated, conflicts, index)

    def find(self, item: GradedResult) -> int | None:
        """Return the position of a result that another judge graded, by any of its keys; None if it is not here.

        On either side, a result without a task matches any task, and an id without a tool any tool.
        """
        for task in dict.fromkeys((item.task, None)):
            for own, key in item.scoped_keys:
                for tool in (own, None) if own is not None else (None, _ANY_TOOL):
                    if (task, tool, key) in self._index:
                        return self._index[task, tool, key]
        if item.task is not None:
            return None
        return next((self._any_task[key] for key in item.keys if key in self._any_task), None)

    @cached_property
    def _any_task(self) -> dict[str, int]:
        """First position of each key, whatever its task."""
        positions: dict[str, int] = {}
        for position, item in enumerate(self.items):
            for key in item.keys:
                positions.setdefault(key, position)
        return positions

    def __len__(self) -> int:
        return len(self.items)


def read_grades(source: GradesLike, *, name: str | None = None) -> Grades:
    """Read grades from labels or judgments; `judged.read_labels` is tried first.

    >>> [(item.task, item.keys, item.grade) for item in read_grades({"t1": {"d1": 3}}).items]
    [('t1', ('d1',), 3)]
    """
    if isinstance(source, Grades):
        return source
    table = _read_table(source)
    if isinstance(table, Labels):
        return Grades.from_items(map(describe_result, table), name or table.name)
    columns = (table.table.column(column).to_pylist() for column in ("query", "document", "grade"))
    items = (
        GradedResult(task, (document,), int(grade) if grade.is_integer() else grade)
        for task, document, grade in zip(*columns, strict=True)
    )
    return Grades.from_items(items, name or table.name)


def _read_table(source: LabelsLike | JudgmentsLike) -> Labels | Judgments:
    """Read labels, whose gains are 0 to 4; else judgments, which allow any grade."""
    if isinstance(source, Judgments | Labels):
        return source
    try:
        return read_labels(cast("LabelsLike", source))
    except (BadInput, WrongKind, Unreadable) as error:
        try:
            return read_judgments(source)
        except (BadInput, WrongKind, Unreadable):
            raise error from None


def describe_result(label: Label) -> GradedResult:
    """Return the result of a label with its keys, the most reliable first; its text if it has no other key.

    URLs are normalised as in deduplication, so that tracking parameters make no difference.
    """
    domain = None if label.domain_id is None else f"{label.domain or ''}:{label.domain_id}"
    url = label.url or (label.id if label.id and "://" in label.id else None)
    page = None if url is None else strict_key(url, _RULES) or url
    keys = tuple(key for key in (label.id, domain, page) if key is not None)
    text = "\n".join(text for text in (label.title, label.snippet) if text is not None)
    return GradedResult(label.task, keys or (text,), label.gain, label.tool if label.id else None)
