"""Logs of requests that each repeat their conversation → every conversation once."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from judged.agents.traces.context import ReadContext
from judged.agents.traces.json_values import Json, JsonObject, get_str
from judged.agents.traces.open import Document, Trace

KEPT = 64
"""Number of conversations kept open for a request that continues them."""
_RANDOM = re.compile(r"(?=.*\d)(?=.*[a-z])[\w.-]{10,}", re.IGNORECASE)
"""An id that no two conversations share; `call_1` may be that of many."""

LOGGED = ("request", "response", "custom_id")
"""Fields of a record of a request."""


def is_request_log(trace: Trace) -> bool:
    """Return whether a trace is a log of requests, which may go on in another file."""
    return trace.is_json and any(
        isinstance(document, dict) and any(name in document for name in LOGGED)
        for document in trace.first_documents()
    )


Items: TypeAlias = list[JsonObject]


@dataclass(frozen=True, slots=True)
class RequestShape:
    """Comparison of the messages or items of a format."""

    print: Callable[[JsonObject], Hashable | None]
    """The part of an item that is the same in every copy; None: it is not compared, such as a system prompt with the time."""
    call_ids: Callable[[JsonObject], Iterable[Json]]
    """The ids of the tool calls that an item makes or answers."""
    has_ended: Callable[[Items], bool]
    """Whether the last of these items ends a turn."""


@dataclass(slots=True, eq=False)
class _Held:
    """A conversation as far as it is known."""

    document: Document
    items: Items = field(default_factory=list)
    parts: list[tuple[Document, Items]] = field(default_factory=list)
    """The items that each document adds."""
    end: int = 0
    """The hash of all that is compared."""
    hashes: set[int] = field(default_factory=set)
    """The hashes of all its beginnings."""
    prints: set[int] = field(default_factory=set)
    """The hashes of its items."""
    ids: set[str] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)
    """The ids of calls whose output is there."""


class _Scattered(Exception):
    """A document continues a conversation that was released already."""


class RequestLog:
    """Joins documents that continue each other, however they are interleaved.

    A document continues a conversation if it begins with all of it, if it names the response before it, or if it has a
    call with the same random id: then it may have lost or shortened earlier items, and adds what follows the last one
    that is known. One that adds nothing is a repeated request.
    """

    def __init__(self, shape: RequestShape, context: ReadContext) -> None:
        self.joined = 0
        """Documents that are the beginning of another, or the same again."""
        self._shape = shape
        self._context = context
        self._held: dict[int, _Held] = {}
        self._ends: dict[int, _Held] = {}
        self._begun: dict[int, _Held] = {}
        self._by_id: dict[str, _Held] = {}
        self._gone: dict[int, str] = {}

    def add(
        self, document: Document, items: Items, *, scope: str | None = None, links: Iterable[str] = ()
    ) -> Iterator[_Held]:
        """Add a document; yield conversations that have waited long enough.

        `scope` names the conversation, if the document does; `links` are ids of it and of what it continues.
        """
        prints = [_hash(self._shape.print(item)) for item in items]
        hashes = _chain(scope, prints)
        own = [list(filter(_is_random, self._shape.call_ids(item))) for item in items]
        ids = {name for names in own for name in names} | set(links)
        try:
            held, start = self._find(hashes, ids, items, document.place)
        except _Scattered:
            return  # counted among what is left out: as a conversation of its own it would count its beginning twice
        adds_nothing = held is not None and start == len(items)
        if held is None:
            held = _Held(document)
            self._held[id(held)] = held
        else:
            self.joined += 1
        held.hashes.update(hashes)
        held.prints.update(item for item in prints if item is not None)
        held.ids |= ids
        self._by_id.update(dict.fromkeys(ids, held))
        self._begun.update(dict.fromkeys(hashes, held))
        if adds_nothing:
            return
        held.document = document
        held.parts.append((document, items[start:]))
        held.items += items[start:]
        for item, names in zip(items[start:], own[start:], strict=True):
            held.answered.update(() if _makes(item) else names)
        self._ends.pop(held.end, None)
        held.end = hashes[-1] if hashes else 0
        self._ends[held.end] = held
        yield from self._release(held)

    def finish(self) -> Iterator[_Held]:
        """Yield every conversation that is left, in the order of their last requests."""
        yield from self._held.values()

    def _find(self, hashes: list[int], ids: set[str], items: Items, place: str) -> tuple[_Held | None, int]:
        """Return the conversation that a document continues or repeats, and the place of its first new item."""
        last = hashes[-1] if hashes else 0
        if last in self._begun and not (self._shape.has_ended(items) and not ids):
            return self._begun[last], len(items)
        for at in range(len(hashes) - 1, -1, -1):
            if hashes[at] == last:
                continue
            if hashes[at] in self._ends:
                return self._ends[hashes[at]], at + 1
            if hashes[at] in self._gone:
                where = f"continues a conversation of {self._gone[hashes[at]]}, which is too far above to be joined"
                self._context.report("scattered-requests", place, where)
                raise _Scattered
        # sorted, because the order of a set of texts differs from one process to the next
        held = next((self._by_id[name] for name in sorted(ids) if name in self._by_id), None)
        return (None, 0) if held is None else (held, self._known(items, held))

    def _known(self, items: Items, held: _Held) -> int:
        """Return the place after the last item that a conversation has."""
        for at in range(len(items) - 1, -1, -1):
            known = held.ids if _makes(items[at]) else held.answered
            own = set(filter(_is_random, self._shape.call_ids(items[at])))
            if (own and own <= known) or _hash(self._shape.print(items[at])) in held.prints:
                return at + 1
        return 0

    def _release(self, held: _Held) -> Iterator[_Held]:
        """Yield the conversation that has waited longest for another request, if too many wait."""
        self._held[id(held)] = self._held.pop(id(held))  # the latest is last
        if len(self._held) <= KEPT:
            return
        oldest = self._held.pop(next(iter(self._held)))
        self._ends.pop(oldest.end, None)
        self._gone[oldest.end] = oldest.document.place
        for value in oldest.hashes:
            self._begun.pop(value, None)
        for name in oldest.ids:
            self._by_id.pop(name, None)
        yield oldest


def _makes(item: JsonObject) -> bool:
    """Return whether an item makes calls, rather than answering them: an answer may be new where its call is known."""
    answers = get_str(item, "role") in {"tool", "function", "user"}
    return not answers and not get_str(item, "type").endswith("_output")


def _chain(scope: str | None, prints: Iterable[int | None]) -> list[int]:
    """Return for each item the hash of all that is compared up to it."""
    value, hashes = hash(scope), []
    for item in prints:
        value = value if item is None else hash((value, item))
        hashes.append(value)
    return hashes


def _hash(item: Hashable | None) -> int | None:
    """Return the hash of what is compared, of its text if a malformed item has put a list or an object into it."""
    if item is None:
        return None
    try:
        return hash(item)
    except TypeError:
        return hash(repr(item))


def _is_random(identity: Json) -> bool:
    return isinstance(identity, str) and _RANDOM.fullmatch(identity) is not None


def canonical(value: Json) -> Hashable:
    """Return a value in a form that does not depend on the order of keys or on blanks; JSON text as its value."""
    if isinstance(value, str):
        if value[:1] not in {"{", "["}:
            return value
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return repr(value)
    try:
        return msgspec.json.encode(value, order="sorted")
    except (TypeError, ValueError, RecursionError):
        return repr(value)
