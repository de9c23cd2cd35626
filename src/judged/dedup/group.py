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

    __slots__ = ("_others", "_texts", "_titles", "first")

    def __init__(self, keys: Keys) -> None:
        self.first = keys.id
        self._texts = Span()
        self._texts.add(keys.text)
        self._others: Span | None = None
        self._titles = {keys.title}

    def vetoes(self, keys: Keys, *, excused: bool) -> bool:
        """Whether some member has another id and, where that is an excuse, not the same title and a related text."""
        others = self._others if keys.id == self.first else self._texts
        if others is None:
            return False
        alike = keys.title is not None and self._titles == {keys.title}
        return not (excused and alike and others.suits(keys.text))

    def add(self, keys: Keys) -> None:
        """Take in a member with an id in this space."""
        self._titles.add(keys.title)
        text = keys.text
        if keys.id == self.first:
            self._texts.add(text)
        elif text is not None and len(text) > len(self._texts.longest or ""):
            self.first, self._others, self._texts = keys.id, self._texts, Span()
            self._texts.add(text)
        else:
            self._others = self._others or Span()
            self._others.add(text)


class Group:
    """What the members of a group are known by; every pair of them passes without a veto.

    Texts are normalised when they are needed, which for most groups is never.
    """

    __slots__ = (
        *("_index", "_longest", "_rules", "_spaces", "_title", "_titled_url", "_url", "_ways"),
        *("_one_title", "_one_titled_url", "crowds", "members", "number"),
    )

    def __init__(self, number: int, rules: Rules, ways: Ways, first: Keys) -> None:
        self.number = number
        self.crowds: tuple[Crowd, ...] = ()
        self.members: dict[tuple[str | None, ...], Keys] = {}
        """Those that differ in some field, by their fields."""
        self._rules, self._ways = rules, ways
        self._spaces: dict[str, Space] = {}
        self._title: str | None = None
        self._one_title = True
        """Whether all members with a title have that one; if not, they all have the same URL."""
        self._titled_url: str | None = None
        self._one_titled_url = True
        """Whether all members with a title have that URL."""
        self._url: str | None = None
        """Where URLs veto: the one that all members with a URL have."""
        self._longest: str | None = None
        """Where texts veto: the one of which all others are beginnings."""
        self._index: dict[tuple[object, ...], Texts] | None = None
        self.add(first)

    def add(self, keys: Keys) -> None:
        """Take in a member that none of the others vetoes."""
        fields = (keys.space, keys.id, keys.url, keys.loose_url, keys.title, keys.snippet)
        if fields in self.members:
            return
        self.members[fields] = keys
        self._sum_up(keys)
        if len(self.members) > FEW:
            self._add_to_index(keys)
        for crowd in self.crowds:
            crowd.note(self.number, keys)

    def vetoes(self, keys: Keys) -> bool:
        """Whether any member differs from a result in a field in which it must not."""
        unit, space = self._rules.unit, keys.space
        if space is not None and space in self._spaces:
            excused = unit != "strict" and not space.startswith("domain:")
            if self._spaces[space].vetoes(keys, excused=excused):
                return True
        if keys.title is not None and self._title is not None and not self._has_title(keys):
            return True
        if unit == "document":
            return False
        if unit == "strict" and None not in {self._url, keys.url} and self._url != keys.url:
            return True
        text = keys.text
        return text is not None and self._longest is not None and not related(text, self._longest)

    def confidence(self, keys: Keys) -> float:
        """How sure it is that the most similar member is the same; 0 where that is not enough."""
        domain = keys.space is not None and keys.space.startswith("domain:")
        if self._index is not None:
            ways = self._ways.domain if domain else self._ways.generic
            return next((way.confidence for way in ways if self._agrees(way, keys)), 0.0)
        sure = self._ways.sure_by_domain if domain else self._ways.sure_by_generic
        return max(_confidence(member, keys, sure) for member in self.members.values())

    def _has_title(self, keys: Keys) -> bool:
        """Whether all members with a title have that of a result or, where that is an excuse, its URL."""
        if self._one_title and self._title == keys.title:
            return True
        excused = self._rules.unit != "strict" and keys.url is not None
        return excused and self._one_titled_url and self._titled_url == keys.url

    def _sum_up(self, keys: Keys) -> None:
        if keys.space is not None:
            if keys.space in self._spaces:
                self._spaces[keys.space].add(keys)
            else:
                self._spaces[keys.space] = Space(keys)
        if keys.title is not None and self._title is None:
            self._title, self._titled_url = keys.title, keys.url
        elif keys.title is not None:
            self._one_title &= keys.title == self._title
            self._one_titled_url &= keys.url == self._titled_url
        if self._rules.unit != "document":
            self._url = self._url or keys.url
            self._longest = max(self._longest or "", keys.text or "", key=len) or None

    def _add_to_index(self, keys: Keys) -> None:
        """Index a member, and once they become many, all of them."""
        fresh = [keys] if self._index is not None else self.members.values()
        self._index = {} if self._index is None else self._index
        for member in fresh:
            for fact in facts(member):
                texts = self._index.setdefault(fact, Texts())
                if member.text is not None:
                    texts.add(member.text, self.number)

    def _agrees(self, way: Way, keys: Keys) -> bool:
        """Whether some one member agrees with a result in all fields of a way."""
        identity = (keys.space, keys.id) if way.fields & ID else None
        url = keys.url if way.fields & URL else keys.loose_url if way.fields & LOOSE else None
        title = keys.title if way.fields & TITLE else None
        texts = (self._index or {}).get((way.fields & ~TEXT, identity, url, title))
        if texts is None or not way.fields & TEXT:
            return texts is not None
        return keys.text is not None and any(True for _ in texts.related(keys.text))


def _confidence(member: Keys, keys: Keys, sure: list[float]) -> float:
    """How sure it is that a member and a result are the same; texts are compared only where that matters."""
    fields = ID if keys.id is not None and member.id == keys.id and member.space == keys.space else 0
    if keys.url is not None and member.url == keys.url:
        fields |= URL
    elif keys.loose_url is not None and member.loose_url == keys.loose_url:
        fields |= LOOSE
    if keys.title is not None and member.title == keys.title:
        fields |= TITLE
    if member.stem is None or member.stem != keys.stem or sure[fields] == sure[fields | TEXT]:
        return sure[fields]
    same = member.snippet == keys.snippet or related(member.text or "", keys.text or "")
    return sure[fields | TEXT] if same else sure[fields]
