"""A group of results found the same, summed up so that no result need be compared with every member."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.dedup.keys import Keys
from judged.dedup.rules import Rules
from judged.dedup.text import related
from judged.dedup.texts import Span, Texts
from judged.dedup.ways import ID, LOOSE, TEXT, TITLE, URL, Way, Ways, facts

if TYPE_CHECKING:
    from judged.dedup.crowd import Crowd

__all__ = ["FEW", "Group"]

FEW = 8
"""Up to so many are looped over; more are indexed."""


class Space:
    """The ids that a group has within one domain or tool, and when another id vetoes.

    Members of different ids agree in title and text, or they would not be in one group. So all texts but those of one
    id are beginnings of that id's: `first`, which has the longest. Whatever is related to its texts is related to all.
    """

    __slots__ = ("_others", "_texts", "first", "titles")

    def __init__(self, keys: Keys, text: str | None) -> None:
        self.first = keys.id
        self._texts = Span()
        self._texts.add(text)
        self._others: Span | None = None
        self.titles = {keys.title}

    def vetoes(self, keys: Keys, text: str | None, *, excused: bool) -> bool:
        """Whether some member has another id and, where that is an excuse, not the same title and a related text."""
        others = self._others if keys.id == self.first else self._texts
        if others is None:
            return False
        alike = keys.title is not None and len(self.titles) == 1 and keys.title in self.titles
        return not (excused and alike and others.suits(text))

    def add(self, keys: Keys, text: str | None) -> None:
        """Take in a member with an id in this space."""
        self.titles.add(keys.title)
        if keys.id == self.first:
            self._texts.add(text)
        elif text is not None and len(text) > len(self._texts.longest or ""):
            self.first, self._others, self._texts = keys.id, self._texts, Span()
            self._texts.add(text)
        else:
            self._others = self._others or Span()
            self._others.add(text)


class Group:
    """What the members of a group are known by; every pair of them passes without a veto."""

    def __init__(self, number: int, rules: Rules, ways: Ways, first: Keys) -> None:
        self.number = number
        self.crowds: list[Crowd] = []
        self.members: dict[tuple[str | None, ...], None] = {}
        """The members that differ in some field, as space, id, URL, loose URL, title, text."""
        self.spaces: dict[str, Space] = {}
        self.titles: set[str] = set()
        self._rules, self._ways = rules, ways
        self._titled_urls: set[str | None] = set()
        self._urls: set[str] = set()
        self._texts = Span()
        self._index: dict[tuple[object, ...], Texts] | None = None
        self.add(first, first.text)

    def add(self, keys: Keys, text: str | None) -> None:
        """Take in a member that none of the others vetoes."""
        member = (keys.space, keys.id, keys.url, keys.loose_url, keys.title, text)
        if member in self.members:
            return
        self.members[member] = None
        if keys.space is not None:
            if keys.space in self.spaces:
                self.spaces[keys.space].add(keys, text)
            else:
                self.spaces[keys.space] = Space(keys, text)
        if keys.title is not None:
            self.titles.add(keys.title)
            self._titled_urls.add(keys.url)
        if keys.url is not None:
            self._urls.add(keys.url)
        if text is not None:
            self._texts.add(text)
        self._register(member)
        for crowd in self.crowds:
            crowd.note(self.number, member)

    def vetoes(self, keys: Keys, text: str | None) -> bool:
        """Whether any member differs from a result in a field in which it must not."""
        strict = self._rules.unit == "strict"
        if keys.space in self.spaces:
            excused = not strict and not keys.space.startswith("domain:")
            if self.spaces[keys.space].vetoes(keys, text, excused=excused):
                return True
        if keys.title is not None and self.titles and self.titles != {keys.title}:
            at_one_url = keys.url is not None and self._titled_urls == {keys.url}
            if strict or not at_one_url:
                return True
        if strict and keys.url is not None and self._urls and self._urls != {keys.url}:
            return True
        texts = self._rules.unit != "document" and text is not None and self._texts.longest is not None
        return texts and not self._texts.suits(text)

    def confidence(self, keys: Keys, text: str | None) -> float:
        """How sure it is that the most similar member is the same; 0 where that is not enough."""
        domain = keys.space is not None and keys.space.startswith("domain:")
        if self._index is not None:
            ways = self._ways.domain if domain else self._ways.generic
            return next((way.confidence for way in ways if self._agrees(way, keys, text)), 0.0)
        sure = self._ways.sure_by_domain if domain else self._ways.sure_by_generic
        return max(sure[_agreement(member, keys, text)] for member in self.members)

    def _register(self, member: tuple[str | None, ...]) -> None:
        """Index the member, and once they become many, all of them."""
        if self._index is None and len(self.members) <= FEW:
            return
        fresh = self.members if self._index is None else [member]
        self._index = self._index or {}
        for each in fresh:
            for fact in facts(*each[:5]):
                texts = self._index.setdefault(fact, Texts())
                if each[5] is not None:
                    texts.add(each[5], self.number)

    def _agrees(self, way: Way, keys: Keys, text: str | None) -> bool:
        """Whether some one member agrees with a result in all fields of a way."""
        identity = (keys.space, keys.id) if way.fields & ID else None
        url = keys.url if way.fields & URL else keys.loose_url if way.fields & LOOSE else None
        title = keys.title if way.fields & TITLE else None
        texts = (self._index or {}).get((way.fields & ~TEXT, identity, url, title))
        if texts is None or not way.fields & TEXT:
            return texts is not None
        return text is not None and any(True for _ in texts.related(text))


def _agreement(member: tuple[str | None, ...], keys: Keys, text: str | None) -> int:
    """The fields in which a member and a result agree."""
    space, identity, url, loose_url, title, other = member
    fields = ID if identity is not None and identity == keys.id and space == keys.space else 0
    if url is not None and url == keys.url:
        fields |= URL
    elif loose_url is not None and loose_url == keys.loose_url:
        fields |= LOOSE
    if title is not None and title == keys.title:
        fields |= TITLE
    if other is not None and text is not None and related(other, text):
        fields |= TEXT
    return fields
