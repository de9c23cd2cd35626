"""A crowd: many groups that share one key and are different things, sorted by what keeps them apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge

from judged.dedup.group import Group
from judged.dedup.keys import Keys
from judged.dedup.rules import Rules
from judged.dedup.texts import Numbers, Texts, put
from judged.dedup.ways import ID, LOOSE, TEXT, TITLE, URL, Ways

__all__ = ["Crowd"]


class Facet:
    """The groups that have some value in one field, by that value, and those that have none."""

    __slots__ = ("of", "without")

    def __init__(self, without: Iterable[int]) -> None:
        self.of: dict[str, Numbers] = {}
        self.without: Numbers = dict.fromkeys(without)

    def note(self, number: int, value: str | None) -> None:
        """Take in that a group has a value, and so is no longer without."""
        if value is not None:
            put(self.of.setdefault(value, {}), number)
            self.without.pop(number, None)

    def suiting(self, value: str) -> list[Numbers]:
        """The groups that have this value, and those that have none."""
        return [self.without, self.of.get(value, {})]


class Crowd:
    """The groups under one key. Of those that could take a result in, it offers few.

    A group that does not veto a result has the same value as it in every field that can veto, or none. So the
    candidates by any one of these fields hold all groups that count, and the field with the fewest is taken. No group
    can be surer than the values allow that some group has; once one is as sure, the younger ones need not be looked at.
    """

    def __init__(self, fields: int, rules: Rules, ways: Ways) -> None:
        self._strict, self._unit, self._ways = rules.unit == "strict", rules.unit, ways
        self._by_text = bool(fields & TEXT)
        self.numbers: Numbers = {}
        self._titles, self._titled_urls, self._urls = Facet(()), Facet(()), Facet(())
        self._textless: Numbers = {}
        self._texts = Texts()
        self._spaces: dict[str, Facet] = {}

    def add(self, group: Group) -> None:
        """Take in a group that shares the key."""
        if group.number in self.numbers:
            return
        for facet in (self._titles, self._urls, *self._spaces.values()):
            put(facet.without, group.number)
        put(self._textless, group.number)
        put(self.numbers, group.number)
        group.crowds += (self,)
        for member in group.members.values():
            self.note(group.number, member)

    def note(self, number: int, keys: Keys) -> None:
        """Take in that a group has such a member."""
        if keys.space is not None:
            self._space(keys.space).note(number, keys.id)
        self._titles.note(number, keys.title)
        self._urls.note(number, keys.url)
        if keys.title is not None:
            self._titled_urls.note(number, keys.url)
        if keys.text is not None:
            self._texts.add(keys.text, number)
            self._textless.pop(number, None)

    def candidates(self, keys: Keys) -> tuple[Iterable[int], float]:
        """Groups, the oldest first, among them every one that could take the result in; and how sure one could be."""
        near = [] if keys.text is None else list(self._texts.related(keys.text))
        limit = self._limit(keys, by_text=bool(near))
        choices = self._choices(keys, near) if limit else [[]]
        fewest = min(choices, key=lambda choice: sum(map(len, choice)), default=[self.numbers])
        return merge(*fewest), limit

    def _limit(self, keys: Keys, *, by_text: bool) -> float:
        """How sure any of these groups could be, by the values that some of them have."""
        fields = TEXT * by_text + LOOSE * (keys.loose_url is not None)
        fields += URL * (keys.url in self._urls.of) + TITLE * (keys.title in self._titles.of)
        if keys.space is None:
            return self._ways.sure_by_generic[fields]
        fields += ID * (keys.id in self._space(keys.space).of)
        domain = keys.space.startswith("domain:")
        return (self._ways.sure_by_domain if domain else self._ways.sure_by_generic)[fields]

    def _choices(self, keys: Keys, near: list[Numbers]) -> Iterator[list[Numbers]]:
        """By each field that can tell, the groups that are not ruled out."""
        if self._by_text:
            yield near
        if keys.space is not None and keys.id is not None:
            excused = not self._strict and keys.title is not None and not keys.space.startswith("domain:")
            yield self._space(keys.space).suiting(keys.id) + (near if excused else [])
        if keys.title is not None:
            excused = not self._strict and keys.url is not None
            yield self._titles.suiting(keys.title) + (
                [self._titled_urls.of.get(keys.url or "", {})] if excused else []
            )
        if self._unit != "document" and keys.text is not None:
            yield [self._textless, *near]
        if self._strict and keys.url is not None:
            yield self._urls.suiting(keys.url)

    def _space(self, space: str) -> Facet:
        if space not in self._spaces:
            self._spaces[space] = Facet(self.numbers)
        return self._spaces[space]
