"""Sessions → the plain form, a line for each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, BinaryIO

import msgspec

from judged.tables.sessions import Iteration, Session

__all__ = ["to_plain", "write_sessions"]


def write_sessions(sessions: Iterable[Session], sink: BinaryIO) -> None:
    """Write each session as a line of JSON, which `read_sessions` reads as it was."""
    encoder = msgspec.json.Encoder()
    sink.writelines(encoder.encode(to_plain(session)) + b"\n" for session in sessions)


def to_plain(session: Session) -> dict[str, Any]:
    """A session in the plain form; turns before the last, and steps that did not search, are there as empty ones."""
    searched = [_iteration(each) for each in session.iterations]
    steps: list[dict[str, Any]] = [*searched, *({} for _ in range(session.steps - len(searched)))]
    asked = {} if session.question is None else {"question": session.question}
    return {
        "conversation": session.conversation,
        "system": session.system,
        "task": session.task,
        "turns": [*({} for _ in range(session.turns - 1)), {**asked, "iterations": steps}],
    }


def _iteration(iteration: Iteration) -> dict[str, Any]:
    """An iteration without what is missing in it."""
    spent = {"tokens": iteration.tokens, "seconds": iteration.seconds}
    searches = [
        {
            **({} if each.query is None else {"query": each.query}),
            **({} if each.tool is None else {"tool": each.tool}),
            "results": each.results,
        }
        for each in iteration.searches
    ]
    return {"searches": searches, **{name: value for name, value in spent.items() if value is not None}}
