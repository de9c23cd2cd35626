"""The plain form: one conversation per line, with its turns, iterations, searches and results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Struct

from judged.agents.tables import Hit, Iteration, Search, Session
from judged.agents.traces.assemble import name_task
from judged.agents.traces.context import ReadContext
from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.json_values import Json
from judged.agents.traces.open import BROKEN, Position, Trace, describe_error
from judged.agents.traces.results.fields import has_key, parse_result, split_domain
from judged.tables.schema import GRADES


class _Turn(Struct, kw_only=True, forbid_unknown_fields=True):
    """A turn as it is written with our own names alone."""

    iterations: tuple[Iteration, ...] = ()
    question: str | None = None
    answer: str | None = None
    opened: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()


class _Line(Struct, kw_only=True, forbid_unknown_fields=True):
    """A conversation as it is written with our own names alone, which is decoded at once."""

    turns: tuple[_Turn, ...]
    conversation: str | None = None
    system: str | None = None
    task: str | None = None


def recognises(head: Head) -> bool:
    """Recognise objects with turns, or with the iterations of one."""
    return any("turns" in document or "iterations" in document for document in head.mappings)


def read(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """Yield one session for each line, or for each element of an array; those that are not usable are left out."""
    if not trace.is_lines:
        for document in trace.documents():
            yield from _settle(parse_session(document.value, document.place, document.name, context), context)
        return
    decode = msgspec.json.Decoder(_Line).decode
    for number, line in trace.lines():
        try:
            session = _convert(decode(line), trace.place(number), context)
        except BROKEN:
            session = None
        if session is None:
            yield from _settle(_parse_line(line, number, trace, context), context)
        else:
            yield session


def _settle(session: Session | None, context: ReadContext) -> Iterator[Session]:
    context.settle()
    if session is not None:
        yield session


def _convert(line: _Line, place: str, context: ReadContext) -> Session | None:
    """Return the session of a line that needs nothing changed; None if anything in it does, or may be wrong."""
    if not line.conversation or not line.turns:
        return None
    turn = line.turns[-1]
    iterations = tuple(iteration for iteration in turn.iterations if iteration.searches)
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
        and any(iteration.searches for t in line.turns for iteration in t.iterations)
    ):
        context.earlier += 1
    asked = [item.question for item in line.turns if item.question]
    task, task_from = name_task(line.task, asked, line.conversation)
    context.keep_answer(line.system, line.conversation, turn.answer)
    return Session(
        conversation=line.conversation,
        system=line.system or context.name,
        task=task,
        question=turn.question,
        earlier=tuple(asked[:-1] if turn.question else asked),
        task_from=task_from,
        iterations=iterations,
        opened=turn.opened,
        cited=turn.cited,
        turns=len(line.turns),
        steps=len(turn.iterations),
        place=place,
    )


def _is_sound(iteration: Iteration) -> bool:
    """Return whether an iteration took no negative time, tokens or money, and all its searches are sound."""
    if min(iteration.tokens or 0, iteration.seconds or 0, iteration.cost or 0) < 0:
        return False
    return all(map(_is_sound_search, iteration.searches))


def _is_sound_search(search: Search) -> bool:
    """Return whether every result of a search has a key, one kind of id, and a gain that is a grade if any."""
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


def _parse_line(line: bytes, number: int, trace: Trace, context: ReadContext) -> Session | None:
    """Return the session of a line with other names than ours, or with problems, which are recorded."""
    place = trace.place(number)
    try:
        value = msgspec.json.decode(line)
    except BROKEN as error:
        trace.on_broken(place, describe_error(error, line))
        return None
    return parse_session(value, place, trace.default_name(number), context)


FORMAT = TraceFormat("plain", "sessions in the plain form", recognises, read)


MALFORMED = "malformed-session"
NAMES = ("conversation", "conversation_id", "session_id", "thread_id", "id")
SYSTEMS = ("system", "agent", "model")
TASKS = ("task", "task_id", "query_id", "topic", "topic_id")
QUESTIONS = ("question", "user", "query")
SEARCHES = ("searches", "invocations")
RESULTS = ("results", "documents")


def parse_session(value: Json, place: str, name: str, context: ReadContext) -> Session | None:
    """Return the last turn of a conversation as a session; None, with problems recorded, if it is unusable."""
    return _Object(value, place, name, context).session()


class _Object:
    """One conversation, and the context for its problems."""

    def __init__(self, value: Json, place: str, name: str, context: ReadContext) -> None:
        self.value = value
        self.context = context
        self.place = place
        self.name = _find_name(value) or name
        self.sound = True

    def session(self) -> Session | None:
        if not isinstance(self.value, Mapping):
            self.refuse("", f"is {_describe_type(self.value)}, expected an object")
            return None
        self.text(self.value, NAMES)
        turns = self.turns()
        if turns is None:
            return None
        turn, at = self.choose(turns)
        steps = self.get_list(turn, ("iterations",), f", turn {at}", "iteration") or []
        iterations = [self.iteration(step, f", iteration {n}") for n, step in enumerate(steps, 1)]
        searched = tuple(
            iteration for iteration in iterations if iteration is not None and iteration.searches
        )
        if not searched and any(_has_search(turn) for turn in turns):
            self.context.earlier += 1
        question = self.text(turn, QUESTIONS) or self.text(self.value, QUESTIONS)
        asked = (self.text(before, QUESTIONS) for before in turns[: at - 1])
        earlier = tuple(text for text in asked if text)
        task, task_from = name_task(
            self.text(self.value, TASKS), [*earlier, *([question] if question else [])], self.name
        )
        system = self.text(self.value, SYSTEMS)
        self.context.keep_answer(system, self.name, self.text(turn, ("answer",)))
        session = Session(
            conversation=str(self.name),
            system=system or self.context.name,
            task=task,
            question=question,
            earlier=earlier,
            task_from=task_from,
            unnamed=isinstance(self.name, Position),
            iterations=searched,
            opened=self.texts(turn, "opened"),
            cited=self.texts(turn, "cited"),
            turns=max(1, len(turns)),
            steps=len(steps),
            place=self.place,
        )
        return session if self.sound else None

    def turns(self) -> list[Json] | None:
        """Return the turns; a conversation that has iterations itself has one turn."""
        if "turns" not in self.value and "iterations" in self.value:
            own = ("iterations", "answer", "opened", "cited")
            return [{name: self.value[name] for name in own if name in self.value}]
        if "turns" not in self.value:
            self.refuse("", "has no `turns`")
            return None
        turns = self.value["turns"]
        if not isinstance(turns, list):
            self.refuse("", f"its `turns` are {_describe_type(turns)}, expected a list")
            return None
        for at, turn in enumerate(turns[:-1], 1):
            if not isinstance(turn, Mapping):
                self.report(f", turn {at}", f"is {_describe_type(turn)}, expected an object")
        return turns

    def choose(self, turns: list[Json]) -> tuple[Json, int]:
        """Return the turn that counts, and its number."""
        if not turns:
            return {}, 1
        if self.context.turn == "last-with-search":
            for at in range(len(turns), 0, -1):
                if _has_search(turns[at - 1]):
                    return turns[at - 1], at
        return turns[-1], len(turns)

    def iteration(self, value: Json, where: str) -> Iteration | None:
        """Return an iteration with its searches; None if it is unusable."""
        searches = self.get_list(value, SEARCHES, where, "search")
        if searches is None:
            return None
        parsed = [self.search(search, f"{where}, search {n}") for n, search in enumerate(searches, 1)]
        return Iteration(
            searches=tuple(item for item in parsed if item is not None),
            tokens=self.number(value, "tokens", where),
            seconds=self.number(value, "seconds", where),
            cost=self.number(value, "cost", where),
        )

    def search(self, value: Json, where: str) -> Search | None:
        """Return a search with its results; None if it is unusable."""
        results = self.get_list(value, RESULTS, where, "result", needed=True)
        if results is None:
            return None
        tool = self.text(value, ("tool",))
        self.context.searches[tool or "search"] += 1
        parsed = [self.result(result, f"{where}, result {n}") for n, result in enumerate(results, 1)]
        kept = tuple(item for item in parsed if item is not None)
        return Search(query=self.text(value, ("query",)), tool=tool, results=kept)

    def result(self, value: Json, where: str) -> Hit | None:
        """Return a result; None if it is malformed."""
        result = parse_result(value, plain=True)
        if isinstance(result, Hit):
            return result
        for kind, message in result:
            self.context.report(kind, self.at(where), message)
        return None

    def get_list(
        self, value: Json, names: tuple[str, ...], where: str, part: str, *, needed: bool = False
    ) -> list[Json] | None:
        """Return the list that an object holds under one of the names; None, with a problem recorded, if there is none."""
        if not isinstance(value, Mapping):
            self.report(where, f"is {_describe_type(value)}, expected an object")
            return None
        name = next((name for name in names if value.get(name) is not None), None)
        if name is None and not needed:
            return []
        if name is None:
            self.report(where, f"has no `{names[0]}`; one that found nothing has `[]`")
            return None
        if not isinstance(value[name], list):
            self.report(
                where, f"its `{name}` are {_describe_type(value[name])}, expected a list of {part} objects"
            )
            return None
        return list(value[name])

    def text(self, value: Json, names: tuple[str, ...]) -> str | None:
        """Return the text under the first of the names present; integers become text."""
        for name in names:
            item = value.get(name) if isinstance(value, Mapping) else None
            if isinstance(item, str) or (isinstance(item, int) and not isinstance(item, bool)):
                return str(item) or None
            if item is not None and name == names[0]:
                self.report("", f"its `{name}` is {_describe_type(item)}, expected text")
        return None

    def texts(self, value: Json, name: str) -> tuple[str, ...]:
        """Return a list of texts, empty if it is missing."""
        texts = value.get(name) if isinstance(value, Mapping) else None
        if texts is None or (isinstance(texts, list) and all(isinstance(item, str) for item in texts)):
            return tuple(texts or ())
        self.report("", f"its `{name}` are {_describe_type(texts)}, expected a list of texts")
        return ()

    def number(self, value: Mapping[str, Json], name: str, where: str) -> float | None:
        """Return a number of at least 0."""
        amount = value.get(name)
        if amount is None:
            return None
        if isinstance(amount, bool) or not isinstance(amount, (int, float)) or not amount >= 0:
            self.report(where, f"its `{name}` are `{amount}`, expected a number of at least 0")
            return None
        return float(amount)

    def at(self, where: str) -> str:
        return f"{self.place}: session `{self.name}`{where}"

    def report(self, where: str, what: str) -> None:
        """Record that a part is malformed."""
        self.context.report(MALFORMED, self.at(where), what)

    def refuse(self, where: str, what: str) -> None:
        """Record that the whole session is unusable."""
        self.sound = False
        self.report(where, what)


def _find_name(value: Json) -> str | None:
    """Return the name of a conversation."""
    if isinstance(value, Mapping):
        for name in NAMES:
            item = value.get(name)
            if isinstance(item, (str, int)) and not isinstance(item, bool) and item != "":
                return str(item)
    return None


def _has_search(turn: Json) -> bool:
    """Return whether a turn has an iteration with a search."""
    iterations = turn.get("iterations") if isinstance(turn, Mapping) else None
    if not isinstance(iterations, list):
        return False
    return any(
        isinstance(iteration, Mapping) and any(iteration.get(name) for name in SEARCHES)
        for iteration in iterations
    )


def _describe_type(value: Json) -> str:
    """Describe the type of a JSON value."""
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
