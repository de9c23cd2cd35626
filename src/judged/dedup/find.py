"""Finds duplicates: each result, in its order, joins the cluster it belongs to or begins one."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import merge
from typing import Any

import numpy as np

from judged.dedup.crowd import Crowd
from judged.dedup.group import FEW, Group
from judged.dedup.keys import Keys, keys_of
from judged.dedup.near import NearTexts
from judged.dedup.rules import Rules
from judged.dedup.text import SHORTEST_PREFIX
from judged.dedup.ways import ways_of
from judged.tables.clusters import Clusters
from judged.tables.sessions import Result

__all__ = ["Deduplicator", "find_duplicates"]

Bucket = int | list[int] | Crowd
"""The groups under one key: mostly one, seldom several, in a crowd too many to look at each."""


class Deduplicator:
    """The results of one session so far, by cluster.

    Work for a result does not grow with the number of results before it, nor with the size of its group, nor with the
    number of groups that share one key and are kept apart by one field. It can grow with the number of groups under
    one key of which some are kept apart by one field and some by another.
    """

    def __init__(self, rules: Rules | None = None) -> None:
        self.rules = Rules() if rules is None else rules
        self.verified = 0
        """How many groups have been looked at, for all results together."""
        self._ways = ways_of(self.rules)
        self._tables: list[tuple[Any, dict[Any, Bucket], int]] = [
            (way.key(), {}, way.fields) for way in self._ways.shortest
        ]
        self._groups: list[Keys | Group] = []
        self._near = None if self.rules.near is None else NearTexts(self.rules.near)

    def place(self, result: Result, scope: str | None = None) -> int:
        """The number of the cluster that a result belongs to: an earlier one, or the next."""
        return self.place_keys(self.keys_of(result, scope))

    def match(self, result: Result, scope: str | None = None) -> int | None:
        """The number of the cluster that a result would join; None if it would begin one. Nothing is placed."""
        keys = self._standing_in(keys_of(result, scope, self.rules), keep=False)
        offers = [
            _offer(table[key], keys) for key_of, table, _ in self._tables if (key := key_of(keys)) in table
        ]
        return self._best(offers, keys) if offers else None

    def keys_of(self, result: Result, scope: str | None = None) -> Keys:
        """The keys of a result; with `near`, its text is the one that stands for it."""
        keys = keys_of(result, scope, self.rules)
        return keys if self._near is None else self._standing_in(keys, keep=True)

    def place_keys(self, keys: Keys) -> int:
        """The number of the cluster that a result with these keys belongs to."""
        following = len(self._groups)
        fresh, seen = [], []
        for key_of, table, fields in self._tables:
            key = key_of(keys)
            if key is None or (key.__class__ is tuple and None in key):
                continue
            if table.setdefault(key, following) == following:
                fresh.append((table, key))
            else:
                seen.append((table, key, fields))
        if not seen:
            self._groups.append(keys)
            return following
        number = self._placed(keys, seen)
        for table, key in fresh if number != following else ():
            table[key] = number
        return number

    def __len__(self) -> int:
        """How many clusters there are."""
        return len(self._groups)

    def _standing_in(self, keys: Keys, *, keep: bool) -> Keys:
        """The keys with the text that stands for theirs, which may stand for others from now on."""
        if self._near is not None and keys.text is not None:
            keys.words = self._near.stand_in(keys.text, keep=keep)
            keys.stem = keys.words[:SHORTEST_PREFIX]
        return keys

    def _placed(self, keys: Keys, seen: list[tuple[dict[Any, Bucket], Any, int]]) -> int:
        """The group that takes the result in, or a new one; from now on found under these keys too."""
        offers = [_offer(table[key], keys) for table, key, _ in seen]
        number = self._best(offers, keys)
        if number is None:
            number = len(self._groups)
            self._groups.append(keys)
        else:
            self._group(number).add(keys)
        for table, key, fields in seen:
            if table[key] != number:
                table[key] = self._joined(table[key], number, fields)
        return number

    def _best(self, offers: list[tuple[Iterable[int], float]], keys: Keys) -> int | None:
        """The surest of the groups that take the result in, the oldest of several; None if none does."""
        candidates = offers[0][0] if len(offers) == 1 else merge(*(numbers for numbers, _ in offers))
        limit = max(sure for _, sure in offers)
        best, surest, before = None, 0.0, -1
        for number in candidates:
            if number == before:
                continue
            before = number
            self.verified += 1
            group = self._group(number)
            if not group.vetoes(keys) and (sure := group.confidence(keys)) > surest:
                best, surest = number, sure
                if sure >= limit:
                    break
        return best

    def _group(self, number: int) -> Group:
        """The group of that number; most are never looked at again, and are no more than keys until then."""
        group = self._groups[number]
        if isinstance(group, Keys):
            group = self._groups[number] = Group(number, self.rules, self._ways, group)
        return group

    def _joined(self, bucket: Bucket, number: int, fields: int) -> Bucket:
        """The groups under one key, with one more."""
        if isinstance(bucket, Crowd):
            bucket.add(self._group(number))
            return bucket
        numbers = [bucket] if isinstance(bucket, int) else bucket
        if number in numbers:
            return bucket
        if len(numbers) < FEW:
            return sorted([*numbers, number])
        crowd = Crowd(fields, self.rules, self._ways)
        for each in (*numbers, number):
            crowd.add(self._group(each))
        return crowd


def _offer(bucket: Bucket, keys: Keys) -> tuple[Iterable[int], float]:
    """The groups under one key that may take a result in, the oldest first, and how sure one could be."""
    if isinstance(bucket, Crowd):
        return bucket.candidates(keys)
    return ((bucket,) if isinstance(bucket, int) else bucket), 1.0


def find_duplicates(results: Iterable[tuple[Result, str | None]], rules: Rules | None = None) -> Clusters:
    """The cluster of each result, given with the tool that its id is scoped to, as `Session.results()` does.

    >>> page = Result(url="https://example.com/a", title="A page")
    >>> again = Result(url="http://example.com/a?utm_source=openai", title="A page")
    >>> find_duplicates([(page, "search"), (Result(url="https://example.com/b"), "search"), (again, "search")]).of
    array([0, 1, 0])
    """
    place = Deduplicator(rules).place
    return Clusters(np.array([place(result, scope) for result, scope in results], dtype=np.int64))
