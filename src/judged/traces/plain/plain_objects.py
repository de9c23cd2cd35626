"""An object in the plain form → a session, by any of the names its parts go by, with all that is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judged.tables.sessions import Iteration, Result, Search, Session
from judged.traces.reading import Reading
from judged.traces.results.fields import result_of

__all__ = ["session_of_object"]

MALFORMED = "malformed-session"
NAMES = ("conversation", "conversation_id", "session_id", "thread_id", "id")
SYSTEMS = ("system", "agent", "model")
TASKS = ("task", "task_id", "query_id", "topic", "topic_id")
QUESTIONS = ("question", "user", "query")
SEARCHES = ("searches", "invocations")
RESULTS = ("results", "documents")


def session_of_object(value: Any, place: str, name: str, reading: Reading) -> Session | None:
    """The last turn of a conversation as a session; None, with faults noted, if it is not usable."""
    return _Object(value, place, name, reading).session()


class _Object:
    """One conversation, and where its faults go."""

    def __init__(self, value: Any, place: str, name: str, reading: Reading) -> None:
        self.value = value
        self.reading = reading
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
            self.reading.earlier += 1
        session = Session(
            conversation=self.name,
            system=self.text(self.value, SYSTEMS) or self.reading.name,
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
        if self.reading.turn == "last-with-search":
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
        self.reading.searches[tool or "search"] += 1
        found = [self.result(each, f"{where}, result {n}") for n, each in enumerate(results, 1)]
        kept = tuple(each for each in found if each is not None)
        return Search(query=self.text(value, ("query",)), tool=tool, results=kept)

    def result(self, value: Any, where: str) -> Result | None:
        """A result; None if it has a fault."""
        result = result_of(value, plain=True)
        if isinstance(result, Result):
            return result
        for kind, what in result:
            self.reading.fault(kind, self.at(where), what)
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
        self.reading.fault(MALFORMED, self.at(where), what)

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
