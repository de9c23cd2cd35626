"""A conversation → a session: its last turn, and of that the steps that searched, with their results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import UNSET

from judged.tables.sessions import Iteration, Result, Search, Session
from judged.traces.conversation import Call, Conversation, Step, Turn
from judged.traces.reading import UNREAD, Reading
from judged.traces.results.fields import result_of
from judged.traces.results.search_tools import Unparsed

__all__ = ["session_of", "sessions_of"]

Found = list[tuple[str | None, list[Any]]]


def sessions_of(conversations: Iterable[Conversation], reading: Reading) -> Iterator[Session]:
    """The session of each conversation in turn; faults are settled after each."""
    for conversation in conversations:
        try:
            session = session_of(conversation, reading)
        except RecursionError:
            what = "holds objects within objects, too deep to be read"
            reading.fault("malformed-session", f"{conversation.place}: session `{conversation.id}`", what)
            reading.settle()
            continue
        reading.settle()
        yield session


def session_of(conversation: Conversation, reading: Reading) -> Session:
    """The last turn of a conversation as a session."""
    turn = _chosen(conversation.turns, reading)
    where = f"{conversation.place}: session `{conversation.id}`"
    iterations = []
    for number, step in enumerate(turn.steps, 1):
        searches = tuple(_searches(step, f"{where}, step {number}", reading))
        if searches:
            iterations.append(Iteration(searches=searches, tokens=step.tokens, seconds=step.seconds))
    if not iterations and any(_searched(each, reading) for each in conversation.turns):
        reading.earlier += 1
    return Session(
        conversation=conversation.id,
        system=conversation.system or reading.name,
        task=conversation.task or conversation.id,
        question=turn.question,
        iterations=tuple(iterations),
        turns=max(1, len(conversation.turns)),
        steps=len(turn.steps),
        place=conversation.place,
    )


def _chosen(turns: list[Turn], reading: Reading) -> Turn:
    """The turn that counts: the last one, or the last one that searched."""
    if reading.turn == "last-with-search":
        return next(
            (turn for turn in reversed(turns) if _searched(turn, reading)), turns[-1] if turns else Turn()
        )
    return turns[-1] if turns else Turn()


def _searched(turn: Turn, reading: Reading) -> bool:
    return any(_is_search(call, reading) for step in turn.steps for call in step.calls)


def _is_search(call: Call, reading: Reading) -> bool | None:
    """Whether a call is a search: as the mapping says, as the format knows, or as its name tells."""
    told = reading.tools.told(call.tool)
    if told is not None:
        return told.search
    return reading.tools.is_search(call.tool) if call.search is None else call.search


def _searches(step: Step, where: str, reading: Reading) -> Iterator[Search]:
    """The searches of one step, in the order they were asked for."""
    for call in step.calls:
        search = _is_search(call, reading)
        reading.count_call(call.tool, search=search, where=where)
        if search:
            yield from _searches_of_call(call, f"{where}, `{call.tool}`", reading)


def _searches_of_call(call: Call, where: str, reading: Reading) -> Iterator[Search]:
    """One search for each query of a call whose output tells the queries apart, else one for all."""
    queries = reading.tools.queries(call.tool, call.arguments)
    for query, values in _found(call, queries, where, reading):
        results = (_result(value, f"{where}, result {at}", reading) for at, value in enumerate(values, 1))
        yield Search(query=query, tool=call.tool, results=tuple(each for each in results if each is not None))


def _found(call: Call, queries: list[str], where: str, reading: Reading) -> Found:
    """The values of the results, by query."""
    nothing: Found = [(query, []) for query in queries] or [(None, [])]
    if call.output is UNSET and not call.failed:
        reading.unanswered += 1
    if call.failed or call.output is UNSET:
        return nothing
    try:
        return reading.tools.found(call.tool, call.output, queries)
    except Unparsed as error:
        reading.fault(UNREAD, where, str(error))
        return nothing


def _result(value: Any, where: str, reading: Reading) -> Result | None:
    """One result, or None if it has a fault."""
    result = result_of(value)
    if isinstance(result, Result):
        return result
    for kind, what in result:
        reading.fault(kind, where, what)
    return None
