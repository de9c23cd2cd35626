"""Conversational runs: TREC runs whose queries are the turns of conversations, `106_1`, `106_2`, as in TREC CAsT.

A conversation is read as one session whose iterations are its turns, each with one search, so that
repetitions in later turns show. Nothing distinguishes such a file from other runs, so the format must be named.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TypeAlias

from judged.agents.tables import Session
from judged.agents.traces.assemble import to_sessions
from judged.agents.traces.context import ReadContext
from judged.agents.traces.conversation import Call, Conversation, Step, Turn
from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.open import Trace
from judged.io.open import is_number_text

_TURN = re.compile(r"(.+)_(\d{1,18}(?:[-.]\d{1,18})*)")
_COLUMNS = 6

_Row: TypeAlias = tuple[str, str, str, float]
"""Conversation, query, document and score."""


def split_turn(query: str) -> tuple[str, tuple[int, ...]] | None:
    """Split the id of a query into conversation and turn; None if it names no turn.

    >>> split_turn("106_10"), split_turn("132_1-3"), split_turn("106")
    (('106', (10,)), ('132', (1, 3)), None)
    """
    match = _TURN.fullmatch(query)
    return (match[1], tuple(map(int, re.split(r"[-.]", match[2])))) if match else None


def read(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """Yield one session for each conversation, in order of first occurrence."""
    held: dict[str, tuple[str, dict[str, list[tuple[float, str]]]]] = {}
    for number, line in trace.lines():
        row = _row(line, trace.place(number), context)
        if row is not None:
            conversation, query, document, score = row
            turns = held.setdefault(conversation, (trace.place(number), {}))[1]
            turns.setdefault(query, []).append((score, document))
    context.settle()
    return to_sessions((_conversation(name, *item) for name, item in held.items()), context)


def _row(line: bytes, place: str, context: ReadContext) -> _Row | None:
    """Parse one line of the run; None if it is malformed."""
    columns = line.decode("utf-8", "replace").split()
    if len(columns) < _COLUMNS:
        message = f"{len(columns)} columns, expected {_COLUMNS}: query, Q0, document, rank, score, tag"
        context.report("malformed-line", place, message)
        return None
    query, _, document, _, score = columns[:5]
    turn = split_turn(query)
    if turn is None:
        reason = f"query `{query}` names no turn, expected a conversation and a number, such as `106_1`"
        context.report("query-without-turn", place, reason)
        return None
    if not is_number_text(score.encode()) or math.isnan(float(score)):
        context.report("not-a-number", place, f"score is `{score}`, expected a number")
        return None
    return turn[0], query, document, float(score)


def _conversation(name: str, place: str, turns: dict[str, list[tuple[float, str]]]) -> Conversation:
    queries = sorted(turns, key=lambda query: split_turn(query) or (query, ()))
    return Conversation(
        id=name, place=place, turns=[Turn(steps=[_step(query, turns[query]) for query in queries])], task=name
    )


def _step(query: str, rows: list[tuple[float, str]]) -> Step:
    """Return one turn: its documents from the highest score down, ties as in trec_eval."""
    results = [{"id": document, "score": score} for score, document in sorted(rows, reverse=True)]
    return Step(calls=[Call(tool="run", arguments={"query": query}, output=results, search=True)])


def recognises(_: Head) -> bool:
    """Return False: the format must be named."""
    return False


FORMAT = TraceFormat("conversational-run", "a conversational run", recognises, read)
