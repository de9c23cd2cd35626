"""Ways of being the same: the sets of fields whose agreement is enough, from the surest down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from operator import attrgetter
from typing import Any

from judged.dedup.keys import Keys
from judged.dedup.rules import Rules
from judged.errors import BadProtocol

__all__ = ["ID", "LOOSE", "TEXT", "TITLE", "URL", "Way", "Ways", "facts", "ways_of"]

ID, URL, LOOSE, TITLE, TEXT = 1, 2, 4, 8, 16
"""The fields in which results can agree, as bits; a set of fields is their sum."""
KeyOf = Callable[[Keys], Any]
_LOOK_UP = {ID: ("space", "id"), URL: ("url",), LOOSE: ("loose_url",), TITLE: ("title",), TEXT: ("stem",)}


@dataclass(frozen=True, slots=True)
class Way:
    """A set of fields that are enough together, and how sure they make it."""

    fields: int
    confidence: float

    def key(self) -> KeyOf:
        """What takes the values of these fields from the keys of a result; texts are looked up by their stem."""
        return attrgetter(*(name for bit, names in _LOOK_UP.items() if self.fields & bit for name in names))


class Ways:
    """The ways in which results can be the same under some rules, with ids of a domain and with those of a tool."""

    def __init__(self, rules: Rules) -> None:
        self.domain = _ways(rules, rules.weights.domain)
        self.generic = _ways(rules, rules.weights.generic)
        self.sure_by_domain = _by_fields(self.domain)
        """For each set of fields that agree, how sure that makes it; 0 where it is not enough."""
        self.sure_by_generic = _by_fields(self.generic)
        if not self.domain and not self.generic:
            msg = f"no fields of the rules of deduplication reach the threshold, {rules.threshold}"
            raise BadProtocol(msg, hint="raise weights, or lower the threshold")
        self.shortest = self._shortest()
        """The ways that hold no other: whatever is the same in some way is so in one of these."""

    def _shortest(self) -> list[Way]:
        every = {way.fields: way for way in self.domain + self.generic}
        by_kind = (self.domain, self.generic)
        kept = {
            way.fields for ways in by_kind for way in ways if not any(_holds(way, other) for other in ways)
        }
        return [every[fields] for fields in sorted(kept)]


@lru_cache(maxsize=64)
def ways_of(rules: Rules) -> Ways:
    """The ways in which results can be the same under some rules; found once for all sessions."""
    return Ways(rules)


def facts(keys: Keys) -> list[tuple[Any, ...]]:
    """Every set of a result's values but the text in which another could agree with it."""
    ids = [(0, None)] if keys.id is None else [(0, None), (ID, (keys.space, keys.id))]
    urls = [(bit, url) for bit, url in ((URL, keys.url), (LOOSE, keys.loose_url)) if url is not None]
    titles = [(0, None)] if keys.title is None else [(0, None), (TITLE, keys.title)]
    return [
        (id_bit | url_bit | title_bit, identity, url, title)
        for (id_bit, identity), (url_bit, url), (title_bit, title) in product(ids, [(0, None), *urls], titles)
    ]


def _ways(rules: Rules, id_weight: float) -> list[Way]:
    weights = rules.weights
    fields = (
        {0: 0.0, ID: id_weight},
        {0: 0.0, URL: weights.url, LOOSE: weights.loose_url},
        {0: 0.0, TITLE: weights.title},
        {0: 0.0, TEXT: weights.text},
    )
    telling = [[(bit, weight) for bit, weight in each.items() if weight or not bit] for each in fields]
    every = [
        Way(sum(bit for bit, _ in chosen), min(1.0, round(sum(weight for _, weight in chosen), 9)))
        for chosen in product(*telling)
    ]
    enough = [way for way in every if way.confidence >= rules.threshold]
    return sorted(enough, key=lambda way: -way.confidence)


def _by_fields(ways: list[Way]) -> list[float]:
    return [
        next((way.confidence for way in ways if not way.fields & ~fields), 0.0) for fields in range(2 * TEXT)
    ]


def _holds(way: Way, other: Way) -> bool:
    """Whether whatever agrees in `way` agrees in `other` too, which is another; equal URLs are loosely equal."""
    fields = way.fields | LOOSE if way.fields & URL else way.fields
    return other.fields != way.fields and not other.fields & ~fields
