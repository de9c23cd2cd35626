"""Find duplicates: each result, in order, joins the group it belongs to or starts a new one; every decision can be explained."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import merge
from itertools import chain, product
from operator import attrgetter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from judged.agents.dedup import match
from judged.agents.dedup.boilerplate import ShownTexts
from judged.agents.dedup.keys import SHORTEST_PREFIX, KeyMemory, Keys, make_keys
from judged.agents.dedup.match import Bucket, Fields, Group, Verdicts, compare
from judged.agents.dedup.near import NearTexts
from judged.agents.dedup.rules import Rules
from judged.agents.tables import Hit
from judged.errors import BadProtocol

SHOWN = 3
"""Number of rejected candidates that a decision names; the others are counted."""
WORDS = {
    "domain": "domain id",
    "generic": "generic id",
    "url": "URL",
    "loose_url": "loose URL",
    "title": "title",
    "text": "text",
    "short_text": "short text",
}
KEYS = {
    "id": ("space", "id"),
    "url": ("url",),
    "loose_url": ("loose_url",),
    "title": ("title",),
    "text": ("prefix",),
    "short_text": ("prefix",),
}
"""The attributes of `Keys` by which each field is looked up; texts are looked up by their prefix."""
REASONS = ("domain", "generic", "url", "loose_url", "text", "short_text")
"""Fields whose agreement makes a result a copy, the first of several that agree; titles only add to others."""

_Value: TypeAlias = str | tuple[str | None, ...] | None
_Found: TypeAlias = int | list[int] | Bucket
"""The groups under one key: usually one, sometimes several, rarely enough to be indexed."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A group that a result might have joined."""

    group: int
    found_by: tuple[str, ...]
    """The keys that it was found by."""
    fields: Fields
    """Comparison of the result with the most similar member."""
    vetoes: tuple[tuple[str, int], ...]
    """The fields that forbid it, each with the number of the first result that differs in it."""
    confidence: float
    accepted: bool

    def __str__(self) -> str:
        """Say what agrees, what differs, and what vetoes."""
        agree = [WORDS[name] for name, same in self.fields._asdict().items() if same]
        differ = [WORDS[name] for name, same in self.fields._asdict().items() if same is False]
        if self.fields.url:
            agree.remove(WORDS["loose_url"])
        compared = [
            f"{verb} {_join(names)}" for verb, names in (("same", agree), ("different", differ)) if names
        ]
        against = [f"vetoed by the {WORDS[name]} of result {number}" for name, number in self.vetoes]
        return f"group {self.group} ({', '.join([*compared, f'confidence {self.confidence:g}', *against])})"


@dataclass(frozen=True, slots=True)
class Decision:
    """The cluster of one result, and the reason; results and groups are numbered from 0."""

    result: int
    group: int
    new: bool
    keys: Keys
    candidates: tuple[Candidate, ...]
    """The chosen one first, then by confidence, the oldest of several first."""
    threshold: float

    def __str__(self) -> str:
        """Say whether the result is new, and why."""
        if not self.keys:
            return f"result {self.result} is new: it has no id, URL, title or text"
        if not self.candidates:
            return f"result {self.result} is new: no earlier result shares a key with it"
        if not self.new:
            return f"result {self.result} is a duplicate: {self.candidates[0]}"
        more = len(self.candidates) - SHOWN
        shown = [str(candidate) for candidate in self.candidates[:SHOWN]] + [f"{more} more"] * (more > 0)
        return (
            f"result {self.result} is new: not {'; nor '.join(shown)}; {self.threshold:g} and no veto needed"
        )


class Deduplicator:
    """The results of one session so far, in groups.

    A result is looked up by its keys, and compared with the groups found, oldest first. It joins the group with the
    highest confidence that does not veto it, the oldest of several; one that equals an earlier result in every field
    joins the group of that. The work does not grow with the number of results,
    nor with the size of a group, nor with the number of groups under a key that one field keeps apart.

    With `record`, `decisions` explains every placement; each result is then compared with all members of all groups
    that share a key with it, not only with those that decide.
    """

    def __init__(self, rules: Rules | None = None, *, record: bool = False) -> None:
        self.rules = Rules() if rules is None else rules
        self.verified = 0
        """Number of groups compared so far, over all results."""
        self.decisions: list[Decision] = []
        self._record = record
        self._verdicts, sufficient = _prepare(self.rules)
        lookups = [("id",), ("url",), ("loose_url",), ("text",)] if record else sufficient
        self._tables: list[tuple[Callable[[Keys], _Value], dict[_Value, _Found], tuple[str, ...]]] = [
            (attrgetter(*(key for name in names for key in KEYS[name])), {}, names) for names in lookups
        ]
        self._groups: list[Keys | Group] = []
        self._results = 0
        self._near = None if self.rules.near is None else NearTexts(self.rules.near)
        self._shown = ShownTexts()
        self._memory = KeyMemory()
        self._placed: dict[tuple[str | None, ...], tuple[Keys, int, str | None]] = {}
        """The first of all results with equal fields: its keys, its group, and why a repeat is a copy of it."""
        self.reason: str | None = None
        """The field that made the last result a copy; None for a new one."""
        self.copies = dict.fromkeys(REASONS, 0)
        """Number of copies so far, by the field that made them so."""

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self._groups)

    def place(self, result: Hit, scope: str | None = None) -> int:
        """Return the number of the group that a result joins, or of the one that it starts."""
        own = (
            scope,
            result.id,
            result.domain,
            result.domain_id,
            result.url,
            result.title,
            result.snippet,
        )
        first = self._placed.get(own)
        if first is None:
            keys = self.make_keys(result, scope)
            number = self.place_keys(keys)
            self._placed[own] = keys, number, None
            return number
        keys, number, reason = first
        if reason is None:
            fields = _agree_with_itself(keys)
            if self._verdicts[fields][1] < self.rules.threshold:
                fields = compare(keys, keys)
            if self._verdicts[fields][1] < self.rules.threshold:
                return self.place_keys(self.make_keys(result, scope))
            reason = _find_reason(fields)
            self._placed[own] = keys, number, reason
        if self._record:
            return self.place_keys(self.make_keys(result, scope), equal=number)
        return self._repeat(number, reason)

    def _repeat(self, number: int, reason: str | None) -> int:
        """Count a copy of an earlier result that it equals in every field; return its group."""
        self._results += 1
        self.reason = reason
        if reason is not None:
            self.copies[reason] += 1
        return number

    def match(self, result: Hit, scope: str | None = None) -> int | None:
        """Return the number of the group that a result would join, None if it would start one; nothing is placed."""
        keys = self.make_keys(result, scope, keep=False)
        lookups = [
            (table[key], names) for key_of, table, names in self._tables if (key := key_of(keys)) in table
        ]
        return self._choose(keys, lookups)[0]

    def make_keys(self, result: Hit, scope: str | None = None, *, keep: bool = True) -> Keys:
        """Return the keys of a result; with `near`, its text is that of the near-duplicate that represents it."""
        keys = make_keys(result, scope, self.rules, self._memory)
        if keys.prefix is not None and self._shown.is_boilerplate(keys, keep=keep):
            keys.prefix = keys.snippet = keys.words = None
        if self._near is not None and keys.text is not None:
            keys.words = self._near.represent(keys.text, keep=keep)
            keys.prefix = keys.words[:SHORTEST_PREFIX]
        return keys

    def place_keys(self, keys: Keys, *, equal: int | None = None) -> int:
        """Return the number of the group that a result with these keys joins or starts.

        Of several groups as sure, `equal` is taken if it is one: the group of a result with equal fields.
        """
        following = len(self._groups)
        keys.result = self._results
        self._results += 1
        fresh, seen = [], []
        for key_of, table, names in self._tables:
            key = key_of(keys)
            if key is None or (key.__class__ is tuple and None in key):
                continue
            if table.setdefault(key, following) == following:
                fresh.append((table, key))
            else:
                seen.append((table, key, names))
        self.reason = None
        if not seen:
            self._groups.append(keys)
            if self._record:
                self._explain(keys, following, [])
            return following
        number = self._join(keys, seen, equal)
        for table, key in fresh if number != following else ():
            table[key] = number
        return number

    def _join(
        self,
        keys: Keys,
        seen: Sequence[tuple[dict[_Value, _Found], _Value, tuple[str, ...]]],
        equal: int | None,
    ) -> int:
        """Return the number of the group that a result joins or starts, now found under all its keys."""
        lookups = [(table[key], names) for table, key, names in seen]
        number, reason, candidates = self._choose(keys, lookups)
        if equal is not None and reason is not None:
            number = equal
        if number is None or reason is None:
            number = len(self._groups)
            self._groups.append(keys)
        else:
            self._group(number).add(keys)
            self.reason = reason
            self.copies[reason] += 1
        for table, key, names in seen:
            if table[key] != number:
                table[key] = self._extend(table[key], number, names)
        if self._record:
            self._explain(keys, number, candidates)
        return number

    def _choose(
        self, keys: Keys, lookups: list[tuple[_Found, tuple[str, ...]]]
    ) -> tuple[int | None, str | None, list[Candidate]]:
        """Return the group that a result joins, and the field that decides; then the candidates if they are recorded.

        None and None if all groups reject it.
        """
        only = lookups[0][0] if lookups else None
        if isinstance(only, int) and not self._record and all(groups == only for groups, _ in lookups):
            return (*self._judge(keys, only), [])  # nearly always
        few = sorted({number for groups, _ in lookups for number in _few(groups)})
        buckets = [groups.candidates(keys) for groups, _ in lookups if isinstance(groups, Bucket)]
        bound = max((bound for _, bound in buckets), default=0.0)
        chosen, highest, before = None, 0.0, -1
        reason: str | None = None
        candidates: list[Candidate] = []
        # the few first: a sure one among them spares looking through a bucket
        for number in chain(few, merge(*(numbers for numbers, _ in buckets))):
            if number == before:  # merged in order, so a group found by several keys comes twice in a row
                continue
            before = number
            if highest >= bound and chosen is not None and chosen < number and number not in few:
                break
            self.verified += 1
            candidate = self._compare(keys, number)
            if candidate is None:
                continue
            fields, against, sure = candidate
            accepted = not against and sure >= self.rules.threshold
            if self._record:
                names = tuple(
                    _lookup_name(keys, name) for groups, (name,) in lookups if _includes(groups, number)
                )
                candidates.append(Candidate(number, names, fields, tuple(against.items()), sure, accepted))
            if accepted and (sure > highest or (sure == highest and chosen is not None and number < chosen)):
                chosen, highest, reason = number, sure, _find_reason(fields)
        return chosen, reason, candidates

    def _judge(self, keys: Keys, number: int) -> tuple[int | None, str | None]:
        """Return the only group that shares a key with a result, and the field that decides; None if it rejects it."""
        self.verified += 1
        group = self._groups[number]
        if isinstance(group, Keys):
            fields = compare(keys, group)
            vetoes, sure = self._verdicts[fields]
            accepted = not vetoes and sure >= self.rules.threshold
        else:
            found = self._compare(keys, number)
            if found is None:
                return None, None
            fields, against, sure = found
            accepted = not against and sure >= self.rules.threshold
        return (number, _find_reason(fields)) if accepted else (None, None)

    def _compare(self, keys: Keys, number: int) -> tuple[Fields, dict[str, int], float] | None:
        """Compare a result with a group: its most similar member, the vetoes, and the confidence.

        None means a veto where nothing is recorded: the other members need not be looked at.
        """
        against: dict[str, int] = {}
        best, highest = Fields(), -1.0
        group, verdicts = self._group(number), self._verdicts
        for member in group.members.values() if self._record else group.deciding(keys, verdicts):
            fields = compare(keys, member)
            vetoes, sure = verdicts[fields]
            if vetoes and not self._record:
                return None
            for name in vetoes:
                against.setdefault(name, member.result)
            if sure > highest:
                best, highest = fields, sure
        return best, against, highest

    def _group(self, number: int) -> Group:
        """Return the group of that number; most consist of keys alone, and are never compared again."""
        group = self._groups[number]
        if isinstance(group, Keys):
            group = self._groups[number] = Group(number, group)
        return group

    def _extend(self, groups: _Found, number: int, names: tuple[str, ...]) -> _Found:
        """Return the groups under a key, with one more."""
        if isinstance(groups, Bucket):
            groups.add(self._group(number))
            return groups
        numbers = [groups] if isinstance(groups, int) else groups
        if number in numbers:
            return groups
        numbers = sorted([*numbers, number])
        if self._record or len(numbers) <= match.FEW:
            return numbers
        bucket = Bucket(self._verdicts, by_text="text" in names)
        for member in numbers:
            bucket.add(self._group(member))
        return bucket

    def _explain(self, keys: Keys, group: int, candidates: list[Candidate]) -> None:
        ranked = sorted(
            candidates, key=lambda row: (row.group != group, not row.accepted, -row.confidence, row.group)
        )
        new = not any(candidate.accepted for candidate in candidates)
        decision = Decision(keys.result, group, new, keys, tuple(ranked), self.rules.threshold)
        self.decisions.append(decision)


def _agree_with_itself(keys: Keys) -> Fields:
    """Return the fields of a result that agree in a copy of it, without its text, which need not be normalised for most."""
    named = keys.id is not None and keys.space is not None
    domain = named and (keys.space or "").startswith("domain:")
    url = True if keys.url is not None else None
    return Fields(
        domain=True if domain else None,
        generic=True if named and not domain else None,
        url=url,
        loose_url=url,
        title=None if keys.title is None else True,
    )


def _find_reason(fields: Fields) -> str | None:
    for name in REASONS:
        if getattr(fields, name):
            return name
    return None


def _few(groups: _Found) -> Iterable[int]:
    """Return the groups under a key that are too few to be indexed."""
    if isinstance(groups, Bucket):
        return ()
    return (groups,) if isinstance(groups, int) else groups


def _includes(groups: _Found, number: int) -> bool:
    return number == groups if isinstance(groups, int) else isinstance(groups, list) and number in groups


def _lookup_name(keys: Keys, name: str) -> str:
    if name != "id":
        return name
    return "domain" if (keys.space or "").startswith("domain:") else "generic"


@lru_cache(maxsize=64)
def _prepare(rules: Rules) -> tuple[Verdicts, list[tuple[str, ...]]]:
    """Return what deduplication under some rules needs, computed once for all sessions."""
    return Verdicts(rules), _sufficient_fields(rules)


def _sufficient_fields(rules: Rules) -> list[tuple[str, ...]]:
    """Return the smallest sets of fields whose agreement reaches the threshold; results are looked up by them."""
    weights = rules.weights
    sufficient: set[tuple[str, ...]] = set()
    for id_weight in (weights.domain, weights.generic):
        alternatives = (
            {"id": id_weight},
            {"url": weights.url, "loose_url": weights.loose_url},
            {"title": weights.title},
            {"text": weights.text, "short_text": weights.short_text},
        )
        choices = [[("", 0.0), *((n, w) for n, w in fields.items() if w)] for fields in alternatives]
        enough = [
            tuple(name for name, _ in chosen if name)
            for chosen in product(*choices)
            if round(sum(weight for _, weight in chosen), 9) >= rules.threshold
        ]
        sufficient.update(names for names in enough if not any(_implies(names, other) for other in enough))
    if not sufficient:
        msg = f"no fields of the rules of deduplication reach the threshold, {rules.threshold}"
        raise BadProtocol(msg, hint="raise weights, or lower the threshold")
    return sorted(sufficient)


def _implies(names: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether a look-up by `other`, which is another set, finds all that one by `names` finds.

    URLs that agree agree loosely too, and short texts are looked up as all texts are.
    """
    also = {"url": "loose_url", "short_text": "text"}
    implied = {*names, *(also[name] for name in names if name in also)}
    return names != other and implied.issuperset(other)


@dataclass(frozen=True, eq=False)
class Clusters:
    """For each result, the number of the cluster it belongs to; clusters are numbered as they first occur."""

    of: NDArray[np.int64]

    @property
    def first(self) -> NDArray[np.bool_]:
        """Flags of the results that are the first of their cluster; the others are duplicates."""
        seen = np.maximum.accumulate(np.concatenate(([-1], self.of)))
        first: NDArray[np.bool_] = self.of > seen[:-1]
        return first

    def __len__(self) -> int:
        return len(self.of)


def find_duplicates(results: Iterable[tuple[Hit, str | None]], rules: Rules | None = None) -> Clusters:
    """Return the group of each result, given with the tool that its id is scoped to, as `Session.results()` does.

    >>> page = Hit(url="https://example.com/a", title="A page")
    >>> again = Hit(url="http://example.com/a?utm_source=openai", title="A page")
    >>> find_duplicates([(page, "search"), (Hit(url="https://example.com/b"), "search"), (again, "search")]).of
    array([0, 1, 0])
    """
    place = Deduplicator(rules).place
    return Clusters(np.array([place(result, scope) for result, scope in results], dtype=np.int64))


def explain_duplicates(
    results: Iterable[tuple[Hit, str | None]], rules: Rules | None = None
) -> Iterator[Decision]:
    """Yield the decision on each result in turn; the groups are those of `find_duplicates`.

    >>> page = Hit(url="https://example.com/a", title="A page", snippet="Its beginning.")
    >>> part = Hit(url="https://example.com/a", title="A page", snippet="Another part.")
    >>> for decision in explain_duplicates([(page, "search"), (part, "search")]):
    ...     print(decision)
    result 0 is new: no earlier result shares a key with it
    result 1 is a duplicate: group 0 (same URL and title, different text, confidence 0.9)
    """
    deduplicator = Deduplicator(rules, record=True)
    for result, scope in results:
        deduplicator.place(result, scope)
        yield deduplicator.decisions[-1]


def _join(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
