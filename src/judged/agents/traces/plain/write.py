"""Sessions → the plain form, one per line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

import msgspec

from judged.agents.tables import Iteration, Session
from judged.agents.traces.json_values import JsonObject


def write_sessions(sessions: Iterable[Session], sink: BinaryIO) -> None:
    """Write each session as a line of JSON, which `read_sessions` reads back."""
    encoder = msgspec.json.Encoder()
    sink.writelines(encoder.encode(to_plain(session)) + b"\n" for session in sessions)


def to_plain(session: Session) -> JsonObject:
    """Return a session in the plain form; turns before the last, and steps that did not search, are kept as empty ones."""
    searched = [_iteration(iteration) for iteration in session.iterations]
    steps: list[JsonObject] = [*searched, *({} for _ in range(session.steps - len(searched)))]
    asked = {} if session.question is None else {"question": session.question}
    used = {name: texts for name in ("opened", "cited") if (texts := getattr(session, name))}
    silent = max(0, session.turns - 1 - len(session.earlier))
    before: list[JsonObject] = [
        *({} for _ in range(silent)),
        *({"question": text} for text in session.earlier),
    ]
    return {
        **({} if session.unnamed else {"conversation": session.conversation}),
        "system": session.system,
        **({"task": session.task} if session.task_from == "id" else {}),
        "turns": [*before, {**asked, "iterations": steps, **used}],
    }


def _iteration(iteration: Iteration) -> JsonObject:
    """Return an iteration without missing fields."""
    spent = {"tokens": iteration.tokens, "seconds": iteration.seconds, "cost": iteration.cost}
    searches = [
        {
            **({} if search.query is None else {"query": search.query}),
            **({} if search.tool is None else {"tool": search.tool}),
            "results": search.results,
        }
        for search in iteration.searches
    ]
    return {"searches": searches, **{name: value for name, value in spent.items() if value is not None}}
