"""Look up the label of a result: by id, URL, what deduplication calls the same, or title; one look-up for all commands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import TypeAlias

from judged.agents.dedup.find import Deduplicator
from judged.agents.dedup.keys import Keys, make_keys
from judged.agents.dedup.match import compare
from judged.agents.dedup.rules import Rules
from judged.agents.tables import Hit, Session
from judged.tables.content import normalise_text
from judged.tables.labels import Label

Tasks: TypeAlias = Sequence[str | None]
"""The names of a task under which labels may be given, the most particular first; None: labels for every task."""
_Key: TypeAlias = tuple[object, ...]
_ANY_TOOL = "\0"
"""The tool under which the id of any tool is found; no tool has this name."""


def name_tasks(session: Session) -> tuple[str, ...]:
    """Return the names under which the results of a session may be labelled: its task, what was asked, its id.

    A mere place in a file is not a name.
    """
    asked = [*session.earlier, *([session.question] if session.question else [])]
    names = [
        None if session.task_from == "position" else session.task,
        " / ".join(asked),
        session.question,
        None if session.unnamed else session.conversation,
    ]
    return tuple(dict.fromkeys(name for name in names if name))


def to_result(label: Label) -> Hit:
    """Return the result that a label describes, as far as it says; an id that is a URL is one."""
    return Hit(
        id=label.id,
        domain=label.domain,
        domain_id=label.domain_id,
        url=label.url or (label.id if label.id and "://" in label.id else None),
        title=label.title,
        snippet=label.snippet,
    )


class LabelIndex:
    """Labels by the results that they describe, each for one task, or for any.

    A result has the label with its id or its URL; else one that deduplication calls the same; else one that consists
    of its title alone. An id without a tool matches any tool, as in judgments, whose documents may also be URLs; an id
    whose label has another URL and another title does not match. Questions match regardless of case and punctuation.
    Several labels of one result are one entry, the first of them.
    """

    def __init__(self, labels: Iterable[Label] = (), rules: Rules | None = None) -> None:
        self._rules = rules or Rules()
        self._entry: dict[_Key, int] = {}
        self._labelled: dict[str | None, _Labelled] = {}
        self._titled: dict[tuple[str | None, str | None], int] = {}
        """The first entry with each title, by task."""
        self._keys: list[Keys] = []
        self.labels: list[Label] = []
        """The first label of each entry."""
        self.repeated = 0
        """Labels of a result that has an earlier one."""
        self.contradictions = 0
        """Those of them that differ from the earlier one."""
        self.used: set[int] = set()
        """The entries that matched a result so far."""
        for label in labels:
            self.add(label)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def unused(self) -> int:
        """Number of entries that have matched no result so far."""
        return len(self.labels) - len(self.used)

    def find(self, tasks: Tasks, result: Hit, scope: str | None) -> int | None:
        """Return the entry of a result for the first of the tasks that has one; None without any."""
        keys = make_keys(result, scope, self._rules)
        tasks = [task_key(task) for task in tasks]
        entry = self._first(tasks, _names(result, keys, [scope, None] if scope else [None, _ANY_TOOL]), keys)
        if entry is None:
            entry = self._same(tasks, result, scope)
        if entry is None:
            entry = self._first(tasks, _title(keys), keys)
        if entry is not None:
            self.used.add(entry)
        return entry

    def find_label(self, label: Label) -> int | None:
        """Return the entry of the result that another label describes; without a task, of any task."""
        if label.task is None:
            return self._without_tasks.find_described((None,), label)
        return self.find_described((label.task, None), label)

    def find_described(self, tasks: Tasks, label: Label) -> int | None:
        """Return the entry of the result that a label describes; a title alone describes any result of that title."""
        known = to_result(label)
        entry = self.find(tasks, known, label.tool)
        if entry is not None or known.id or known.domain_id or known.url or known.snippet:
            return entry
        title = normalise_text(known.title or "")
        return next(
            (self._titled[key] for task in tasks if (key := (task_key(task), title)) in self._titled), None
        )

    @cached_property
    def _without_tasks(self) -> LabelIndex:
        """The same labels regardless of task; entries keep their numbers."""
        index = LabelIndex(rules=self._rules)
        for entry, label in enumerate(self.labels):
            index._place(label, None, entry)
        return index

    def _first(self, tasks: Tasks, names: list[_Key], keys: Keys) -> int | None:
        """Return the entry of the first name that has one, for the first of the tasks that has."""
        for task in tasks:
            for name in names:
                entry = self._entry.get((task, *name))
                if entry is not None and not (name[0] == "id" and self._contradicts(keys, entry)):
                    return entry
        return None

    def _contradicts(self, keys: Keys, entry: int) -> bool:
        """Return whether a result of the same id has another URL and another title than the label's."""
        fields = compare(keys, self._keys[entry]) if entry < len(self._keys) else None
        return fields is not None and fields.url is False and fields.title is False

    def _same(self, tasks: Tasks, result: Hit, scope: str | None) -> int | None:
        """Return the entry of what deduplication calls the same result."""
        for task in tasks:
            labelled = self._labelled.get(task)
            cluster = None if labelled is None else labelled.seen.match(result, scope)
            if labelled is not None and cluster is not None:
                return labelled.entries[cluster]
        return None

    def add(self, label: Label) -> int:
        """Add a label; return its entry, an earlier one if the result has one."""
        entry = self._place(label, task_key(label.task), len(self.labels))
        if entry == len(self.labels):
            self.labels.append(label)
            self._keys.append(make_keys(to_result(label), label.tool, self._rules))
        else:
            self.repeated += 1
            self.contradictions += self.labels[entry].gain != label.gain
        return entry

    def _place(self, label: Label, task: str | None, number: int) -> int:
        """Index a label under a task; return the number of the entry that its result has, else the given one."""
        known = to_result(label)
        own = make_keys(known, label.tool, self._rules)
        names = _names(known, own, [label.tool]) or ([] if known.snippet else _title(own))
        entry = next((self._entry[task, *name] for name in names if (task, *name) in self._entry), number)
        for name in names:
            self._entry.setdefault((task, *name), entry)
            if name[0] == "id" and label.tool is not None:
                self._entry.setdefault((task, "id", _ANY_TOOL, name[-1]), entry)
        if known.url or known.title or known.snippet:
            labelled = self._labelled.setdefault(task, _Labelled(self._rules))
            entry = labelled.add(known, label.tool, entry, exact=bool(names))
            self._titled.setdefault((task, own.title), entry)
        return entry


@lru_cache(maxsize=4096)
def task_key(task: str | None) -> str | None:
    """Return what a task is looked up by: its id as it is, a question without regard to case and punctuation."""
    return task if task is None or " " not in task else normalise_text(task) or task


def _names(result: Hit, keys: Keys, tools: list[str | None]) -> list[_Key]:
    """Return the keys that identify a result: its id under any of the tools, its domain id, its URL."""
    names: list[_Key] = []
    if result.domain_id:
        names = [("domain", keys.space, keys.id), ("id", None, f"{result.domain}:{keys.id}")]
    elif keys.id:
        names = [("id", tool, keys.id) for tool in tools]
    if keys.url:
        names.append(("url", keys.url))
    return names


def _title(keys: Keys) -> list[_Key]:
    """Return the key of a label that consists of a title alone."""
    return [("title", keys.title)] if keys.title else []


class _Labelled:
    """The labelled results of one task, deduplicated as the results of sessions are."""

    def __init__(self, rules: Rules) -> None:
        self.seen = Deduplicator(rules)
        self.entries: list[int] = []
        """For each distinct result, its entry in the index."""

    def add(self, result: Hit, scope: str | None, entry: int, *, exact: bool) -> int:
        """Add a labelled result; return its entry, if it has no id or URL that of the same result."""
        group = self.seen.place(result, scope)
        if group == len(self.entries):
            self.entries.append(entry)
        return entry if exact else self.entries[group]
