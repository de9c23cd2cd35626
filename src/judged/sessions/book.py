"""Labels of a file, looked up by what results are known by."""

from __future__ import annotations

from judged.dedup.keys import keys_of
from judged.dedup.rules import Rules
from judged.tables.labels import Label, Labels
from judged.tables.session import Result

__all__ = ["Book"]


class Book:
    """The labels of a file; a result has the label that shares its domain id, id, URL or text, in this order.

    A label's id may be that of any tool, since whoever wrote labels knows no tools. A label without a task counts for
    every task; the task of a label may also be the query of a search, as in judgments of a conversation by turn. Several labels of one result are one entry of the book, with the gain of the first.
    """

    def __init__(self, labels: Labels, rules: Rules) -> None:
        self._rules = rules
        self._entry: dict[tuple[object, ...], int] = {}
        self.gains: list[int] = []
        """The gain of each entry."""
        self.tasks: list[str | None] = []
        """The task of each entry."""
        self.contradictions = 0
        """Labels that differ from an earlier one of the same result."""
        self._used: set[int] = set()
        self._texts = False  # whether any label has a text, without which none need be normalised
        for label in labels:
            self._add(label)

    def __len__(self) -> int:
        return len(self.gains)

    @property
    def unused(self) -> int:
        """How many entries no result was found for so far."""
        return len(self.gains) - len(self._used)

    def find(self, task: str, query: str | None, result: Result) -> int | None:
        """The entry of a result for a task, or for the query it was found by; None if there is none."""
        keys = self._lookups(result)
        for of in (task, query or task, None):
            for key in keys:
                entry = self._entry.get((of, *key))
                if entry is not None:
                    self._used.add(entry)
                    return entry
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
        self._texts = self._texts or bool(label.snippet)
        keys = [(label.task, *key) for key in self._lookups(known)]
        entry = next((self._entry[key] for key in keys if key in self._entry), None)
        if entry is None:
            entry = len(self.gains)
            self.gains.append(label.gain)
            self.tasks.append(label.task)
        elif self.gains[entry] != label.gain:
            self.contradictions += 1
        for key in keys:
            self._entry.setdefault(key, entry)

    def _lookups(self, result: Result) -> list[tuple[object, ...]]:
        """What a label is found by, the surest first; a domain id also as an id with its domain before it."""
        keys = keys_of(result, None, self._rules)
        found: list[tuple[object, ...]] = []
        if result.domain_id:
            found = [("domain", keys.space, keys.id), ("id", f"{result.domain}:{keys.id}")]
        elif keys.id:
            found = [("id", keys.id)]
        if keys.url:
            found.append(("url", keys.url))
        if self._texts and keys.text:
            found.append(("text", keys.text, keys.title))
        return found
