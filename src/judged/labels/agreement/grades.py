"""Grades that one judge gave to results, and the lookup of another judge's results among them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TypeAlias, cast

from judged.agents.dedup.label_index import LabelIndex
from judged.agents.dedup.rules import Rules
from judged.agents.dedup.url import strict_key
from judged.errors import BadInput, Unreadable, WrongKind
from judged.io.read import read_judgments, read_labels
from judged.labels.task import TASKS, WordLabels
from judged.tables.inputs import JudgmentsLike, LabelsLike
from judged.tables.judgments import Judgments
from judged.tables.labels import Label, Labels

Grade: TypeAlias = int | float
GradesLike: TypeAlias = "Grades | LabelsLike | JudgmentsLike"
"""Anything that labels or judgments can be read from."""
_RULES = Rules()


@dataclass(frozen=True, slots=True)
class GradedResult:
    """One result of one task, the keys that identify it, and its grade."""

    label: Label
    keys: tuple[str, ...]
    """Id, domain id and URL, as far as known; else the text."""

    @property
    def task(self) -> str | None:
        """None if the grade is valid for every task."""
        return self.label.task

    @property
    def grade(self) -> Grade:
        """The grade, on the scale of the judge."""
        return self.label.gain


@dataclass(frozen=True, eq=False)
class Grades:
    """The grades of one judge, one for each task and result."""

    items: tuple[GradedResult, ...]
    name: str
    repeated: int = 0
    """Number of further grades given to results that already had one."""
    conflicts: int = 0
    """Number of those that differ from the first, which counts."""
    words: tuple[str, ...] = ()
    """Words that the grades stand for, from 0; empty: they are grades."""
    _index: LabelIndex = field(default_factory=LabelIndex, repr=False)

    @classmethod
    def from_labels(cls, labels: Iterable[Label], name: str) -> Grades:
        """Build the index; of a result graded twice, keep the first grade."""
        index = LabelIndex(labels)
        items = tuple(map(describe_result, index.labels))
        return cls(items, name, index.repeated, index.contradictions, _index=index)

    def find(self, item: GradedResult) -> int | None:
        """Return the position of a result that another judge graded; None if it is not here.

        Results are looked up as those of sessions are. On either side, a result without a task matches any task, and an
        id without a tool any tool.
        """
        return self._index.find_label(item.label)

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
    if isinstance(table, WordLabels):
        known = (Label(task=query, id=unit, gain=level) for query, unit, level in table.labels)
        found = name or (os.fsdecode(source) if isinstance(source, str | os.PathLike) else "labels")
        return replace(Grades.from_labels(known, found), words=table.scale)
    if isinstance(table, Labels):
        return Grades.from_labels(table, name or table.name)
    columns = (table.table.column(column).to_pylist() for column in ("query", "document", "grade"))
    labels = (
        Label(task=task, id=document, gain=int(grade) if grade.is_integer() else grade)
        for task, document, grade in zip(*columns, strict=True)
    )
    return Grades.from_labels(labels, name or table.name)


def _read_table(source: LabelsLike | JudgmentsLike) -> Labels | Judgments | WordLabels:
    """Read labels, whose gains are 0 to 4; else judgments, which allow any grade; else labels in words."""
    if isinstance(source, Judgments | Labels):
        return source
    try:
        return read_labels(cast("LabelsLike", source))
    except (BadInput, WrongKind, Unreadable) as error:
        try:
            return read_judgments(source)
        except (BadInput, WrongKind, Unreadable):
            found = _read_words(source)
            if found is None:
                raise error from None
            return found


def _read_words(source: object) -> WordLabels | None:
    """Return labels of another subject's task; None if the source has none."""
    readers = dict.fromkeys(task.reader for task in map(TASKS.__getitem__, TASKS) if task.reader)
    for reader in readers:
        module, _, attribute = reader.partition(":")
        found = getattr(import_module(module), attribute)(source)
        if found is not None:
            return cast("WordLabels", found)
    return None


def describe_result(label: Label) -> GradedResult:
    """Return the result of a label with its keys, the most reliable first; its text if it has no other key.

    URLs are normalised as in deduplication, so that tracking parameters make no difference.
    """
    domain = None if label.domain_id is None else f"{label.domain or ''}:{label.domain_id}"
    url = label.url or (label.id if label.id and "://" in label.id else None)
    page = None if url is None else strict_key(url, _RULES) or url
    keys = tuple(key for key in (label.id, domain, page) if key is not None)
    text = "\n".join(text for text in (label.title, label.snippet) if text is not None)
    return GradedResult(label, keys or (text,))
