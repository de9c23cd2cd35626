"""A conversation → a session: the steps of its last turn that searched, with their results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from msgspec import UNSET

from judged.agents.tables import Hit, Iteration, Search, Session, TaskSource
from judged.agents.traces.context import CUT, UNREAD, ReadContext
from judged.agents.traces.conversation import Call, Conversation, Step, Turn
from judged.agents.traces.json_values import Json, preview
from judged.agents.traces.open import Position
from judged.agents.traces.results.fields import parse_result
from judged.agents.traces.results.outputs import CutOff, Unparsed, describe_failure, is_marked_cut
from judged.agents.traces.results.text import find_addresses, find_footnotes
from judged.agents.traces.results.tools import find_opened

_BRACKETED = re.compile(r"[\[【]([\w.:/-]{3,80})[\]】]")
"""A mark in an answer that may be the id of a result."""

Found = list[tuple[str | None, list[Json]]]


def to_sessions(conversations: Iterable[Conversation], context: ReadContext) -> Iterator[Session]:
    """Yield the session of each conversation in turn; its problems are settled before the next."""
    for conversation in conversations:
        try:
            session = to_session(conversation, context)
        except RecursionError:
            message = "is nested too deeply"
            context.report("malformed-session", f"{conversation.place}: session `{conversation.id}`", message)
            context.settle()
            continue
        context.settle()
        yield session


def to_session(conversation: Conversation, context: ReadContext) -> Session:
    """Return the last turn of a conversation as a session."""
    chosen = _choose_turn(conversation.turns, context)
    turn = conversation.turns[chosen] if conversation.turns else Turn()
    earlier = tuple(before.question for before in conversation.turns[:chosen] if before.question)
    where = f"{conversation.place}: session `{conversation.id}`"
    iterations: list[Iteration] = []
    opened: list[str] = []
    for number, step in enumerate(turn.steps, 1):
        searches = tuple(_read_step(step, f"{where}, step {number}", context, opened))
        if searches:
            spent = {"tokens": step.tokens, "seconds": step.seconds, "cost": step.cost}
            iterations.append(Iteration(searches=searches, **spent))
    if not iterations and any(_has_search(earlier, context) for earlier in conversation.turns):
        context.earlier += 1
    asked = [*earlier, *([turn.question] if turn.question else [])]
    task, task_from = name_task(conversation.task, asked, conversation.id)
    context.keep_answer(conversation.system, conversation.id, turn.answer)
    return Session(
        conversation=str(conversation.id),
        system=conversation.system or context.name,
        task=task,
        question=turn.question,
        earlier=earlier,
        task_from=task_from,
        unnamed=isinstance(conversation.id, Position),
        iterations=tuple(iterations),
        opened=tuple(dict.fromkeys(opened)),
        cited=tuple(dict.fromkeys((*turn.cited, *_find_cited(turn.answer, iterations)))),
        turns=max(1, len(conversation.turns)),
        steps=len(turn.steps),
        place=conversation.place,
    )


def name_task(task: str | None, questions: Iterable[str], conversation: str) -> tuple[str, TaskSource]:
    r"""Return the name of a task and what it comes from: its id, else what the user asked, else the conversation's id.

    >>> name_task(None, ["How tall is\n the tower?"], "c1")
    ('How tall is the tower?', 'question')
    """
    if task:
        return task, "id"
    text = " / ".join(" ".join(question.split()) for question in questions)
    if text:
        return text, "question"
    return str(conversation), "position" if isinstance(conversation, Position) else "conversation"


def _choose_turn(turns: list[Turn], context: ReadContext) -> int:
    """Return the number of the turn that counts: the last one, or the last one that searched."""
    last = max(len(turns) - 1, 0)
    if context.turn == "last":
        return last
    return next((at for at in range(last, -1, -1) if turns and _has_search(turns[at], context)), last)


def _has_search(turn: Turn, context: ReadContext) -> bool:
    return any(_is_search(call, context) for step in turn.steps for call in step.calls)


def _find_cited(answer: str | None, iterations: list[Iteration]) -> Iterator[str]:
    """Yield the addresses in an answer, the ids of results in brackets, and what footnotes cite by number."""
    if answer:
        yield from find_addresses(answer)
        marks = set(_BRACKETED.findall(answer))
        if marks:
            results = (result for iteration in iterations for result, _ in iteration.results())
            yield from (result.id for result in results if result.id is not None and result.id in marks)
        yield from _resolve_footnotes(find_footnotes(answer), iterations)


def _resolve_footnotes(numbers: list[int], iterations: list[Iteration]) -> Iterator[str]:
    """Yield the addresses, or ids, of the results that footnotes cite by number.

    A number is the id of one page, else the place of a result in the only search that found anything; of several searches
    it is not known which one it counts.
    """
    found = [search.results for iteration in iterations for search in iteration.searches if search.results]
    by_id: dict[str | None, list[Hit]] = {}
    for result in chain.from_iterable(found) if numbers else ():
        by_id.setdefault(result.id, []).append(result)
    listed = len({result.url for result in by_id.get(str(numbers[0]), ())}) == 1 if numbers else False
    for number in numbers:
        if listed:
            cited = by_id.get(str(number), [])[:1]
        else:
            cited = list(found[0][number - 1 : number]) if len(found) == 1 and number else []
        yield from (place for result in cited if (place := result.url or result.id) is not None)


def _is_search(call: Call, context: ReadContext) -> bool | None:
    """Return whether a call is a search: by the mapping of tools, by the format, or by its name."""
    mapped = context.tools.get(call.tool)
    if mapped is not None:
        return mapped.search
    return context.tools.is_search(call.tool) if call.search is None else call.search


def _read_step(step: Step, where: str, context: ReadContext, opened: list[str]) -> Iterator[Search]:
    """Yield the searches of one step, in the order of the calls; add what other calls opened, unless they failed."""
    for call in step.calls:
        search = _is_search(call, context)
        context.count_call(call.tool, search=search, where=where)
        if search:
            yield from _read_call(call, f"{where}, `{call.tool}`", context)
        elif not call.failed:
            opened += find_opened(call.tool, call.arguments)


def _read_call(call: Call, where: str, context: ReadContext) -> Iterator[Search]:
    """Yield one search for each query of a call whose output is split by query, else one for all."""
    queries = context.tools.queries(call.tool, call.arguments)
    context.queries += max(1, len(queries))
    for query, values in _find_results(call, queries, where, context):
        results = (
            _read_result(value, f"{where}, result {at}", context) for at, value in enumerate(values, 1)
        )
        yield Search(
            query=query, tool=call.tool, results=tuple(result for result in results if result is not None)
        )


def _find_results(call: Call, queries: list[str], where: str, context: ReadContext) -> Found:
    """Return the values of the results, by query."""
    nothing: Found = [("\n".join(queries) or None, [])]
    context.cited += call.cited
    if call.output is UNSET and not call.failed:
        context.unanswered += 1
    if call.failed:
        context.failed[call.tool] += 1
        context.first_failure = context.first_failure or preview(call.output)
    if call.failed or call.output is UNSET:
        return nothing
    try:
        results = context.tools.find_results(call.tool, call.output, queries)
    except Unparsed as error:
        code = CUT if isinstance(error, CutOff) else UNREAD
        context.report(code, where, str(error), tool=call.tool)
        context.unread += 1
        context.unread_tools.setdefault(code, call.tool)
        return nothing
    context.truncated += is_marked_cut(call.output)
    if not any(values for _, values in results) and (failure := describe_failure(call.output)):
        context.failed[call.tool] += 1
        context.first_failure = context.first_failure or failure
    return results


def _read_result(value: Json, where: str, context: ReadContext) -> Hit | None:
    """Return one result; None, with its problems recorded, if it is malformed."""
    result = parse_result(value)
    if isinstance(result, Hit):
        return result
    for code, message in result:
        context.report(code, where, message)
    return None
