"""Finds duplicates: each result, in its order, joins the cluster it belongs to or begins one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from judged.dedup.keys import Keys, keys_of
from judged.dedup.rules import Rules
from judged.dedup.verify import compare, confidence, vetoes
from judged.tables.clusters import Clusters
from judged.tables.session import Result

__all__ = ["Deduplicator", "find_duplicates"]


class Deduplicator:
    """The results of one session so far, by cluster."""

    def __init__(self, rules: Rules | None = None) -> None:
        self.rules = Rules() if rules is None else rules
        self._groups: list[list[Keys]] = []

    def place(self, result: Result, scope: str | None = None) -> int:
        """The number of the cluster that a result belongs to: an earlier one, or the next."""
        keys = keys_of(result, scope, self.rules)
        best, number = 0.0, len(self._groups)
        for candidate, members in enumerate(self._groups):
            compared = [compare(keys, member) for member in members]
            if any(vetoes(each, self.rules.unit) for each in compared):
                continue
            sure = max(confidence(each, self.rules.weights) for each in compared)
            if sure >= self.rules.threshold and sure > best:
                best, number = sure, candidate
        if number == len(self._groups):
            self._groups.append([])
        self._groups[number].append(keys)
        return number

    def __len__(self) -> int:
        """How many clusters there are."""
        return len(self._groups)


def find_duplicates(results: Iterable[tuple[Result, str | None]], rules: Rules | None = None) -> Clusters:
    """The cluster of each result, given with the tool that its id is scoped to, as `Session.results()` does.

    >>> page = Result(url="https://example.com/a", title="A page")
    >>> again = Result(url="http://example.com/a?utm_source=openai", title="A page")
    >>> find_duplicates([(page, "search"), (Result(url="https://example.com/b"), "search"), (again, "search")]).of
    array([0, 1, 0])
    """
    place = Deduplicator(rules).place
    return Clusters(np.fromiter((place(result, scope) for result, scope in results), dtype=np.int64))
