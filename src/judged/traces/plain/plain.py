"""The plain form: one conversation per line, with its turns, iterations, searches and results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from judged.tables.sessions import GRADES, Iteration, Result, Search, Session
from judged.traces.context import ReadContext
from judged.traces.format import Head, TraceFormat
from judged.traces.open import BROKEN, Trace, told
from judged.traces.results.fields import has_key, parse_result, split_domain

__all__ = ["FORMAT", "parse_session"]


class _Turn(Struct, kw_only=True, forbid_unknown_fields=True):
    """A turn as it is written with our own names alone."""

    iterations: tuple[Iteration, ...] = ()
    question: str | None = None


class _Line(Struct, kw_only=True, forbid_unknown_fields=True):
    """A conversation as it is written with our own names alone, which is decoded at once."""

    turns: tuple[_Turn, ...]
    conversation: str | None = None
    system: str | None = None
    task: str | None = None


def recognises(head: Head) -> bool:
    """Objects with turns, or with the iterations of one."""
    return any("turns" in each or "iterations" in each for each in head.mappings)


def sessions(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """One session for each line, or for each element of an array; those that are not usable are left out."""
    if not trace.is_lines:
        for document in trace.documents():
            yield from _settled(
                parse_session(document.value, document.place, document.name, context), context
            )
        return
    decode = msgspec.json.Decoder(_Line).decode
    for number, line in trace.lines():
        try:
            session = _quick(decode(line), trace.place(number), context)
        except BROKEN:
            session = None
        if session is None:
            yield from _settled(_slow(line, number, trace, context), context)
        else:
            yield session


def _settled(session: Session | None, context: ReadContext) -> Iterator[Session]:
    context.settle()
    if session is not None:
        yield session


def _quick(line: _Line, place: str, context: ReadContext) -> Session | None:
    """The session of a line that needs nothing changed; None if anything in it does, or may be wrong."""
    if not line.conversation or not line.turns:
        return None
    turn = line.turns[-1]
    iterations = tuple(each for each in turn.iterations if each.searches)
    if context.turn != "last" and not iterations:
        return None
    if not all(map(_is_sound, turn.iterations)):
        return None
    for iteration in iterations:
        for search in iteration.searches:
            context.searches[search.tool or "search"] += 1
    if (
        not iterations
        and len(line.turns) > 1
        and any(each.searches for t in line.turns for each in t.iterations)
    ):
        context.earlier += 1
    return Session(
        conversation=line.conversation,
        system=line.system or context.name,
        task=line.task or line.conversation,
        question=turn.question,
        iterations=iterations,
        turns=len(line.turns),
        steps=len(turn.iterations),
        place=place,
    )


def _is_sound(iteration: Iteration) -> bool:
    """Whether an iteration took no less than nothing, and all its searches are sound."""
    if (iteration.tokens or 0) < 0 or (iteration.seconds or 0) < 0:
        return False
    return all(map(_is_sound_search, iteration.searches))


def _is_sound_search(search: Search) -> bool:
    """Whether every result of a search has a key, one kind of id, and a gain that is a grade if any."""
    for result in search.results:
        if result.gain is not None and result.gain not in GRADES:
            return False
        if result.id is None:
            if (result.domain is None) != (result.domain_id is None) or not has_key(result):
                return False
        elif (
            result.domain_id is not None
            or result.domain is not None
            or not result.id
            or (":" in result.id and split_domain(result.id))
        ):
            return False
    return bool(search.results)  # a search that has none may lack them altogether


def _slow(line: bytes, number: int, trace: Trace, context: ReadContext) -> Session | None:
    """The session of a line with other names than ours, or with faults, which are noted."""
    place = trace.place(number)
    try:
        value = msgspec.json.decode(line)
    except BROKEN as error:
        trace.broken(place, told(error, line))
        return None
    return parse_session(value, place, trace.called(number), context)


FORMAT = TraceFormat("plain", "sessions in the plain form", recognises, sessions)


MALFORMED = "malformed-session"
NAMES = ("conversation", "conversation_id", "session_id", "thread_id", "id")
SYSTEMS = ("system", "agent", "model")
TASKS = ("task", "task_id", "query_id", "topic", "topic_id")
QUESTIONS = ("question", "user", "query")
SEARCHES = ("searches", "invocations")
RESULTS = ("results", "documents")


def parse_session(value: Any, place: str, name: str, context: ReadContext) -> Session | None:
    """The last turn of a conversation as a session; None, with faults noted, if it is not usable."""
    return _Object(value, place, name, context).session()


class _Object:
    """One conversation, and where its faults go."""

    def __init__(self, value: Any, place: str, name: str, context: ReadContext) -> None:
        self.value = value
        self.context = context
        self.place = place
        self.name = _identity(value) or name
        self.sound = True

    def session(self) -> Session | None:
        if not isinstance(self.value, Mapping):
            self.refuse("", f"is {_kind(self.value)}, expected an object")
            return None
        self.text(self.value, NAMES)
        turns = self.turns()
        if turns is None:
            return None
        turn, at = self.chosen(turns)
        steps = self.parts(turn, ("iterations",), f", turn {at}", "iteration") or []
        iterations = [self.iteration(step, f", iteration {n}") for n, step in enumerate(steps, 1)]
        searched = tuple(each for each in iterations if each is not None and each.searches)
        if not searched and any(_searched(each) for each in turns):
            self.context.earlier += 1
        session = Session(
            conversation=self.name,
            system=self.text(self.value, SYSTEMS) or self.context.name,
            task=self.text(self.value, TASKS) or self.name,
            question=self.text(turn, QUESTIONS) or self.text(self.value, QUESTIONS),
            iterations=searched,
            turns=max(1, len(turns)),
            steps=len(steps),
            place=self.place,
        )
        return session if self.sound else None

    def turns(self) -> list[Any] | None:
        """The turns; a conversation that has iterations itself has one turn."""
        if "turns" not in self.value and "iterations" in self.value:
            return [{"iterations": self.value["iterations"]}]
        if "turns" not in self.value:
            self.refuse("", "has no `turns`")
            return None
        turns = self.value["turns"]
        if not isinstance(turns, list):
            self.refuse("", f"its `turns` are {_kind(turns)}, expected a list")
            return None
        return turns

    def chosen(self, turns: list[Any]) -> tuple[Any, int]:
        """The turn that counts, and its number."""
        if not turns:
            return {}, 1
        if self.context.turn == "last-with-search":
            for at in range(len(turns), 0, -1):
                if _searched(turns[at - 1]):
                    return turns[at - 1], at
        return turns[-1], len(turns)

    def iteration(self, value: Any, where: str) -> Iteration | None:
        """An iteration with its searches; None if it is not usable."""
        searches = self.parts(value, SEARCHES, where, "search")
        if searches is None:
            return None
        found = [self.search(each, f"{where}, search {n}") for n, each in enumerate(searches, 1)]
        return Iteration(
            searches=tuple(each for each in found if each is not None),
            tokens=self.number(value, "tokens", where),
            seconds=self.number(value, "seconds", where),
        )

    def search(self, value: Any, where: str) -> Search | None:
        """A search with its results; None if it is not usable."""
        results = self.parts(value, RESULTS, where, "result", needed=True)
        if results is None:
            return None
        tool = self.text(value, ("tool",))
        self.context.searches[tool or "search"] += 1
        found = [self.result(each, f"{where}, result {n}") for n, each in enumerate(results, 1)]
        kept = tuple(each for each in found if each is not None)
        return Search(query=self.text(value, ("query",)), tool=tool, results=kept)

    def result(self, value: Any, where: str) -> Result | None:
        """A result; None if it has a fault."""
        result = parse_result(value, plain=True)
        if isinstance(result, Result):
            return result
        for kind, what in result:
            self.context.fault(kind, self.at(where), what)
        return None

    def parts(
        self, value: Any, names: tuple[str, ...], where: str, part: str, *, needed: bool = False
    ) -> list[Any] | None:
        """The list that an object holds under one of the names; None, with a fault noted, if that is none."""
        if not isinstance(value, Mapping):
            self.fault(where, f"is {_kind(value)}, expected an object")
            return None
        name = next((each for each in names if value.get(each) is not None), None)
        if name is None and not needed:
            return []
        if name is None:
            self.fault(where, f"has no `{names[0]}`; one that found nothing has `[]`")
            return None
        if not isinstance(value[name], list):
            self.fault(where, f"its `{name}` are {_kind(value[name])}, expected a list of {part} objects")
            return None
        return list(value[name])

    def text(self, value: Any, names: tuple[str, ...]) -> str | None:
        """A text under the first of the names that is there; whole numbers become text."""
        for name in names:
            found = value.get(name) if isinstance(value, Mapping) else None
            if isinstance(found, str) or (isinstance(found, int) and not isinstance(found, bool)):
                return str(found) or None
            if found is not None and name == names[0]:
                self.fault("", f"its `{name}` is {_kind(found)}, expected text")
        return None

    def number(self, value: Mapping[str, Any], name: str, where: str) -> float | None:
        """A number of at least 0."""
        found = value.get(name)
        if found is None:
            return None
        if isinstance(found, bool) or not isinstance(found, (int, float)) or not found >= 0:
            self.fault(where, f"its `{name}` are `{found}`, expected a number of at least 0")
            return None
        return float(found)

    def at(self, where: str) -> str:
        return f"{self.place}: session `{self.name}`{where}"

    def fault(self, where: str, what: str) -> None:
        """Note that a part is malformed."""
        self.context.fault(MALFORMED, self.at(where), what)

    def refuse(self, where: str, what: str) -> None:
        """Note that the whole session is not usable."""
        self.sound = False
        self.fault(where, what)


def _identity(value: Any) -> str | None:
    """What a conversation calls itself."""
    if isinstance(value, Mapping):
        for name in NAMES:
            found = value.get(name)
            if isinstance(found, (str, int)) and not isinstance(found, bool) and found != "":
                return str(found)
    return None


def _searched(turn: Any) -> bool:
    """Whether a turn has an iteration with a search."""
    iterations = turn.get("iterations") if isinstance(turn, Mapping) else None
    if not isinstance(iterations, list):
        return False
    return any(isinstance(each, Mapping) and any(each.get(name) for name in SEARCHES) for each in iterations)


def _kind(value: Any) -> str:
    """What kind of JSON value it is, in words."""
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
