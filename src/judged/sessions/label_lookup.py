"""Look up the label of a result: by id, URL, what deduplication calls the same, or title."""

from __future__ import annotations

from judged.dedup.find import Deduplicator
from judged.dedup.keys import Keys, make_keys
from judged.dedup.rules import Rules
from judged.tables.labels import Label, Labels
from judged.tables.sessions import Result

__all__ = ["LabelIndex"]


class LabelIndex:
    """The labels of a file, each for one task, or for any.

    A result has the label with its id or its URL; else one that deduplication calls the same; else one that consists
    of its title alone. An id without a tool matches any tool, as in judgments, whose documents may also be URLs. The
    task of a label may also be the query of a search, as in judgments of a conversation by turn. Several labels of one
    result are one entry, with the gain of the first.
    """

    def __init__(self, labels: Labels, rules: Rules) -> None:
        self._rules = rules
        self._entry: dict[tuple[object, ...], int] = {}
        self._labelled: dict[str | None, _Labelled] = {}
        self.gains: list[int] = []
        """The gain of each entry."""
        self.tasks: list[str | None] = []
        """The task of each entry."""
        self.contradictions = 0
        """Labels that differ from an earlier one of the same result."""
        self._used: set[int] = set()
        for label in labels:
            self._add(label)

    def __len__(self) -> int:
        return len(self.gains)

    @property
    def unused(self) -> int:
        """How many entries matched no result so far."""
        return len(self.gains) - len(self._used)

    def find(self, task: str, query: str | None, result: Result, scope: str | None) -> int | None:
        """Return the entry of a result for a task, or for the query it was found by; None without one."""
        keys = make_keys(result, scope, self._rules)
        tasks = (task, None) if query is None or query == task else (task, query, None)
        entry = self._first(tasks, _names(result, keys, {scope, None}))
        if entry is None:
            entry = self._same(tasks, result, scope)
        if entry is None:
            entry = self._first(tasks, _title(keys))
        if entry is not None:
            self._used.add(entry)
        return entry

    def _first(self, tasks: tuple[str | None, ...], keys: list[tuple[object, ...]]) -> int | None:
        """Return the entry of the first key that has one, for the first of the tasks that has."""
        return next(
            (self._entry[task, *key] for task in tasks for key in keys if (task, *key) in self._entry), None
        )

    def _same(self, tasks: tuple[str | None, ...], result: Result, scope: str | None) -> int | None:
        """Return the entry of what deduplication calls the same result."""
        for task in tasks:
            labelled = self._labelled.get(task)
            found = None if labelled is None else labelled.seen.match(result, scope)
            if labelled is not None and found is not None:
                return labelled.entries[found]
        return None

    def _add(self, label: Label) -> None:
        known = Result(
            id=label.id,
            domain=label.domain,
            domain_id=label.domain_id,
            url=label.url or (label.id if label.id and "://" in label.id else None),
            title=label.title,
            snippet=label.snippet,
        )
        own = make_keys(known, label.tool, self._rules)
        names = _names(known, own, {label.tool}) or ([] if known.snippet else _title(own))
        keys = [(label.task, *name) for name in names]
        entry = next((self._entry[key] for key in keys if key in self._entry), None)
        if entry is None:
            entry = len(self.gains)
            self.gains.append(label.gain)
            self.tasks.append(label.task)
        elif self.gains[entry] != label.gain:
            self.contradictions += 1
        for key in keys:
            self._entry.setdefault(key, entry)
        if known.url or known.title or known.snippet:
            self._labelled.setdefault(label.task, _Labelled(self._rules)).add(known, label.tool, entry)


def _names(result: Result, keys: Keys, tools: set[str | None]) -> list[tuple[object, ...]]:
    """Return the keys that identify a result: its id under any of the tools, its domain id, its URL."""
    found: list[tuple[object, ...]] = []
    if result.domain_id:
        found = [("domain", keys.space, keys.id), ("id", None, f"{result.domain}:{keys.id}")]
    elif keys.id:
        found = [("id", tool, keys.id) for tool in sorted(tools, key=lambda tool: tool is None)]
    if keys.url:
        found.append(("url", keys.url))
    return found


def _title(keys: Keys) -> list[tuple[object, ...]]:
    """Return the key of a label that consists of a title alone."""
    return [("title", keys.title)] if keys.title else []


class _Labelled:
    """The labelled results of one task, deduplicated as the results of sessions are."""

    def __init__(self, rules: Rules) -> None:
        self.seen = Deduplicator(rules)
        self.entries: list[int] = []
        """For each distinct result, its entry in the index."""

    def add(self, result: Result, scope: str | None, entry: int) -> None:
        """Add a labelled result."""
        if self.seen.place(result, scope) == len(self.entries):
            self.entries.append(entry)
