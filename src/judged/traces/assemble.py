"""A conversation → a session: its last turn, and of that the steps that searched, with their results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import UNSET

from judged.tables.sessions import Iteration, Result, Search, Session
from judged.traces.context import UNREAD, ReadContext
from judged.traces.conversation import Call, Conversation, Step, Turn
from judged.traces.results.fields import parse_result
from judged.traces.results.tools import Unparsed

__all__ = ["to_session", "to_sessions"]

Found = list[tuple[str | None, list[Any]]]


def to_sessions(conversations: Iterable[Conversation], context: ReadContext) -> Iterator[Session]:
    """The session of each conversation in turn; faults are settled after each."""
    for conversation in conversations:
        try:
            session = to_session(conversation, context)
        except RecursionError:
            what = "holds objects within objects, too deep to be read"
            context.fault("malformed-session", f"{conversation.place}: session `{conversation.id}`", what)
            context.settle()
            continue
        context.settle()
        yield session


def to_session(conversation: Conversation, context: ReadContext) -> Session:
    """The last turn of a conversation as a session."""
    turn = _choose(conversation.turns, context)
    where = f"{conversation.place}: session `{conversation.id}`"
    iterations = []
    for number, step in enumerate(turn.steps, 1):
        searches = tuple(_searches(step, f"{where}, step {number}", context))
        if searches:
            iterations.append(Iteration(searches=searches, tokens=step.tokens, seconds=step.seconds))
    if not iterations and any(_searched(each, context) for each in conversation.turns):
        context.earlier += 1
    return Session(
        conversation=conversation.id,
        system=conversation.system or context.name,
        task=conversation.task or conversation.id,
        question=turn.question,
        iterations=tuple(iterations),
        turns=max(1, len(conversation.turns)),
        steps=len(turn.steps),
        place=conversation.place,
    )


def _choose(turns: list[Turn], context: ReadContext) -> Turn:
    """The turn that counts: the last one, or the last one that searched."""
    if context.turn == "last-with-search":
        return next(
            (turn for turn in reversed(turns) if _searched(turn, context)), turns[-1] if turns else Turn()
        )
    return turns[-1] if turns else Turn()


def _searched(turn: Turn, context: ReadContext) -> bool:
    return any(_is_search(call, context) for step in turn.steps for call in step.calls)


def _is_search(call: Call, context: ReadContext) -> bool | None:
    """Whether a call is a search: as the mapping says, as the format knows, or as its name tells."""
    told = context.tools.told(call.tool)
    if told is not None:
        return told.search
    return context.tools.is_search(call.tool) if call.search is None else call.search


def _searches(step: Step, where: str, context: ReadContext) -> Iterator[Search]:
    """The searches of one step, in the order they were asked for."""
    for call in step.calls:
        search = _is_search(call, context)
        context.count_call(call.tool, search=search, where=where)
        if search:
            yield from _read_call(call, f"{where}, `{call.tool}`", context)


def _read_call(call: Call, where: str, context: ReadContext) -> Iterator[Search]:
    """One search for each query of a call whose output tells the queries apart, else one for all."""
    queries = context.tools.queries(call.tool, call.arguments)
    for query, values in _find(call, queries, where, context):
        results = (
            _read_result(value, f"{where}, result {at}", context) for at, value in enumerate(values, 1)
        )
        yield Search(query=query, tool=call.tool, results=tuple(each for each in results if each is not None))


def _find(call: Call, queries: list[str], where: str, context: ReadContext) -> Found:
    """The values of the results, by query."""
    nothing: Found = [(query, []) for query in queries] or [(None, [])]
    if call.output is UNSET and not call.failed:
        context.unanswered += 1
    if call.failed or call.output is UNSET:
        return nothing
    try:
        return context.tools.found(call.tool, call.output, queries)
    except Unparsed as error:
        context.fault(UNREAD, where, str(error))
        return nothing


def _read_result(value: Any, where: str, context: ReadContext) -> Result | None:
    """One result, or None if it has a fault."""
    result = parse_result(value)
    if isinstance(result, Result):
        return result
    for kind, what in result:
        context.fault(kind, where, what)
    return None
