"""The deduplication rule: two results compared field by field, and groups that need few such comparisons."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import islice
from typing import NamedTuple

from judged.agents.dedup.keys import Keys, is_informative, related
from judged.agents.dedup.rules import Rules, Unit, Weights

FEW = 8
"""Up to this many members of a group, or groups under a key, are looped over; more are indexed."""
# Both ways are needed: nearly all groups have one or two members, and indexing them too takes 1.4 to 2.3 times as long;
# a session that returns to one site may have thousands, for which loops would take time quadratic in the results.

Numbers = dict[int, None]
"""Numbers of groups or members, each once, in ascending order."""


class Fields(NamedTuple):
    """Whether two results agree in each field: True, False, or None where they cannot be compared."""

    domain: bool | None = None
    generic: bool | None = None
    url: bool | None = None
    loose_url: bool | None = None
    title: bool | None = None
    text: bool | None = None
    short_text: bool | None = None
    """True if the texts are equal, say more than the title, and are too short to be informative."""


def compare(one: Keys, other: Keys) -> Fields:
    """Compare two results field by field; ids are comparable within one domain, or one tool."""
    domain = generic = text = short_text = None
    if one.space is not None and one.space == other.space:
        if one.space.startswith("domain:"):
            domain = one.id == other.id
        else:
            generic = one.id == other.id
    if one.prefix is not None and other.prefix is not None:
        # most texts differ from the start, or are the same as given, and need not be normalised in full
        alike = one.prefix == other.prefix and one.equals_text(other)
        text = alike or (
            one.prefix == other.prefix
            and (one.snippet == other.snippet or related(one.text or "", other.text or ""))
        )
        if text and not (
            one.informative if alike else is_informative(min(one.text or "", other.text or "", key=len))
        ):
            text, short_text = None, None if one.title_repeated or other.title_repeated else True
    title = None if one.title is None or other.title is None else one.title == other.title
    url = None if one.url is None or other.url is None else one.url == other.url
    loose_url = url or (
        None if url is None or one.loose_url != other.loose_url else _confirm(one, other, title, text)
    )
    return Fields(domain, generic, url, loose_url, title, text, short_text)


def _confirm(one: Keys, other: Keys, title: bool | None, text: bool | None) -> bool | None:  # noqa: FBT001
    """Return whether title and text say that URLs with equal loose keys, but other strict ones, are one page.

    Parameters that may be content need a title or a text that agrees. Forms of a page (mobile, AMP, `www`, index, a
    trailing slash) need equal titles, or no titles and no texts that differ.
    """
    parameters = (one.url == one.page_url and other.url == other.page_url) or bool(title or text)
    untitled = one.title is None and other.title is None
    form = one.page_url == other.page_url or title is True or (untitled and text is not False)
    return True if parameters and form else None


def find_vetoes(fields: Fields, unit: Unit) -> tuple[str, ...]:
    """Return the names of the fields whose disagreement keeps two results apart even if all others agree."""
    strict = unit == "strict"
    names = []
    if fields.domain is False:
        names.append("domain")
    if fields.generic is False and (strict or not fields.text or fields.title is False):
        names.append("generic")
    if fields.url is False and strict:
        names.append("url")
    if fields.title is False and (strict or fields.text is False or not fields.loose_url):
        names.append("title")
    if fields.text is False and unit != "document":
        names.append("text")
    return tuple(names)


def sum_weights(fields: Fields, weights: Weights) -> float:
    """Return the sum of the weights of the fields that agree, at most 1."""
    total = weights.domain if fields.domain else weights.generic if fields.generic else 0.0
    total += weights.url if fields.url else weights.loose_url if fields.loose_url else 0.0
    if fields.title:
        total += weights.title
    if fields.text:
        total += weights.text
    elif fields.short_text:
        total += weights.short_text
    return min(1.0, round(total, 9))  # rounded, so that .1 + .5 reaches .6


class Verdicts(dict[Fields, tuple[tuple[str, ...], float]]):
    """The vetoes and the confidence of each pattern of agreement under some rules, computed when first needed."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self.rules = rules

    def __missing__(self, fields: Fields) -> tuple[tuple[str, ...], float]:
        verdict = find_vetoes(fields, self.rules.unit), sum_weights(fields, self.rules.weights)
        self[fields] = verdict
        return verdict

    def bound(self, names: Iterable[str]) -> float:
        """Return the confidence of a pair that agrees in all the named fields."""
        return self[Fields(**dict.fromkeys(names, True))][1]


_Place = tuple[str | None, str | None]
"""A URL with a text; members at one place that have other titles are compared alike with another title."""


def _id_field(space: str) -> str:
    return "domain" if space.startswith("domain:") else "generic"


class Group:
    """Results found to be the same; no two of its members veto each other."""

    __slots__ = ("_index", "buckets", "members", "number")

    def __init__(self, number: int, first: Keys) -> None:
        self.number = number
        self.members: dict[tuple[str | None, ...], Keys] = {}
        """The members that differ in some field, by their fields; of equal ones the first."""
        self.buckets: tuple[Bucket, ...] = ()
        """The indexed buckets that the group is in, which must know of its new members."""
        self._index: _MemberIndex | None = None
        self.add(first)

    def add(self, keys: Keys) -> None:
        """Add a member that no other member vetoes."""
        fields = keys.fields()
        if fields in self.members:
            return
        self.members[fields] = keys
        if self._index is not None:
            self._index.add(keys)
        elif len(self.members) > FEW:
            self._index = _MemberIndex(self.members.values())
        for bucket in self.buckets:
            bucket.add_member(self.number, keys)

    def deciding(self, keys: Keys, verdicts: Verdicts) -> Iterable[Keys]:
        """Return members among which are one that vetoes the result, if any does, and the most similar one."""
        if self._index is None:
            return self.members.values()
        equal = self.members.get(keys.fields())
        return (equal,) if equal is not None else self._index.deciding(keys, verdicts)


class _MemberIndex:
    """The members of a large group by the values of their fields.

    Members of a group do not veto each other, which limits how they can differ, so that a few of them decide:
    members of several titles share a URL and have no texts that differ, members of several ids in one space agree
    in their texts, and where texts veto, all are prefixes of the longest.
    """

    __slots__ = (
        "_classes",
        "_longest",
        "_members",
        "_places",
        "_several",
        "_single",
        "_texts",
        "_titled_ids",
        "_values",
    )

    def __init__(self, members: Iterable[Keys]) -> None:
        self._members: list[Keys] = []
        self._values: dict[str, dict[str | None, list[Keys]]] = {}
        """For each field or id space, the members with each value: of those that differ in text alone, the first."""
        self._classes: set[tuple[object, ...]] = set()
        self._titled_ids: dict[str, dict[tuple[str | None, str | None], dict[str | None, Keys]]] = {}
        """For each id space and each title with a text, the first member with each id."""
        self._places: dict[_Place, Keys] = {}
        """The first member with a title at each place."""
        self._single: dict[str, dict[_Place, Keys]] = {}
        """For each title, a member at each place that has this title only."""
        self._several: dict[_Place, tuple[Keys, Keys]] = {}
        """Two members of different titles at each place that has several."""
        self._texts = PrefixIndex()
        self._longest: Keys | None = None
        for member in members:
            self.add(member)

    def add(self, keys: Keys) -> None:
        """Add a member."""
        described = (keys.space, keys.id, keys.url, keys.title, keys.text is None)
        if described not in self._classes:
            self._classes.add(described)
            self._add_values(keys)
        if keys.space is not None:
            shown = self._titled_ids.setdefault(keys.space, {})
            shown.setdefault((keys.title, keys.text), {}).setdefault(keys.id, keys)
        if keys.title is not None:
            self._add_titled(keys, keys.title)
        if keys.text is not None:
            self._texts.add(keys.text, len(self._members))
            if self._longest is None or len(keys.text) > len(self._longest.text or ""):
                self._longest = keys
        self._members.append(keys)

    def _add_values(self, keys: Keys) -> None:
        values = [("url", keys.url), ("loose_url", keys.loose_url), ("title", keys.title)]
        if keys.space is not None:
            values.append((keys.space, keys.id))
        for field, value in values:
            if value is not None:
                self._values.setdefault(field, {}).setdefault(value, []).append(keys)

    def _add_titled(self, keys: Keys, title: str) -> None:
        place = keys.url, keys.text
        if place in self._several:
            return
        first = self._places.setdefault(place, keys)
        if first.title == title:
            self._single.setdefault(title, {}).setdefault(place, first)
        else:
            self._several[place] = first, keys
            del self._single[first.title or ""][place]

    def deciding(self, keys: Keys, verdicts: Verdicts) -> Iterator[Keys]:
        """Yield members that may veto, then the most similar one."""
        yield from self._otherwise_titled(keys.title)
        if self._others("url", keys.url):
            yield from self._two("url")
        if keys.space is not None and self._others(keys.space, keys.id):
            yield from self._two(keys.space)
            yield from self._excusable(keys, keys.space)
        if self._longest is not None and keys.prefix is not None:
            yield self._longest
        if (closest := self._closest(keys, verdicts)) is not None:
            yield closest

    def _otherwise_titled(self, title: str | None) -> Iterator[Keys]:
        """Yield a member of another title at each place that has one; the places are few, or one of them vetoes."""
        if title is None:
            return
        for pair in self._several.values():
            yield pair[pair[0].title == title]
        for known, by_place in self._single.items():
            if known != title:
                yield from by_place.values()

    def _others(self, field: str, value: str | None) -> bool:
        """Return whether some member has another value than a result that has one."""
        values = self._values.get(field, {})
        return value is not None and not values.keys() <= {value}

    def _two(self, field: str) -> Iterator[Keys]:
        """Yield members of two values of a field, of which at least one differs from that of a result."""
        return (members[0] for members in islice(self._values[field].values(), 2))

    def _excusable(self, keys: Keys, space: str) -> Iterator[Keys]:
        """Yield a member with another id for each title with a text, since agreement in both excuses it."""
        shown = self._titled_ids[space]
        if len(shown.get((keys.title, keys.text), ())) > 1:
            return  # title and text that two ids share agree with those of all other members
        for by_id in shown.values():
            yield from islice((member for identity, member in by_id.items() if identity != keys.id), 1)

    def _closest(self, keys: Keys, verdicts: Verdicts) -> Keys | None:
        """Return the member with the highest confidence: among those of its text, then those of the rarest field first."""
        values = {"url": keys.url, "loose_url": keys.loose_url, "title": keys.title}
        agreeing = {name: self._values.get(name, {}).get(value, []) for name, value in values.items()}
        if keys.space is not None:
            agreeing[_id_field(keys.space)] = self._values.get(keys.space, {}).get(keys.id, [])
        found: dict[str, tuple[int, Iterable[Keys]]] = {
            name: (len(members), members) for name, members in agreeing.items() if members
        }
        if keys.text is not None:
            # before the others: of members that differ in text alone, those have only the first
            texts = (self._members[at] for numbers in self._texts.related(keys.text) for at in numbers)
            found["text" if is_informative(keys.text) else "short_text"] = 0, texts
        best, highest = None, -1.0
        # a member not seen yet agrees at most in the fields that are left
        while found and highest < (bound := verdicts.bound(found)):
            _, members = found.pop(min(found, key=lambda name: found[name][0]))
            for member in members:
                confidence = verdicts[compare(keys, member)][1]
                if confidence > highest:
                    best, highest = member, confidence
                if highest >= bound:
                    break
        return best


class Bucket:
    """Many groups that share a lookup key, indexed by the values that keep them apart.

    A group that does not veto a result has the same value in every field that can veto, or none. So the candidates
    by any one of these fields include all groups that count, and the field with the fewest is taken.
    """

    def __init__(self, verdicts: Verdicts, *, by_text: bool) -> None:
        self._verdicts = verdicts
        self._rules = verdicts.rules
        self._by_text = by_text
        """Whether the groups were looked up by the beginning of a text, and so need a related one."""
        self.groups: Numbers = {}
        self._having: dict[tuple[str, str], Numbers] = {}
        """The groups that have a value in a field or id space."""
        self._lacking: dict[str, Numbers] = {name: {} for name in ("title", "url", "text", "titled_text")}
        """The groups that have no value in a field or id space."""
        self._texts = PrefixIndex()

    def add(self, group: Group) -> None:
        """Add a group that shares the key."""
        if group.number in self.groups:
            return
        for numbers in (self.groups, *self._lacking.values()):
            _put(numbers, group.number)
        group.buckets += (self,)
        for member in group.members.values():
            self.add_member(group.number, member)

    def add_member(self, number: int, keys: Keys) -> None:
        """Add the values of a member of a group."""
        values = [("title", keys.title), ("url", keys.url)]
        if keys.space is not None:
            values.append((keys.space, keys.id))
        for field, value in values:
            if value is not None:
                _put(self._having.setdefault((field, value), {}), number)
                self._without(field).pop(number, None)
        if keys.title is not None and keys.url is not None:
            _put(self._having.setdefault(("titled_url", keys.loose_url or keys.url), {}), number)
        if keys.text is not None:
            self._texts.add(keys.text, number)
            self._lacking["text"].pop(number, None)
            if keys.title is not None:
                self._lacking["titled_text"].pop(number, None)

    def candidates(self, keys: Keys) -> tuple[Iterable[int], float]:
        """Return the groups that may take in a result, oldest first, and the highest confidence they can have."""
        near = [] if keys.text is None else list(self._texts.related(keys.text))
        bound = self._upper_bound(keys, by_text=bool(near))
        if bound < self._rules.threshold:
            return (), bound
        choices = self._choices(keys, near)
        fewest = min(choices, key=lambda choice: sum(map(len, choice)), default=[self.groups])
        return merge(*fewest), bound

    def _upper_bound(self, keys: Keys, *, by_text: bool) -> float:
        names = ["text" if is_informative(keys.text or "") else "short_text"] * by_text + ["loose_url"] * (
            keys.loose_url is not None
        )
        names += ["url"] * (("url", keys.url) in self._having)
        names += ["title"] * (("title", keys.title) in self._having)
        if keys.space is not None and (keys.space, keys.id) in self._having:
            names.append(_id_field(keys.space))
        return self._verdicts.bound(names)

    def _choices(self, keys: Keys, near: list[Numbers]) -> Iterator[list[Numbers]]:
        """Yield, for each field that can veto, the groups that it does not."""
        unit = self._rules.unit
        if self._by_text:
            yield near
        if keys.space is not None and keys.id is not None:
            excused = unit != "strict" and _id_field(keys.space) == "generic"
            yield [*self._suiting(keys.space, keys.id), *(near if excused else ())]
        if keys.title is not None:
            excused = unit != "strict" and keys.url is not None
            same_url = self._having.get(("titled_url", keys.loose_url or ""), {})
            yield [*self._suiting("title", keys.title), *([same_url] if excused else ())]
            if excused and keys.text is not None:
                yield [*self._suiting("title", keys.title), self._lacking["titled_text"], *near]
        if unit != "document" and keys.text is not None:
            yield [self._lacking["text"], *near]
        if unit == "strict" and keys.url is not None:
            yield self._suiting("url", keys.url)

    def _suiting(self, field: str, value: str) -> list[Numbers]:
        return [self._without(field), self._having.get((field, value), {})]

    def _without(self, field: str) -> Numbers:
        if field not in self._lacking:
            self._lacking[field] = dict.fromkeys(self.groups)
        return self._lacking[field]


def _put(numbers: Numbers, number: int) -> None:
    """Put a number in its place among others, which nearly always is the last."""
    late = bool(numbers) and number < next(reversed(numbers)) and number not in numbers
    numbers[number] = None
    if late:
        ordered = sorted(numbers)
        numbers.clear()
        numbers.update(dict.fromkeys(ordered))


class PrefixIndex:
    """Comparable texts with the numbers of what has them, found by their prefixes and continuations."""

    def __init__(self) -> None:
        self._numbers: dict[str, Numbers] = {}
        self._lengths: set[int] = set()
        self._ordered: list[str] = []

    def add(self, text: str, number: int) -> None:
        """Add a text and the number of what has it."""
        if text not in self._numbers:
            self._numbers[text] = {}
            self._lengths.add(len(text))
            insort(self._ordered, text)
        _put(self._numbers[text], number)

    def related(self, text: str) -> Iterator[Numbers]:
        """Yield the numbers of every text that equals this one, is its prefix, or continues it."""
        for length in self._lengths:
            if length < len(text) and text[:length] in self._numbers:
                yield self._numbers[text[:length]]
        at = bisect_left(self._ordered, text)
        while at < len(self._ordered) and self._ordered[at].startswith(text):
            yield self._numbers[self._ordered[at]]
            at += 1
