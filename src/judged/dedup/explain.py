"""Why results are, or are not, the same: every decision with its candidates, what agrees and what vetoes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from judged.dedup.find import Deduplicator
from judged.dedup.keys import Keys
from judged.dedup.rules import Rules
from judged.dedup.url import loosen
from judged.dedup.verify import Fields, compare, confidence, vetoes
from judged.tables.sessions import Result

__all__ = ["Candidate", "Decision", "Explainer", "explain_duplicates"]

SHOWN = 3
"""How many rejected candidates a decision is told with; the others are counted."""
WORDS = {
    "domain": "domain id",
    "generic": "generic id",
    "url": "URL",
    "loose_url": "loose URL",
    "title": "title",
    "text": "text",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A cluster that a result might have belonged to."""

    cluster: int
    found_by: tuple[str, ...]
    """The keys that it was found by."""
    fields: Fields
    """How the result compares with the member that speaks most for it."""
    vetoes: tuple[tuple[str, int], ...]
    """The fields that forbid it, each with the number of the first result that differs in it."""
    confidence: float
    accepted: bool

    def __str__(self) -> str:
        """In words: what agrees, what does not, and what came of it."""
        agree = [WORDS[name] for name, same in self.fields._asdict().items() if same]
        differ = [WORDS[name] for name, same in self.fields._asdict().items() if same is False]
        if self.fields.url:
            agree.remove(WORDS["loose_url"])
        told = [
            f"{_listed(names)} {verb}" for names, verb in ((agree, "the same"), (differ, "other")) if names
        ]
        against = [f"vetoed by the {WORDS[name]} of result {number}" for name, number in self.vetoes]
        return f"cluster {self.cluster}, {', '.join([*told, f'confidence {self.confidence:g}', *against])}"


@dataclass(frozen=True, slots=True)
class Decision:
    """Where one result went, and why; results and clusters are numbered from 0."""

    result: int
    cluster: int
    new: bool
    keys: Keys
    candidates: tuple[Candidate, ...]
    """The one that was taken first, then by confidence, the oldest of several first."""
    threshold: float

    def __str__(self) -> str:
        """The verdict in words."""
        if not self.keys:
            return f"result {self.result} is new: it has nothing to be known by"
        if not self.candidates:
            return f"result {self.result} is new: nothing like it came before"
        if not self.new:
            return f"result {self.result} is a duplicate: {self.candidates[0]}"
        more = len(self.candidates) - SHOWN
        told = [str(candidate) for candidate in self.candidates[:SHOWN]] + [f"{more} more"] * (more > 0)
        return f"result {self.result} is new: not {'; nor '.join(told)} (needed: {self.threshold:g}, without a veto)"


class Explainer:
    """Places results as `Deduplicator` does and tells why, at the price of comparing every member."""

    def __init__(self, rules: Rules | None = None) -> None:
        self._deduplicator = Deduplicator(rules)
        self.rules = self._deduplicator.rules
        self._members: list[list[tuple[int, Keys]]] = []
        self._found: dict[tuple[str, ...], dict[int, None]] = {}
        self._count = 0

    def place(self, result: Result, scope: str | None = None) -> Decision:
        """The decision on the next result."""
        keys = self._deduplicator.keys_of(result, scope)
        if keys.url is not None:
            keys.loose_url = loosen(keys.url, self.rules)
        found: dict[int, list[str]] = {}
        for name, *value in _look_ups(keys):
            for cluster in self._found.get((name, *value), ()):
                found.setdefault(cluster, []).append(name)
        candidates = [
            self._candidate(cluster, keys, tuple(names)) for cluster, names in sorted(found.items())
        ]
        return self._decided(keys, candidates)

    def _decided(self, keys: Keys, candidates: list[Candidate]) -> Decision:
        number, known = self._count, len(self._deduplicator)
        cluster = self._deduplicator.place_keys(keys)
        if cluster == known:
            self._members.append([])
        self._members[cluster].append((number, keys))
        for look_up in _look_ups(keys):
            self._found.setdefault(look_up, {})[cluster] = None
        self._count += 1
        candidates.sort(key=lambda each: (each.cluster != cluster, not each.accepted, -each.confidence))
        return Decision(number, cluster, cluster == known, keys, tuple(candidates), self.rules.threshold)

    def _candidate(self, cluster: int, keys: Keys, found_by: tuple[str, ...]) -> Candidate:
        compared = [(number, compare(keys, member)) for number, member in self._members[cluster]]
        against: dict[str, int] = {}
        for number, fields in compared:
            for name in vetoes(fields, self.rules.unit):
                against.setdefault(name, number)
        best = max(
            (fields for _, fields in compared), key=lambda fields: confidence(fields, self.rules.weights)
        )
        sure = confidence(best, self.rules.weights)
        accepted = not against and sure >= self.rules.threshold
        return Candidate(cluster, found_by, best, tuple(against.items()), sure, accepted)


def explain_duplicates(
    results: Iterable[tuple[Result, str | None]], rules: Rules | None = None
) -> Iterator[Decision]:
    """The decision on each result in turn; the clusters are those of `find_duplicates`.

    >>> page = Result(url="https://example.com/a", title="A page", snippet="Its beginning.")
    >>> part = Result(url="https://example.com/a", title="A page", snippet="Another part.")
    >>> for decision in explain_duplicates([(page, "search"), (part, "search")]):
    ...     print(decision)
    result 0 is new: nothing like it came before
    result 1 is a duplicate: cluster 0, URL and title the same, text other, confidence 0.9
    """
    explainer = Explainer(rules)
    for result, scope in results:
        yield explainer.place(result, scope)


def _look_ups(keys: Keys) -> Iterator[tuple[str, ...]]:
    """The keys that candidates are found by, with their names."""
    if keys.space is not None and keys.id is not None:
        yield ("domain" if keys.space.startswith("domain:") else "generic", keys.space, keys.id)
    for name, value in (("url", keys.url), ("loose_url", keys.loose_url), ("text", keys.stem)):
        if value is not None:
            yield (name, value)


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
